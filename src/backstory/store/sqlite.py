"""The embedded store: one SQLite file in WAL mode, one writer at a time.

Migrations are numbered files, applied in one transaction each, with a copy of the database made before the
first one. A database of a newer Backstory is refused and not touched.
"""

import contextlib
import logging
import os
import secrets
import sqlite3
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from backstory.atomic import make_private_dir
from backstory.errors import NewerSchema, StoreUnusable
from backstory.paths import Home
from backstory.store.books import Books
from backstory.store.briefs import Briefs
from backstory.store.events import Events
from backstory.store.jobs import Jobs
from backstory.store.memories import Memories
from backstory.store.passages import Passages
from backstory.store.protocol import Store

log = logging.getLogger(__name__)
BUSY_TIMEOUT_MS = 5_000
KEPT_BACKUPS = 5
# A reader that stays keeps the write-ahead log from being reused; beyond this size the writer waits for it.
WAL_LIMIT = 256 * 1024 * 1024


class SqliteStore:
    """A `Store` on one SQLite file; use it from one thread."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self.path = path
        key = bytes.fromhex(_local_key(connection))
        self.books = Books(connection)
        self.passages = Passages(connection)
        self.memories = Memories(connection, self.passages)
        self.events = Events(connection, key)
        self.jobs = Jobs(connection)
        self.briefs = Briefs(connection)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything in the block is stored together or not at all."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except BaseException as error:
            if self._connection.in_transaction:  # SQLite itself rolls back when the disk is full
                self._connection.execute("ROLLBACK")
            if type(error) in (sqlite3.OperationalError, sqlite3.DatabaseError):
                raise StoreUnusable(f"{self.path}: {error}; `backstory doctor` tells more") from error
            raise

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the database; only a log that has grown huge waits for readers."""
        wal = self.path.with_name(self.path.name + "-wal")
        mode = "TRUNCATE" if wal.exists() and wal.stat().st_size > WAL_LIMIT else "PASSIVE"
        self._connection.execute(f"PRAGMA wal_checkpoint({mode})")

    def writable(self) -> None:
        """Raise StoreUnusable unless a write can be made right now."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise StoreUnusable(f"{self.path}: {error}") from error

    def schema_version(self) -> int:
        """The number of the last migration that was applied."""
        return _version(self._connection)

    def close(self) -> None:
        """Close the database; the store is of no use afterwards."""
        self._connection.close()


def open_store(home: Home) -> Store:
    """Open the home's database, creating or upgrading it as needed."""
    try:
        make_private_dir(home.root)
        connection = _connect(home.database)
        try:
            known = _known_migrations(connection, home)
            _tune(connection)
            _migrate(connection, home, known)
            return SqliteStore(connection, home.database)
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise StoreUnusable(
            f"the database {home.database} cannot be used: {error}; `backstory doctor` tells more"
        ) from error
    except OSError as error:
        raise StoreUnusable(f"the home {home.root} cannot be used: {error.strerror or error}") from error


def _connect(path: Path) -> sqlite3.Connection:
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    return sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None)


def _tune(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    connection.execute("PRAGMA foreign_keys = ON")
    _set_wal(connection)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA journal_size_limit = 67108864")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA cache_size = -16384")


def _set_wal(connection: sqlite3.Connection) -> None:
    """Only the first opener changes the mode; SQLite does not wait for a lock when it does."""
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def migrations() -> list[tuple[int, str]]:
    """All migrations, numbered from 1 without gaps, with their SQL."""
    found = sorted(
        (int(entry.name.split("_", 1)[0]), entry.read_text("utf-8"))
        for entry in files("backstory.store").joinpath("migrations").iterdir()
        if entry.name.endswith(".sql")
    )
    if [number for number, _ in found] != list(range(1, len(found) + 1)):
        raise StoreUnusable("the migrations of this installation are incomplete: reinstall Backstory")
    return found


def _known_migrations(connection: sqlite3.Connection, home: Home) -> list[tuple[int, str]]:
    """Asked before anything is set: the database of a newer Backstory is left as it is."""
    known = migrations()
    if (version := _version(connection)) > len(known):
        raise NewerSchema(
            f"{home.database} has schema {version}, this Backstory knows {len(known)}: "
            "upgrade Backstory (nothing was changed)"
        )
    return known


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _migrate(connection: sqlite3.Connection, home: Home, known: list[tuple[int, str]]) -> None:
    version = _version(connection)
    if version == len(known):
        return
    if version:
        backup(connection, home, f"schema-{version}")
    for number, script in known[version:]:
        connection.execute("BEGIN IMMEDIATE")
        try:
            # another process may have migrated while this one waited for the lock
            if _version(connection) >= number:
                connection.execute("ROLLBACK")
                continue
            for statement in _statements(script):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        raise StoreUnusable("a migration ends in an incomplete statement: reinstall Backstory")


def backup(connection: sqlite3.Connection, home: Home, why: str) -> Path:
    """Copy the open database into the backups folder; the oldest copies beyond five are removed."""
    folder = make_private_dir(home.backups)
    path = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{why}.db"
    part = path.with_suffix(".part")  # killed in between, it is no backup
    os.close(os.open(part, os.O_CREAT | os.O_RDWR | os.O_TRUNC, 0o600))
    with contextlib.closing(sqlite3.connect(part)) as copy:
        connection.backup(copy)
    part.replace(path)
    log.info("backed up the database to %s", path)
    for old in sorted(folder.glob("*.db"))[:-KEPT_BACKUPS]:
        old.unlink()
    return path


def _local_key(connection: sqlite3.Connection) -> str:
    """The secret that semantic keys are hashed with; made once, never exported."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'key'").fetchone()
    if row is None:
        connection.execute(
            "INSERT INTO meta (key, value) VALUES ('key', ?) ON CONFLICT DO NOTHING", (secrets.token_hex(16),)
        )
        row = connection.execute("SELECT value FROM meta WHERE key = 'key'").fetchone()
    return str(row[0])
