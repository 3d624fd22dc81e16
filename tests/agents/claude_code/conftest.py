"""Claude Code with Backstory installed for it, in a user's home that has never seen either."""

from __future__ import annotations

import pytest

from .claude import Claude


@pytest.fixture(scope="session")
def driver() -> type[Claude]:
    return Claude
