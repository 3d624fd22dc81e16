"""A session ends; the next one knows."""

from __future__ import annotations

import json

import pytest

from ..headless import Run
from ..model import Edit, Read, Say, Shell, Task, Write
from ..told import beside, hand_over, nobody_working, told, uses
from .driver import Gemini

pytestmark = pytest.mark.clients


def add_greeting(agent: Gemini, **how: str) -> Run:
    """Writes a file, runs a command, runs one that fails, and says so."""
    file = agent.project / "greeting.py"
    agent.model.when(
        "Add a greeting",
        Write(str(file), "HELLO = 'hello'\n"),
        Shell("cat greeting.py"),
        Shell("ls /nowhere-at-all"),
        Read(str(agent.project / "missing.txt")),
        Edit(str(file), "hello'", "hi'"),
        Say("The greeting is in place."),
    )
    run = agent.run("Add a greeting to the project", **how)
    run.assert_undisturbed("The greeting is in place.")
    return run


def look_around(agent: Gemini, **how: str) -> Run:
    agent.model.when("Where were we", Say("Let me see."))
    run = agent.run("Where were we?", **how)
    run.assert_undisturbed("Let me see.")
    return run


def test_what_it_did_is_captured_with_the_right_outcomes(agent: Gemini) -> None:
    add_greeting(agent)
    agent.memory.rests()

    file = str(agent.project / "greeting.py")
    assert uses(agent.memory, agent.project) == [
        ("write", "write_file", file, "ok"),
        ("run", "run_shell_command", "cat greeting.py", "ok"),
        ("run", "run_shell_command", "ls /nowhere-at-all", "failed"),
        ("read", "read_file", str(agent.project / "missing.txt"), "failed"),
        ("edit", "replace", file, "ok"),
    ]
    failed = next(e for e in agent.memory.timeline(agent.project) if e["target"] == "ls /nowhere-at-all")
    assert failed["text"].splitlines()[0] == "Exit code 2"
    assert "PGID" not in failed["text"]
    kinds = [event["kind"] for event in reversed(agent.memory.timeline(agent.project))]
    assert [kind for kind in kinds if kind != "tool"] == [
        "session_started", "prompt", "said", "turn_ended", "session_ended",
    ]  # fmt: skip


def test_the_next_session_is_told_what_the_last_one_did(agent: Gemini) -> None:
    add_greeting(agent)
    agent.memory.rests()

    run = look_around(agent)

    assert "greeting.py" in run.brief
    assert len(run.requests[0].injections()) == 1
    first = run.requests[0].body["contents"][0]["parts"]
    assert first[-2]["text"] == "Where were we?", "the brief stands behind the prompt, and not inside it"


def test_it_knows_even_when_nothing_was_stored_yet(agent: Gemini) -> None:
    with nobody_working(agent.memory):
        add_greeting(agent)
        brief = look_around(agent).brief

    assert "greeting.py" in brief
    assert "ls /nowhere-at-all → ls: cannot access" in brief
    assert "The agent said last: “The greeting is in place.”" in brief
    assert brief.count("Add a greeting to the project") == 1


def test_the_first_session_of_a_project_is_told_nothing(agent: Gemini) -> None:
    assert look_around(agent).requests[0].injections() == []


def test_what_it_was_told_does_not_become_memory(agent: Gemini) -> None:
    add_greeting(agent)
    agent.memory.rests()
    look_around(agent)
    agent.memory.rests()

    prompts = [e["text"] for e in agent.memory.timeline(agent.project) if e["kind"] == "prompt"]
    assert prompts == ["Where were we?", "Add a greeting to the project"]
    brief = look_around(agent).brief
    assert brief.count("<backstory-notes") == 1
    assert brief.count("Add a greeting to the project") == 1


def test_a_resumed_session_keeps_its_first_prompt_and_piles_nothing_up(agent: Gemini) -> None:
    """Gemini drops a message that begins with what a SessionStart hook said; ours does not."""
    add_greeting(agent)
    agent.memory.rests()
    second = look_around(agent)
    agent.memory.rests()

    agent.model.when("And now", Say("Still here."))
    for _ in range(2):
        run = agent.run("And now?", resume=second.session)
        run.assert_undisturbed("Still here.")
        agent.memory.rests()

    assert run.session == second.session
    sent = json.dumps(run.requests[0].body["contents"])
    assert "Where were we?" in sent, "the prompt that the brief came with is still there"
    assert len(run.requests[0].injections()) == 1, "what it was told once stands there, and nothing was added"


def test_a_resumed_session_is_told_what_it_has_missed(agent: Gemini) -> None:
    first = look_around(agent)
    agent.memory.rests()
    add_greeting(agent)
    agent.memory.rests()

    resumed = look_around(agent, resume=first.session)

    assert resumed.session == first.session
    assert "greeting.py" in resumed.brief


def test_a_brief_that_no_prompt_came_for_is_not_given_to_another_session(agent: Gemini) -> None:
    add_greeting(agent)
    agent.memory.rests()
    look_around(agent)

    assert list((agent.memory.home / "briefs" / "held").iterdir()) == []


def test_what_a_sub_agent_did_is_captured_with_its_session(agent: Gemini) -> None:
    agent.model.when("Survey the project", Task("Count the modules"), Say("Surveyed."))
    agent.model.when("Count the modules", Shell("ls | wc -l"), Say("One."))
    agent.run("Survey the project")
    agent.memory.rests()

    commands = [target for action, _, target, _ in uses(agent.memory, agent.project) if action == "run"]
    assert commands == ["ls | wc -l"]


def test_history_and_live_capture_meet_in_the_same_rows(agent: Gemini) -> None:
    first = add_greeting(agent)
    look_around(agent, resume=first.session)
    agent.memory.rests()
    live = told(agent.memory, agent.project)

    for again in ((), ("--again",), ("--again",)):
        agent.memory.ask("import", "gemini-cli", *again)
        assert told(agent.memory, agent.project) == live


def test_history_alone_tells_the_same(agent: Gemini) -> None:
    first = add_greeting(agent)
    look_around(agent, resume=first.session)
    agent.memory.rests()
    other = beside(agent.memory)

    tally = other.ask("import", "gemini-cli")

    assert (tally["new"], tally["errors"]) == (1, 0)
    assert told(other, agent.project) == told(agent.memory, agent.project)


def test_hooks_do_not_store_again_what_was_imported_first(agent: Gemini) -> None:
    with nobody_working(agent.memory):
        first = add_greeting(agent)
        look_around(agent, resume=first.session)
        other = beside(agent.memory)
        other.ask("import", "gemini-cli")
        imported = told(other, agent.project)

        hand_over(agent.memory.home / "spool", other)

    assert told(other, agent.project) == imported
    assert other.status()["events"] > sum(imported.values()), "starts and ends came with the hooks"


def test_uninstalled_it_leaves_no_trace(agent: Gemini) -> None:
    settings = agent.settings.read_text()
    assert "backstory" in settings
    add_greeting(agent)

    agent.memory.cli("uninstall", "gemini-cli", "--yes")

    assert "backstory" not in agent.settings.read_text()
    run = look_around(agent)
    assert run.requests[0].injections() == []
