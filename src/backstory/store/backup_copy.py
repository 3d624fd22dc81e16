"""Copies of the database: made while it is in use, looked into without changing them, kept apart.

A copy is named by when and why it was made. What replaces the database is complete and on the disk before it
gets the database's name, and nobody else may have the database open then: a process that still writes to the
old file would lose what it writes.
"""

import contextlib
import logging
import os
import re
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from backstory.atomic import make_private_dir
from backstory.errors import Failed, StoreUnusable
from backstory.failpoints import step
from backstory.paths import Home
from backstory.store.new_database import new_database

log = logging.getLogger(__name__)
KEPT = 5
PAGE = 4096  # SQLite's own size; we ask for no other
PATIENCE_SECONDS = 5.0
_ABANDONED_SECONDS = 3_600
_COUNTED = ("events", "sessions", "memories", "projects")
# The bytes of a database file that whoever uses it has locked (SQLite's file format).
_SHARED_FIRST, _SHARED_BYTES = 0x40000002, 510
_STAMP = "%Y%m%dT%H%M%SZ"
BY_HAND, BEFORE_RESTORE, BEFORE_SCHEMA = "by-hand", "before-restore", "schema-{}"
# What we have named ourselves; whatever else lies among the backups is somebody's own.
_OURS = re.compile(
    rf"(\d{{8}}T\d{{6}}Z)-({BY_HAND}|{BEFORE_RESTORE}|{BEFORE_SCHEMA.format('[0-9]+')})(-\d+)?\.db"
)
Held = sqlite3.Connection  # a database that is kept from everybody else
_SKEW_SECONDS = 60  # between machines that share a home; a time further ahead is a clock's mistake


@dataclass(frozen=True, slots=True)
class Contents:
    """What a database file holds, as far as it can be read."""

    path: Path
    bytes: int
    schema: int = 0
    events: int = 0
    sessions: int = 0
    memories: int = 0
    projects: int = 0
    last_event_at: int = 0
    damage: str = ""


def make_copy(connection: sqlite3.Connection, home: Home, why: str, needed: Path | None = None) -> Path:
    """Copy the open database into the backups folder; our oldest beyond five go, none still `needed`."""
    folder = make_private_dir(home.backups)
    _clear_abandoned(folder)
    with new_database(home) as part:  # killed in between, it is no backup
        with contextlib.closing(sqlite3.connect(part)) as copy:
            connection.backup(copy)
        _sync(part)
        step("backup.copied")
        path = _free_name(folder, why)
        part.replace(path)
        step("backup.named")
    log.info("backed up the database to %s", path)
    _rotate(home, {path, needed})
    return path


def _rotate(home: Home, needed: set[Path | None]) -> None:
    """Remove the oldest of our own copies beyond five, none of those that are `needed`."""
    ours = [path for path in list_copies(home) if is_ours(path)]
    free = [path for path in ours if path not in needed]
    for old in free[: max(0, len(ours) - KEPT)]:
        old.unlink(missing_ok=True)  # two processes may upgrade at once


def _clear_abandoned(folder: Path) -> None:
    """What killed backups used to leave here; one that is being made now is younger."""
    for part in folder.glob("*.part"):
        with contextlib.suppress(OSError):
            if part.stat().st_mtime < time.time() - _ABANDONED_SECONDS:
                part.unlink()


def _free_name(folder: Path, why: str) -> Path:
    stamp, number = f"{datetime.now(UTC):{_STAMP}}", 0
    path = folder / f"{stamp}-{why}.db"
    while path.exists() or path.with_suffix("").exists():  # a file, or the folder of one set aside
        number += 1
        path = folder / f"{stamp}-{why}-{number}.db"
    return path


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def list_copies(home: Home) -> list[Path]:
    """All backups of the database, oldest first: ours by the stamp in the name, others by the file's time."""
    return sorted((path for path in home.backups.glob("*.db") if path.is_file()), key=_age)


def is_ours(path: Path) -> bool:
    """Whether a backup has a name that only we give."""
    return bool(_stamped(path))


def _age(path: Path) -> tuple[bool, float, float, str]:
    """Sorts backups by when they were made; one ahead of the clock was made before, under a wrong one."""
    try:
        written = path.stat().st_mtime
    except OSError:  # rotated away by another process
        written = 0.0
    now = time.time() + _SKEW_SECONDS
    stamp = _stamped(path)
    at = stamp if 0 < stamp <= now else written
    return (True, at, written, path.name) if at <= now else (False, stamp or at, written, path.name)


def _stamped(path: Path) -> float:
    """When a backup says in its name that it was made; 0 if the name is not ours."""
    if not (ours := _OURS.fullmatch(path.name)):
        return 0.0
    try:
        return datetime.strptime(ours[1], _STAMP).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0


def all_backup_files(home: Home) -> list[Path]:
    """Whatever of the backups may hold a row: copies, what was set aside, what a killed backup has left."""
    aside = (path.parent for path in home.backups.glob(f"*/{home.database.name}"))
    return sorted({*list_copies(home), *aside, *home.backups.glob("*.part")})


def query_copy(path: Path, query: str) -> list[tuple[object, ...]]:
    """What a copy answers, nothing if it is damaged; changes nothing, not even beside it."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
            return db.execute(query).fetchall()
    except sqlite3.Error:
        return []


def copy_tombstones(path: Path) -> list[tuple[object, ...]]:
    """What had been forgotten when a copy was made."""
    return query_copy(path, "SELECT id, what, reason, at FROM tombstones")


def copy_key(path: Path) -> str:
    """The key that a copy's events are recognised by; "" if it has none."""
    found = query_copy(path, "SELECT value FROM meta WHERE key = 'key'")
    return str(found[0][0]) if found else ""


