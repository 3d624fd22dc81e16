"""The tables of another tool's SQLite database (see `backstory.foreign_database`).

Versions differ: a table or column that is not there gives nothing.
"""

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backstory.foreign_database import ForeignDatabase, Unreadable, open_database, quoted_name

_AT_ONCE = 500
_MARKS = 2**62

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class Span:
    """How many rows belong to something, the highest of the numbers that they carry, and what they say.

    `mark` changes when any of them changes, and does not depend on their order.
    """

    count: int = 0
    last: int = 0
    mark: int = 0

    def __add__(self, other: "Span") -> "Span":
        mark = (self.mark + other.mark) % _MARKS
        return Span(self.count + other.count, max(self.last, other.last), mark)


class _Marking:
    """Marks rows for SQLite, which has no digests of its own."""

    def __init__(self) -> None:
        self._sum = 0

    def step(self, *values: Any) -> None:
        self._sum += zlib.crc32(b"\0".join(value or b"" for value in values))

    def finalize(self) -> int:
        return self._sum % _MARKS


class Tables:
    """The tables of one open database."""

    def __init__(self, database: ForeignDatabase, file: Path) -> None:
        self._db = database
        self._file = file
        self._columns = database.columns

    def __contains__(self, table: str) -> bool:
        return table in self._columns

    def trouble(self) -> Unreadable:
        """What is wrong with a database that could not be read."""
        told = next((str(row[0]) for row in self._db.rows("PRAGMA quick_check(1)")), "")
        if told != "ok":
            return Unreadable(f"{self._file} is damaged: {told}")
        return Unreadable(f"{self._file} could not be read just now: import again")

    def column(self, table: str, *names: str) -> str:
        """The first of these columns that a table has; "" if it has none."""
        return next((name for name in names if name in self._columns.get(table, ())), "")

    def rows(self, table: str, column: str = "", values: Sequence[object] | None = None) -> Iterator[Row]:
        """The rows of a table, all or those with one of these values in a column; "" also stands for none."""
        if table not in self._columns or (values is not None and not column):
            return
        if values is None:
            yield from self._db.named_rows(f"SELECT * FROM {quoted_name(table)} ORDER BY rowid", ())  # noqa: S608
            return
        for start in range(0, len(values), _AT_ONCE):
            part = values[start : start + _AT_ONCE]
            wanted = f"{quoted_name(column)} IN ({', '.join('?' * len(part))})"
            if "" in part:
                wanted += f" OR {quoted_name(column)} IS NULL"
            yield from self._db.named_rows(
                f"SELECT * FROM {quoted_name(table)} WHERE {wanted} ORDER BY rowid",  # noqa: S608
                part,
            )

    def spans(self, table: str, column: str, numbers: str, marked: bool = True) -> dict[str, Span]:
        """The rows of a table by the value of a column, counted, with the highest value of another."""
        if not column or table not in self._columns:
            return {}
        last = f"max({quoted_name(numbers)})" if numbers in self._columns[table] else "0"
        said = ", ".join(f"CAST({quoted_name(name)} AS BLOB)" for name in sorted(self._columns[table]))
        mark = f"marking({said})" if marked else "0"
        found = self._db.rows(
            f"SELECT {quoted_name(column)}, count(*), {last}, {mark} FROM {quoted_name(table)} GROUP BY 1"  # noqa: S608
        )
        return {
            _text(value): Span(as_number(count), as_number(last), as_number(mark))
            for value, count, last, mark in found
        }


@contextmanager
def open_tables(file: Path) -> Iterator[Tables]:
    """A database's tables, for as long as they are needed."""
    with open_database(file) as database:
        database.connection.text_factory = _text
        database.connection.create_aggregate("marking", -1, _Marking)
        yield Tables(database, file)


def _text(value: object) -> str:
    """Whatever a column holds, as text; bytes that are no UTF-8 stay visible as such."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def as_number(value: object) -> int:
    """A number, 0 if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if abs(value) < 2**62 else 0
