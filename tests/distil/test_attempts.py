"""What was tried in vain."""

import pytest

from backstory.model import MemoryKind
from tests.distil import of


def attempts(text: str) -> list[str]:
    return [draft.text for draft in of(MemoryKind.ATTEMPT, text)]


def test_a_check_that_did_not_pass_again_in_the_session() -> None:
    (text,) = attempts("> go\n! cargo test\n  error: no\nedit a.rs\n! cargo test\n  error: no\nend\n")
    assert text == (
        '`cargo test` failed ×2 and did not pass again in that session: "error: no" (tried editing a.rs)'
    )


@pytest.mark.parametrize(
    "command",
    ["git checkout -- a.py", "git checkout a.py", "git checkout HEAD a.py", "git checkout HEAD -- a.py"],
)
def test_edits_that_git_threw_away_name_the_error_they_ended_in(command: str) -> None:
    (text,) = attempts(
        "> go\nedit b.py\n  - v\n  + w\nedit a.py\n  - x\n  + y\n! pytest\n  E   TypeError: no v2\n"
        f"$ {command}\n$ pytest\nend\n"
    )
    assert text == f'Edits to a.py were undone by `{command}`; they had ended in "TypeError: no v2"'


def test_going_to_another_branch_throws_nothing_away() -> None:
    assert not attempts("> go\nedit a.py\n  - x\n  + y\n$ git checkout release/3.2\n$ pytest\nend\n")


def test_an_edit_that_a_later_edit_reversed() -> None:
    there, red, back = "edit a.py\n  - x = 1\n  + x = 2\n", RED, "edit a.py\n  - x = 2\n  + x = 1\n"
    assert any(
        "a.py was tried and turned back" in text for text in attempts(f"> go\n{there}{red}{back}end\n")
    )
    assert attempts(f"> go\n{there}{back}end\n") == [], "nothing failed: nothing was tried in vain"


def test_the_user_said_that_it_does_not_work() -> None:
    (draft,) = of(
        MemoryKind.ATTEMPT,
        "> mute is broken\nedit mute.ts\nsaid\n  Should work now.\nend\n"
        "> still doesn't work\nsaid\n  Hm.\nend\n",
    )
    assert draft.said_by == "user"
    assert draft.files == ("mute.ts",)
    assert "still doesn't work" in draft.text


def test_an_edit_that_the_assistant_calls_vain_is_told_with_its_words() -> None:
    story = (
        "> go\n! pytest\n  E   KeyError: 'kid'\nedit jwt.py\n  - h['kid']\n  + h.get('kid', 'default')\n"
        "! pytest\n  E   ValueError: bad signature\nedit keys.py\n  - load(A)\n  + load(A) + load(B)\n$ pytest\n"
    )
    said = "Fixed. Falling back to a default key did not work: the signature does not match."
    (draft,) = of(MemoryKind.ATTEMPT, f"{story}said\n  {said}\nend\n")
    assert draft.text == (
        "Editing jwt.py against \"KeyError: 'kid'\" did not help (- h['kid'] + h.get('kid', 'default'))"
    )
    assert draft.reason == "Falling back to a default key did not work: the signature does not match."
    assert draft.files == ("jwt.py",)
    assert attempts(f"{story}said\n  Fixed. The login did not work because one key was missing.\nend\n") == []
    assert (
        attempts(f"{story}said\n  Fixed. Loading both did not help the old tests, so I changed them.\nend\n")
        == []
    )


def test_an_edit_that_was_turned_back_and_made_again_was_not_in_vain() -> None:
    edit, back = "edit a.py\n  - x = 1\n  + x = 2\n", "edit a.py\n  - x = 2\n  + x = 1\n"
    assert attempts(f"> go\n{edit}{back}{edit}end\n") == []


def test_what_was_committed_or_fetched_from_the_stash_was_not_thrown_away() -> None:
    assert attempts("> go\nedit a.py\n$ git commit -am x\n$ git reset --hard\nend\n") == []
    assert attempts("> go\nedit a.py\n$ git stash\n$ git stash pop\nend\n") == []
    assert attempts(f"> go\nedit a.py\n{RED}$ git stash\nend\n") != []
    assert attempts("> go\nedit a.py\n$ git stash && git checkout main\nend\n") == []


RED = "! pytest\n  E   AssertionError: total 1.00 differs\n"
OTHER_RED = "! pytest\n  E   NameError: name CENT\n"
FIRST = "edit pay.py\n  - round(x, 2)\n  + x.quantize(CENT)\n"
SECOND = "edit pay.py\n  - x.quantize(CENT)\n  + x.quantize(CENT, ROUND_HALF_UP)\n"


def test_an_edit_that_another_one_replaced_before_it_passed_did_not_help() -> None:
    (draft,) = of(MemoryKind.ATTEMPT, f"> go\n{RED}{FIRST}{RED}{SECOND}$ pytest\nend\n")
    assert draft.text == (
        'Editing pay.py against "AssertionError: total 1.00 differs" did not help '
        "(- round(x, 2) + x.quantize(CENT))"
    )
    assert draft.reason.startswith("The same error came again; it passed with - x.quantize(CENT)")
    assert draft.files == ("pay.py",)


def test_each_of_several_edits_in_one_place_is_told() -> None:
    third = "edit pay.py\n  - x.quantize(CENT, ROUND_HALF_UP)\n  + cents(x)\n"
    assert len(attempts(f"> go\n{RED}{FIRST}{RED}{SECOND}{RED}{third}$ pytest\nend\n")) == 2


@pytest.mark.parametrize(
    "story",
    [
        f"{RED}{FIRST}{SECOND}$ pytest",
        f"{RED}{FIRST}{OTHER_RED}{SECOND}$ pytest",
        f"{RED}{FIRST}{RED}{SECOND}edit b.py\n  - p\n  + q\n$ pytest",
        f"{RED}{FIRST}{RED}{SECOND}$ pip install money\n$ pytest",
        f"{RED}{FIRST}{RED}edit pay.py\n  - x.quantize(CENT)\n  + x.quantize(CENT).normalize()\n$ pytest",
    ],
    ids=["not tried alone", "another error", "another edit", "another command", "only widened"],
)
def test_an_edit_is_not_called_vain_where_something_else_may_have_helped(story: str) -> None:
    assert attempts(f"> go\n{story}\nend\n") == []
