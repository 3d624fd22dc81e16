"""Whether the database is whole. Looks at the file as it is: nothing is created, migrated or mended."""

import math
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from backstory.store.compression import unpack
from backstory.store.schema import migrations

_BUSY_SECONDS = 2
_PAYLOAD_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Health:
    """What an examination found; empty strings mean that nothing is wrong."""

    schema: int
    known_schema: int
    unreadable: str = ""
    damage: str = ""
    unwritable: str = ""
    events: int = 0
    payloads: int = 0
    payloads_read: int = 0
    payloads_damaged: int = 0


def has_fts5() -> bool:
    """Whether this Python's SQLite can index text."""
    with closing(sqlite3.connect(":memory:")) as db:
        try:
            db.execute("CREATE VIRTUAL TABLE probe USING fts5 (text)")
        except sqlite3.OperationalError:
            return False
    return True


def examine_database(path: Path, deep: bool = False) -> Health:
    """Read the whole database once, and try whether it can be written right now.

    Payloads are unpacked, the latest first, for a few seconds; all of them if it is to be `deep`.
    """
    known = len(migrations())
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=_BUSY_SECONDS)) as db:
            schema = int(db.execute("PRAGMA user_version").fetchone()[0])
            damage = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
            if damage != "ok":
                return Health(schema, known, "", damage, _unwritable(db))
            if not schema:
                return Health(schema, known, unwritable=_unwritable(db))
            events, payloads = db.execute(
                "SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM payloads)"
            ).fetchone()
            read, damaged = _payloads(db, math.inf if deep else time.monotonic() + _PAYLOAD_SECONDS)
            return Health(schema, known, "", "", _unwritable(db), events, payloads, read, damaged)
    except sqlite3.Error as error:
        return Health(0, known, str(error))


def _payloads(db: sqlite3.Connection, deadline: float) -> tuple[int, int]:
    """How many payloads were unpacked before the deadline, and how many of them are damaged."""
    read = damaged = 0
    for (body,) in db.execute("SELECT body FROM payloads ORDER BY event_row DESC"):
        if time.monotonic() > deadline:
            break
        read += 1
        damaged += unpack(body) is None
    return read, damaged


def _unwritable(db: sqlite3.Connection) -> str:
    try:
        db.execute("BEGIN IMMEDIATE")
        db.execute("ROLLBACK")
    except sqlite3.Error as error:
        return str(error)
    return ""
