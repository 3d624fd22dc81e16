"""A session of Codex ends; the next one knows."""

from __future__ import annotations

import pytest

from ..headless import Run
from ..memory import Memory
from ..model import Edit, Say, Shell, Write
from ..model.script import Tool
from .driver import SCRIPTING, Codex, complaints, hooks

pytestmark = pytest.mark.clients


def undisturbed(run: Run, answer: str) -> Run:
    assert complaints(run.stderr) == []
    assert (run.exit_code, run.stdout.strip()) == (0, answer), run.stderr
    return run


def make_reader(agent: Codex) -> Run:
    """A check fails, a file is written, another changed, the check passes, one command ends in silence."""
    check = agent.project / "check.py"
    check.write_text("from reader import SEPARATOR\nassert SEPARATOR == ','\n")
    agent.model.when(
        "Make the reader",
        Shell("python3 check.py"),
        Write(str(agent.project / "reader.py"), "SEPARATOR = ';'\n"),
        Edit(str(agent.project / "reader.py"), "SEPARATOR = ';'", "SEPARATOR = ','"),
        Shell("python3 check.py && echo all is well"),
        Shell("exit 7"),
        Say("The reader is there."),
    )
    return undisturbed(agent.run("Make the reader pass its check"), "The reader is there.")


def look_around(agent: Codex, **how: str) -> Run:
    agent.model.when("Where were we", Say("Let me see."))
    return undisturbed(agent.run("Where were we?", **how), "Let me see.")


def told(memory: Memory, agent: Codex) -> list[tuple[str, str, str]]:
    """Tool calls as stored, oldest first: action, target without its folder, outcome."""
    events = reversed(memory.timeline(agent.project))
    return [
        (event["action"], event["target"].replace(f"{agent.project}/", ""), event["outcome"])
        for event in events
        if event["kind"] == "tool"
    ]


READER = [
    ("run", "python3 check.py", "failed"),
    ("write", "reader.py", "ok"),
    ("edit", "reader.py", "ok"),
    ("run", "python3 check.py && echo all is well", "ok"),
    ("run", "exit 7", "failed"),
]


def test_what_was_run_and_written_is_stored_with_how_it_ended(agent: Codex) -> None:
    """Hooks do not tell how a command ended: the rollout does."""
    run = make_reader(agent)
    agent.memory.rests()

    assert told(agent.memory, agent) == READER
    assert {name for name, _ in hooks(run.stderr)} == {
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop",
    }  # fmt: skip
    kinds = [event["kind"] for event in reversed(agent.memory.timeline(agent.project))]
    assert [kind for kind in kinds if kind != "tool"] == [
        "session_started", "prompt", "said", "turn_ended", "session_ended",
    ]  # fmt: skip


def test_a_model_that_calls_tools_from_scripts_is_followed_as_well(agent: Codex) -> None:
    agent.model_name = SCRIPTING
    agent.model.when(
        "Greet", Write(str(agent.project / "greeting.py"), "HI = 1\n"), Shell("exit 3"), Say("Greeted.")
    )
    undisturbed(agent.run("Greet the world"), "Greeted.")
    agent.memory.rests()

    assert told(agent.memory, agent) == [("write", "greeting.py", "ok"), ("run", "exit 3", "failed")]


def test_the_next_session_is_told_what_the_last_one_did(agent: Codex) -> None:
    make_reader(agent)
    agent.memory.rests()

    brief = look_around(agent).brief

    assert brief.startswith("<backstory-notes")
    assert "reader.py" in brief
    assert "AssertionError" in brief or "ModuleNotFoundError" in brief


def test_it_is_told_even_when_it_starts_at_once(agent: Codex) -> None:
    """Nobody waits for a worker; how commands ended is not known yet, so nothing is said of it."""
    agent.model.when("Touch it", Write(str(agent.project / "touched.py"), "\n"), Say("Touched."))
    agent.run("Touch it")

    assert "touched.py" in look_around(agent).brief


def test_a_failed_patch_and_a_failed_command_in_a_script_reach_the_memory(agent: Codex) -> None:
    """For both Codex runs no hook at all."""
    patch = "*** Begin Patch\n*** Update File: nowhere.py\n@@\n-a\n+b\n*** End Patch\n"
    agent.model.when("Patch it", Tool("apply_patch", {"input": patch}), Say("No."))
    undisturbed(agent.run("Patch it"), "No.")
    agent.memory.rests()

    assert told(agent.memory, agent) == [("edit", "nowhere.py", "failed")]


def test_an_error_that_ends_a_turn_is_stored(agent: Codex) -> None:
    """Codex runs no Stop hook then."""
    agent.model.when("Break", Tool("exec_command", {"cmd": "true"}), Say("never said"))
    agent.model.script.rules[0] = ("Break", (Tool("broken", {"x": object()}),))  # it cannot be sent
    run = agent.run("Break it")
    agent.memory.rests()

    assert run.exit_code != 0
    kinds = [event["kind"] for event in reversed(agent.memory.timeline(agent.project))]
    assert kinds == ["session_started", "prompt", "turn_failed", "session_ended"]


def test_a_resumed_session_holds_one_brief_and_hears_only_what_is_new(agent: Codex) -> None:
    make_reader(agent)
    agent.memory.rests()
    first = look_around(agent)
    agent.memory.rests()

    again = look_around(agent, resume=first.session)
    assert again.session == first.session
    assert len(again.requests[0].injections()) == 1, "its first brief is still there; nothing was added"

    agent.memory.rests()
    agent.model.when("Add a writer", Write(str(agent.project / "writer.py"), "X = 1\n"), Say("Added."))
    undisturbed(agent.run("Add a writer"), "Added.")
    agent.memory.rests()
    taken_up = look_around(agent, resume=first.session)
    old, new = taken_up.requests[0].injections()
    assert "reader.py" in old
    assert "writer.py" in new
    assert "reader.py" not in new

    agent.memory.rests()
    agent.trust()
    since = len(agent.model.requests)
    assert agent.fork(first.session, "Where were we?") != first.session
    forked = [request for request in agent.model.requests[since:] if request.is_main]
    assert forked[0].injections() == [old, new], "a fork holds what its origin held, and nothing is added"
