"""Gemini CLI with Backstory installed for it, in a user's home that has never seen either."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..conftest import program
from ..loopback import Loopback
from ..memory import Memory
from ..model import Model
from .driver import Gemini


@pytest.fixture(scope="session")
def gemini_program() -> Path:
    return program("gemini-cli")


@pytest.fixture
def bare_agent(
    gemini_program: Path, project: Path, model: Model, memory: Memory, loopback: Loopback
) -> Gemini:
    """The client alone."""
    return Gemini(gemini_program, project, model, memory, loopback)


@pytest.fixture
def agent(bare_agent: Gemini) -> Gemini:
    """The client with its memory."""
    bare_agent.settle()
    bare_agent.memory.install("gemini-cli")
    return bare_agent
