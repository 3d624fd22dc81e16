"""Claude Code with Backstory installed for it, in a user's home that has never seen either."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..conftest import program
from ..loopback import Loopback
from ..memory import Memory
from ..model import Model
from .claude import Claude


@pytest.fixture(scope="session")
def claude_program() -> Path:
    return program("claude-code")


@pytest.fixture
def bare_agent(
    claude_program: Path, project: Path, model: Model, memory: Memory, loopback: Loopback
) -> Claude:
    """The client alone."""
    return Claude(claude_program, project, model, memory, loopback)


@pytest.fixture
def agent(bare_agent: Claude) -> Claude:
    """The client with its memory."""
    bare_agent.memory.install("claude-code")
    return bare_agent