@contextlib.contextmanager
def settled(home: Home, path: Path) -> Iterator[Path]:
    """A copy in one file: itself, or if a log or journal lies beside it, a copy of all that for the block.

    A copied home has both, and so has what `repair` set aside: without its log it would be an older memory,
    without its journal a half written one.
    """
    beside = [(path.with_name(path.name + side), side) for side in ("-wal", "-journal")]
    if not any(each.is_file() and each.stat().st_size for each, _ in beside):
        yield path
        return
    make_private_dir(home.root)
    with new_database(home) as copy:
        shutil.copyfile(path, copy)
        for each, side in beside:
            if each.is_file():
                shutil.copyfile(each, copy.with_name(copy.name + side))
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(copy)) as db:
            db.execute("PRAGMA journal_mode = DELETE")  # what is damaged is found when it is looked into
        yield copy


def foreign_object(path: Path) -> str:
    """A trigger or view in a copy, in words; "". None is ours, and what a trigger does nobody has seen."""
    found = query_copy(path, "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view') LIMIT 1")
    return f"a {found[0][0]} called {found[0][1]!r}" if found else ""


def copy_contents(path: Path, whole: bool = True) -> Contents:
    """What a copy holds; `whole` also checks every page. Changes nothing, not even beside it."""
    size = path.stat().st_size
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
            return _contents(db, path, size, whole)
    except sqlite3.Error as error:
        return Contents(path, size, damage=str(error))


def _contents(db: sqlite3.Connection, path: Path, size: int, whole: bool) -> Contents:
    schema = int(db.execute("PRAGMA user_version").fetchone()[0])
    if not schema:
        return Contents(path, size, damage="it is no memory of Backstory's")
    found = str(db.execute("PRAGMA quick_check(1)").fetchone()[0]) if whole else "ok"
    counts = {
        name: int(db.execute(f"SELECT count(*) FROM {name}").fetchone()[0])  # noqa: S608 - names from above
        for name in _COUNTED
    }
    last = int(db.execute("SELECT coalesce(max(at), 0) FROM events").fetchone()[0])
    return Contents(path, size, schema, **counts, last_event_at=last, damage="" if found == "ok" else found)


def look_live(path: Path) -> Contents:
    """What the database in use holds, its write-ahead log included."""
    size = path.stat().st_size
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=5)) as db:
            return _contents(db, path, size, whole=False)
    except sqlite3.Error as error:
        return Contents(path, size, damage=str(error))


def is_still(path: Path) -> bool:
    """Whether all of a database lies in its one file: nothing waits in a log beside it."""
    log = path.with_name(path.name + "-wal")
    return not log.exists() or not log.stat().st_size


def schema_of(path: Path) -> int:
    """The schema that a database says it has, its log included, however damaged the rest is; 0 if none."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=5)) as db:
            return int(db.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.Error:
        return 0


@contextlib.contextmanager
def exclusive_access(path: Path) -> Iterator[Held | None]:
    """Keep everybody else out of the database for the block; None if it is too damaged to be locked.

    Raises `Failed` if another process goes on having it open; nothing was changed then. In the block the
    database's file must not be opened by other means: closing it would give up the lock.
    """
    connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (found := _shut(connection, path)) == "others":
            if time.monotonic() > deadline:
                raise Failed(
                    f"{path} is open elsewhere: end the agents and servers that use it, then try again"
                )
            time.sleep(0.05)  # a command that just ends is no reason to refuse; SQLite would not wait for it
        yield connection if found == "alone" else None
    finally:
        connection.close()


def _shut(connection: sqlite3.Connection, path: Path) -> str:
    """Try to lock everybody else out: "alone" with it, "others" have it open, or it is "damaged"."""
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")  # in this mode the lock is kept until the connection is closed
    except sqlite3.DatabaseError as error:
        if "locked" in str(error) or "busy" in str(error):
            return "others"
        return "others" if _used(path) else "damaged"
    return "alone"


def _used(path: Path) -> bool:
    """Whether somebody holds SQLite's lock on a file that SQLite itself does not know any more."""
    if sys.platform == "win32":
        return False
    import fcntl

    with path.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED_BYTES, _SHARED_FIRST)
        except OSError:
            return True
    return False


def set_aside(home: Home, why: str) -> Path:
    """Copy the database's files as they are, whatever state they are in, into a folder of the backups."""
    folder = make_private_dir(_free_name(make_private_dir(home.backups), why).with_suffix(""))
    try:
        for source in sorted(home.root.glob(home.database.name + "*")):
            if source.name.removeprefix(home.database.name) in ("", "-wal", "-shm", "-journal"):
                _copy(source, folder / source.name)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def _copy(source: Path, target: Path) -> None:
    """Byte by byte as far as it can be read: a bad disk must not stop a rescue."""
    out = os.open(target, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600)
    with source.open("rb") as file, os.fdopen(out, "wb") as copy:
        try:
            while block := file.read(1 << 20):
                copy.write(block)
        except OSError as error:
            raise StoreUnusable(f"{source} cannot be copied: {error.strerror or error}") from None
        copy.flush()
        os.fsync(copy.fileno())


def drop_aside(home: Home, folder: Path) -> None:
    """Take back what was set aside, as if it had never been."""
    shutil.rmtree(folder)
    with contextlib.suppress(OSError):
        home.backups.rmdir()  # unless there is something else in it
