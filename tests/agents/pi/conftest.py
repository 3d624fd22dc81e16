"""pi with Backstory installed for it, in a user's home that has never seen either."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..conftest import program
from ..loopback import Loopback
from ..memory import Memory
from ..model import Model
from .driver import Pi


@pytest.fixture(scope="session")
def pi_program() -> Path:
    return program("pi")


@pytest.fixture
def bare_agent(pi_program: Path, project: Path, model: Model, memory: Memory, loopback: Loopback) -> Pi:
    """The client alone."""
    return Pi(pi_program, project, model, memory, loopback)


@pytest.fixture
def agent(bare_agent: Pi) -> Pi:
    """The client with its memory."""
    bare_agent.memory.install("pi")
    return bare_agent
