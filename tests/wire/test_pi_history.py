"""pi's session files: trees that the real pi 0.87.1 wrote, and the odd lines that others may hold."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backstory.agents import agent
from backstory.agents.pi_history import HISTORY, Reader
from backstory.model import Action, Event, Kind, Outcome

Transcript = Callable[[str], list[bytes]]


def line(row: object) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def entry(id: str, parent: str | None, message: dict[str, Any]) -> dict[str, Any]:
    at = "2026-11-15T10:00:00.000Z"
    return {"type": "message", "id": id, "parentId": parent, "timestamp": at, "message": message}


def user(text: object, stamp: int = 1_000_000_000_000) -> dict[str, Any]:
    return {"role": "user", "content": text, "timestamp": stamp}


def assistant(*blocks: dict[str, Any], stop: str = "stop", **more: object) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), "stopReason": stop, "timestamp": 2, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(id: str, name: str = "bash", **arguments: object) -> dict[str, Any]:
    return {"type": "toolCall", "id": id, "name": name, "arguments": arguments}


def result(id: str, words: str, error: bool = False) -> dict[str, Any]:
    return {"role": "toolResult", "toolCallId": id, "content": [text(words)], "isError": error}


def read(lines: list[bytes], finish: bool = True) -> tuple[list[Event], Reader]:
    reader = Reader("s")
    found = [event for each in lines for event in reader.feed(each)]
    return found + (reader.finish() if finish else []), reader


def told(*messages: dict[str, Any]) -> list[Event]:
    rows = [entry(str(number), str(number - 1), message) for number, message in enumerate(messages, 1)]
    return read([line(row) for row in rows])[0]


# --- trees ------------------------------------------------------------------------------------------------


# MP-33
def test_mp_33_a_session_tree_is_read_with_all_its_branches(transcript: Transcript) -> None:
    """What happened on a branch that was left happened all the same; the living one comes last."""
    events, reader = read(transcript("pi-tree"))
    assert [(event.kind, event.reason, event.target or event.text[:8]) for event in events] == [
        (Kind.PROMPT, "", "With com"),
        (Kind.TOOL, "", "/home/dev/project/commas.py"),
        (Kind.SAID, "", "Commas."),
        (Kind.TURN_ENDED, "", ""),
        (Kind.TOOL, "user", "echo by hand"),
        (Kind.COMPACTED, "branch", "The user"),
        (Kind.PROMPT, "branch", "With tab"),
        (Kind.TOOL, "", "/home/dev/project/tabs.py"),
        (Kind.SAID, "", "Tabs."),
        (Kind.TURN_ENDED, "", ""),
    ]
    assert [event.at for event in events] == sorted(event.at for event in events)
    assert {event.where.cwd for event in events} == {"/home/dev/project"}
    assert reader.counts["unknown"] == reader.counts["malformed"] == 0


def test_a_forks_file_tells_only_what_happened_in_the_fork(transcript: Transcript) -> None:
    events, reader = read(transcript("pi-fork"))
    kinds = [event.kind for event in events]
    assert kinds == [Kind.PROMPT, Kind.SAID, Kind.TURN_ENDED, Kind.COMPACTED]
    assert events[0].text == "With spaces"
    assert events[0].reason == "", "it goes on where the fork began"
    assert reader.counts["inherited"] == 4


def test_a_fork_names_the_session_it_came_from(tmp_path: Path, transcript: Transcript) -> None:
    for name in ("pi-tree", "pi-fork"):
        (tmp_path / f"{name}.jsonl").write_bytes(b"".join(transcript(name)))
    fork, tree = (HISTORY.identify(trail) for trail in HISTORY.find(tmp_path))
    assert fork is not None
    assert tree is not None
    assert fork.parent == tree.session == "01a1e1c3-4190-7273-a773-a87bba0fe38a"


def test_reading_on_at_the_last_prompt_gives_that_turn_again(transcript: Transcript) -> None:
    lines = transcript("pi-tree")
    whole, reader = read(lines)
    start = reader.turn_start
    again = Reader("s", start)
    rest = b"".join(lines)[start:].splitlines(keepends=True)
    repeated = [event for each in rest for event in again.feed(each)]
    assert [event.native_id for event in repeated] == [event.native_id for event in whole[6:]]


# --- messages ---------------------------------------------------------------------------------------------


# MP-33
def test_mp_33_thoughts_are_kept_apart_from_words_and_images_are_left_out() -> None:
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    thought = {"type": "thinking", "thinking": "Hm."}
    events = told(user([text("Look: "), image]), assistant(thought, text("A cat.")))
    assert [(event.kind, event.text) for event in events[:3]] == [
        (Kind.PROMPT, "Look:"),
        (Kind.REASONED, "Hm."),
        (Kind.SAID, "A cat."),
    ]


def test_injected_messages_are_nobodys_words() -> None:
    injected = {"type": "custom_message", "customType": "backstory", "content": "earlier", "id": "9"}
    events, reader = read([line(injected), line(entry("1", "9", {"role": "custom", "content": "notes"}))])
    assert events == []
    assert reader.counts["skipped"] == 2


@pytest.mark.parametrize(
    ("stop", "kind", "outcome"),
    [
        ("stop", Kind.TURN_ENDED, Outcome.OK),
        ("length", Kind.TURN_ENDED, Outcome.OK),
        ("aborted", Kind.TURN_ENDED, Outcome.INTERRUPTED),
        ("error", Kind.TURN_FAILED, Outcome.FAILED),
    ],
)
def test_how_a_turn_ends(stop: str, kind: Kind, outcome: Outcome) -> None:
    event = told(user("Go"), assistant(stop=stop, errorMessage="503 overloaded"))[-1]
    assert (event.kind, event.outcome) == (kind, outcome)
    assert kind is not Kind.TURN_FAILED or event.text == "503 overloaded"


@pytest.mark.parametrize(
    ("failed", "words", "outcome", "shown"),
    [
        (False, "ok\n", Outcome.OK, "ok\n"),
        (True, "no such thing\n\nCommand exited with code 2", Outcome.FAILED, "Exit code 2\nno such thing"),
        (True, "half\n\nCommand aborted", Outcome.INTERRUPTED, "half\n\nCommand aborted"),
    ],
)
def test_what_a_command_came_to(failed: bool, words: str, outcome: Outcome, shown: str) -> None:
    calling = assistant(call("c", command="make"), stop="toolUse")
    event = told(user("Go"), calling, result("c", words, failed))[-1]
    assert (event.action, event.target, event.outcome, event.text) == (Action.RUN, "make", outcome, shown)


def test_a_call_that_the_next_prompt_finds_unanswered_was_interrupted() -> None:
    events = told(user("Go"), assistant(call("c", command="make"), stop="toolUse"), user("Stop", 3))
    assert [(event.kind, event.outcome) for event in events] == [
        (Kind.PROMPT, ""),
        (Kind.TOOL, Outcome.INTERRUPTED),
        (Kind.PROMPT, ""),
    ]


def test_edits_are_told_as_what_they_changed() -> None:
    edits = [{"oldText": "1", "newText": "2"}, {"oldText": "a", "newText": "b"}]
    calling = assistant(call("c", "edit", path="a.py", edits=edits), stop="toolUse")
    event = told(user("Go"), calling, result("c", "done"))[-1]
    assert (event.action, event.target, event.text) == (Action.EDIT, "a.py", "- 1\n+ 2\n- a\n+ b")


# --- what nobody expected ---------------------------------------------------------------------------------


def test_new_kinds_of_lines_and_broken_ones_are_counted_and_passed_over() -> None:
    lines = [
        b"\n",
        b"{broken\n",
        line({"type": "hologram", "id": "1"}),
        line(entry("2", "1", {"role": "oracle", "content": "?"})),
        line(entry("3", "2", user("日本語で", 5))),
        b'{"type": "mess',
    ]
    events, reader = read(lines)
    assert [(event.text, event.native_id) for event in events] == [("日本語で", "5000")]
    assert dict(reader.counts) == {"blank": 1, "malformed": 1, "unknown": 2}


def test_an_entry_without_a_time_keeps_the_last_one() -> None:
    rows = [
        entry("1", None, user("one", 1_700_000_000_000)),
        {**entry("2", "1", user("two", 0)), "timestamp": None},
    ]
    events, _ = read([line(row) for row in rows])
    assert [event.at for event in events] == [1_700_000_000_000] * 2
    assert [event.native_id for event in events] == ["1700000000000", "2"]


# --- where it lies ----------------------------------------------------------------------------------------


def test_things_lie_where_pi_looks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    surface = agent("pi").surface
    assert surface is not None
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PI_CODING_AGENT_DIR", raising=False)
    assert surface.settings(None) == tmp_path / ".pi" / "agent" / "extensions" / "backstory.ts"
    assert surface.settings(tmp_path / "p") == tmp_path / "p" / ".pi" / "extensions" / "backstory.ts"
    assert HISTORY.root() == tmp_path / ".pi" / "agent" / "sessions"
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "elsewhere"))
    assert surface.settings(None) == tmp_path / "elsewhere" / "extensions" / "backstory.ts"
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(tmp_path / "kept"))
    assert HISTORY.root() == tmp_path / "kept"
