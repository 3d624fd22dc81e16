"""opencode with Backstory installed for it, in a user's home that has never seen either."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..conftest import program
from ..loopback import Loopback
from ..memory import Memory
from ..model import Model
from .driver import Opencode


@pytest.fixture(scope="session")
def opencode_program() -> Path:
    return program("opencode")


@pytest.fixture
def bare_agent(
    opencode_program: Path, project: Path, model: Model, memory: Memory, loopback: Loopback
) -> Opencode:
    """The client alone."""
    return Opencode(opencode_program, project, model, memory, loopback)


@pytest.fixture
def agent(bare_agent: Opencode) -> Opencode:
    """The client with its memory."""
    bare_agent.memory.install("opencode")
    return bare_agent
