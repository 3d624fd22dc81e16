"""A book about the house's project."""

import pytest

from tests.story import House

from .book import Book


@pytest.fixture(autouse=True)
def _in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKSTORY_TZ", "UTC")
    monkeypatch.delenv("BACKSTORY_COMPILE_INTERVAL_MIN", raising=False)


@pytest.fixture
def book(house: House) -> Book:
    return Book(house)
