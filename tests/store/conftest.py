"""A store, and short ways to say what goes into it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backstory.model import Action, Event, Kind, Project, Where
from backstory.paths import Home
from backstory.store import Store, open_store
from backstory.store.records import Added, Arrival

SHOP = Project("p-shop", "example.org/shop", "shop", "/home/dev/shop", 1)
BARN = Project("p-barn", "/home/dev/barn", "barn", "/home/dev/barn", 1)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    opened = open_store(home)
    yield opened
    opened.close()


def event(kind: Kind = Kind.PROMPT, at: int = 1_000, **fields: Any) -> Event:
    """An event of session s1 in the shop."""
    return Event(
        "claude-code", fields.pop("session", "s1"), kind, at, where=Where("/home/dev/shop"), **fields
    )


def tool(use: str, at: int = 1_000, **fields: Any) -> Event:
    return event(Kind.TOOL, at, native_id=use, tool="Bash", action=Action.RUN, **fields)


def put(store: Store, *events: Event, project: Project = SHOP) -> list[Added]:
    """Store events together, as a drain does."""
    with store.transaction():
        return store.events.add([Arrival(e, project, store.events.key(e)) for e in events])


def later(event: Event, **changes: Any) -> Event:
    return replace(event, **changes)
