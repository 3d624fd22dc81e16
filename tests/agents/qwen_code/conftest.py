"""Qwen Code with Backstory installed for it, in a user's home that has never seen either."""

from __future__ import annotations

import pytest

from .driver import Qwen


@pytest.fixture(scope="session")
def driver() -> type[Qwen]:
    return Qwen
