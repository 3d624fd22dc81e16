"""What was tried in vain."""

from backstory.model import MemoryKind
from tests.distil import of


def attempts(text: str) -> list[str]:
    return [draft.text for draft in of(MemoryKind.ATTEMPT, text)]


def test_a_check_that_never_passed() -> None:
    (text,) = attempts("> go\n! cargo test\n  error: no\nedit a.rs\n! cargo test\n  error: no\nend\n")
    assert text == '`cargo test` failed ×2 and never passed: "error: no" (tried editing a.rs)'


def test_edits_that_git_threw_away_name_the_error_they_ended_in() -> None:
    (text,) = attempts(
        "> go\nedit a.py\n  - x\n  + y\n! pytest\n  E   TypeError: no v2\n"
        "$ git checkout -- a.py\n$ pytest\nend\n"
    )
    assert text == 'Edits to a.py were undone by `git checkout -- a.py`; they had ended in "TypeError: no v2"'


def test_an_edit_that_a_later_edit_reversed() -> None:
    (text,) = attempts("> go\nedit a.py\n  - x = 1\n  + x = 2\nedit a.py\n  - x = 2\n  + x = 1\nend\n")
    assert "a.py was tried and turned back" in text


def test_the_user_said_that_it_does_not_work() -> None:
    (draft,) = of(
        MemoryKind.ATTEMPT,
        "> mute is broken\nedit mute.ts\nsaid\n  Should work now.\nend\n"
        "> still doesn't work\nsaid\n  Hm.\nend\n",
    )
    assert draft.said_by == "user"
    assert draft.files == ("mute.ts",)
    assert "still doesn't work" in draft.text
