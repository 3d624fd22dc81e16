"""What only Gemini CLI does; what it does as others do stands in `tests/agents/test_flows.py`."""

from __future__ import annotations

import json

import pytest

from ..model import Say, Shell, Task
from ..twofold import ASKED, look_around, make_reader
from .driver import Gemini

pytestmark = pytest.mark.clients


def test_a_resumed_session_keeps_its_first_prompt_and_piles_nothing_up(agent: Gemini) -> None:
    """Gemini drops a message that begins with what a SessionStart hook said; ours does not."""
    make_reader(agent)
    agent.memory.rests()
    second = look_around(agent)
    first = second.requests[0].body["contents"][0]["parts"]
    assert first[-2]["text"] == ASKED, "the brief stands behind the prompt, and not inside it"
    agent.memory.rests()
    assert list((agent.memory.home / "briefs" / "held").iterdir()) == [], "it is given to nobody else"

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
