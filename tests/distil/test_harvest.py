"""Passages: what a turn leaves behind for later sessions."""

from collections.abc import Iterable

import pytest

from backstory.distil.harvest import PASSAGE_CHARS, STEP_CHARS, Passage, harvest, pieces
from backstory.distil.messages import written_for_others
from backstory.error_lines import error_lines
from backstory.model import Action, Event, Kind, Outcome, StoredEvent


def turn(*events: Event, number: int = 1) -> list[StoredEvent]:
    return [StoredEvent(f"e{number}.{at}", "s1", number, at, 0, event) for at, event in enumerate(events)]


def prompt(text: str) -> Event:
    return Event("claude-code", "s1", Kind.PROMPT, 1, text)


def said(text: str) -> Event:
    return Event("claude-code", "s1", Kind.SAID, 2, text)


def ran(command: str, output: str = "", outcome: Outcome = Outcome.OK) -> Event:
    return Event("claude-code", "s1", Kind.TOOL, 3, output, Action.RUN, "Bash", command, outcome)


def kinds(found: Iterable[Passage]) -> list[tuple[str, str]]:
    return [(each.kind.value, each.text) for each in found]


def test_the_last_message_of_a_turn_is_its_closing_and_earlier_ones_lead_in_to_commands() -> None:
    found = harvest(
        turn(
            prompt("Why is the build slow?"),
            said("Let me time the build."),
            ran("make build"),
            said("The build is slow because it compiles twice."),
        )
    )
    assert kinds(found) == [
        ("prompt", "Why is the build slow?"),
        ("step", "Let me time the build.\n$ make build"),
        ("closing", "The build is slow because it compiles twice."),
    ]
    assert {each.prompt for each in found} == {"Why is the build slow?"}


def test_the_end_of_a_turn_that_repeats_its_last_message_is_told_once() -> None:
    last = "The cache was stale; `make clean` helps."
    ended = Event("claude-code", "s1", Kind.TURN_ENDED, 4, last)
    found = harvest(turn(prompt("Why does it fail?"), said(last), ended))
    assert kinds(found) == [("prompt", "Why does it fail?"), ("closing", last)]


ENDED = Event("claude-code", "s1", Kind.TURN_ENDED, 4)
CLOSED = "All three parts are done: the cart, the totals and the taxes are computed on the server now."


def closings(*events: Event) -> list[str]:
    return [text for kind, text in kinds(harvest(turn(prompt("Do it"), *events))) if kind == "closing"]


def test_what_an_agent_says_when_nobody_typed_is_no_closing_unless_it_adds_something() -> None:
    news = "The background task is done; all is clean."
    looked = ran("cat tasks/b1.output", "15 tests, 0 failures")
    assert closings(said(CLOSED), ENDED, looked, said(news), ENDED) == [CLOSED]
    assert closings(said(CLOSED), ENDED, said(news)) == [CLOSED]
    committed = ran("git add a.py && git commit -m 'Fix what the task found'", "[main 1a2b3c4] Fix")
    assert closings(said(CLOSED), ENDED, committed, said(news), ENDED) == [CLOSED, news]
    assert closings(said("I wait for the task."), ENDED, looked, said(CLOSED), ENDED)[-1] == CLOSED


def test_a_failed_command_stands_with_the_lines_that_say_why() -> None:
    output = (
        "Exit code 1\n[lint] starting\nwingman.go:181:10: error is unwrapped (wrapcheck)\nERROR task failed"
    )
    found = harvest(turn(prompt("Lint it please"), ran("mise run lint", output, Outcome.FAILED)))
    step = found[-1]
    assert step.failed
    assert step.command == "mise run lint"
    assert "wingman.go:181:10: error is unwrapped (wrapcheck)" in step.text
    assert "task failed" not in step.text


def test_what_succeeds_does_not_bring_its_output() -> None:
    found = harvest(turn(prompt("List the files"), ran("ls -la", "total 12\nsecret_plan.md")))
    assert all("secret_plan" not in each.text for each in found)


def test_a_refusal_with_words_is_the_users_word() -> None:
    refused = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nno, do not commit"
    event = ran("git commit -m x", refused, Outcome.INTERRUPTED)
    assert kinds(harvest(turn(prompt("Go on now"), event)))[-1] == ("refusal", "no, do not commit")


def test_a_commit_message_is_a_passage_of_its_own() -> None:
    command = "git add -A && git commit -m \"$(cat <<'EOF'\nCache the lookup\n\nIt ran per row.\nEOF\n)\" && git push"
    found = kinds(harvest(turn(prompt("Commit it please"), ran(command))))
    assert ("commit", "commit: Cache the lookup It ran per row.") in found


def test_passages_depend_on_their_own_turn_alone() -> None:
    first = turn(prompt("First question here"), said("First answer here."), number=1)
    second = turn(prompt("Second question here"), said("Second answer here."), number=2)
    assert harvest([*first, *second]) == [*harvest(first), *harvest(second)]


def test_what_was_recalled_and_reasoned_is_left_out() -> None:
    recalled = Event("claude-code", "s1", Kind.SAID, 2, "Told by Backstory before.", recalled=True)
    reasoned = Event("claude-code", "s1", Kind.REASONED, 2, "I wonder whether it works.")
    assert harvest(turn(recalled, reasoned)) == []


def test_a_text_is_cut_at_sentences_with_its_heading() -> None:
    text = "## Cause\n" + "A sentence of some length stands here. " * 20 + "\n**Remedy**\nRun it again."
    found = list(pieces(text))
    assert all(len(piece) <= PASSAGE_CHARS for _, piece in found)
    assert all(piece.endswith(".") for _, piece in found)
    assert found[0][0] == "Cause"
    assert found[-1] == ("Remedy", "Run it again.")


def test_no_step_is_too_long() -> None:
    event = ran("x " * 4_000, "error: " + "y" * 9_000, Outcome.FAILED)
    assert max(len(each.text) for each in harvest(turn(said("z" * 500), event))) <= STEP_CHARS


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ('git commit -am "Say why it is so"; ls', [(True, "commit: Say why it is so")]),
        ("cd x\ngit commit -m 'One thing' -m 'Two more'", [(True, "commit: One thing\nTwo more")]),
        ("git commit -F - <<EOF\nSubject line\nEOF", [(True, "commit: Subject line")]),
        (
            'gh pr create --title "Add caching" --body "It is slow"',
            [(False, "gh pr create: Add caching\nIt is slow")],
        ),
        ('bd close a-1 --reason="Fixed by caching"', [(False, "bd close a-1: Fixed by caching")]),
        (
            "git commit -m 'Fix the cache' -m 'Co-Authored-By: Somebody <a@b.c>'",
            [(True, "commit: Fix the cache")],
        ),
        ("git log -m 'no text at all'", []),
        ('echo "half a quotation && git commit', []),
    ],
)
def test_texts_for_others_are_read_from_command_lines(command: str, told: list[tuple[bool, str]]) -> None:
    assert list(written_for_others(command)) == told


def test_an_error_line_is_chosen_by_what_it_holds() -> None:
    assert error_lines(
        "FAILED\nsomething happened\n  app/a.py:3: undefined name `total`\nmake: *** [all] Error 2"
    ) == ("something happened / app/a.py:3: undefined name `total`")
    assert error_lines("Exit code 1") == ""
