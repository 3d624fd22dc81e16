"""Secrets out of what was stored before there was a rule for them."""

from backstory.app import App
from backstory.upkeep.scrub import scrub_secrets
from tests.story import House

SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"[:36]


def stored_in_clear(house: House) -> None:
    """Make the past: a rule that was off when it was captured."""
    house.sets("privacy.redact_off", '["github"]')
    story = house.session()
    story.starts().prompts(f"Push with {SECRET}").runs(f"git push https://x:{SECRET}@host", f"ok {SECRET}")
    story.stops(f"Pushed with {SECRET}.")
    house.works()


def test_scrub_finds_then_removes_every_byte_of_it(house: House, app: App) -> None:
    from backstory.capture import privacy
    from backstory.hook.redact import Redactor

    real = Redactor.redact
    try:
        Redactor.redact = lambda self, text: text  # type: ignore[method-assign]
        stored_in_clear(house)
    finally:
        Redactor.redact = real  # type: ignore[method-assign]
    assert privacy
    house.close()
    assert house.found_in_home(SECRET)
    looked = app.scrub(really=False)
    assert looked.reach.events
    assert house.found_in_home(SECRET)
    done = app.scrub(really=True)
    assert done.reach.events == looked.reach.events
    app.close()
    assert house.found_in_home(SECRET) == []
    assert "Push with" in house.brief().text


def test_a_filter_of_calls_with_a_secret_goes_instead_of_losing_a_word(house: House, app: App) -> None:
    """A word that is not what a payload holds any more would let the note on it be lost."""
    house.session().starts().prompts("Hello").stops("Hello.")
    house.works()
    house.close()

    house.home.call_literals.write_text(f"push {SECRET}\nmake ship\n")
    scrub_secrets(house.home, app.store, app.settings, really=False)
    assert house.home.call_literals.exists()
    scrub_secrets(house.home, app.store, app.settings, really=True)
    assert not house.home.call_literals.exists()
