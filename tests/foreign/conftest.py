"""A home, a user and a project, and what another tool has left for that user."""

from pathlib import Path

import pytest

from tests.cli.conftest import _logging_as_it_was as _logging_as_it_was
from tests.cli.memory import Memory

from .stores import ClaudeMem, Engine, Palace


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A home that does not exist yet, and a project."""
    project, user = tmp_path / "shop", tmp_path / "user"
    project.mkdir()
    user.mkdir()
    return Memory(tmp_path / "home", project, user)


@pytest.fixture
def claude_mem(memory: Memory) -> ClaudeMem:
    """claude-mem's database, empty."""
    return ClaudeMem(memory.user / ".claude-mem" / "claude-mem.db")


@pytest.fixture
def engine(memory: Memory) -> Engine:
    """code-context-engine's database of the project, empty."""
    return Engine(memory.user / ".cce" / "projects" / "shop-a1b2c3" / "memory.db")


@pytest.fixture
def palace(memory: Memory) -> Palace:
    """MemPalace's database, empty."""
    return Palace(memory.user / ".mempalace" / "palace" / "chroma.sqlite3")
