"""A home, a user and a project, and what another tool has left for that user."""

import pytest

from tests.cli.conftest import _logging_as_it_was as _logging_as_it_was
from tests.cli.conftest import memory as memory
from tests.cli.memory import Memory

from .stores import ClaudeMem, Engine, Palace


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
