"""Reading what a damaged database still gives, row by row, into a new one of today's schema."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from backstory.store import copies, schema

# The text index is derived and built anew; what was read of a transcript is read again, to fill the gaps.
_DERIVED = (
    "passages",
    "passage_fts",
    "vectors",
    "blocks",
    "pieces",
    "successions",
    "transcripts",
    "receipts",
)
_STEP = 500


@dataclass(frozen=True, slots=True)
class Rescued:
    """How many rows of a table were read, and how many of its places could not be."""

    rows: int
    unreadable: int


def rebuild(source: Path, target: Path, fallback: Sequence[Path]) -> dict[str, Rescued]:
    """Make `target` from what `source` gives; lost tombstones and a lost key come from backups."""
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    with contextlib.closing(sqlite3.connect(target, isolation_level=None)) as new:
        schema.apply(new, schema.migrations())
        new.execute("PRAGMA foreign_keys = OFF")
        new.execute("BEGIN")
        rescued = {}
        with contextlib.closing(sqlite3.connect(source)) as old:
            old.execute("PRAGMA writable_schema = ON")  # read on with a schema that is partly wrong
            for table in _tables(new):
                rescued[table] = _rescue(old, new, table)
        _keep_key(new, fallback)
        for path in fallback:  # what was forgotten must not come back when transcripts are read again
            new.executemany("INSERT OR IGNORE INTO tombstones VALUES (?, ?, ?, ?)", copies.tombstones(path))
        _drop_orphans(new)
        new.execute("DELETE FROM meta WHERE key = 'indexed_events'")
        new.execute("COMMIT")
        new.execute("VACUUM")
    return rescued


def _tables(new: sqlite3.Connection) -> list[str]:
    rows = new.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    return [name for (name,) in rows if not name.startswith(_DERIVED)]


def _rescue(old: sqlite3.Connection, new: sqlite3.Connection, table: str) -> Rescued:
    """All readable rows: forwards until it breaks, then backwards, then what lies between by number."""
    columns = [row[1] for row in new.execute(f"PRAGMA table_info({table})")]
    there = {row[1] for row in _attempt(old, f"PRAGMA table_info({table})")}
    shared = [name for name in columns if name in there]
    if not shared:
        return Rescued(0, 0)
    names = ", ".join(shared)
    insert = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({', '.join('?' * len(shared))})"  # noqa: S608
    key = _key(new, table)
    unreadable = 0
    for order in ("ASC", "DESC"):
        try:
            for row in old.execute(f"SELECT {names} FROM {table} ORDER BY {key} {order}"):  # noqa: S608
                new.execute(insert, row)
            break
        except sqlite3.DatabaseError:
            unreadable += 1
    if unreadable and key in ("rowid", "row", "event_row"):
        unreadable = _by_number(old, new, table, names, key, insert)
    count = int(new.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608
    return Rescued(count, unreadable)


def _key(new: sqlite3.Connection, table: str) -> str:
    keys = [row[1] for row in new.execute(f"PRAGMA table_info({table})") if row[5]]
    return ", ".join(keys) or "rowid"


def _by_number(
    old: sqlite3.Connection, new: sqlite3.Connection, table: str, names: str, key: str, insert: str
) -> int:
    """Every row by its number, so that one broken page costs only what is on it."""
    try:
        last = int(old.execute(f"SELECT max({key}) FROM {table}").fetchone()[0] or 0)  # noqa: S608
    except sqlite3.DatabaseError:
        last = int(new.execute(f"SELECT coalesce(max({key}), 0) FROM {table}").fetchone()[0])  # noqa: S608
    return sum(
        _span(old, new, f"SELECT {names} FROM {table} WHERE {key} BETWEEN ? AND ?", insert, span)  # noqa: S608
        for span in _spans(1, last, _STEP)
    )


def _spans(first: int, last: int, step: int) -> Iterator[tuple[int, int]]:
    for start in range(first, last + 1, step):
        yield start, min(start + step - 1, last)


def _span(
    old: sqlite3.Connection, new: sqlite3.Connection, select: str, insert: str, span: tuple[int, int]
) -> int:
    """Read a range of rows, halving it where it breaks; gives the number of rows that cannot be read."""
    try:
        for row in old.execute(select, span).fetchall():
            new.execute(insert, row)
        return 0
    except sqlite3.DatabaseError:
        first, last = span
        if first == last:
            return 1
        middle = (first + last) // 2
        return _span(old, new, select, insert, (first, middle)) + _span(
            old, new, select, insert, (middle + 1, last)
        )


def _attempt(db: sqlite3.Connection, query: str) -> list[tuple[object, ...]]:
    try:
        return db.execute(query).fetchall()
    except sqlite3.DatabaseError:
        return []


def _keep_key(new: sqlite3.Connection, fallback: Sequence[Path]) -> None:
    """Without the local key, everything that is captured again would count as new."""
    if new.execute("SELECT 1 FROM meta WHERE key = 'key'").fetchone():
        return
    for path in reversed(fallback):
        if found := copies.rows(path, "SELECT value FROM meta WHERE key = 'key'"):
            new.execute("INSERT INTO meta (key, value) VALUES ('key', ?)", found[0])
            return


def _drop_orphans(new: sqlite3.Connection) -> None:
    """Rows whose session or project is lost; a lost session is made again from one of its events."""
    new.execute(
        """
        INSERT OR IGNORE INTO projects (id, identity, name, root, created_at, seen_at)
        SELECT DISTINCT project_id, 'lost:' || project_id, 'recovered', '', 0, 0 FROM sessions
        """
    )
    new.execute(
        """
        INSERT OR IGNORE INTO projects (id, identity, name, root, created_at, seen_at)
        SELECT DISTINCT project_id, 'lost:' || project_id, 'recovered', '', 0, 0 FROM memories
        """
    )
    new.execute(
        """
        INSERT OR IGNORE INTO projects (id, identity, name, root, created_at, seen_at)
        SELECT 'p-recovered', 'lost:', 'recovered', '', 0, 0 FROM events
        WHERE session_id NOT IN (SELECT id FROM sessions) LIMIT 1
        """
    )
    new.execute(
        """
        INSERT OR IGNORE INTO sessions
            (id, agent, native_id, project_id, cwd, started_at, last_at, event_count)
        SELECT session_id, 'unknown', session_id, 'p-recovered', max(cwd), min(at), max(at), count(*)
        FROM events WHERE session_id NOT IN (SELECT id FROM sessions) GROUP BY session_id
        """
    )
    for statement in (
        "DELETE FROM payloads WHERE event_row NOT IN (SELECT row FROM events)",
        "DELETE FROM turns WHERE session_id NOT IN (SELECT id FROM sessions)",
        "DELETE FROM memories WHERE session_id NOT IN (SELECT id FROM sessions)",
        "DELETE FROM memory_sources WHERE memory_id NOT IN (SELECT id FROM memories)",
        "DELETE FROM model_answers WHERE session_id NOT IN (SELECT id FROM sessions)",
        "DELETE FROM injected WHERE injection_id NOT IN (SELECT id FROM injections)",
        "DELETE FROM places WHERE project_id NOT IN (SELECT id FROM projects)",
    ):
        new.execute(statement)
