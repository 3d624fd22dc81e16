"""Whether the database is whole. Looks at the file as it is: nothing is created, migrated or mended."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from backstory.store.schema import migrations

_BUSY_SECONDS = 2


@dataclass(frozen=True, slots=True)
class Health:
    """What an examination found; empty strings mean that nothing is wrong."""

    schema: int
    known_schema: int
    unreadable: str = ""
    damage: str = ""
    unwritable: str = ""
    events: int = 0


def has_fts5() -> bool:
    """Whether this Python's SQLite can index text."""
    with closing(sqlite3.connect(":memory:")) as db:
        try:
            db.execute("CREATE VIRTUAL TABLE probe USING fts5 (text)")
        except sqlite3.OperationalError:
            return False
    return True


def examine(path: Path) -> Health:
    """Read the whole database once, and try whether it can be written right now."""
    known = len(migrations())
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=_BUSY_SECONDS)) as db:
            schema = int(db.execute("PRAGMA user_version").fetchone()[0])
            damage = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
            whole = damage == "ok"
            events = int(db.execute("SELECT count(*) FROM events").fetchone()[0]) if whole and schema else 0
            return Health(schema, known, "", "" if whole else damage, _unwritable(db), events)
    except sqlite3.Error as error:
        return Health(0, known, str(error))


def _unwritable(db: sqlite3.Connection) -> str:
    try:
        db.execute("BEGIN IMMEDIATE")
        db.execute("ROLLBACK")
    except sqlite3.Error as error:
        return str(error)
    return ""
