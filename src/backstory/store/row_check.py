"""Rows that come from outside, looked at before they are written: what could not be read again is refused."""

import json
import math
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from backstory.errors import Failed
from backstory.model import Action, Kind, MemoryKind, MemoryStatus, Outcome, Scope, SessionStatus, Tier

_TYPES: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {"TEXT": (str,), "INTEGER": (int,), "REAL": (int, float)}
)
_LARGEST = 2**63
_LAST_MS = 253_402_300_800_000  # the year 10,000: no calendar knows what comes then
# Columns that say one of a few words.
_WORDS: Mapping[tuple[str, str], type[StrEnum]] = MappingProxyType(
    {
        ("sessions", "status"): SessionStatus,
        ("events", "kind"): Kind,
        ("events", "action"): Action,
        ("events", "outcome"): Outcome,
        ("memories", "kind"): MemoryKind,
        ("memories", "tier"): Tier,
        ("memories", "status"): MemoryStatus,
        ("memories", "scope"): Scope,
    }
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, as far as a value must fit it."""

    name: str
    type: str
    needed: bool


def table_columns(db: sqlite3.Connection, table: str) -> list[Column]:
    """The columns of a table; the number of a row is local and left out."""
    found = db.execute(f"PRAGMA table_info({table})").fetchall()
    return [
        Column(name, kind, bool(strict or key) and default is None)
        for _, name, kind, strict, default, key in found
        if name != "row"
    ]


def fitting_values(table: str, shape: list[Column], row: Mapping[str, Any]) -> dict[str, Any]:
    """The row's values by column; raises `Failed` if one does not fit."""
    return {
        column.name: _value(table, column, row[column.name])
        for column in shape
        if column.name in row or _missing(table, column)
    }


def row_sources(row: Mapping[str, Any]) -> list[str] | None:
    """The events that a memory's row says it rests on; None if it does not say."""
    found = row.get("sources")
    if found is None:
        return None
    if not isinstance(found, list) or not all(isinstance(event_id, str) for event_id in found):
        raise Failed(f"a memory rests on {str(found)[:40]!r}: this export was changed")
    return [event_id.encode("utf-8", "replace").decode() for event_id in found]


def _missing(table: str, column: Column) -> bool:
    if column.needed:
        raise Failed(f"a row of {table} has no {column.name}: this export was changed or cut")
    return False


def _value(table: str, column: Column, value: Any) -> Any:
    if value is None and not column.needed:
        return None
    fits = isinstance(value, _TYPES.get(column.type, ()))
    if fits and isinstance(value, int):
        fits = -_LARGEST <= value < _LARGEST
        if column.name == "at" or column.name.endswith("_at"):
            fits = 0 <= value < _LAST_MS
    if fits and isinstance(value, float):
        fits = math.isfinite(value)
    if fits and (words := _WORDS.get((table, column.name))) is not None:
        fits = value in list(words)
    if fits and (table, column.name) == ("memories", "files"):
        fits = _names(value)
    if not fits:
        raise Failed(
            f"a row of {table} says {str(value)[:40]!r} for {column.name}: "
            "this export was changed, or is of a newer Backstory"
        )
    # a text that is no Unicode was never stored like this
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _names(value: str) -> bool:
    try:
        found = json.loads(value)
    except ValueError:
        return False
    return isinstance(found, list) and all(isinstance(name, str) for name in found)
