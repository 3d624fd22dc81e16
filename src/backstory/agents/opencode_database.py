"""opencode's database, opened so that nothing but sessions can be read and nothing can be changed.

Other tables beside them hold accounts, credentials and shared secrets. So SQLite itself refuses every table
but the three, whatever the statement. Of a write-ahead log without an index, which nobody but a copying hand
leaves, SQLite makes the index that it needs: the database is opened for each session, and may be large.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from backstory.foreign_database import ForeignDatabase, Unreadable, open_database

TABLES = frozenset(("session", "message", "part"))


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session; `size` counts its messages and parts."""

    id: str
    parent: str
    updated: int
    size: int


def open_tables(file: Path) -> AbstractContextManager[ForeignDatabase]:
    """A database of which the three tables can be read and nothing else."""
    return open_database(file, TABLES, copies=False)


def session_rows(file: Path) -> list[SessionRow]:
    """All sessions, oldest first; none if this is a database of something else."""
    with open_tables(file) as database:
        found = {name for (name,) in database.rows("SELECT name FROM sqlite_master")}
        if not found >= TABLES:
            return []
        if odd := sorted(TABLES - database.columns.keys()):
            raise Unreadable(f"{file} cannot be read: {', '.join(odd)} is not a plain table")
        sizes: dict[str, int] = {}
        for table in ("message", "part"):
            counted = f"SELECT session_id, count(*) FROM {table} GROUP BY session_id"  # noqa: S608
            for session, count in database.rows(counted):
                sizes[session] = sizes.get(session, 0) + count
        rows = database.rows(
            """
            SELECT id, coalesce(parent_id, ''), time_updated FROM session
            ORDER BY time_created, id
            """
        )
        return [SessionRow(id, parent, at, sizes.get(id, 0)) for id, parent, at in rows]


def folder_and_title(file: Path, session: str) -> tuple[str, str]:
    """The folder that a session works in, and its title."""
    query = "SELECT directory, coalesce(title, '') FROM session WHERE id = ?"
    with open_tables(file) as database:
        row = next(database.rows(query, (session,)), ("", ""))
    return str(row[0]), str(row[1])


def message_rows(file: Path, session: str) -> Iterator[tuple[str, int, str, list[tuple[str, int, str]]]]:
    """The messages of a session in order (id, time, JSON), each with its parts (id, time, JSON)."""
    with open_tables(file) as database:
        parts: dict[str, list[tuple[str, int, str]]] = {}
        # sorted here: SQLite would read all rows, also those without an end, before it gives the first one
        for message, *part in database.rows(
            "SELECT message_id, id, time_created, data FROM part WHERE session_id = ?", (session,)
        ):
            parts.setdefault(message, []).append((part[0], part[1], part[2]))
        rows = list(
            database.rows("SELECT id, time_created, data FROM message WHERE session_id = ?", (session,))
        )
        for id, at, data in sorted(rows, key=lambda row: (str(row[1]).zfill(20), str(row[0]))):
            yield id, at, data, sorted(parts.pop(id, []), key=lambda part: str(part[0]))
