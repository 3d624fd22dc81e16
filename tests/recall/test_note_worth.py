"""What a passage is worth as a note: names, rules and reasons speak for it, states of the moment against it."""

import pytest

from backstory.recall.note_worth import FLOOR, note_worth

_KNOWLEDGE = (
    "`git commit` is refused by a hook that runs `mix format`, credo and dialyzer: run them before, never skip them",
    "The lint configuration is `.golangci.yaml`; `mise run lint` rewrites files, so stage by name only",
)
_MOMENTS = (
    "CI has restarted and is still running; I'm waiting for the pending checks now",
    "Still compiling. I'll keep the session open until it is done",
)


@pytest.mark.parametrize("text", _KNOWLEDGE)
def test_what_one_must_know_is_told(text: str) -> None:
    assert note_worth("closing", text, 0.7, 0.5) >= FLOOR


@pytest.mark.parametrize("text", _MOMENTS)
def test_how_things_stood_for_a_moment_is_not_told(text: str) -> None:
    assert note_worth("step", text, 0.6, 0.4) < FLOOR


@pytest.mark.parametrize("form", ["closing", "summary", "commit", "prompt", "step", "said"])
def test_what_fits_better_is_worth_more(form: str) -> None:
    known = _KNOWLEDGE[0]
    assert note_worth(form, known, 0.8, 0.6) > note_worth(form, known, 0.5, 0.3)
