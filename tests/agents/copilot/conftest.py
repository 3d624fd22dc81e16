"""Copilot CLI with Backstory installed for it, in a user's home that has never seen either."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..conftest import program
from ..loopback import Loopback
from ..memory import Memory
from ..model import Model
from .driver import Copilot


@pytest.fixture(scope="session")
def copilot_program() -> Path:
    return program("copilot")


@pytest.fixture
def bare_agent(
    copilot_program: Path, project: Path, model: Model, memory: Memory, loopback: Loopback
) -> Copilot:
    """The client alone."""
    return Copilot(copilot_program, project, model, memory, loopback)


@pytest.fixture
def agent(bare_agent: Copilot) -> Copilot:
    """The client with its memory."""
    bare_agent.memory.install("copilot")
    return bare_agent
