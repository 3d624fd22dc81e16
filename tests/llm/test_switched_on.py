"""A model that is switched on begins by itself; what is told of models follows what they do."""

import pytest

from backstory import clock
from backstory.app import App
from backstory.app import context as app_context
from backstory.llm import breaker
from backstory.llm.governor import spending_notice
from backstory.store.records import Call
from tests.knowledge.book import run
from tests.llm.conftest import Asking, a_session
from tests.story import House


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The homes whose worker was called."""
    homes: list[object] = []
    monkeypatch.setattr(app_context, "wake_worker", homes.append)
    return homes


def a_call(outcome: str, at: int) -> Call:
    return Call(f"c{at}", "distil", "", "openai", "m", at, at, None, None, None, outcome, "", 10, 10, 0)


def test_a_provider_that_is_set_reads_the_sessions_of_the_week_at_once(
    house: House, asking: Asking, woken: list[object]
) -> None:
    house.sets("model.provider", "off")
    story = a_session(house)
    house.works()
    asking.answers({"kind": "fact", "text": "The importer streams", "lines": [1]})
    with App(house.home) as app:
        app.change_setting("model.provider", "openai")
    assert woken == [house.home]
    assert asking.asks() == 1
    assert [memory.text for memory in asking.learned(story)] == ["The importer streams"]


def test_what_waits_for_another_day_is_due_when_the_cap_is_raised(
    house: House, asking: Asking, woken: list[object]
) -> None:
    house.sets("model.day_tokens", "10")
    a_session(house)
    assert asking.asks() == 0
    due = house.store.jobs.due_at("refine", clock.now_ms())
    assert due is not None
    assert due > clock.now_ms()
    with App(house.home) as app:
        app.change_setting("model.day_tokens", "400000")
    assert woken == [house.home]
    asking.answers()
    assert asking.asks() == 1


def test_switched_off_nobody_is_woken(house: House, asking: Asking, woken: list[object]) -> None:
    a_session(house)
    house.works()
    with App(house.home) as app:
        app.change_setting("model.provider", "off")
        app.change_setting("brief.max_chars", "2000")
    assert woken == []


def test_the_notice_that_no_model_is_asked_ends_when_a_call_succeeds(house: House, asking: Asking) -> None:
    house.sets("model.day_tokens", "10")
    a_session(house)
    asking.asks()
    assert "asks no model" in spending_notice(house.store)
    house.sets("model.day_tokens", "400000")
    for job in house.store.jobs.all("waiting"):
        with house.store.transaction():
            house.store.jobs.retry(job, clock.now_ms())
    asking.answers()
    assert asking.asks() == 1
    assert spending_notice(house.store) == ""
    assert "asks no model" not in house.brief().text


def test_a_call_that_is_open_has_not_failed(house: House) -> None:
    now = clock.now_ms()
    with house.store.transaction():
        for at, outcome in enumerate(("ok", "failed", "open")):
            house.store.ledger.open(a_call(outcome, now + at))
    (row,) = house.store.ledger.spent_on(0)
    assert (row.calls, row.failed) == (3, 1)


def test_a_call_that_was_interrupted_does_not_hide_those_that_failed() -> None:
    failed = [a_call("failed", at) for at in range(9_000, 9_000 + breaker.FAILURES)]
    assert breaker.open_until([a_call("open", 10_000), *failed])[0] > 0
    assert breaker.open_until([a_call("ok", 10_000), *failed])[0] == 0


def test_a_key_that_is_missing_costs_no_try_and_is_told(
    house: House, asking: Asking, woken: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, three tries were lost in six seconds, and the work then lay for hours, or was parked."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    told = run(house, "config", "model.provider", "anthropic")
    assert "Nobody can be asked yet: the environment has no ANTHROPIC_API_KEY" in told.stderr
    story = a_session(house)
    assert asking.asks() == 0
    state, attempts, error = asking.job(story)
    assert (state, attempts) == ("waiting", 0)
    assert "no ANTHROPIC_API_KEY" in error
    assert "; 1 wait: the environment has no ANTHROPIC_API_KEY" in asking.spending().line
    monkeypatch.setenv("ANTHROPIC_API_KEY", "scripted-key")
    assert "Nobody" not in run(house, "config", "model.provider", "anthropic").stderr
    asking.answers()
    assert asking.asks() == 1
    assert "wait" not in asking.spending().line


def test_what_was_parked_is_tried_again_when_the_settings_change(
    house: House, asking: Asking, woken: list[object]
) -> None:
    """A wrong address was mended: nobody has to know of `backstory jobs --retry`."""
    story = a_session(house)
    house.works()
    with house.store.transaction():
        (job,) = [job for job in house.store.jobs.all() if job.kind == "refine"]
        house.store.jobs.failed(job, "nobody listens", clock.now_ms(), 0)
    assert asking.job(story)[0] == "parked"
    with App(house.home) as app:
        app.change_setting("model.url", f"{asking.model.url}/v1")
    asking.answers()
    assert asking.asks() == 1
