"""A session ends; the next one knows."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from ..headless import Run
from ..loopback import Loopback
from ..model import Say, Shell, Task
from ..twofold import DID, DONE, WORK, Story, on_stage, teach, tell
from .driver import Gemini

pytestmark = pytest.mark.clients


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory, loopback: Loopback) -> Iterator[Story]:
    with on_stage(Gemini, tmp_path_factory.mktemp("gemini-cli"), loopback) as agent:
        teach(agent)
        yield tell(agent)


def make_reader(agent: Gemini) -> None:
    teach(agent)
    agent.run(WORK).assert_undisturbed(DONE)


def look_around(agent: Gemini, **how: str) -> Run:
    agent.model.when("Where were we", Say("Let me see."))
    run = agent.run("Where were we?", **how)
    run.assert_undisturbed("Let me see.")
    return run


def test_what_it_did_is_captured_with_the_right_outcomes(story: Story) -> None:
    assert story.uses() == DID
    failed = next(event for event in story.events if event["target"] == "ls missing-folder")
    assert failed["text"].splitlines()[0] == "Exit code 2"
    assert "PGID" not in failed["text"]
    assert [event["kind"] for event in story.events if event["kind"] != "tool"] == [
        "session_started", "prompt", "said", "turn_ended", "session_ended",
    ]  # fmt: skip


def test_the_first_session_of_a_project_is_told_nothing(story: Story) -> None:
    assert story.first.requests[0].injections() == []


def test_the_next_session_is_told_of_it_once_also_when_it_is_taken_up_again(story: Story) -> None:
    """Nothing was stored yet: it is told from what the hooks have left."""
    story.assert_told_once("reader.py")
    brief = story.second.brief
    assert "ls missing-folder → ls: cannot access" in brief
    assert "The agent said last: “The reader splits at commas.”" in brief
    assert brief.count(WORK) == 1
    first = story.second.requests[0].body["contents"][0]["parts"]
    assert first[-2]["text"] == "Where were we?", "the brief stands behind the prompt, and not inside it"


def test_what_it_was_told_does_not_become_memory(story: Story) -> None:
    """And a brief that was given is given to nobody else."""
    memory, project = story.agent.memory, story.agent.project
    prompts = [event["text"] for event in memory.timeline(project) if event["kind"] == "prompt"]
    assert prompts == ["And now?", "Where were we?", WORK]
    brief = memory.cli("brief", "--cwd", str(project), "--agent", "gemini-cli").stdout
    assert brief.count("<backstory-notes") == 1
    assert brief.count(WORK) == 1
    assert list((memory.home / "briefs" / "held").iterdir()) == []


# MP-14
def test_mp_14_hooks_and_chats_tell_the_same_in_either_order_and_nothing_of_ours(story: Story) -> None:
    assert {row[1] for row in story.assert_told_alike()} == {"prompt", "tool", "said"}


def test_a_resumed_session_keeps_its_first_prompt_and_piles_nothing_up(agent: Gemini) -> None:
    """Gemini drops a message that begins with what a SessionStart hook said; ours does not."""
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
    sent = json.dumps(run.requests[0].body["contents"])
    assert "Where were we?" in sent, "the prompt that the brief came with is still there"
    assert len(run.requests[0].injections()) == 1, "what it was told once stands there, and nothing was added"


def test_a_resumed_session_is_told_what_it_has_missed(agent: Gemini) -> None:
    first = look_around(agent)
    agent.memory.rests()
    make_reader(agent)
    agent.memory.rests()

    resumed = look_around(agent, resume=first.session)

    assert resumed.session == first.session
    assert "reader.py" in resumed.brief


def test_what_a_sub_agent_did_is_captured_with_its_session(agent: Gemini) -> None:
    agent.model.when("Survey the project", Task("Count the modules"), Say("Surveyed."))
    agent.model.when("Count the modules", Shell("ls | wc -l"), Say("One."))
    agent.run("Survey the project")
    agent.memory.rests()

    ran = [event["target"] for event in agent.memory.timeline(agent.project) if event["action"] == "run"]
    assert ran == ["ls | wc -l"]


def test_uninstalled_it_leaves_no_trace(agent: Gemini) -> None:
    settings = agent.settings.read_text()
    assert "backstory" in settings
    agent.memory.cli("uninstall", "gemini-cli", "--yes")

    assert "backstory" not in agent.settings.read_text()
    run = look_around(agent)
    assert run.requests[0].injections() == []
