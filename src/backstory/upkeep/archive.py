"""What was taken out of the database because it had grown old: lines as an export has them, compressed.

Each run of the worker writes a file of its own, piece by piece, and each piece is on the disk before its rows
are deleted. A kill can tear only the last piece of a file, whose rows are then still in the database.
`backstory import backstory FILE` brings one back. Forgetting and scrubbing reach in here, too.
"""

import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from backstory.atomic import make_private_dir, write_atomic
from backstory.file_reader import bounded, open_file
from backstory.paths import Home
from backstory.steps import step
from backstory.store.values import Reach

SUFFIX = ".jsonl.gz"
_OLD = ("events", "memories")  # what is archived; the rest is what that refers to
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


def listed(home: Home) -> list[Path]:
    """All archives, oldest first."""
    return sorted(home.archive.glob(f"*{SUFFIX}"))


def lines(path: Path) -> Iterator[str]:
    """The lines of an archive; a last piece that was torn by a kill is left out."""
    try:
        with open_file(path) as packed, gzip.open(packed) as file:
            yield from (line.decode("utf-8", "replace") for line in bounded(file) if line.endswith(b"\n"))
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return


def holding(home: Home, wanted: Callable[[Row], bool]) -> tuple[Reach, frozenset[str]]:
    """What of the archives is wanted, by ids, and the sessions that it is of."""
    events: set[str] = set()
    memories: set[str] = set()
    sessions: set[str] = set()
    for path in listed(home):
        for row in _rows(path):
            if wanted(row):
                {"events": events, "memories": memories}[row["table"]].add(row["id"])
                sessions.add(row["session_id"])
    return Reach(frozenset(events), frozenset(memories)), frozenset(sessions)


def _rows(path: Path) -> Iterator[Row]:
    for line in lines(path):
        row = json.loads(line)
        if row.get("table") in _OLD:
            yield row


def texts(row: Row) -> Iterator[str]:
    """Every text of an archived row."""
    yield from (value for value in row.values() if isinstance(value, str) and value)


def having(home: Home, reach: Reach) -> list[Path]:
    """The archives that hold something of a reach."""
    return [path for path in listed(home) if any(_within(row, reach) for row in _rows(path))]


def _within(row: Row, reach: Reach) -> bool:
    if reach.sessions & {row.get("session_id"), row.get("id")}:
        return True
    return row.get("id") in reach.events or bool(reach.memories & {row.get("id"), row.get("memory_id")})


def drop(path: Path, reach: Reach) -> None:
    """Write an archive anew without what is in a reach; one that nothing is left of is removed."""
    head, *rest = lines(path)
    rows = [(line, json.loads(line)) for line in rest]
    kept = [line for line, row in rows if not _within(row, reach)]
    if any(row["table"] in _OLD and not _within(row, reach) for _, row in rows):
        _write(path, [head, *kept])
    else:
        path.unlink(missing_ok=True)


def clean(path: Path, line_cleaned: Callable[[bytes], bytes], really: bool) -> bool:
    """Put every row as `line_cleaned` gives it; gives whether that changes anything."""
    head, *rest = lines(path)
    cleaned = [line_cleaned(line.encode()).decode() for line in rest]
    if cleaned == rest:
        return False
    if really:
        _write(path, [head, *cleaned])
    return True


def _write(path: Path, content: Iterable[str]) -> None:
    write_atomic(path, gzip.compress("".join(content).encode(), 6))
