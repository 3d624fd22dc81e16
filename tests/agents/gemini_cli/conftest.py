"""Gemini CLI with Backstory installed for it, in a user's home that has never seen either."""

from __future__ import annotations

import pytest

from .driver import Gemini


@pytest.fixture(scope="session")
def driver() -> type[Gemini]:
    return Gemini
