"""What the real Qwen Code 0.24.4 sent and wrote becomes the same events."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from backstory.agents import AGENTS, Unreadable
from backstory.agents.agent import Grouped
from backstory.agents.qwen_code import SURFACE, history_dir, settings_file
from backstory.agents.qwen_history import HISTORY, Reader
from backstory.model import Action, Event, Kind, Outcome

SAMPLES = Path(__file__).parent / "samples" / "qwen-code"
AT = 1_794_787_600_000


def lines(name: str) -> list[bytes]:
    return (SAMPLES / f"{name}.jsonl").read_bytes().splitlines(keepends=True)


def hook(payload: dict[str, Any], event: str = "") -> list[Event]:
    return AGENTS["qwen-code"].read_hook(event, payload, AT)


def live(name: str) -> list[Event]:
    return [event for line in lines(name) for event in hook(json.loads(line))]


def history(rows: list[bytes], session: str = "") -> tuple[list[Event], Reader]:
    reader = Reader(session)
    events = [event for row in rows for event in reader.feed(row)]
    return [*events, *reader.finish()], reader


def row(kind: str, parts: list[dict[str, Any]], **more: Any) -> bytes:
    said = {"uuid": "u", "sessionId": "s", "timestamp": "2026-11-16T00:00:00.000Z", "type": kind, "cwd": "/p"}
    return json.dumps({**said, "message": {"role": "x", "parts": parts}, **more}).encode() + b"\n"


def seen(events: list[Event]) -> Counter[tuple[str, ...]]:
    """What both roads must tell alike."""
    return Counter(
        (e.kind, e.native_id, e.tool, e.target, e.text, e.outcome, e.subagent, e.subagent_type)
        for e in events
        if e.kind not in (Kind.SESSION_STARTED, Kind.SESSION_ENDED)
    )


def test_a_session_as_its_hooks_tell_it() -> None:
    events = live("hooks")
    assert [e.kind for e in events if e.kind is not Kind.TOOL] == [
        Kind.SESSION_STARTED, Kind.PROMPT, Kind.SAID, Kind.TURN_ENDED,
    ]  # fmt: skip
    assert [(e.action, e.target, e.outcome) for e in events if e.kind is Kind.TOOL] == [
        (Action.RUN, "echo hi", Outcome.OK),
        (Action.RUN, "ls /nope; exit 3", Outcome.FAILED),
        (Action.WRITE, "/home/dev/proj/a.txt", Outcome.OK),
        (Action.EDIT, "/home/dev/proj/a.txt", Outcome.OK),
        (Action.READ, "/nope/x", Outcome.FAILED),
    ]


def test_the_prompt_is_what_was_typed_without_the_files_that_it_names() -> None:
    (prompt,) = [e.text for e in live("hooks") if e.kind is Kind.PROMPT]
    assert prompt.startswith("Do as in @notes.txt")
    assert "the notes" not in prompt


def test_a_prompt_without_words_is_none() -> None:
    """It runs the hook after every tool result."""
    empty = [json.loads(line) for line in lines("hooks") if b'"prompt":""' in line.replace(b": ", b":")]
    assert len(empty) == 5
    assert [hook(payload) for payload in empty] == [[]] * 5


def test_a_chat_tells_the_same_as_the_hooks() -> None:
    events, reader = history(lines("chat"))
    assert seen(events) == seen(live("hooks"))
    assert (reader.counts["unknown"], reader.counts["orphans"]) == (0, 0)


def test_so_does_the_chat_of_a_sub_agent_under_the_session_that_sent_it() -> None:
    (trail,) = HISTORY.find(SAMPLES / "subagent.jsonl")
    named = HISTORY.identify(trail)
    assert named is not None
    sub = [e for e in live("subagent-hooks") if e.subagent]
    assert {(e.session, e.subagent) for e in sub} == {(named.session, named.subagent)}
    assert seen(history(lines("subagent"), named.session)[0]) == seen(sub)


def test_what_hooks_added_to_a_prompt_is_not_the_prompt() -> None:
    parts = [{"text": "fix it"}, {"text": "<qwen:user-prompt-submit-context>\nx\n</qwen:x>"}]
    (event,) = history([row("user", parts, provenance="real_user")])[0]
    assert event.text == "fix it"
    assert history([row("user", parts, provenance="system")])[0] == []


# MP-11
def test_mp_11_thoughts_are_kept_and_labelled() -> None:
    events, _ = history([row("assistant", [{"text": "hm", "thought": True}, {"text": "Done."}])])
    assert [(e.kind, e.text) for e in events] == [
        (Kind.REASONED, "hm"),
        (Kind.SAID, "Done."),
        (Kind.TURN_ENDED, ""),
    ]


def test_a_compression_is_told_by_its_summary() -> None:
    snapshot = {"role": "user", "parts": [{"text": "<state_snapshot>\nhalf done\n</state_snapshot>"}]}
    kept = {"compressedHistory": [snapshot, {"role": "model", "parts": [{"text": "Got it."}]}]}
    events, _ = history([row("system", [], subtype="chat_compression", systemPayload=kept)])
    assert [(e.kind, e.text) for e in events] == [(Kind.COMPACTED, "half done")]


def test_a_call_that_the_next_prompt_finds_unanswered_was_interrupted() -> None:
    call = {"functionCall": {"id": "c", "name": "run_shell_command", "args": {"command": "sleep 9"}}}
    events, reader = history([row("assistant", [call]), row("user", [{"text": "no"}])])
    assert [(e.kind, e.outcome) for e in events] == [
        (Kind.TOOL, Outcome.INTERRUPTED),
        (Kind.PROMPT, Outcome.NONE),
    ]
    assert reader.turn_start == len(row("assistant", [call]))


# MP-12
def test_mp_12_new_kinds_are_counted_and_broken_lines_skipped() -> None:
    events, reader = history([row("brand_new", []), b"{broken\n", row("assistant", [{"newer": 1}])])
    assert events == []
    assert (reader.counts["unknown"], reader.counts["malformed"]) == (1, 1)


def test_what_is_malformed_is_unreadable() -> None:
    for payload in ({"session_id": ""}, {"session_id": "s"}):
        with pytest.raises(Unreadable):
            hook(payload, "PostToolUse")
    with pytest.raises(Unreadable):
        hook({"session_id": "s", "prompt": 5}, "UserPromptSubmit")


def test_its_timeouts_are_milliseconds_and_its_folders_can_be_moved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert isinstance(SURFACE.hooks, Grouped)
    assert SURFACE.hooks.per_second == 1000
    monkeypatch.setenv("QWEN_HOME", str(tmp_path))
    assert (settings_file(), history_dir()) == (tmp_path / "settings.json", tmp_path / "projects")
    monkeypatch.setenv("QWEN_RUNTIME_DIR", str(tmp_path / "run"))
    assert history_dir() == tmp_path / "run" / "projects"
