"""Rows out of a database file whose own order is lost: page by page, as SQLite's file format lays them down.

Without its first pages nobody knows which table begins where. But rows lie on leaves all over the file, and
what they look like tells whose they are: how many values, of which types, with which sort of ids. A page that
fits no table is left alone, and so are free pages: what they hold was deleted.
"""

import re
import sqlite3
import struct
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from backstory.store.compression import unpack

Value = int | float | str | bytes | None
Row = tuple[Value, ...]

_TABLE_LEAF, _INDEX_LEAF, _INDEX_NODE = (
    0x0D,
    0x0A,
    0x02,
)  # tables without row numbers are laid down as indexes
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_REAL, _ZERO, _ONE = 7, 8, 9
Form = Callable[[Value], object]


def _like(pattern: str) -> Form:
    match = re.compile(pattern, re.DOTALL).fullmatch
    return lambda value: isinstance(value, str) and match(value)


def _is_payload(value: Value) -> bool:
    """Whether a payload can be unpacked: its middle may have lain on a broken page."""
    return unpack(value) is not None


_EVENT, _MEMORY, _SESSION, _PROJECT, _INJECTION = (
    _like(f"{letter}(-recovered|[0-9a-f]{{12,40}})") for letter in "emspi"
)
# What a value must look like, by its column; tables that differ in nothing else differ in this.
_FORMS: dict[str, Form] = {
    "event_id": _EVENT,
    "memory_id": _MEMORY,
    "session_id": _SESSION,
    "project_id": _PROJECT,
    "events.id": _EVENT,
    "memories.id": _MEMORY,
    "sessions.id": _SESSION,
    "projects.id": _PROJECT,
    "injections.id": _INJECTION,
    "injection_id": _INJECTION,
    "injected.memory_id": _like(".+"),  # or an event that still lay in the spool
    "payloads.body": _is_payload,
    "places.path": _like(r"(/|\\\\|[A-Za-z]:).*"),
    "ordinals.base": _like(r"[0-9a-f]{16,64}\+?"),
    "counters.day": _like(r"\d{4}-\d\d-\d\d"),
    "tombstones.what": _like("[a-z]+"),
    "injections.session_id": _like(".*"),  # a session may be unknown as yet, or never be stored
    "model_calls.session_id": _like(".*"),
    "transcripts.session_id": _like("(s[0-9a-f]{12,40})?"),  # of some nothing was worth storing
    "receipts.name": _like(r"[\w-]*\.[\w.-]+"),
}


@dataclass(frozen=True, slots=True)
class Shape:
    """How the rows of a table are laid down."""

    table: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    nullable: tuple[bool, ...]
    least: int  # older rows are shorter: they were written before a column was added
    number: int | None  # which column is the row's number, in a table that has one
    forms: tuple[Form | None, ...]


def table_shapes(new: sqlite3.Connection, tables: Collection[str]) -> list[Shape]:
    """How a database of today's schema lays its tables down."""
    return [_shape(new, table) for table in tables]


def _shape(new: sqlite3.Connection, table: str) -> Shape:
    info = new.execute(f"PRAGMA table_info({table})").fetchall()
    (numbered,) = new.execute(
        "SELECT sql NOT LIKE '%WITHOUT ROWID%' FROM sqlite_master WHERE name = ?", (table,)
    ).fetchone()
    if not numbered:  # its key comes first
        info = sorted(info, key=lambda column: (not column[5], column[5]))
    needed = [at for at, column in enumerate(info, 1) if (column[3] or column[5]) and column[4] is None]
    number = next((at for at, c in enumerate(info) if numbered and c[5] and c[2] == "INTEGER"), None)
    return Shape(
        table,
        tuple(column[1] for column in info),
        tuple(column[2] for column in info),
        tuple(not (column[3] or column[5]) for column in info),
        max(needed),
        number,
        tuple(_FORMS.get(f"{table}.{column[1]}") or _FORMS.get(column[1]) for column in info),
    )


# Indexes that tell what a session or project is called though its own row is lost; their entries are read
# into tables of these names.
SESSION_NAMES = Shape(
    "session_names",
    ("agent", "native_id", "id"),
    ("TEXT",) * 3,
    (False,) * 3,
    3,
    None,
    (None, None, _SESSION),
)
PROJECT_NAMES = Shape(
    "project_names", ("identity", "id"), ("TEXT",) * 2, (False,) * 2, 2, None, (None, _PROJECT)
)


