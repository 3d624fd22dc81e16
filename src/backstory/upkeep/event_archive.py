"""What was taken out of the database because it had grown old: lines as an export has them, compressed.

Each run of the worker writes a file of its own, piece by piece, and each piece is on the disk before its rows
are deleted. A kill can tear only the last piece of a file, whose rows are then still in the database.
`backstory import backstory FILE` brings one back. Forgetting and scrubbing reach in here, too.
"""

import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from backstory.atomic import make_private_dir, write_atomic
from backstory.failpoints import step
from backstory.file_reader import LARGEST_HISTORY, read_bytes, regular_file
from backstory.gzip_pieces import State, gzip_members
from backstory.paths import Home
from backstory.store.records import Reach

SUFFIX = ".jsonl.gz"
_OLD = ("events", "memories")  # what is archived; the rest is what that refers to
_IDS = ("id", "session_id", "memory_id")
Row = Mapping[str, Any]


class Archive:
    """One run's file; made when there is something to write."""

    def __init__(self, home: Home, head: Row) -> None:
        self._home = home
        self._head = head
        self._path: Path | None = None

    def add(self, rows: Iterable[tuple[str, Row]]) -> None:
        """Write rows; when this returns they are on the disk."""
        lines = [json.dumps({"table": table, **row}, ensure_ascii=False) for table, row in rows]
        if self._path is None:
            folder = make_private_dir(self._home.archive)
            self._path = _free_name(folder)
            lines.insert(0, json.dumps(self._head))
            fd = os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        else:
            folder = None
            fd = os.open(self._path, os.O_WRONLY | os.O_APPEND)
        data = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")
        with os.fdopen(fd, "ab") as file:
            file.write(gzip.compress(data, 6))
            file.flush()
            os.fsync(file.fileno())
        if folder is not None and hasattr(os, "O_DIRECTORY"):
            _sync(folder)
        step("retention.archived")


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _free_name(folder: Path) -> Path:
    stamp, number = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}", 0
    path = folder / f"{stamp}{SUFFIX}"
    while path.exists():
        number += 1
        path = folder / f"{stamp}-{number}{SUFFIX}"
    return path


def list_archives(home: Home) -> list[Path]:
    """All archives, oldest first."""
    return [path for path in sorted(home.archive.glob(f"*{SUFFIX}")) if regular_file(path) is not None]


def archive_lines(path: Path) -> Iterator[str]:
    """The lines of an archive that can be read; a last piece that was torn by a kill is left out."""
    for piece in _pieces(path)[0]:
        yield from (f"{line}\n" for line in piece.split("\n") if line)


def damaged_archives(home: Home) -> list[Path]:
    """Archives that are empty, or of which something was changed since; a torn end is a kill's, and whole."""
    return [path for path in list_archives(home) if _is_damaged(path)]


def _is_damaged(path: Path) -> bool:
    whole, lost = _pieces(path)
    return lost or not whole or not all(map(_is_row, archive_lines(path)))


def _is_row(line: str) -> bool:
    """Whether a line is a row that can be judged: an event or memory has an id, a session and a time."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(row, dict) or any(isinstance(row.get(name), dict | list) for name in _IDS):
        return False
    if row.get("table") not in _OLD:
        return True
    return isinstance(row.get("at"), int) and all(isinstance(row.get(name), str) for name in _IDS[:2])


def _pieces(path: Path) -> tuple[list[str], bool]:
    """The pieces of an archive that can be read, and whether one before its end cannot."""
    found = list(gzip_members(read_bytes(path, LARGEST_HISTORY)))
    whole = [piece.decode("utf-8", "replace") for piece, state in found if state is State.WHOLE]
    return whole, any(state is State.DAMAGED for _, state in found)


def find_in_archives(home: Home, wanted: Callable[[Row], bool]) -> tuple[Reach, frozenset[str]]:
    """What of the archives is wanted, by ids, and the sessions that it is of."""
    events: set[str] = set()
    memories: set[str] = set()
    sessions: set[str] = set()
    for path in list_archives(home):
        for row in _rows(path):
            if wanted(row):
                {"events": events, "memories": memories}[row["table"]].add(row["id"])
                sessions.add(row["session_id"])
    return Reach(frozenset(events), frozenset(memories)), frozenset(sessions)


def _rows(path: Path) -> Iterator[Row]:
    for line in filter(_is_row, archive_lines(path)):
        row = json.loads(line)
        if row.get("table") in _OLD:
            yield row


def row_texts(row: Row) -> Iterator[str]:
    """Every text of an archived row."""
    yield from (value for value in row.values() if isinstance(value, str) and value)


def archives_with(home: Home, reach: Reach) -> list[Path]:
    """The archives that hold something of a reach."""
    return [path for path in list_archives(home) if any(_within(row, reach) for row in _rows(path))]


def _within(row: Row, reach: Reach) -> bool:
    if reach.sessions & {row.get("session_id"), row.get("id")}:
        return True
    return row.get("id") in reach.events or bool(reach.memories & {row.get("id"), row.get("memory_id")})


def drop_from_archive(path: Path, reach: Reach, head: Row) -> None:
    """Write an archive anew without what is in a reach; one that nothing is left of is removed.

    Of a damaged one what can be read stays, under a new `head` if its own is lost: nobody can tell what the
    rest of it holds.
    """
    first, rows = _head_and_rows(path, head)
    kept = [line for line, row in rows if not _within(row, reach)]
    if any(row.get("table") in _OLD and not _within(row, reach) for _, row in rows):
        _write(path, [first, *kept])
    else:
        path.unlink(missing_ok=True)


def _head_and_rows(path: Path, head: Row) -> tuple[str, list[tuple[str, Row]]]:
    """The first line, or `head` if it is lost, and the rows with the lines that they stand in."""
    rows = [(line, json.loads(line)) for line in filter(_is_row, archive_lines(path))]
    first = next((line for line, row in rows if "table" not in row), f"{json.dumps(head)}\n")
    return first, [(line, row) for line, row in rows if "table" in row]


def clean_archive(path: Path, line_cleaned: Callable[[bytes], bytes], head: Row, really: bool) -> bool:
    """Put every row as `line_cleaned` gives it; gives whether that changes anything.

    Of a damaged one what can be read stays, under a new `head` if its own is lost.
    """
    first, rows = _head_and_rows(path, head)
    before = [line for line, _ in rows]
    cleaned = [line_cleaned(line.encode()).decode() for line in before]
    lost = _is_damaged(path)
    if really and (lost or cleaned != before):
        if cleaned:
            _write(path, [first, *cleaned])
        else:
            path.unlink()
    return cleaned != before


def _write(path: Path, content: Iterable[str]) -> None:
    write_atomic(path, gzip.compress("".join(content).encode(), 6))
