"""What of a passage is worth telling."""

import pytest

from backstory.recall.informative import informative


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("said", "Perfect! Now let me run the tests and see what happens there."),
        ("closing", "Want me to push this and open a pull request for it now?"),
        ("step", "Let me look at the files of the module first.\n$ ls src"),
        ("step", "$ git commit -m 'a message that is long enough to be told'"),
        ("prompt", "Which of these two modules is the one that is used by the viewer?"),
        ("said", "All good."),
    ],
)
def test_announcements_small_talk_questions_and_bare_commands_tell_nothing(form: str, text: str) -> None:
    assert informative(form, "said", text) == ""


@pytest.mark.parametrize(
    ("form", "text", "told"),
    [
        (
            "step",
            "The hook still refuses it, because `credo` runs before each commit. Let me see.\n$ mix credo",
            "The hook still refuses it, because `credo` runs before each commit. `mix credo`",
        ),
        (
            "step",
            "$ mix test → failed: no :secret_key_base configuration found in Endpoint",
            "`mix test` → failed: no :secret_key_base configuration found in Endpoint",
        ),
        (
            "closing",
            "Done! The stylesheet is not built: `priv/static/app.css` is the source itself. Ready?",
            "The stylesheet is not built: `priv/static/app.css` is the source itself.",
        ),
    ],
)
def test_what_explains_or_failed_is_told_without_what_surrounds_it(form: str, text: str, told: str) -> None:
    assert informative(form, "said", text).removeprefix("Done! ") == told


def test_a_short_answer_tells_something_only_beside_its_episode() -> None:
    assert informative("prompt", "prompt", "Make it fifteen minutes.") == ""
    assert informative("prompt", "prompt", "Make it fifteen minutes.", short=True)


def test_a_memory_is_told_as_it_is_unless_it_only_tells_again() -> None:
    assert informative("", "decision", "Use  tabs") == "Use tabs"
    assert informative("", "summary", "Asked: what now? Changed a.py, and much more than that.") == ""
