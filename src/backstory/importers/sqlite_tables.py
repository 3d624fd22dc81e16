"""Another tool's SQLite database, read and never touched: not a byte of it, and no file beside it.

A database that is written ahead needs care. Without its log the file alone is all there is: it is opened as
immutable. With the log and its index, the index is opened read-only too. With a log but no index, SQLite
would make one, so a private copy is read.

Versions differ: a table or column that is not there gives nothing.
"""

import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from backstory.file_reader import open_file, require_database

_AT_ONCE = 500
_HEADER = 20
_MAGIC = b"SQLite format 3\0"
_WRITTEN_AHEAD = 2
_MARKS = 2**62

Row = dict[str, object]


class Unreadable(OSError):
    """Not a database, or one that cannot be read now."""


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

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._db = connection
        self._file = file
        names = self._all("SELECT name FROM sqlite_master WHERE type = 'table'")
        self._columns = {
            str(name): frozenset(str(row[1]) for row in self._all(f"PRAGMA table_info({_quoted(str(name))})"))
            for (name,) in names
        }

    def __contains__(self, table: str) -> bool:
        return table in self._columns

    def trouble(self) -> Unreadable:
        """What is wrong with a database that could not be read."""
        told = next((str(row[0]) for row in self._all("PRAGMA quick_check(1)")), "")
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
            yield from self._named(f"SELECT * FROM {_quoted(table)} ORDER BY rowid", ())  # noqa: S608
            return
        for start in range(0, len(values), _AT_ONCE):
            part = values[start : start + _AT_ONCE]
            wanted = f"{_quoted(column)} IN ({', '.join('?' * len(part))})"
            if "" in part:
                wanted += f" OR {_quoted(column)} IS NULL"
            yield from self._named(
                f"SELECT * FROM {_quoted(table)} WHERE {wanted} ORDER BY rowid",  # noqa: S608
                part,
            )

    def spans(self, table: str, column: str, numbers: str, marked: bool = True) -> dict[str, Span]:
        """The rows of a table by the value of a column, counted, with the highest value of another."""
        if not column or table not in self._columns:
            return {}
        last = f"max({_quoted(numbers)})" if numbers in self._columns[table] else "0"
        said = ", ".join(f"CAST({_quoted(name)} AS BLOB)" for name in sorted(self._columns[table]))
        mark = f"marking({said})" if marked else "0"
        found = self._all(
            f"SELECT {_quoted(column)}, count(*), {last}, {mark} FROM {_quoted(table)} GROUP BY 1"  # noqa: S608
        )
        return {
            _text(value): Span(whole(count), whole(last), whole(mark)) for value, count, last, mark in found
        }

    def _named(self, query: str, values: Sequence[object]) -> Iterator[Row]:
        try:
            cursor = self._db.execute(query, values)
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield dict(zip(names, row, strict=True))
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the second: a damaged name of a column
            raise Unreadable(f"{self._file} cannot be read: {error}") from None

    def _all(self, query: str) -> list[tuple[object, ...]]:
        try:
            return self._db.execute(query).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the second: a damaged name of a column
            raise Unreadable(f"{self._file} cannot be read: {error}") from None


@contextmanager
def opened(file: Path) -> Iterator[Tables]:
    """A database's tables, for as long as they are needed."""
    with _untouched(file) as where:
        try:
            connection = sqlite3.connect(where, uri=True, timeout=5)
        except sqlite3.Error as error:
            raise Unreadable(f"{file} cannot be opened: {error}") from None
        connection.text_factory = _text
        connection.create_aggregate("marking", -1, _Marking)
        with closing(connection):
            yield Tables(connection, file)


@contextmanager
def _untouched(file: Path) -> Iterator[str]:
    """The address under which SQLite leaves no trace."""
    require_database(file)
    with open_file(file) as opened_file:
        head = opened_file.read(_HEADER)
    if len(head) < _HEADER or not head.startswith(_MAGIC):
        raise Unreadable(f"{file} is no SQLite database")
    log, index = (Path(f"{file}{suffix}") for suffix in ("-wal", "-shm"))
    if not log.exists():
        yield _address(file, "immutable=1" if head[18] == _WRITTEN_AHEAD else "mode=ro")
    elif index.exists():
        yield _address(file, "mode=ro&readonly_shm=1")
    else:
        import shutil  # rarely needed, and every command starts quicker without
        import tempfile

        with tempfile.TemporaryDirectory(prefix="backstory-") as folder:
            copy = Path(folder, file.name)
            shutil.copyfile(file, copy)
            shutil.copyfile(log, f"{copy}-wal")
            yield _address(copy, "mode=ro")


def _address(file: Path, how: str) -> str:
    return f"file:{quote(str(file))}?{how}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: object) -> str:
    """Whatever a column holds, as text; bytes that are no UTF-8 stay visible as such."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def whole(value: object) -> int:
    """A number, 0 if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if abs(value) < 2**62 else 0
