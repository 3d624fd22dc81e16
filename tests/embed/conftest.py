"""The model itself is tested here: every vector is worked out."""

import pytest


@pytest.fixture(autouse=True)
def _made_once() -> None:
    """Nothing is remembered."""
