"""Gemini CLI: payloads and chats that the real 0.61.0 wrote, and what they come to."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backstory.agents import agent
from backstory.agents.agent import Unreadable
from backstory.agents.gemini_cli import config_dir, read_hook, settings_file
from backstory.agents.gemini_history import HISTORY, Reader, chats_dir, project_root
from backstory.model import Action, Event, Kind, Outcome

SAMPLES = Path(__file__).parent / "samples" / "gemini-cli"
SAME = ("session", "kind", "text", "action", "tool", "target", "outcome", "native_id", "recalled", "subagent")

Row = dict[str, Any]


def line(row: object) -> bytes:
    return json.dumps(row).encode() + b"\n"


def live(**payload: Any) -> list[Event]:
    return read_hook("", {"session_id": "s", "cwd": "/p", **payload}, 1)


def ran(answer: str, **more: Any) -> Event:
    given = {"command": "make", "description": "x"}
    (event,) = live(
        hook_event_name="AfterTool",
        tool_name="run_shell_command",
        tool_input=given,
        tool_response={"llmContent": answer, **more},
    )
    return event


def read(rows: Iterable[object]) -> list[Event]:
    reader = Reader("s")
    return [event for row in rows for event in reader.feed(line(row))] + reader.finish()


def user(text: str, message: str = "u1", **more: Any) -> Row:
    return {"id": message, "type": "user", "content": [{"text": text}], **more}


def model(text: str = "", message: str = "g1", calls: Iterable[Row] = (), **more: Any) -> Row:
    return {"id": message, "type": "gemini", "content": text, "toolCalls": list(calls), **more}


def call(command: str, status: str = "success", output: str = "Output: ok", number: int = 1) -> Row:
    response = {"error" if status == "error" else "output": output}
    return {
        "id": f"c{number}",
        "name": "run_shell_command",
        "args": {"command": command},
        "status": status,
        "result": [{"functionResponse": {"response": response}}],
    }


def captured() -> list[Event]:
    return [
        event
        for number, payload in enumerate((SAMPLES / "hooks.jsonl").read_text("utf-8").splitlines())
        for event in read_hook("", json.loads(payload), number)
    ]


def recorded(name: str = "chat") -> list[Event]:
    reader = Reader("")
    lines = (SAMPLES / f"{name}.jsonl").read_bytes().splitlines(keepends=True)
    events = [event for part in lines for event in reader.feed(part)]
    assert (reader.counts["malformed"], reader.counts["unknown"]) == (0, 0)
    return events


def told(events: Iterable[Event], *kinds: Kind) -> Counter[tuple[object, ...]]:
    return Counter(tuple(getattr(event, field) for field in SAME) for event in events if event.kind in kinds)


# --- hooks --------------------------------------------------------------------------------------------------


def test_a_session_is_told_by_its_hooks() -> None:
    events = captured()
    assert [event.kind for event in events if event.kind is not Kind.TOOL] == [
        Kind.SESSION_STARTED, Kind.PROMPT, Kind.TURN_ENDED, Kind.SESSION_ENDED,
        Kind.SESSION_STARTED, Kind.PROMPT, Kind.TURN_ENDED, Kind.SESSION_ENDED,
    ]  # fmt: skip
    assert [event.reason for event in events if event.kind is Kind.SESSION_STARTED] == ["startup", "resume"]
    assert [event.text for event in events if event.kind is Kind.PROMPT] == ["Fix the greeting", "Continue"]
    assert {event.where.cwd for event in events} == {"/home/dev/proj"}


def test_each_tool_is_known_by_what_it_does() -> None:
    uses = [(e.action, e.target, e.outcome) for e in captured() if e.kind is Kind.TOOL]
    assert uses == [
        (Action.RUN, "cat greeting.txt", Outcome.OK),
        (Action.RUN, "ls /nowhere", Outcome.FAILED),
        (Action.WRITE, "/home/dev/proj/new.txt", Outcome.OK),
        (Action.EDIT, "/home/dev/proj/greeting.txt", Outcome.OK),
        (Action.PLAN, "", Outcome.OK),
        (Action.RUN, "ls | wc -l", Outcome.OK),
        (Action.DELEGATE, "Count them", Outcome.OK),
        (Action.RUN, "ls /nowhere", Outcome.FAILED),
    ]


def test_its_plan_is_read_like_any_other() -> None:
    (plan,) = [json.loads(event.text) for event in captured() if event.action is Action.PLAN]
    assert [(row["content"], row["status"]) for row in plan["todos"]] == [
        ("Fix it", "completed"),
        ("Test it", "pending"),
    ]


@pytest.mark.parametrize(
    ("answer", "text", "outcome"),
    [
        ("Output: hi\nProcess Group PGID: 7", "hi", Outcome.OK),
        ("Output: (empty)\nProcess Group PGID: 7", "", Outcome.OK),
        ("Output: no rule\nExit Code: 2\nProcess Group PGID: 7", "Exit code 2\nno rule", Outcome.FAILED),
        ("Output: half\nSignal: SIGKILL", "Signal SIGKILL\nhalf", Outcome.FAILED),
        ("Output: x\nError: spawn failed\nExit Code: 1", "Exit code 1\nx\nspawn failed", Outcome.FAILED),
        # what older versions said
        (
            "Command: make\nDirectory: (root)\nOutput: a\nb\nError: (none)\nExit Code: 0\nSignal: (none)\n"
            "Background PIDs: (none)\nProcess Group PGID: 9",
            "a\nb",
            Outcome.OK,
        ),
        # a command may print what looks like a section
        ("Output: Exit Code: 3\nnot the end\nProcess Group PGID: 7", "Exit Code: 3\nnot the end", Outcome.OK),
        (
            "<untrusted_context>\nOutput: hi\nExit Code: 1\n</untrusted_context>",
            "Exit code 1\nhi",
            Outcome.FAILED,
        ),
        ("Output: hi\n\n<hook_context>memory</hook_context>", "hi", Outcome.OK),
        ("Command moved to background (PID: 7). Output hidden.", "", Outcome.NONE),
        ("something new", "something new", Outcome.OK),
    ],
)
def test_how_a_command_ended_is_in_its_answer(answer: str, text: str, outcome: Outcome) -> None:
    event = ran(answer)
    assert (event.text, event.outcome) == (text, outcome)


def test_a_command_that_the_user_stopped_was_interrupted_and_one_out_of_time_failed() -> None:
    assert ran("Command was cancelled by user before it could complete.").outcome is Outcome.INTERRUPTED
    assert ran("Command was automatically cancelled because it took 5 minutes").outcome is Outcome.FAILED


def test_a_tools_own_error_is_what_it_failed_with() -> None:
    event = ran("whatever", error={"message": "no such folder", "type": "x"})
    assert (event.outcome, event.text) == (Outcome.FAILED, "no such folder")


def test_a_question_and_its_answer_are_brought_together() -> None:
    (event,) = live(
        hook_event_name="AfterTool",
        tool_name="ask_user",
        tool_input={"questions": [{"question": "Tabs or spaces?"}]},
        tool_response={"llmContent": '{"answers": {"0": "Tabs"}}'},
    )
    assert (event.tool, event.text) == ("AskUserQuestion", "Tabs or spaces?\n→ Tabs")


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("do it", "do it"),
        ("<hook_context>memory</hook_context>\n\ndo it", "do it"),
        ("do it<hook_context>memory", "do it"),
        ("look at @a.py\n--- Content from referenced files ---\nsecret stuff", "look at @a.py"),
    ],
)
def test_a_prompt_is_what_the_user_typed(prompt: str, text: str) -> None:
    (event,) = live(hook_event_name="BeforeAgent", prompt=prompt)
    assert event.text == text


def test_what_means_nothing_gives_no_event() -> None:
    assert live(hook_event_name="PreCompress", trigger="auto") == []
    assert live(hook_event_name="BeforeModel", llm_request={}) == []
    assert live(hook_event_name="BeforeAgent", prompt="<hook_context>memory</hook_context>") == []


@pytest.mark.parametrize(
    "payload",
    [{"session_id": ""}, {"session_id": 5}, {"prompt": None}, {"hook_event_name": "AfterTool"}],
)
def test_a_malformed_payload_says_what_is_wrong(payload: Row) -> None:
    with pytest.raises(Unreadable):
        live(**{"hook_event_name": "BeforeAgent", **payload})


def test_our_own_tools_are_known_under_its_names() -> None:
    assert agent("gemini-cli").our_tools == ("mcp_backstory_*",)


# --- chats --------------------------------------------------------------------------------------------------


def test_a_chat_and_the_hooks_of_its_session_give_the_same_events() -> None:
    both = (Kind.PROMPT, Kind.TOOL)
    events = [*recorded(), *recorded_of_subagent()]
    refused = [event for event in events if event.tool == "read_file"]
    assert [event.outcome for event in refused] == [Outcome.FAILED], (
        "a call that the client did not even make"
    )
    assert told(captured(), *both) == told(events, *both) - told(refused, *both)


def test_a_resumed_session_does_not_go_on_in_the_chat_that_its_start_names() -> None:
    path = {"transcript_path": "/home/dev/.gemini/tmp/proj/chats/session-x.jsonl"}
    started = {"hook_event_name": "SessionStart", **path}
    (first,) = live(source="startup", **started)
    (resumed,) = live(source="resume", **started)
    (prompt,) = live(hook_event_name="BeforeAgent", prompt="go", **path)
    assert (first.transcript, resumed.transcript) == (path["transcript_path"], "")
    assert prompt.transcript == path["transcript_path"]


def recorded_of_subagent() -> list[Event]:
    """Hooks give what a sub-agent did as its session's own."""
    session = captured()[0].session
    reader = Reader(session)
    lines = (SAMPLES / "subagent.jsonl").read_bytes().splitlines(keepends=True)
    return [event for part in lines for event in reader.feed(part)]


