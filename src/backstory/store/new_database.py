"""The one way to make a database file: in a fresh folder, checked against its source, then put in place.

The folder is made for this one file and is nobody else's, so nothing stale (a log, a journal) can lie
beside it. Its maker holds a lock in it: a folder whose lock is free was left by a kill, and is removed by the
next maker and by forgetting. Whatever takes the place of the database in use is checked first: `put_in_place`
is the only way there.
"""

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from backstory.atomic import lock
from backstory.errors import Failed
from backstory.failpoints import step
from backstory.paths import Home
from backstory.store import schema
from backstory.store.compression import unpack

UNFINISHED = "building-"
_LOCK = "lock"
# What used to be built beside the database itself, and was left there by a kill.
_FORMERLY = ("restoring.db*", "repairing.db*", "damaged.db*")
_SIDES = ("-wal", "-shm", "-journal")


@contextlib.contextmanager
def new_database(home: Home) -> Iterator[Path]:
    """A path for a new database in a folder of its own; whatever is still in it afterwards is removed."""
    clear_leftovers(home)
    with contextlib.ExitStack() as held:
        while True:
            folder = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=home.root))
            held.callback(shutil.rmtree, folder, ignore_errors=True)
            # another process that clears up may have taken the lock in between, and the folder with it
            if held.enter_context(lock(folder / _LOCK)) and (folder / _LOCK).exists():
                break
        path = folder / home.database.name
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        step("build.begun")
        yield path


def leftover_files(home: Home) -> list[Path]:
    """Files that killed makers of databases have left; those of a maker that lives are not among them."""
    found = [path for pattern in _FORMERLY for path in home.root.glob(pattern) if path.is_file()]
    for folder in home.root.glob(f"{UNFINISHED}*"):
        if _abandoned(folder):
            found += [path for path in folder.rglob("*") if path.is_file() and path.name != _LOCK]
    return sorted(found)


def clear_leftovers(home: Home) -> int:
    """Remove what killed makers of databases have left; gives how many files that were."""
    found = leftover_files(home)
    for path in found:
        path.unlink(missing_ok=True)
    for folder in home.root.glob(f"{UNFINISHED}*"):
        if _abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)
    return len(found)


def _abandoned(folder: Path) -> bool:
    if folder.is_symlink() or not folder.is_dir():
        return False
    with lock(folder / _LOCK) as free:
        return free


def put_in_place(new: Path, home: Home, expected: Mapping[str, int], old: sqlite3.Connection | None) -> None:
    """Check a new database, and give it the name of the one in use; `old` is held by who is alone with that.

    Killed at any step, the database in use is the old one or the new one, whole.
    """
    step("build.filled")
    with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = DELETE")  # nothing may be left in a log beside it
        if found := find_fault(db, expected):
            raise Failed(f"the new database is not whole ({found}): the old one was left as it is")
    _sync(new)
    step("build.checked")
    if old is not None:
        _leave_log(old)
    for side in _SIDES:
        home.database.with_name(home.database.name + side).unlink(missing_ok=True)
    step("replace.ready")
    new.chmod(0o600)
    new.replace(home.database)
    if hasattr(os, "O_DIRECTORY"):
        _sync(home.root)
    step("replace.done")


def _leave_log(old: sqlite3.Connection) -> None:
    """Let go of the write-ahead log: SQLite, when it closes, deletes a file of that name, whoever's it is."""
    try:
        old.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error:
        old.close()


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def find_fault(db: sqlite3.Connection, expected: Mapping[str, int]) -> str:
    """What is wrong with a new database; "" if nothing is. `expected`: how many rows each table must have."""
    try:
        found = str(db.execute("PRAGMA integrity_check(1)").fetchone()[0])
        if found != "ok":
            return " ".join(found.split())
        if missing := _outline_of_today() - _outline(db):
            return f"its schema lacks {min(missing)[1]}"
        if extra := db.execute(
            "SELECT name FROM main.sqlite_master WHERE type IN ('trigger', 'view')"
        ).fetchone():
            return f"{extra[0]} is none of ours"
        if loose := db.execute("PRAGMA foreign_key_check").fetchone():
            return f"a row of {loose[0]} refers to a row of {loose[2]} that is not there"
        for table, rows in row_counts(db, expected).items():
            if rows != expected[table]:
                return f"{rows} of {expected[table]} rows of {table}"
        if damaged := unreadable_payloads(db):
            return f"{len(damaged)} payloads cannot be read"
    except sqlite3.Error as error:
        return str(error)
    return ""


def _outline_of_today() -> set[tuple[str, ...]]:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        schema.apply_migrations(db, schema.migrations())
        return _outline(db)


def _outline(db: sqlite3.Connection) -> set[tuple[str, ...]]:
    """The tables, columns and indexes of a database."""
    names = db.execute("SELECT type, name FROM main.sqlite_master").fetchall()
    return {(kind, name) for kind, name in names} | {
        (f"{table}.{column[1]}", f"{table}.{column[1]}", *map(str, column[2:4]), str(column[5]))
        for kind, table in names
        if kind == "table"
        for column in db.execute(f"PRAGMA main.table_info('{table}')")
    }


def row_counts(db: sqlite3.Connection, tables: Mapping[str, object]) -> dict[str, int]:
    """How many rows these tables have."""
    return {
        table: int(db.execute(f"SELECT count(*) FROM main.{table}").fetchone()[0])  # noqa: S608
        for table in tables
    }


def unreadable_payloads(db: sqlite3.Connection) -> list[int]:
    """The events' rows whose payloads are damaged."""
    rows = db.execute("SELECT event_row, body FROM main.payloads")
    return [row for row, body in rows if unpack(body) is None]


def drop_unreadable_payloads(path: Path) -> int:
    """Remove payloads that are damaged; their events stay, and say that they have none."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        damaged = [(row,) for row in unreadable_payloads(db)]
        db.execute("BEGIN")
        db.executemany("DELETE FROM payloads WHERE event_row = ?", damaged)
        db.executemany("UPDATE events SET payload_size = 0 WHERE row = ?", damaged)
        db.execute("COMMIT")
    return len(damaged)
