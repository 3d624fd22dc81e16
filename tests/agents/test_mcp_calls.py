"""Real agents ask the memory through MCP, and what they hear is not remembered as theirs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from .conftest import program
from .drivers import DRIVERS
from .loopback import Loopback
from .memory import Memory
from .model import Model, Say, Tool

pytestmark = pytest.mark.clients

# How each client joins the server's name and the tool's.
NAMES = {
    "claude-code": "mcp__backstory__search",
    "gemini-cli": "mcp_backstory_search",
    "copilot": "backstory-search",
    "qwen-code": "mcp__backstory__search",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_model_that_asks_the_memory_gets_its_answer(
    name: str, project: Path, model: Model, memory: Memory, loopback: Loopback
) -> None:
    agent = DRIVERS[name](program(name), project, model, memory, loopback)
    agent.settle()
    memory.install(name)
    memory.cli("config", "mcp.answer_seconds", "60")  # a slow machine is no failure
    memory.cli("remember", "Releases are cut on the tortoise branch", "--cwd", str(project))
    model.when("Where do", Tool(NAMES[name], {"query": "where are releases cut"}), Say("On that branch."))

    agent.run("Where do releases come from?")

    asked, *_, told = [json.dumps(request.body) for request in model.main_requests()]
    assert told.count("tortoise branch") > asked.count("tortoise branch"), "not only in the brief"
    memory.drained()
    kinds = [event["tool"] for event in memory.timeline(project) if event["kind"] == "tool"]
    assert kinds == [], "our own answers are not stored"


def test_a_model_that_is_told_to_forget_shows_what_would_go_and_confirms_it(
    project: Path, model: Model, memory: Memory, loopback: Loopback
) -> None:
    """The code stands in the answer to the first call; its own calls in between do not make it stale."""
    agent = DRIVERS["claude-code"](program("claude-code"), project, model, memory, loopback)
    agent.settle()
    memory.install("claude-code")
    memory.cli("config", "mcp.answer_seconds", "60")
    memory.cli("remember", "Releases are cut on the tortoise branch", "--cwd", str(project))
    memory.cli("remember", "Deploys go out on Tuesdays", "--cwd", str(project))
    tool = "mcp__backstory__forget"

    def confirmed(told: str) -> dict[str, str]:
        return {"confirm": re.findall(r"yes-[0-9a-f]{8}", told)[-1]}

    handle = memory.search("releases cut branch", project)[0]["id"]
    model.when("Forget that", Tool(tool, {"handle": handle}), Tool(tool, confirmed), Say("It is gone."))

    agent.run("Forget that note about where releases are cut")

    told = json.dumps(model.main_requests()[-1].body)
    assert "Nothing is forgotten yet" in told
    assert "Forgotten: 0 sessions, 1 events, 1 memories" in told
    memory.drained()
    assert "tortoise" not in json.dumps(memory.timeline(project))
    assert "Tuesdays" in json.dumps(memory.timeline(project))
