"""A session ends; the next one knows."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from ..headless import Run
from ..loopback import Loopback
from ..model import Say, Shell, Task
from ..twofold import DID, DONE, WORK, Story, assert_told_alike, on_stage, spooling, teach, tell
from .driver import Copilot

pytestmark = pytest.mark.clients


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory, loopback: Loopback) -> Iterator[Story]:
    with on_stage(Copilot, tmp_path_factory.mktemp("copilot"), loopback) as agent:
        teach(agent)
        yield tell(agent)


def make_reader(agent: Copilot) -> None:
    teach(agent)
    agent.run(WORK).assert_undisturbed(DONE)


def look_around(agent: Copilot, **how: str) -> Run:
    agent.model.when("Where were we", Say("Let me see."))
    run = agent.run("Where were we?", **how)
    run.assert_undisturbed("Let me see.")
    return run


def test_what_it_did_is_captured_with_the_right_outcomes(story: Story) -> None:
    assert story.uses() == DID
    failed = next(event for event in story.events if event["target"] == "ls missing-folder")
    assert failed["text"].splitlines()[0] == "Exit code 2"
    assert "shellId" not in failed["text"]
    assert [event["kind"] for event in story.events if event["kind"] != "tool"] == [
        "session_started", "prompt", "said", "turn_ended", "session_ended",
    ]  # fmt: skip
    assert story.events[0]["reason"] == "startup"


def test_the_first_session_of_a_project_is_told_nothing(story: Story) -> None:
    assert story.first.requests[0].injections() == []


def test_the_next_session_is_told_of_it_once_also_when_it_is_taken_up_again(story: Story) -> None:
    """Nothing was stored yet: it is told from what the hooks have left."""
    story.assert_told_once("reader.py")
    assert "ls missing-folder → ls: cannot access" in story.second.brief
    assert story.second.brief.count(WORK) == 1


def test_what_it_was_told_does_not_become_memory(story: Story) -> None:
    memory, project = story.agent.memory, story.agent.project
    prompts = [event["text"] for event in memory.timeline(project) if event["kind"] == "prompt"]
    assert prompts == ["And now?", "Where were we?", WORK]
    brief = memory.cli("brief", "--cwd", str(project), "--agent", "copilot").stdout
    assert brief.count("<backstory-notes") == 1
    assert brief.count(WORK) == 1


# MP-14
def test_mp_14_hooks_and_history_tell_the_same_in_either_order_and_nothing_of_ours(story: Story) -> None:
    assert {row[1] for row in story.assert_told_alike()} == {"prompt", "tool", "said", "turn_ended"}


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
