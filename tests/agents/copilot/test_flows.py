"""What only Copilot CLI does; what it does as others do stands in `tests/agents/test_flows.py`."""

from __future__ import annotations

import json

import pytest

from ..model import Say, Shell, Task
from ..twofold import assert_told_alike, look_around, make_reader, spooling
from .driver import Copilot

pytestmark = pytest.mark.clients


def test_resuming_again_and_again_piles_nothing_up(agent: Copilot) -> None:
    """Copilot keeps no injection: what a resumed session is to know must be told again, once."""
    make_reader(agent)
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
    assert "reader.py" in run.brief


def test_a_resumed_session_is_told_what_it_has_missed_and_not_its_own_past(agent: Copilot) -> None:
    agent.model.when("Plan the trip", Say("Planned the journey."))
    first = agent.run("Plan the trip")
    agent.memory.rests()
    make_reader(agent)
    agent.memory.rests()

    resumed = look_around(agent, resume=first.session)

    assert resumed.session == first.session
    assert "reader.py" in resumed.brief
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


def test_a_sub_agents_history_tells_what_its_hooks_tell(agent: Copilot) -> None:
    agent.model.when("Survey the project", Task("Count the modules"), Say("Surveyed."))
    agent.model.when("Count the modules", Shell("exit 5"), Say("One module."))
    with spooling(agent) as spool:
        agent.run("Survey the project").assert_undisturbed("Surveyed.")

    rows = assert_told_alike(agent, spool)

    assert [row[4] for row in rows if row[0].partition("/")[2] and row[5] == "failed"] == ["exit 5"]


def test_uninstalled_it_leaves_no_trace(agent: Copilot) -> None:
    assert agent.hooks.exists()
    agent.memory.cli("uninstall", "copilot", "--yes")

    assert not agent.hooks.exists()
    assert look_around(agent).requests[0].injections() == []
