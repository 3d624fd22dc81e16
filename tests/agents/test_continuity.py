"""Work that one agent began goes on in another: it starts from the checkpoint, and a hand-over leads back."""

from __future__ import annotations

from pathlib import Path

import pytest

from .claude_code.claude import Claude
from .claude_code.story import add_greeting
from .codex.driver import Codex
from .conftest import program
from .loopback import Loopback
from .memory import Memory
from .model import Model, Say, Shell

pytestmark = pytest.mark.clients


def test_an_agent_that_takes_over_gets_the_checkpoint_and_hands_back_to_the_same_session(
    project: Path, model: Model, memory: Memory, loopback: Loopback
) -> None:
    claude = Claude(program("claude-code"), project, model, memory, loopback)
    codex = Codex(program("codex"), project, model, memory, loopback)
    codex.settle()
    memory.install("claude-code")
    memory.install("codex")
    first = add_greeting(claude)
    memory.drained()

    model.when("Go on", Shell("cat greeting.py"), Say("I have read the greeting."))
    taken_over = codex.run("Go on with it")

    assert "Goal: Add a greeting to the project" in taken_over.brief
    assert "claude-code" in taken_over.brief
    assert "Files: " in taken_over.brief
    memory.drained()
    back = memory.ask("handoff", "--cwd", str(project), "--to", "claude-code")
    assert back["agent"] == "codex"
    assert back["command"] == f"cd {project} && claude --resume {first.session}"
    assert claude.run("Go on with it", resume=first.session).session == first.session
