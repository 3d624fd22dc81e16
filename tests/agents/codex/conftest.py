"""Codex with Backstory installed for it, in a user's home that has never seen either."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..conftest import program
from ..loopback import Loopback
from ..memory import Memory
from ..model import Model
from .driver import Codex


@pytest.fixture(scope="session")
def codex_program() -> Path:
    return program("codex")


@pytest.fixture
def bare_agent(codex_program: Path, project: Path, model: Model, memory: Memory, loopback: Loopback) -> Codex:
    """The client alone."""
    return Codex(codex_program, project, model, memory, loopback)


@pytest.fixture
def agent(bare_agent: Codex) -> Codex:
    """The client with its memory."""
    bare_agent.write_config()
    bare_agent.memory.install("codex")
    return bare_agent
