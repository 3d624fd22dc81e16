"""What our plugins in opencode and pi send, and the plugin files themselves."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from backstory.agents import AGENTS, agent
from backstory.agents.agent import Owned, Unreadable
from backstory.hook.hook_command import hook_command
from backstory.model import Action, Event, Kind, Outcome

PLUGGED = ("opencode", "pi")


def read(name: str, event: str, **fields: Any) -> list[Event]:
    payload = {"session_id": "s", "cwd": "/p", "hook_event_name": event, **fields}
    return AGENTS[name].read_hook(event, payload, 7)


def tool(name: str, tool_name: str, /, **fields: Any) -> Event:
    event = "PostToolUseFailure" if "error" in fields else "PostToolUse"
    [made] = read(name, event, tool_name=tool_name, tool_use_id="call", **fields)
    return made


# --- payloads ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLUGGED)
def test_a_payload_without_a_session_or_what_its_event_must_have_is_unreadable(name: str) -> None:
    for event, fields in [("Stop", {"session_id": " "}), ("UserPromptSubmit", {}), ("PostToolUse", {})]:
        with pytest.raises(Unreadable):
            read(name, event, **fields)
    assert read(name, "SomethingNew") == []
    assert read(name, "UserPromptSubmit", prompt="  ") == []


@pytest.mark.parametrize(
    ("stored", "typed"),
    [
        ('"fix the parser"', "fix the parser"),
        ('"say \\"hi\\" to it"', 'say "hi" to it'),
        ('"one" and "two"', '"one" and "two"'),
        ("fix", "fix"),
        ('"', '"'),
        ('""', ""),
    ],
)
def test_a_prompt_of_opencode_loses_the_quotes_of_its_command_line(stored: str, typed: str) -> None:
    assert [event.text for event in read("opencode", "UserPromptSubmit", prompt=stored)] == [typed][
        : bool(typed)
    ]
    if typed:
        assert read("pi", "UserPromptSubmit", prompt=stored)[0].text == stored


@pytest.mark.parametrize("name", PLUGGED)
def test_our_own_words_are_recalled_and_never_said(name: str) -> None:
    notes = '<backstory-notes project="p">\nearlier\n</backstory-notes>'
    [only_notes] = read(name, "UserPromptSubmit", prompt=notes)
    assert (only_notes.text, only_notes.recalled) == ("", True)
    [both] = read(name, "UserPromptSubmit", prompt=f"{notes}\nGo on")
    assert (both.text, both.recalled) == ("Go on", False)
    assert tool(name, "backstory_search", tool_input={"query": "x"}, tool_response="found").recalled
    assert tool(name, "bash", tool_input={"command": "backstory search x"}, tool_response="found").recalled
    assert not tool(name, "bash", tool_input={"command": "make"}, tool_response="ok").recalled


@pytest.mark.parametrize(
    ("name", "inputs", "action", "target", "text"),
    [
        ("write", {"filePath": "a.py", "content": "A = 1"}, Action.WRITE, "a.py", "A = 1"),
        ("write", {"path": "a.py", "content": "A = 1"}, Action.WRITE, "a.py", "A = 1"),
        ("edit", {"filePath": "a.py", "oldString": "1", "newString": "2"}, Action.EDIT, "a.py", "- 1\n+ 2"),
        ("read", {"path": "a.py"}, Action.READ, "a.py", ""),
        ("grep", {"pattern": "TODO"}, Action.FIND, "TODO", "out"),
        ("webfetch", {"url": "https://example.org"}, Action.FETCH, "https://example.org", "out"),
        ("todowrite", {"todos": []}, Action.PLAN, "", '{"todos": []}'),
        ("hologram", {"x": 1}, Action.OTHER, '{"x": 1}', "out"),
    ],
)
def test_what_tools_come_to(
    name: str, inputs: dict[str, Any], action: Action, target: str, text: str
) -> None:
    event = tool("opencode", name, tool_input=inputs, tool_response="out")
    assert (event.action, event.target, event.text, event.outcome) == (action, target, text, Outcome.OK)


def test_a_patch_names_the_file_that_it_changes() -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.py\n-1\n+2\n*** End Patch"
    event = tool("opencode", "apply_patch", tool_input={"patchText": patch}, tool_response="done")
    assert (event.action, event.target) == (Action.EDIT, "src/a.py")
    assert "+2" in event.text


def test_a_task_gives_what_the_sub_agent_said_without_its_frame() -> None:
    framed = '<task id="ses_1" state="completed">\n<task_result>\nSeven.\n</task_result>\n</task>'
    event = tool("opencode", "task", tool_input={"description": "count"}, tool_response=framed)
    assert (event.action, event.text) == (Action.DELEGATE, "Seven.")


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({"error": "Exit code 1\nno"}, Outcome.FAILED),
        ({"error": "Tool execution aborted"}, Outcome.INTERRUPTED),
        ({"error": "stopped", "is_interrupt": True}, Outcome.INTERRUPTED),
    ],
)
def test_how_a_tool_fails(fields: dict[str, Any], outcome: Outcome) -> None:
    assert tool("opencode", "bash", tool_input={"command": "make"}, **fields).outcome is outcome


def test_ends_of_turns_and_of_sub_agents() -> None:
    said, ended = read("pi", "Stop", message_id="5", last_assistant_message="Done.")
    assert (said.kind, said.text, said.native_id) == (Kind.SAID, "Done.", "5")
    assert (ended.kind, ended.outcome, ended.native_id) == (Kind.TURN_ENDED, Outcome.OK, "5")
    [stopped] = read("opencode", "Stop", message_id="m", is_interrupt=True)
    assert (stopped.kind, stopped.outcome) == (Kind.TURN_ENDED, Outcome.INTERRUPTED)
    [below] = read("opencode", "SubagentStop", message_id="m", agent_id="ses_2", agent_type="general")
    assert (below.kind, below.subagent, below.subagent_type) == (Kind.SUBAGENT_ENDED, "ses_2", "general")
    [failed] = read("opencode", "StopFailure", message_id="m", error="APIError", error_details="overloaded")
    assert (failed.kind, failed.reason, failed.text) == (Kind.TURN_FAILED, "APIError", "overloaded")


def test_a_session_that_is_taken_up_again_says_so() -> None:
    [started] = read("opencode", "SessionStart", source="startup", resumed=True)
    assert started.reason == "resume"


# --- plugin files -----------------------------------------------------------------------------------------


def rendered(name: str, home: str) -> str:
    surface = agent(name).surface
    assert surface is not None
    assert isinstance(surface.hooks, Owned)
    return surface.hooks.render(
        {hook.name: hook_command(home, name, hook.name) for hook in agent(name).hooks}
    )


@pytest.mark.parametrize("name", PLUGGED)
def test_a_plugin_file_holds_every_command_and_tells_no_other_event(name: str) -> None:
    text = rendered(name, '/home/o\'dev "x"/memory')
    start = text.index("{", text.index("const COMMANDS"))
    commands, _ = json.JSONDecoder().raw_decode(text[start:])
    assert set(commands) == {hook.name for hook in agent(name).hooks}
    assert "@COMMANDS@" not in text
    for event in set(commands):
        assert f'"{event}"' in text.replace(json.dumps(commands, indent=2), ""), f"nobody tells {event}"


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node here; the real opencode loads it, too")
def test_opencodes_plugin_file_is_a_module_that_parses(tmp_path: Path) -> None:
    file = tmp_path / "plugin.mjs"
    file.write_text(rendered("opencode", '/home/o\'dev "x"/memory'))
    done = subprocess.run(["node", "--check", str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
