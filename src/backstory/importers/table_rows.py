"""Rows of another tool's tables as lines of JSON, and the reader that makes events of them.

A line is what an importer counts when it cannot be used. So whatever is wrong with a row is found out here,
one row at a time: the others do not suffer.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from backstory.importers.markdown_pages import Numbering
from backstory.importers.sqlite_tables import Row
from backstory.model import Event

_TABLE = "\0table"


def row_line(table: str, row: Row) -> bytes:
    """A row as a line."""
    plain = {name: value.decode("utf-8", "replace") if isinstance(value, bytes) else value
             for name, value in row.items()}  # fmt: skip
    return json.dumps({_TABLE: table, **plain}).encode() + b"\n"


class RowReader:
    """Reads lines that are rows. `tables` says what a row means and which of its columns are known.

    Where that is None, all are.
    `counts` gains: malformed (a row that says nothing), unknown (a row with something in a column that is
    not known).
    """

    def __init__(
        self, tables: Mapping[str, tuple[Callable[[Row], Iterable[Event]], frozenset[str] | None]]
    ) -> None:
        self.counts: Counter[str] = Counter()
        self.turn_start = 0
        self.title = ""
        self.offset = 0
        self._tables = tables

    def feed(self, line: bytes) -> list[Event]:
        """The events of one row."""
        self.offset += len(line)
        row: dict[str, Any] = json.loads(line)
        read, known = self._tables[row.pop(_TABLE)]
        if known is not None and any(row[name] not in (None, "", 0) for name in row.keys() - known):
            self.counts["unknown"] += 1
        events = list(read(row))
        if not events:
            self.counts["malformed"] += 1
        return events

    def finish(self) -> list[Event]:
        """Nothing is ever held back."""
        return []


class Naming:
    """The names of a session's rows: their ids, or for want of one what tells them from each other."""

    def __init__(self) -> None:
        self._numbering = Numbering()

    def of(self, table: str, row: Row, *columns: str) -> str:
        """The name of a row whose table may have no ids; equal rows are numbered."""
        own = column_text(row.get("id"))
        return (
            f"{table}:{own or self._numbering.of(table, *(column_text(row.get(name)) for name in columns))}"
        )


def column_text(value: object) -> str:
    """A column's text, "" if it has none."""
    if isinstance(value, str):
        return value.strip()
    return "" if value is None or isinstance(value, bool) else str(value)


def column_list(value: object) -> list[str]:
    """The texts in a column that holds a JSON list; what is no JSON is one text."""
    whole = column_text(value)
    try:
        found = json.loads(whole) if whole else []
    except (ValueError, RecursionError):
        return [whole]
    if not isinstance(found, list):
        return [whole] if found else []
    return [item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in found if item]


def column_json(value: object) -> object:
    """What a column of JSON holds; what is no JSON stays text."""
    whole = column_text(value)
    try:
        return json.loads(whole) if whole else ""
    except (ValueError, RecursionError):
        return whole
