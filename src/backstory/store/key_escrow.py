"""What must not be lost with the database, in a small file beside it: its key, and what was forgotten.

Without the key everything that is captured again would be stored again; without the tombstones a transcript
that is read again would bring back what was to be forgotten. It holds no words, only keys, ids and times.
What was forgotten stays in it when the database is lost and begins anew: a backup may still have it.
"""

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from backstory.atomic import write_own
from backstory.file_reader import read_lines, read_text

NAME = "spare.jsonl"
_FORGOTTEN = "forgotten"  # other graves may open again, and only their database knows
Grave = tuple[object, ...]


def update_escrow(connection: sqlite3.Connection, database: Path) -> None:
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
        known = connection.execute("SELECT id, what, reason, at FROM tombstones ORDER BY at, id").fetchall()
        ids = {grave[0] for grave in known}
        older = [
            grave for grave in escrowed_tombstones(database) if grave[0] not in ids and grave[2] == _FORGOTTEN
        ]
        lines = [head, *(json.dumps(grave) for grave in (*older, *known))]
        write_own(path, "".join(f"{line}\n" for line in lines).encode())


def escrowed_key(database: Path) -> str:
    """The database's key; empty if it is not there."""
    with contextlib.suppress(ValueError, IndexError):
        found = json.loads(_lines(database.with_name(NAME))[0])[0]
        return found if isinstance(found, str) and len(bytes.fromhex(found)) == 16 else ""
    return ""


def escrowed_tombstones(database: Path) -> list[Grave]:
    """What was forgotten, as its tombstones have it; lines that are none are left out."""
    return list(_graves(_lines(database.with_name(NAME))[1:]))


def _graves(lines: list[str]) -> Iterator[Grave]:
    for line in lines:
        with contextlib.suppress(ValueError, RecursionError):
            row = json.loads(line)
            if isinstance(row, list) and [type(each) for each in row] == [str, str, str, int]:
                yield tuple(row)


def _first_line(path: Path) -> str:
    with contextlib.suppress(OSError, ValueError):
        return next(read_lines(path), b"").decode().rstrip("\n")
    return ""


def _lines(path: Path) -> list[str]:
    try:
        return read_text(path).splitlines()
    except (OSError, ValueError):
        return []