def test_what_was_said_is_told_message_by_message_and_in_its_place() -> None:
    events = recorded()
    said = [event.text for event in events if event.kind is Kind.SAID]
    assert said[0] == "I will call run_shell_command."
    assert said[-1] == "Still missing."
    assert [event.kind for event in events][:3] == [Kind.PROMPT, Kind.SAID, Kind.TOOL]
    assert len({event.native_id for event in events if event.kind is Kind.SAID}) == len(said)


def test_thoughts_are_kept_and_labelled() -> None:
    thoughts = [event.text for event in recorded() if event.kind is Kind.REASONED]
    assert thoughts == ["Plan\nthinking about it"] * 2


def test_of_a_message_that_is_written_again_each_call_counts_once() -> None:
    rows = [
        user("go"),
        model("Let me see.", message="g1"),
        model("Let me see.", message="g1", calls=[call("ls", number=1)]),
        model("Let me see.", message="g1", calls=[call("ls", number=1), call("pwd", number=2)]),
    ]
    assert [(e.kind, e.target) for e in read(rows)] == [
        (Kind.PROMPT, ""),
        (Kind.SAID, ""),
        (Kind.TOOL, "ls"),
        (Kind.TOOL, "pwd"),
    ]


def test_a_call_counts_when_it_has_ended() -> None:
    waiting = [user("go"), model(calls=[call("ls", status="executing")])]
    assert [e.kind for e in read(waiting)] == [Kind.PROMPT]
    (_, stopped) = read([user("go"), model(calls=[call("ls", status="cancelled")])])
    assert stopped.outcome is Outcome.INTERRUPTED


