"""A memory in a folder of its own, empty or with one session's work in it."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from .memory import Memory


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """A command sends its log to a file; other tests want it where it was."""
    logger = logging.getLogger("backstory")
    before = logger.handlers[:], logger.propagate, logger.level
    yield
    for handler in logger.handlers:
        if handler not in before[0]:
            handler.close()
    logger.handlers[:], logger.propagate = before[0], before[1]
    logger.setLevel(before[2])


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A home that does not exist yet, and a project."""
    project, user = tmp_path / "shop", tmp_path / "user"
    project.mkdir()
    user.mkdir()
    return Memory(tmp_path / "home", project, user)


@pytest.fixture
def worked(memory: Memory) -> Memory:
    """A memory of one session in the project."""
    memory.worked_here()
    return memory
