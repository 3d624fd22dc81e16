"""Copilot CLI: payloads and a history that the real 1.0.102 wrote, and what they come to."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backstory.agents import agent
from backstory.agents.agent import Owned, Unreadable
from backstory.agents.copilot import SURFACE, config_dir, hooks_file, hooks_text, read_hook
from backstory.agents.copilot_history import HISTORY, Reader, history_dir
from backstory.model import Action, Event, Kind, Outcome

SAMPLES = Path(__file__).parent / "samples" / "copilot"
SAME = ("session", "kind", "text", "action", "tool", "target", "outcome", "native_id", "recalled", "subagent")

Row = dict[str, Any]


def line(row: object) -> bytes:
    return json.dumps(row).encode() + b"\n"


def live(event: str, **payload: Any) -> list[Event]:
    return read_hook(event, {"session_id": "s", "cwd": "/p", **payload}, 1)


def ran(answer: str, kind: str = "success") -> Event:
    (event,) = live(
        "PostToolUse",
        tool_name="Bash",
        tool_input={"command": "make"},
        tool_result={"result_type": kind, "text_result_for_llm": answer},
    )
    return event


def row(kind: str, number: int = 1, agent_id: str = "", **data: Any) -> Row:
    said = {"type": kind, "id": f"e{number}", "timestamp": "2026-11-16T00:33:16.126Z", "data": data}
    return {**said, "agentId": agent_id} if agent_id else said


def called(number: int, command: str = "make") -> Row:
    given = {"command": command}
    return row("tool.execution_start", toolCallId=f"c{number}", toolName="bash", arguments=given)


def answered(number: int, text: str = "ok") -> Row:
    return row("tool.execution_complete", toolCallId=f"c{number}", success=True, result={"content": text})


def read(*rows: object) -> list[Event]:
    reader = Reader("s")
    return [event for one in rows for event in reader.feed(line(one))] + reader.finish()


def captured() -> list[Event]:
    return [
        event
        for number, payload in enumerate((SAMPLES / "hooks.jsonl").read_text("utf-8").splitlines())
        for event in read_hook("", json.loads(payload), number)
    ]


def recorded() -> list[Event]:
    reader = Reader("")
    lines = (SAMPLES / "events.jsonl").read_bytes().splitlines(keepends=True)
    events = [event for part in lines for event in reader.feed(part)]
    assert (reader.counts["malformed"], reader.counts["unknown"], reader.counts["orphans"]) == (0, 0, 0)
    return events


def told(events: Iterable[Event], *kinds: Kind) -> Counter[tuple[object, ...]]:
    return Counter(tuple(getattr(event, field) for field in SAME) for event in events if event.kind in kinds)


# --- hooks --------------------------------------------------------------------------------------------------


def test_a_session_is_told_by_its_hooks() -> None:
    events = [event for event in captured() if not event.subagent and event.kind is not Kind.TOOL]
    assert [event.kind for event in events] == [
        Kind.SESSION_STARTED, Kind.PROMPT, Kind.TURN_ENDED, Kind.SESSION_ENDED,
        Kind.TURN_ENDED, Kind.SESSION_ENDED,  # a command in the background came to its end
        Kind.SESSION_STARTED, Kind.PROMPT, Kind.TURN_ENDED, Kind.SESSION_ENDED, Kind.COMPACTING,
    ]  # fmt: skip
    assert [event.reason for event in events if event.kind is Kind.SESSION_STARTED] == ["startup", "resume"]
    assert [event.text for event in events if event.kind is Kind.PROMPT] == ["Fix the greeting", "Continue"]


def test_each_tool_is_known_by_what_it_does() -> None:
    uses = [(e.action, e.target, e.outcome) for e in captured() if e.kind is Kind.TOOL]
    assert uses == [
        (Action.RUN, "cat greeting.txt", Outcome.OK),
        (Action.RUN, "ls /nowhere", Outcome.FAILED),
        (Action.READ, "/home/dev/proj/missing.txt", Outcome.FAILED),
        (Action.WRITE, "/home/dev/proj/new.txt", Outcome.OK),
        (Action.EDIT, "/home/dev/proj/greeting.txt", Outcome.OK),
        (Action.FIND, "hello", Outcome.OK),
        (Action.RUN, "sleep 9", Outcome.NONE),
        (Action.RUN, "ls | wc -l", Outcome.OK),
        (Action.DELEGATE, "count files", Outcome.OK),
        (Action.RUN, "ls /nowhere", Outcome.FAILED),
    ]


def test_a_sub_agents_hooks_belong_to_the_session_that_sent_it() -> None:
    main = captured()[0].session
    sent = [event for event in captured() if event.subagent]
    assert {event.session for event in sent} == {main}
    assert {event.subagent_type for event in sent} == {"general-purpose"}
    assert [event.kind for event in sent] == [Kind.TOOL, Kind.SAID, Kind.SUBAGENT_ENDED]


def test_the_session_that_only_starts_has_its_history_where_copilot_keeps_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path))
    (started,) = live("SessionStart", source="new")
    assert started.transcript == f"{tmp_path}/session-state/s/events.jsonl"
    (stopped,) = live("Stop", transcript_path="/else/events.jsonl")
    assert stopped.transcript == "/else/events.jsonl"


@pytest.mark.parametrize(
    ("answer", "text", "outcome"),
    [
        ("hi\n<shellId: 0 completed with exit code 0>", "hi", Outcome.OK),
        ("<shellId: 0 completed with exit code 0>", "", Outcome.OK),
        ("no rule\n<shellId: 1 completed with exit code 2>", "Exit code 2\nno rule", Outcome.FAILED),
        ("<command started in background with shellId: 0>", "", Outcome.NONE),
        ("half\n<shellId: 3 is still running after 30 s>", "half", Outcome.NONE),
        (
            "<shellId: 1 completed with exit code 2>\nmore",
            "<shellId: 1 completed with exit code 2>\nmore",
            Outcome.OK,
        ),
    ],
)
def test_how_a_command_ended_is_in_its_answer(answer: str, text: str, outcome: Outcome) -> None:
    event = ran(answer)
    assert (event.text, event.outcome) == (text, outcome)


def test_a_result_that_says_it_failed_did() -> None:
    assert ran("it would not", "failure").outcome is Outcome.FAILED
    assert ran("you may not", "denied").outcome is Outcome.FAILED


def test_what_copilot_tells_itself_is_no_prompt() -> None:
    note = '<system_notification>\nShell command "bg" has completed.\n</system_notification>'
    assert live("UserPromptSubmit", prompt=note) == []
    assert (
        read(row("user.message", content=note), row("user.message", content="go", source="skill-pdf")) == []
    )


@pytest.mark.parametrize(
    ("event", "payload"),
    [("Stop", {"session_id": ""}), ("UserPromptSubmit", {}), ("PostToolUse", {"tool_name": 5})],
)
def test_a_malformed_payload_says_what_is_wrong(event: str, payload: Row) -> None:
    with pytest.raises(Unreadable):
        live(event, **payload)


def test_its_hooks_file_has_a_command_and_a_timeout_for_each_event() -> None:
    row = agent("copilot")
    commands = {hook.name: f"run {hook.name}" for hook in row.hooks}
    written = json.loads(hooks_text(commands))
    assert written["version"] == 1
    assert {name: [entry] for name, [entry] in written["hooks"].items()} == {
        hook.name: [{"type": "command", "bash": f"run {hook.name}", "timeoutSec": hook.timeout}]
        for hook in row.hooks
    }
    assert isinstance(SURFACE.hooks, Owned)


def test_on_windows_it_is_powershell_that_starts_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """As data: no Windows has run it."""
    monkeypatch.setattr("sys.platform", "win32")
    text = """(if exist "C:\\it's" "C:\\it's") & exit 0"""
    written = json.loads(hooks_text({hook.name: text for hook in agent("copilot").hooks}))
    (start,) = written["hooks"]["SessionStart"]
    assert "bash" not in start
    assert start["powershell"] == """cmd /d /s /c '(if exist "C:\\it''s" "C:\\it''s") & exit 0'"""


def test_its_things_lie_where_it_looks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path))
    assert hooks_file() == tmp_path / "hooks" / "backstory.json"
    assert history_dir() == tmp_path / "session-state"
    monkeypatch.delenv("COPILOT_HOME")
    assert config_dir() == Path.home() / ".copilot"
    assert hooks_file(tmp_path) == tmp_path / ".github" / "hooks" / "backstory.json"


# --- history ------------------------------------------------------------------------------------------------


def test_history_and_hooks_of_a_session_give_the_same_events() -> None:
    both = (Kind.PROMPT, Kind.TOOL, Kind.SUBAGENT_ENDED)
    history = recorded()
    unhooked = [event for event in history if event.tool == "read_bash"]
    assert told(captured(), *both) == told(history, *both) - told(unhooked, *both)


def test_what_was_said_is_told_by_its_history_alone() -> None:
    said = [event for event in recorded() if event.kind is Kind.SAID]
    main = [event for event in said if not event.subagent]
    assert [event.text for event in main][-1] == "Still missing."
    assert all(event.native_id for event in main)
    assert [(event.text, event.native_id) for event in said if event.subagent] == [("Two.", "")]


def test_every_event_knows_where_it_happened_also_when_reading_goes_on(tmp_path: Path) -> None:
    assert {event.where.cwd for event in recorded()} == {"/home/dev/proj"}
    data = (SAMPLES / "events.jsonl").read_bytes()
    file = tmp_path / "events.jsonl"
    file.write_bytes(data)
    start = data.index(b'{"type": "user.message"')
    reader = Reader("s", start, str(file))
    (prompt,) = reader.feed(data[start:].splitlines(keepends=True)[0])
    assert prompt.where.cwd == "/home/dev/proj"


def test_a_compaction_is_told_by_its_summary() -> None:
    (compacted,) = [event for event in recorded() if event.kind is Kind.COMPACTED]
    assert (compacted.text, compacted.reason) == ("OK.", "manual")
    assert read(row("session.compaction_complete", success=False, summaryContent="x")) == []


def test_a_call_waits_for_its_result_and_one_without_was_interrupted() -> None:
    told = read(row("user.message", content="go"), called(1), called(2, "pwd"), answered(2))
    assert [(e.kind, e.target, e.outcome, e.native_id) for e in told] == [
        (Kind.PROMPT, "", Outcome.NONE, ""),
        (Kind.TOOL, "pwd", Outcome.OK, ""),
        (Kind.TOOL, "make", Outcome.INTERRUPTED, "c1"),
    ]


def test_a_turn_that_ended_in_an_error_or_an_abort_says_so() -> None:
    failed, ended = read(
        row("session.error", errorType="query", message="no answer"), row("abort", reason="user")
    )
    assert (failed.kind, failed.text, failed.reason) == (Kind.TURN_FAILED, "no answer", "query")
    assert (ended.kind, ended.outcome) == (Kind.TURN_ENDED, Outcome.INTERRUPTED)


def test_reasoning_is_kept_and_labelled() -> None:
    thought, said = read(row("assistant.message", messageId="m", content="Done.", reasoningText="hm"))
    assert (thought.kind, thought.text, said.kind) == (Kind.REASONED, "hm", Kind.SAID)


def test_our_own_injection_is_never_read() -> None:
    end = row(
        "hook.end",
        hookType="sessionStart",
        output={"additionalContext": "<backstory-notes>x</backstory-notes>"},
    )
    assert read(end) == []


def test_lines_of_a_newer_version_are_counted_and_passed_over() -> None:
    reader = Reader("s")
    assert reader.feed(line(row("hologram.shown"))) == []
    assert reader.feed(b"{broken}\n") == []
    assert (reader.counts["unknown"], reader.counts["malformed"]) == (1, 1)


def test_a_history_is_identified_by_its_first_line(tmp_path: Path) -> None:
    (found,) = HISTORY.find(SAMPLES / "events.jsonl")
    trail = HISTORY.identify(found)
    assert trail is not None
    assert trail.session == captured()[0].session
    (other,) = HISTORY.find(SAMPLES / "hooks.jsonl")
    assert HISTORY.identify(other) is None


KEYS = st.sampled_from(
    [
        "type", "id", "data", "content", "toolCallId", "toolName", "arguments", "success", "result", "error",
        "message", "messageId", "agentId", "timestamp", "context", "cwd", "summaryContent", "reasoningText",
    ]
)  # fmt: skip
KINDS = st.sampled_from(
    [
        "user.message", "assistant.message", "tool.execution_start", "tool.execution_complete", "abort",
        "session.start", "session.error", "subagent.started", "subagent.completed", "t1",
    ]
)  # fmt: skip
ROWS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | KINDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=20,
)


@given(st.lists(ROWS.map(line) | st.binary(max_size=60), max_size=8))
@settings(deadline=None, max_examples=120)
def test_no_line_can_make_the_reader_raise(lines: list[bytes]) -> None:
    reader = Reader("s")
    found = [event for part in lines for event in reader.feed(part)] + reader.finish()
    assert all(isinstance(event, Event) for event in found)
    assert 0 <= reader.offset <= sum(map(len, lines))


PAYLOADS = st.dictionaries(
    st.sampled_from(
        ["prompt", "tool_name", "tool_input", "tool_result", "source", "parent_agent_id", "error"]
    ),
    ROWS,
)


@given(
    st.sampled_from(["UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop", "SubagentStop"]),
    PAYLOADS,
)
@settings(deadline=None, max_examples=120)
def test_no_payload_can_make_it_raise_but_unreadable(event: str, payload: Row) -> None:
    try:
        found = live(event, **payload)
    except Unreadable:
        return
    assert all(isinstance(one, Event) for one in found)