def test_a_conversation_that_is_repeated_after_a_resume_tells_nothing_new() -> None:
    rows = [user("go"), model("Gone.")]
    repeated = {"$set": {"messages": [user("go"), model("Gone."), user("again", "u2")]}}
    assert len(read([*rows, repeated])) == len(read(rows)) == 2


def test_a_compression_is_told_once_by_its_summary() -> None:
    summary = user("<state_snapshot>\n<goal>ship</goal>\n</state_snapshot>", "u9")
    rows = [user("go"), {"$set": {"messages": [summary]}}, {"$set": {"messages": [summary, user("on")]}}]
    (_, compacted) = read(rows)
    assert (compacted.kind, compacted.text) == (Kind.COMPACTED, "<goal>ship</goal>")


def test_what_nobody_typed_is_no_prompt() -> None:
    results = {"id": "u3", "type": "user", "content": [{"functionResponse": {"response": {"output": "x"}}}]}
    context = user("<session_context>\nToday is Sunday\n</session_context>", "u4")
    assert read([results, context, user("", "u5"), {"type": "info", "id": "i", "content": "x"}]) == []


def test_lines_of_a_newer_version_are_counted_and_passed_over() -> None:
    reader = Reader("s")
    assert reader.feed(line({"id": "x", "type": "hologram"})) == []
    assert reader.feed(b"{broken}\n") == []
    assert (reader.counts["unknown"], reader.counts["malformed"]) == (1, 1)


def test_read_on_from_a_prompt_it_gives_the_rest_of_the_chat() -> None:
    data = (SAMPLES / "chat.jsonl").read_bytes()
    whole = recorded()
    first = Reader("")
    for part in data.splitlines(keepends=True)[:30]:
        first.feed(part)
    later = Reader("", first.turn_start)
    rest = [
        event for part in data[first.turn_start :].splitlines(keepends=True) for event in later.feed(part)
    ]
    assert [e.text for e in rest] == [e.text for e in whole][-len(rest) :]
    assert rest[0].kind is Kind.PROMPT


