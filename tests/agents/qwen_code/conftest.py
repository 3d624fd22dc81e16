"""Qwen Code with Backstory installed for it, in a user's home that has never seen either."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..conftest import program
from ..loopback import Loopback
from ..memory import Memory
from ..model import Model
from .driver import Qwen


@pytest.fixture(scope="session")
def qwen_program() -> Path:
    return program("qwen-code")


@pytest.fixture
def bare_agent(qwen_program: Path, project: Path, model: Model, memory: Memory, loopback: Loopback) -> Qwen:
    """The client alone."""
    return Qwen(qwen_program, project, model, memory, loopback)


@pytest.fixture
def agent(bare_agent: Qwen) -> Qwen:
    """The client with its memory."""
    bare_agent.write_settings()
    bare_agent.memory.install("qwen-code")
    return bare_agent
