"""Going back to what was there before, and wishes that stand behind a ban."""

import pytest

from backstory.model import MemoryKind
from tests.distil import distilled, of

FIRST = "> use postgres because of jsonb\nedit a.py\n  - x\n  + y\nsaid\n  Postgres is in.\nend\n"


def decided(text: str) -> list[tuple[str, str]]:
    return [(draft.text, draft.reason) for draft in of(MemoryKind.DECISION, text)]


@pytest.mark.parametrize(
    ("prompt", "choice", "reason"),
    [
        (
            "Actually, go back to MySQL instead of Postgres, because ops refuses to run it",
            "Actually, go back to MySQL instead of Postgres",
            "because ops refuses to run it",
        ),
        (
            "switch back to MySQL, nobody here can run Postgres",
            "switch back to MySQL",
            "nobody here can run Postgres",
        ),
        (
            "let's move back to cookies because tokens can't be revoked",
            "let's move back to cookies",
            "because tokens can't be revoked",
        ),
        (
            "wir gehen zurück zu MySQL, weil der Betrieb kein Postgres will",
            "wir gehen zurück zu MySQL",
            "weil der Betrieb kein Postgres will",
        ),
        (
            "on revient à MySQL au lieu de Postgres parce que les ops refusent",
            "on revient à MySQL au lieu de Postgres",
            "parce que les ops refusent",
        ),
        (
            "volvamos a MySQL en vez de Postgres porque operaciones no lo quiere",
            "volvamos a MySQL en vez de Postgres",
            "porque operaciones no lo quiere",
        ),
    ],
)
def test_going_back_is_a_decision_in_a_new_session_and_in_the_same(
    prompt: str, choice: str, reason: str
) -> None:
    turn = f"> {prompt}\nsaid\n  Done.\nend\n"
    assert decided(turn) == [(choice, reason)]
    assert (choice, reason) in decided(FIRST + turn)


@pytest.mark.parametrize(
    "prompt",
    [
        "go back to the previous version",
        "go back to step 2, the build is red",
        "let's go back to the failing test, because it is still red",
        "when I go back to the page, the form is empty because state is lost",
        "users go back to the cart, and the voucher is gone",
        "wenn ich zurück zu der Liste gehe, ist sie leer, weil der Zustand fehlt",
    ],
)
def test_going_back_to_a_place_in_the_work_is_none(prompt: str) -> None:
    turn = f"> {prompt}\nsaid\n  Done.\nend\n"
    assert decided(turn) == []
    assert [row for row in decided(FIRST + turn) if "postgres" not in row[0]] == []


def test_what_is_said_again_is_told_once() -> None:
    again = "> ok, use postgres because of jsonb\nsaid\n  It is.\nend\n"
    assert len(decided(FIRST + again)) == 1


@pytest.mark.parametrize(
    "prompt",
    [
        "Don't use tabs, always use spaces",
        "no tabs, always spaces",
        "Write small commits; never squash them",
        "keine Tabs, immer Leerzeichen",
        "n'utilise pas de tabulations, toujours des espaces",
        "no uses tabuladores, siempre espacios",
    ],
)
def test_a_wish_may_follow_what_it_forbids(prompt: str) -> None:
    (wish,) = of(MemoryKind.PREFERENCE, f"> {prompt}\nsaid\n  Ok.\nend\n")
    assert wish.text == prompt


@pytest.mark.parametrize(
    "prompt",
    [
        "Don't worry, never mind",
        "no idea, always the same error",
        "don't know why, always fails on the second run",
        "run the tests, they always fail",
        "use the flag, I never liked the env var",
        "keine Ahnung, immer noch rot",
    ],
)
def test_always_and_never_alone_are_no_wish(prompt: str) -> None:
    assert of(MemoryKind.PREFERENCE, f"> {prompt}\nsaid\n  Ok.\nend\n") == []


def test_a_wish_that_a_decision_says_already_is_not_told_twice() -> None:
    drafts = distilled("> from now on let's use RS256, because keys rotate\nsaid\n  Ok.\nend\n")
    kinds = [draft.kind for draft in drafts if "RS256" in draft.text]
    assert MemoryKind.DECISION in kinds
    assert MemoryKind.PREFERENCE not in kinds