def test_a_chat_of_an_older_version_is_one_object(tmp_path: Path) -> None:
    """What an agent wrote before it wrote lines is read as well."""
    chats = tmp_path / "tmp" / "0f" / "chats"
    chats.mkdir(parents=True)
    old = {
        "sessionId": "old",
        "projectHash": "0f",
        "startTime": "2025-09-01T10:00:00.000Z",
        "messages": [user("go", timestamp="2025-09-01T10:00:01.000Z"), model("Gone.", calls=[call("ls")])],
    }
    (chats / "session-2025-09-01T10-00-old.json").write_text(json.dumps(old, indent=2))
    (chats / "session-2025-09-02T10-00-moved.json").write_text(json.dumps({**old, "sessionId": "moved"}))
    (chats / "session-2025-09-02T10-00-moved.jsonl").write_bytes(line({**old, "sessionId": "moved"}))
    (tmp_path / "tmp" / "0f" / "checkpoint-x.json").write_text("[]")

    trails = [trail for found in HISTORY.find(tmp_path) if (trail := HISTORY.identify(found))]

    assert sorted((trail.session, trail.path.suffix) for trail in trails) == [
        ("moved", ".jsonl"),
        ("old", ".json"),
    ]
    (trail,) = [trail for trail in trails if trail.session == "old"]
    reader = HISTORY.reader(trail, 0)
    events = [event for part in HISTORY.lines(trail, 0) for event in reader.feed(part)]
    assert [event.kind for event in events] == [Kind.PROMPT, Kind.SAID, Kind.TOOL]
    assert events[0].at == 1_756_720_801_000


def test_a_chat_is_identified_by_its_header_and_a_sub_agents_by_its_folder() -> None:
    def identified(name: str, place: Path) -> tuple[str, str]:
        (found,) = HISTORY.find(place)
        trail = HISTORY.identify(found)
        assert trail is not None, name
        return trail.session, trail.subagent

    header = json.loads((SAMPLES / "chat.jsonl").read_text("utf-8").partition("\n")[0])
    assert identified("chat", SAMPLES / "chat.jsonl") == (header["sessionId"], "")
    nested = json.loads((SAMPLES / "subagent.jsonl").read_text("utf-8").partition("\n")[0])
    assert identified("sub", SAMPLES / "subagent.jsonl") == ("gemini-cli", nested["sessionId"])
    (other,) = HISTORY.find(SAMPLES / "hooks.jsonl")
    assert HISTORY.identify(other) is None


def test_a_chat_knows_its_project(tmp_path: Path) -> None:
    chat = tmp_path / "tmp" / "shop" / "chats" / "session-x.jsonl"
    assert project_root(chat) == ""
    chat.parent.mkdir(parents=True)
    (tmp_path / "projects.json").write_text('{"projects": {"/srv/shop": "shop"}}')
    assert project_root(chat) == "/srv/shop"
    hashed = (
        tmp_path / "tmp" / "9fdb1d2e2a2b2d86d3fd0f4fe2c92fd3d2ce7be24fb2ac0cff7b1db0cd01ad26" / "chats" / "x"
    )
    assert project_root(hashed) == ""
    (chat.parent.parent / ".project_root").write_text("/srv/real\n")
    assert project_root(chat) == "/srv/real"
    assert project_root(chat.parent / "parent" / "sub.jsonl") == "/srv/real"


def test_its_things_lie_where_it_looks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path))
    assert settings_file() == tmp_path / ".gemini" / "settings.json"
    assert chats_dir() == tmp_path / ".gemini" / "tmp"
    monkeypatch.delenv("GEMINI_CLI_HOME")
    assert config_dir() == Path.home() / ".gemini"
    assert settings_file(tmp_path) == tmp_path / ".gemini" / "settings.json"


KEYS = st.sampled_from(
    [
        "type", "id", "content", "text", "toolCalls", "name", "args", "status", "result", "thoughts", "$set",
        "messages", "functionResponse", "response", "output", "timestamp", "sessionId", "projectHash", "kind",
    ]
)  # fmt: skip
WORDS = st.sampled_from(["user", "gemini", "subagent", "success", "error", "run_shell_command", "t1"])
ROWS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | WORDS,
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
    st.sampled_from(["prompt", "tool_name", "tool_input", "tool_response", "source", "reason", "cwd"]), ROWS
)


@given(st.sampled_from(["BeforeAgent", "AfterTool", "AfterAgent", "SessionStart", "SessionEnd"]), PAYLOADS)
@settings(deadline=None, max_examples=120)
def test_no_payload_can_make_it_raise_but_unreadable(event: str, payload: Row) -> None:
    reading: Callable[[], list[Event]] = lambda: read_hook(event, {"session_id": "s", **payload}, 1)  # noqa: E731
    try:
        found = reading()
    except Unreadable:
        return
    assert all(isinstance(one, Event) for one in found)
