"""opencode's database, opened so that nothing but sessions can be read and nothing can be changed.

Other tables beside them hold accounts, credentials and shared secrets. So SQLite itself refuses every table
but the three, whatever the statement. Nor are the files beside it touched: where no writer has left a
write-ahead log the database is opened as immutable, and else the log's index read-only, too. Only of a log
without an index, which nobody but a copying hand leaves, SQLite makes the index that it needs. A database
with a rollback journal is read under SQLite's locks: its writer may be in the middle of a transaction.

This is the one place outside the store with SQL in it; it is not our database.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from backstory.file_reader import require_database

TABLES = frozenset(("session", "message", "part"))
_SCHEMA = ("sqlite_master", "sqlite_schema")
_ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_TRANSACTION)


class Unreadable(OSError):
    """Not a database of opencode, or one that cannot be read now."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session; `size` counts its messages and parts."""

    id: str
    parent: str
    updated: int
    size: int


def connect(file: Path) -> sqlite3.Connection:
    """A connection that can read the three tables and nothing else."""
    require_database(file)
    log, index = (Path(f"{file}{suffix}").exists() for suffix in ("-wal", "-shm"))
    how = "mode=ro&readonly_shm=1" if log and index else "mode=ro"
    if not log and _keeps_a_log(file):
        how = "immutable=1"
    try:
        connection = sqlite3.connect(f"file:{quote(str(file))}?{how}", uri=True, timeout=5)
    except sqlite3.Error as error:
        raise Unreadable(f"{file} cannot be opened: {error}") from None
    connection.set_authorizer(_allowed)
    return connection


def _keeps_a_log(file: Path) -> bool:
    """Whether changes go to a write-ahead log; byte 18 of a database's head says so."""
    with file.open("rb") as opened:
        return opened.read(19)[18:] == b"\x02"


def _why(error: sqlite3.Error) -> str:
    """An error in words; a writer that is at work just now is no damage."""
    if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return "another program is writing to it: try again in a moment"
    return str(error)


def _allowed(action: int, table: str | None, *_: str | None) -> int:
    if action in _ALLOWED or (action == sqlite3.SQLITE_READ and (table in TABLES or table in _SCHEMA)):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def sessions(file: Path) -> list[SessionRow]:
    """All sessions, oldest first; none if this is a database of something else."""
    with closing(connect(file)) as connection:
        try:
            found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            if not found >= TABLES:
                return []
            sizes: dict[str, int] = {}
            for table in ("message", "part"):
                counted = f"SELECT session_id, count(*) FROM {table} GROUP BY session_id"  # noqa: S608
                for session, count in connection.execute(counted):
                    sizes[session] = sizes.get(session, 0) + count
            rows = connection.execute(
                """
                SELECT id, coalesce(parent_id, ''), time_updated FROM session
                ORDER BY time_created, id
                """
            )
            return [SessionRow(id, parent, at, sizes.get(id, 0)) for id, parent, at in rows]
        except sqlite3.Error as error:
            raise Unreadable(f"{file} cannot be read: {_why(error)}") from None


def about(file: Path, session: str) -> tuple[str, str]:
    """The folder that a session works in, and its title."""
    with closing(connect(file)) as connection:
        try:
            row = connection.execute(
                "SELECT directory, coalesce(title, '') FROM session WHERE id = ?", (session,)
            ).fetchone()
        except sqlite3.Error as error:
            raise Unreadable(f"{file} cannot be read: {_why(error)}") from None
    return (str(row[0]), str(row[1])) if row else ("", "")


def messages(file: Path, session: str) -> Iterator[tuple[str, int, str, list[tuple[str, int, str]]]]:
    """The messages of a session in order (id, time, JSON), each with its parts (id, time, JSON)."""
    with closing(connect(file)) as connection:
        try:
            parts: dict[str, list[tuple[str, int, str]]] = {}
            for message, *part in connection.execute(
                "SELECT message_id, id, time_created, data FROM part WHERE session_id = ? ORDER BY id",
                (session,),
            ):
                parts.setdefault(message, []).append((part[0], part[1], part[2]))
            for id, at, data in connection.execute(
                """
                SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id
                """,
                (session,),
            ):
                yield id, at, data, parts.pop(id, [])
        except sqlite3.Error as error:
            raise Unreadable(f"{file} cannot be read: {_why(error)}") from None
