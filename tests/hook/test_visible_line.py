"""The one line that a user sees when a session starts, where the agent's protocol has one."""

import json
from pathlib import Path

import pytest

from .stage import Agent


def answer(agent: Agent, project: Path, event: str = "SessionStart") -> dict[str, object]:
    said = agent.run(event, {"session_id": "x", "cwd": str(project), "source": "startup"}).stdout
    return dict(json.loads(said)) if said else {}


def test_the_user_of_claude_code_sees_how_much_was_told(agent: Agent, project: Path) -> None:
    agent.prepare(project, ("decisions", "Use tabs"), ("failed", "make breaks on Mondays"))
    assert str(answer(agent, project)["systemMessage"]).startswith("Backstory: 2 notes")


@pytest.mark.parametrize("name", ["codex", "qwen-code"])
def test_agents_whose_protocol_has_no_such_line_get_none(agent: Agent, project: Path, name: str) -> None:
    agent.prepare(project, ("decisions", "Use tabs"))
    assert list(answer(Agent(agent.home, name), project)) == ["hookSpecificOutput"]


def test_nothing_to_tell_is_no_line(agent: Agent, project: Path) -> None:
    assert answer(agent, project) == {}
