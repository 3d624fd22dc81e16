"""Hook payloads of Claude Code become events: once, with the same fields whatever else is in them."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backstory.agents import AGENTS, Unreadable, agent
from backstory.model import Action, Event, Kind, Outcome

Sample = Callable[[str], dict[str, Any]]
AT = 1_794_766_938_704


def read(payload: dict[str, Any], event: str = "") -> list[Event]:
    return agent("claude-code").read_hook(event, payload, AT)


def tool(name: str, inputs: object, response: object = None, **more: object) -> Event:
    payload = {"session_id": "s", "tool_name": name, "tool_input": inputs, "tool_response": response, **more}
    (event,) = read(payload, "PostToolUse")
    return event


def prompt(text: str, **more: object) -> list[Event]:
    return read({"session_id": "s", "prompt_id": "p", "prompt": text, **more}, "UserPromptSubmit")


# --- the samples --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind", "reason"),
    [
        ("SessionStart.startup", Kind.SESSION_STARTED, "startup"),
        ("SessionStart.resume", Kind.SESSION_STARTED, "resume"),
        ("SessionStart.clear", Kind.SESSION_STARTED, "clear"),
        ("SessionStart.compact", Kind.SESSION_STARTED, "compact"),
        ("PreCompact.manual", Kind.COMPACTING, "manual"),
        ("PostCompact.manual", Kind.COMPACTED, "manual"),
        ("SessionEnd.clear", Kind.SESSION_ENDED, "clear"),
        ("SessionEnd.other", Kind.SESSION_ENDED, "other"),
        ("SessionEnd.prompt_input_exit", Kind.SESSION_ENDED, "prompt_input_exit"),
    ],
)
# CMEM-8
def test_cmem_8_starts_compactions_and_ends_carry_their_reason(
    sample: Sample, name: str, kind: Kind, reason: str
) -> None:
    payload = sample(name)
    (event,) = read(payload)
    assert (event.kind, event.reason) == (kind, reason)
    assert event.agent == "claude-code"
    assert event.session == payload["session_id"]
    assert event.transcript == payload["transcript_path"]
    assert event.where.cwd == "/home/dev/proj"
    assert event.at == AT
    assert event.origin == "live"


def test_a_command_that_worked(sample: Sample) -> None:
    (event,) = read(sample("PostToolUse.Bash"))
    assert (event.kind, event.action, event.tool) == (Kind.TOOL, Action.RUN, "Bash")
    assert (event.target, event.text, event.outcome) == ("echo hi", "hi", Outcome.OK)
    assert event.native_id == "toolu_01ffd7bc5aac4383941109fc"
    assert not event.recalled


def test_a_command_and_a_read_that_failed(sample: Sample) -> None:
    (event,) = read(sample("PostToolUseFailure.Bash"))
    assert (event.action, event.target, event.outcome) == (Action.RUN, "ls /nonexistent-dir", Outcome.FAILED)
    assert event.text.startswith("Exit code 2\nls: cannot access")
    (event,) = read(sample("PostToolUseFailure.Read"))
    assert (event.action, event.target, event.outcome) == (Action.READ, "/nope/none.txt", Outcome.FAILED)


def test_a_file_written_and_a_task_delegated(sample: Sample) -> None:
    (event,) = read(sample("PostToolUse.Write"))
    assert (event.action, event.target, event.text) == (
        Action.WRITE,
        "/home/dev/proj/foo.txt",
        "hello\nworld",
    )
    (event,) = read(sample("PostToolUse.Agent"))
    assert (event.action, event.target, event.text) == (Action.DELEGATE, "scripted sub-task", "OK.")


def test_a_stop_says_the_last_words_and_ends_the_turn(sample: Sample) -> None:
    payload = sample("Stop")
    said, ended = read(payload)
    assert (said.kind, said.text, said.native_id) == (Kind.SAID, "All finished.", payload["prompt_id"])
    assert (ended.kind, ended.outcome) == (Kind.TURN_ENDED, Outcome.OK)
    assert ended.native_id.startswith(payload["prompt_id"])
    (only,) = read({**payload, "last_assistant_message": ""})
    assert only.kind is Kind.TURN_ENDED


def test_a_turn_that_an_error_ended(sample: Sample) -> None:
    payload = {**sample("Stop"), "error": "rate_limit", "error_details": "429 slow down"}
    (event,) = read(payload, "StopFailure")
    assert (event.kind, event.outcome) == (Kind.TURN_FAILED, Outcome.FAILED)
    assert (event.reason, event.text) == ("rate_limit", "429 slow down")


def test_a_sub_agent_is_labelled_and_the_clients_own_helpers_are_not_ours(sample: Sample) -> None:
    payload = sample("SubagentStop")
    said, ended = read(payload)
    assert (said.kind, ended.kind) == (Kind.SAID, Kind.SUBAGENT_ENDED)
    for event in (said, ended):
        assert (event.subagent, event.subagent_type) == ("aca24275144235aed", "general-purpose")
    assert read({**payload, "agent_type": ""}) == []


def test_events_that_mean_nothing_to_us_give_nothing(sample: Sample) -> None:
    assert read(sample("PostToolBatch")) == []
    assert read(sample("SubagentStart")) == []
    assert read(sample("Stop"), "SomethingNew") == []


def test_unknown_fields_are_ignored_and_wrong_types_tolerated(sample: Sample) -> None:
    (plain,) = read(sample("PostToolUse.Bash"))
    (more,) = read({**sample("PostToolUse.Bash"), "new_field": {"deep": [1]}})
    assert more == plain
    (odd,) = read(
        {**sample("PostToolUse.Bash"), "cwd": 7, "tool_input": "x", "tool_response": 5, "agent_id": []}
    )
    assert (odd.where.cwd, odd.target, odd.text, odd.subagent) == ("", "", "", "")


@pytest.mark.parametrize("path", ["", None, 5, ["/x"], "/x\0y", "/" * 5_000])
# CM-9
def test_cm_9_a_transcript_path_that_is_none_is_empty(sample: Sample, path: object) -> None:
    (event,) = read({**sample("SessionEnd.other"), "transcript_path": path})
    assert event.transcript == ""
    payload = sample("SessionEnd.other")
    del payload["transcript_path"]
    assert read(payload)[0].transcript == ""


# --- session ids --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("session", [None, "", "  ", 5, ["s"]])
def test_without_a_session_id_a_payload_is_unreadable(session: object) -> None:
    with pytest.raises(Unreadable) as caught:
        read({"session_id": session, "prompt": "x"}, "UserPromptSubmit")
    assert caught.value.reason == "no session id"


@pytest.mark.parametrize("session", ["x" * 10_000, "../../etc/passwd", "a\\b", "..", "a\0b", "a\nb"])
# MEMORIA-32
def test_memoria_32_an_absurd_session_id_is_no_path_and_stays_distinct(session: str) -> None:
    def key(text: str) -> str:
        return read({"session_id": text, "source": "startup"}, "SessionStart")[0].session

    made = key(session)
    assert len(made) <= 200
    assert not set("/\\\0\n") & set(made)
    assert ".." not in made
    assert made != key(session + "x")
    assert key(made) == made, "an id that went through once is left alone"


def test_a_tool_event_needs_its_tool_and_a_prompt_its_text() -> None:
    with pytest.raises(Unreadable, match="no tool name"):
        read({"session_id": "s", "tool_input": {}}, "PostToolUse")
    with pytest.raises(Unreadable, match="no prompt"):
        read({"session_id": "s"}, "UserPromptSubmit")


# --- prompts ------------------------------------------------------------------------------------------------


def test_a_prompt_is_kept_as_typed_up_to_its_limit(sample: Sample) -> None:
    (event,) = read(sample("UserPromptSubmit"))
    assert (event.kind, event.text[:12], event.reason) == (Kind.PROMPT, "Please do it", "")
    (long,) = prompt("start " + "x" * 10_000 + " end")
    assert len(long.text) == 4_000
    assert long.text.startswith("start ")
    assert long.text.endswith(" end")


def test_what_is_typed_while_the_agent_works_is_another_prompt_under_the_same_id() -> None:
    first, second = prompt("fix it")[0], prompt("no, with tabs")[0]
    assert first.native_id != second.native_id
    assert first.native_id == prompt("fix  it ")[0].native_id


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "<command-name>/compact</command-name>\n<command-args>keep the tests</command-args>",
        "<command-message>clear</command-message>\n<command-name>/clear</command-name>",
        "<local-command-stdout>Compacted</local-command-stdout>",
        "<local-command-caveat>x</local-command-caveat>",
        "<task-notification>\n<task-id>b1</task-id>",
        "<bash-input>ls</bash-input>",
        "<system-reminder>be good</system-reminder>",
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
    ],
)
def test_what_nobody_typed_is_no_prompt(text: str) -> None:
    assert prompt(text) == []


def test_the_arguments_of_a_users_own_command_are_the_ask() -> None:
    wrapped = (
        "<command-message>fix</command-message>\n<command-name>/fix</command-name>\n"
        "<command-args>the port</command-args>"
    )
    assert prompt(wrapped)[0].text == "/fix the port"


def test_a_reminder_beside_a_prompt_does_not_hide_it() -> None:
    assert prompt("<system-reminder>x</system-reminder>\nfix it")[0].text == "fix it"


def test_a_prompt_that_the_system_sent_is_not_the_users() -> None:
    assert prompt("wake up", source="system") == []
    assert prompt("poll", source="schedule_wakeup")[0].reason == "schedule_wakeup"
    assert prompt("hello", source="user")[0].reason == ""


def test_our_notes_are_taken_out_of_a_prompt() -> None:
    block = "<backstory-notes>old</backstory-notes>"
    (event,) = prompt(f"{block} fix it")
    assert (event.text, event.recalled) == ("fix it", False)
    (event,) = prompt(block)
    assert (event.text, event.recalled) == ("", True)


# --- tools --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "inputs", "response", "action", "target", "text"),
    [
        ("Bash", {"command": "x"}, {"stdout": "a", "stderr": "b"}, Action.RUN, "x", "a\nb"),
        ("Read", {"file_path": "/a"}, {"file": {"content": "x"}}, Action.READ, "/a", ""),
        (
            "Edit",
            {"file_path": "/a", "old_string": "o", "new_string": "n"},
            {},
            Action.EDIT,
            "/a",
            "- o\n+ n",
        ),
        (
            "MultiEdit",
            {"file_path": "/a", "edits": [{"old_string": "o", "new_string": "n"}, {"new_string": "m"}]},
            {},
            Action.EDIT,
            "/a",
            "- o\n+ n\n+ m",
        ),
        ("NotebookEdit", {"notebook_path": "/n", "new_source": "x"}, {}, Action.EDIT, "/n", "+ x"),
        ("Grep", {"pattern": "p"}, {"filenames": ["a", "b"], "content": ""}, Action.FIND, "p", "a\nb"),
        ("Grep", {"pattern": "p"}, {"filenames": [], "content": "a:1"}, Action.FIND, "p", "a:1"),
        ("Glob", {"pattern": "*.py"}, {"filenames": ["a.py"]}, Action.FIND, "*.py", "a.py"),
        (
            "WebFetch",
            {"url": "https://x"},
            {"code": 200, "result": "page"},
            Action.FETCH,
            "https://x",
            "page",
        ),
        (
            "WebSearch",
            {"query": "q"},
            {"results": ["intro", {"content": [{"title": "T", "url": "U"}]}]},
            Action.FETCH,
            "q",
            "intro\nT U",
        ),
        (
            "Task",
            {"description": "d"},
            {"content": [{"type": "text", "text": "r"}]},
            Action.DELEGATE,
            "d",
            "r",
        ),
        ("TaskCreate", {"subject": "s"}, {"task": {}}, Action.PLAN, "s", '{"subject": "s"}'),
        ("TodoWrite", {"todos": []}, {}, Action.PLAN, "", '{"todos": []}'),
        ("mcp__x__y", {"q": 1}, [{"type": "text", "text": "t"}], Action.OTHER, '{"q": 1}', "t"),
        ("AskUserQuestion", {}, {"answers": {"Tabs?": "no"}}, Action.OTHER, "", "Tabs?\n→ no"),
        ("Unheard", {}, "text", Action.OTHER, "", "text"),
    ],
)
def test_each_tool_has_an_action_a_target_and_a_text(
    name: str, inputs: object, response: object, action: Action, target: str, text: str
) -> None:
    event = tool(name, inputs, response)
    assert (event.action, event.target, event.text) == (action, target, text)
    assert event.outcome is Outcome.OK


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        ({"stdout": "", "interrupted": True}, Outcome.INTERRUPTED),
        ({"stdout": "", "interrupted": False}, Outcome.OK),
        ({"stdout": "", "backgroundTaskId": "b1"}, Outcome.NONE),
        ({"output": "x", "exit_code": 3}, Outcome.FAILED),
        ("hi\n", Outcome.OK),
    ],
)
def test_how_a_command_ended(response: object, outcome: Outcome) -> None:
    assert tool("Bash", {"command": "x"}, response).outcome is outcome


@pytest.mark.parametrize(
    ("error", "is_interrupt", "outcome"),
    [
        ("Exit code 1", False, Outcome.FAILED),
        ("Exit code 1", True, Outcome.INTERRUPTED),
        ("The user doesn't want to proceed with this tool use.", False, Outcome.INTERRUPTED),
        ("<tool_use_error>no such file</tool_use_error>", False, Outcome.FAILED),
    ],
)
def test_how_a_failure_ended(error: str, is_interrupt: bool, outcome: Outcome) -> None:
    payload = {"session_id": "s", "tool_name": "Bash", "error": error, "is_interrupt": is_interrupt}
    (event,) = read(payload, "PostToolUseFailure")
    assert event.outcome is outcome
    assert "<tool_use_error>" not in event.text


# CCE-46
def test_cce_46_long_outputs_and_inputs_are_cut_keeping_both_ends() -> None:
    event = tool("Bash", {"command": "c" * 9_000}, {"stdout": "head" + "x" * 1_000_000 + "tail"})
    assert len(event.text) == 1_500
    assert event.text.startswith("head")
    assert event.text.endswith("tail")
    assert " … " in event.text
    assert len(event.target) == 4_000
    assert len(tool("Bash", {"command": "c"}, {"stdout": "x" * 1_500}).text) == 1_500


def test_a_long_plan_is_still_json_when_it_is_cut() -> None:
    event = tool("ExitPlanMode", {"plan": "p" * 50_000, "steps": ["s" * 900] * 50})
    assert len(event.text) < 8_000
    assert json.loads(event.text)["plan"].startswith("ppp")


@pytest.mark.parametrize(
    ("name", "inputs", "recalled"),
    [
        ("mcp__backstory__search", {"query": "x"}, True),
        ("mcp__plugin_backstory_backstory__search", {"query": "x"}, True),
        ("mcp__other__search", {"query": "x"}, False),
        ("Bash", {"command": "cd /x && backstory search y"}, True),
        ("Bash", {"command": "grep backstory README.md"}, False),
        ("Read", {"file_path": "/x/backstory"}, False),
    ],
)
def test_what_recalls_memory_is_marked(name: str, inputs: object, recalled: bool) -> None:
    assert tool(name, inputs, "found").recalled is recalled


def test_a_payload_nested_beyond_reason_is_still_described() -> None:
    deep: object = "x"
    for _ in range(900):
        deep = {"content": [deep]}
    assert tool("mcp__x__y", {"a": deep}, deep).kind is Kind.TOOL
    assert tool("TodoWrite", {"a": deep}, deep).kind is Kind.TOOL


# --- any payload --------------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(
    [
        "session_id", "cwd", "transcript_path", "prompt", "prompt_id", "tool_name", "tool_input",
        "tool_response", "tool_use_id", "error", "source", "is_interrupt", "last_assistant_message",
        "agent_id", "agent_type", "trigger", "compact_summary", "reason", "error_details",
    ]
)  # fmt: skip
EVENTS = [hook.name for hook in agent("claude-code").hooks]


@given(
    st.sampled_from([*EVENTS, "", "Unknown"]),
    st.dictionaries(FIELDS, VALUES, max_size=8),
    st.booleans(),
    st.sampled_from(sorted(AGENTS)),
)
@settings(deadline=None, max_examples=200)
def test_nothing_but_unreadable_is_ever_raised(
    event: str, payload: dict[str, Any], with_session: bool, name: str
) -> None:
    if with_session:
        payload["session_id"] = "s"
    try:
        events = AGENTS[name].read_hook(event, payload, AT)
    except Unreadable:
        return
    assert all(isinstance(made, Event) and made.agent == name for made in events)


@given(
    st.sampled_from(
        ["Bash", "Edit", "MultiEdit", "Grep", "WebSearch", "Task", "TodoWrite", "AskUserQuestion", "?"]
    ),
    VALUES,
    st.dictionaries(
        st.sampled_from(["stdout", "filenames", "results", "answers", "content", "exit_code"]), VALUES
    ),
)
@settings(deadline=None)
def test_every_tool_takes_any_input_and_response(name: str, inputs: object, response: object) -> None:
    assert tool(name, inputs, response).tool == name
    edits = {"edits": inputs, "old_string": inputs, "command": inputs}
    assert len(tool(name, edits, response).text) <= 8_000
