"""A memory in a folder of its own, empty or with one session's work in it."""

from pathlib import Path

import pytest

from .memory import Memory


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
