"""A session ends; the next one knows."""

from __future__ import annotations

import json

import pytest

from ..headless import Run
from ..model import Edit, Read, Say, Shell, Task, Write
from ..told import beside, hand_over, nobody_working, told, uses
from .driver import Copilot

pytestmark = pytest.mark.clients


def add_greeting(agent: Copilot, **how: str) -> Run:
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


def look_around(agent: Copilot, **how: str) -> Run:
    agent.model.when("Where were we", Say("Let me see."))
    run = agent.run("Where were we?", **how)
    run.assert_undisturbed("Let me see.")
    return run


def test_what_it_did_is_captured_with_the_right_outcomes(agent: Copilot) -> None:
    add_greeting(agent)
    agent.memory.rests()

    file = str(agent.project / "greeting.py")
    assert uses(agent.memory, agent.project) == [
        ("write", "Write", file, "ok"),
        ("run", "Bash", "cat greeting.py", "ok"),
        ("run", "Bash", "ls /nowhere-at-all", "failed"),
        ("read", "Read", str(agent.project / "missing.txt"), "failed"),
        ("edit", "Edit", file, "ok"),
    ]
    events = agent.memory.timeline(agent.project)
    failed = next(event for event in events if event["target"] == "ls /nowhere-at-all")
    assert failed["text"].splitlines()[0] == "Exit code 2"
    assert "shellId" not in failed["text"]
    assert [event["kind"] for event in reversed(events) if event["kind"] != "tool"] == [
        "session_started", "prompt", "said", "turn_ended", "session_ended",
    ]  # fmt: skip
    assert [event["reason"] for event in events if event["kind"] == "session_started"] == ["startup"]


def test_the_next_session_is_told_what_the_last_one_did(agent: Copilot) -> None:
    add_greeting(agent)
    agent.memory.rests()

    run = look_around(agent)

    assert "greeting.py" in run.brief
    assert len(run.requests[0].injections()) == 1


def test_it_knows_even_when_nothing_was_stored_yet(agent: Copilot) -> None:
    with nobody_working(agent.memory):
        add_greeting(agent)
        brief = look_around(agent).brief

    assert "greeting.py" in brief
    assert "ls /nowhere-at-all → ls: cannot access" in brief
    assert brief.count("Add a greeting to the project") == 1


def test_the_first_session_of_a_project_is_told_nothing(agent: Copilot) -> None:
    assert look_around(agent).requests[0].injections() == []


def test_what_it_was_told_does_not_become_memory(agent: Copilot) -> None:
    add_greeting(agent)
    agent.memory.rests()
    look_around(agent)
    agent.memory.rests()

    prompts = [e["text"] for e in agent.memory.timeline(agent.project) if e["kind"] == "prompt"]
    assert prompts == ["Where were we?", "Add a greeting to the project"]
    brief = look_around(agent).brief
    assert brief.count("<backstory-notes") == 1
    assert brief.count("Add a greeting to the project") == 1


def test_resuming_again_and_again_piles_nothing_up(agent: Copilot) -> None:
    """Copilot keeps no injection: what a resumed session is to know must be told again, once."""
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
    assert "Where were we?" in json.dumps(run.requests[0].body["messages"])
    assert len(run.requests[0].injections()) == 1
    assert "greeting.py" in run.brief


def test_a_resumed_session_is_told_what_it_has_missed_and_not_its_own_past(agent: Copilot) -> None:
    agent.model.when("Plan the trip", Say("Planned the journey."))
    first = agent.run("Plan the trip")
    agent.memory.rests()
    add_greeting(agent)
    agent.memory.rests()

    resumed = look_around(agent, resume=first.session)

    assert resumed.session == first.session
    assert "greeting.py" in resumed.brief
    assert "Plan the trip" not in resumed.brief


def test_what_a_sub_agent_did_is_labelled_and_linked_to_who_sent_it(agent: Copilot) -> None:
    agent.model.when("Survey the project", Task("Count the modules"), Say("Surveyed."))
    agent.model.when("Count the modules", Shell("ls | wc -l"), Say("One module."))
    agent.run("Survey the project").assert_undisturbed("Surveyed.")
    agent.memory.rests()

    events = agent.memory.timeline(agent.project)
    asked = [event for event in events if event["kind"] == "prompt"]
    assert [event["text"] for event in asked] == ["Survey the project"]
    counted = next(event for event in events if event["target"] == "ls | wc -l")
    assert counted["subagent"]
    its_session = agent.memory.ask("show", counted["session"])["session"]
    assert its_session["parent"] == asked[0]["session"]


def test_history_and_live_capture_meet_in_the_same_rows(agent: Copilot) -> None:
    agent.model.when("Survey the project", Task("Count the modules"), Say("Surveyed."))
    agent.model.when("Count the modules", Shell("ls | wc -l"), Say("One module."))
    first = add_greeting(agent)
    agent.run("Survey the project", resume=first.session)
    agent.memory.rests()
    live = told(agent.memory, agent.project)

    for again in ((), ("--again",), ("--again",)):
        agent.memory.ask("import", "copilot", *again)
        assert told(agent.memory, agent.project) == live


def test_history_alone_tells_the_same(agent: Copilot) -> None:
    first = add_greeting(agent)
    look_around(agent, resume=first.session)
    agent.memory.rests()
    other = beside(agent.memory)

    tally = other.ask("import", "copilot")

    assert (tally["new"], tally["errors"]) == (1, 0)
    assert told(other, agent.project) == told(agent.memory, agent.project)


def test_hooks_do_not_store_again_what_was_imported_first(agent: Copilot) -> None:
    with nobody_working(agent.memory):
        first = add_greeting(agent)
        look_around(agent, resume=first.session)
        other = beside(agent.memory)
        other.ask("import", "copilot")
        imported = told(other, agent.project)

        hand_over(agent.memory.home / "spool", other)

    assert told(other, agent.project) == imported
    assert other.status()["events"] > sum(imported.values()), "starts and ends came with the hooks"


def test_uninstalled_it_leaves_no_trace(agent: Copilot) -> None:
    assert agent.hooks.exists()
    add_greeting(agent)

    agent.memory.cli("uninstall", "copilot", "--yes")

    assert not agent.hooks.exists()
    assert look_around(agent).requests[0].injections() == []
