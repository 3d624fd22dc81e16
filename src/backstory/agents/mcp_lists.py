"""Agents' lists of MCP servers: in which file, under which keys, and how an entry looks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Launch:
    """How the server is started: a program, its arguments, and the home in the environment."""

    program: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Servers:
    """An agent's list of servers: its file (None: it has none for one project), the keys that lead to it."""

    file: Callable[[Path | None], Path | None]
    keys: Callable[[Path | None], tuple[str, ...]]
    entry: Callable[[Launch], Mapping[str, Any]]


def plain_entry(start: Launch) -> dict[str, Any]:
    """An entry as most agents have it."""
    return {"command": start.program, "args": [*start.arguments], "env": dict(start.environment)}


def in_settings(settings: Callable[[Path | None], Path]) -> Servers:
    """The list of an agent that keeps it beside its hooks."""
    return Servers(settings, lambda _: ("mcpServers",), plain_entry)