class Pages:
    """A file of pages, read without SQLite; close it after use."""

    def __init__(self, path: Path, size: int, reserved: int) -> None:
        self._file = path.open("rb")
        self._size = size
        self._usable = size - reserved
        self._count = path.stat().st_size // size

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def rows(self, wanted: Collection[Shape]) -> Iterator[tuple[Shape, Row]]:
        """Every row that has one of these shapes; its values may be fewer than the columns."""
        free = self._free()
        for number in range(1, self._count + 1):
            if number not in free:
                page = self._page(number)
                for start in self._cells(page):
                    if (found := self._row(page, start, wanted)) is not None:
                        yield found

    def _page(self, number: int) -> bytes:
        self._file.seek((number - 1) * self._size)
        return self._file.read(self._size)

    def _free(self) -> frozenset[int]:
        """Pages that a list of free pages names; the lists are known by having nothing but page numbers."""
        free: set[int] = set()
        for number in range(2, self._count + 1):
            page = self._page(number)
            following, count = struct.unpack_from(">II", page)
            if following <= self._count and 0 < count <= self._usable // 4 - 2:
                listed = struct.unpack_from(f">{count}I", page, 8)
                if len(set(listed)) == count and all(1 < each <= self._count for each in listed):
                    free.update(listed)
        return frozenset(free)

    def _cells(self, page: bytes) -> Iterator[int]:
        """Where on a page its rows begin; nowhere if it holds none."""
        if page[0] not in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_NODE):
            return
        head = 12 if page[0] == _INDEX_NODE else 8
        (count,) = struct.unpack_from(">H", page, 3)
        if head + 2 * count > self._usable:
            return
        for start in struct.unpack_from(f">{count}H", page, head):
            if head + 2 * count <= start < self._usable:
                yield start + (4 if page[0] == _INDEX_NODE else 0)

    def _row(self, page: bytes, start: int, wanted: Collection[Shape]) -> tuple[Shape, Row] | None:
        try:
            size, at = _varint(page, start)
            number = None
            if page[0] == _TABLE_LEAF:
                number, at = _varint(page, at)
            types, body = _types(page, at)
            for shape in wanted:
                if (number is None) == (shape.number is None) and _fits(types, shape):
                    values = _values(self._record(page, at, size), types, body - at)
                    if number is not None and shape.number is not None:
                        values[shape.number] = number
                    if _sane(values, shape):
                        return shape, tuple(values)
        except (IndexError, ValueError, struct.error):  # not a row, or not all of it is there
            pass
        return None

    def _record(self, page: bytes, at: int, size: int) -> bytes:
        """A row's bytes; what does not fit on its page goes on elsewhere."""
        largest = self._usable - 35 if page[0] == _TABLE_LEAF else (self._usable - 12) * 64 // 255 - 23
        least = (self._usable - 12) * 32 // 255 - 23
        here = size
        if size > largest:
            here = least + (size - least) % (self._usable - 4)
            here = here if here <= largest else least
        if at + here > self._usable or size > self._count * self._size:
            raise ValueError("a row goes beyond its page")
        record = bytearray(page[at : at + here])
        following = struct.unpack_from(">I", page, at + here)[0] if here < size else 0
        while len(record) < size:
            if not 1 < following <= self._count:
                raise ValueError("a row's end is lost")
            page = self._page(following)
            (following,) = struct.unpack_from(">I", page)
            record += page[4 : min(self._usable, 4 + size - len(record))]
        return bytes(record)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where the next one begins."""
    value = 0
    for count in range(8):
        byte = data[at + count]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + count + 1
    value = value << 8 | data[at + 8]
    return value - (1 << 64) if value >= 1 << 63 else value, at + 9


def _types(page: bytes, at: int) -> tuple[list[int], int]:
    """The types of a row's values, and where the values begin."""
    length, reading = _varint(page, at)
    types = []
    while reading < at + length:
        kind, reading = _varint(page, reading)
        types.append(kind)
    if reading != at + length:
        raise ValueError("a row's types do not end where they should")
    return types, reading


def _fits(types: list[int], shape: Shape) -> bool:
    if not shape.least <= len(types) <= len(shape.columns):
        return False
    return all(
        kind == 0 if at == shape.number else shape.nullable[at] if kind == 0 else _is(kind, shape.types[at])
        for at, kind in enumerate(types)
    )


def _is(kind: int, declared: str) -> bool:
    if kind >= 12:
        return declared == ("TEXT" if kind % 2 else "BLOB")
    whole = kind in _INTEGERS or kind in (_ZERO, _ONE)
    return (declared == "REAL" and (whole or kind == _REAL)) or (declared == "INTEGER" and whole)


def _values(record: bytes, types: list[int], at: int) -> list[Value]:
    values: list[Value] = []
    for kind in types:
        if kind >= 12:
            size = (kind - 12) // 2
            data = record[at : at + size]
            values.append(data.decode("utf-8") if kind % 2 else data)
        elif kind == _REAL:
            size = 8
            values.append(float(struct.unpack_from(">d", record, at)[0]))
        else:
            size = _INTEGERS.get(kind, 0)
            constant = {0: None, _ZERO: 0, _ONE: 1}
            values.append(
                int.from_bytes(record[at : at + size], "big", signed=True) if size else constant[kind]
            )
        at += size
    if at != len(record):
        raise ValueError("a row is not as long as its types say")
    return values


def _sane(values: list[Value], shape: Shape) -> bool:
    return all(
        form is None or value is None or form(value) for value, form in zip(values, shape.forms, strict=False)
    )
