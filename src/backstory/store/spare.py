"""What must not be lost with the database, in a small file beside it: its key, and what was forgotten.

Without the key everything that is captured again would be stored again; without the tombstones a transcript
that is read again would bring back what was to be forgotten. It holds no words, only keys, ids and times.
"""

import contextlib
import json
import sqlite3
from pathlib import Path

from backstory.atomic import write_atomic

NAME = "spare.jsonl"
Grave = tuple[object, ...]


def keep(connection: sqlite3.Connection, database: Path) -> None:
    """Bring the file up to date, if something was forgotten or the key is another one."""
    path = database.with_name(NAME)
    with contextlib.suppress(OSError, sqlite3.Error):  # there will be another time
        (head,) = connection.execute(
            """
            SELECT json_array((SELECT value FROM meta WHERE key = 'key'), count(*), coalesce(max(at), 0))
            FROM tombstones
            """
        ).fetchone()
        if not database.exists() or head == _first_line(path):
            return
        graves = connection.execute("SELECT id, what, reason, at FROM tombstones ORDER BY at, id")
        lines = [head, *(json.dumps(grave) for grave in graves)]
        write_atomic(path, "".join(f"{line}\n" for line in lines).encode())


def key(database: Path) -> str:
    """The database's key; empty if it is not there."""
    with contextlib.suppress(ValueError, IndexError):
        found = json.loads(_lines(database.with_name(NAME))[0])[0]
        return found if isinstance(found, str) and len(bytes.fromhex(found)) == 16 else ""
    return ""


def graves(database: Path) -> list[Grave]:
    """What was forgotten, as its tombstones have it."""
    with contextlib.suppress(ValueError):
        rows = [json.loads(line) for line in _lines(database.with_name(NAME))[1:]]
        return [tuple(row) for row in rows if isinstance(row, list) and len(row) == 4]
    return []


def _first_line(path: Path) -> str:
    with contextlib.suppress(OSError, ValueError), path.open(encoding="utf-8") as file:
        return file.readline().rstrip("\n")
    return ""


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except (OSError, ValueError):
        return []
