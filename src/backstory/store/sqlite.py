"""The embedded store: one SQLite file in WAL mode, one writer at a time."""

import contextlib
import os
import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from backstory.atomic import make_private_dir
from backstory.errors import StoreBusy, StoreUnusable
from backstory.paths import Home
from backstory.store import backup_copy, key_escrow, schema
from backstory.store.activity import Activity
from backstory.store.brief_receipts import Briefs
from backstory.store.counters import Counters
from backstory.store.disk_errors import find_obstacle
from backstory.store.event_ids import EventIds
from backstory.store.events import Events
from backstory.store.expired_rows import Retention
from backstory.store.feeds import Feeds
from backstory.store.job_queue import Jobs
from backstory.store.listings import Listings
from backstory.store.memories import Memories
from backstory.store.meta_values import MetaValues
from backstory.store.model_ledger import Ledger
from backstory.store.others_memories import OthersMemories
from backstory.store.passages import Passages
from backstory.store.payload_scan import PayloadScan
from backstory.store.projects import Projects
from backstory.store.row_erasure import RowErasure
from backstory.store.row_export import RowExport
from backstory.store.row_import import RowImport
from backstory.store.spool_receipts import SpoolReceipts
from backstory.store.supersessions import Supersessions
from backstory.store.tombstones import Tombstones
from backstory.store.transcript_marks import TranscriptMarks
from backstory.store.vectors import Vectors

# So long one waits for somebody else who writes, unless told otherwise.
WAIT_SECONDS = 5.0
# A reader that stays keeps the write-ahead log from being reused; beyond this size the writer waits for it.
WAL_LIMIT = 256 * 1024 * 1024


class Store:
    """Everything that is kept, in one SQLite file; use it from one thread."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        only_reads: str = "",
        wait: float = WAIT_SECONDS,
    ) -> None:
        self._connection = connection
        self._wait = wait
        self.path = path
        self.only_reads = only_reads
        self._event_ids = EventIds(connection, bytes.fromhex(_local_key(connection)))
        self.counters = Counters(connection)  # of what capture did
        self.spool_receipts = SpoolReceipts(connection)
        self.transcript_marks = TranscriptMarks(connection)  # how far agents' histories were read
        self.tombstones = Tombstones(connection)
        self.meta = MetaValues(connection)  # small values
        self.passages = Passages(connection)  # the text index
        self.payload_scan = PayloadScan(connection, self.passages)  # what the text index leaves out
        self.vectors = Vectors(connection)
        self.activity = Activity(connection)  # what goes on right now
        self.memories = Memories(connection, self.passages)
        self.others = OthersMemories(connection, self.passages, self.memories)  # what others share
        self.feeds = Feeds(connection)  # what is shared, and how far it was read
        self.supersessions = Supersessions(connection)  # which decision took the place of which
        self.projects = Projects(connection)
        self.events = Events(connection, self._event_ids, self.projects)
        self.listings = Listings(connection, self.events)  # lists and sums for pages
        self.jobs = Jobs(connection)
        self.ledger = Ledger(connection)  # calls of models, and what they answered
        self.briefs = Briefs(connection)  # receipts of briefs
        self.row_erasure = RowErasure(connection, self.passages)
        self.row_export = RowExport(connection)  # everything as plain rows
        self.retention = Retention(connection, self.passages, self.row_export)  # what has grown old

    def row_import(self) -> RowImport:
        """What takes one export in."""
        return RowImport(self._connection, self._event_ids, self.row_erasure, self.jobs)

    @contextlib.contextmanager
    def transaction(self, wait: float | None = None) -> Iterator[None]:
        """Everything in the block is stored together or not at all.

        `StoreBusy` if somebody else is still writing after `wait` seconds, or those that it was opened with.
        """
        try:
            self._begin(self._wait if wait is None else wait)
            yield
            self._connection.execute("COMMIT")
        except BaseException as error:
            if self._connection.in_transaction:  # SQLite itself rolls back when the disk is full
                self._connection.execute("ROLLBACK")
            if type(error) in (sqlite3.OperationalError, sqlite3.DatabaseError):
                if _is_busy(error):
                    raise _busy(self.path) from error
                raise StoreUnusable(f"{self.path} cannot be written: {self._why(error)}") from error
            raise

    def _begin(self, wait: float) -> None:
        _be_patient(self._connection, wait)
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        finally:
            _be_patient(self._connection, self._wait)

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything that is read in the block is of one moment, whatever is written meanwhile."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("ROLLBACK")

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
            raise StoreUnusable(f"{self.path} cannot be written: {self._why(error)}") from error

    def _why(self, error: BaseException) -> str:
        found = self.only_reads or find_obstacle(self.path)
        return str(found or f"{error}; `backstory doctor` tells more")

    def copy_to_backups(self, home: Home, why: str) -> Path:
        """Copy the database, while it is in use, into the home's backups."""
        return backup_copy.make_copy(self._connection, home, why)

    def schema_version(self) -> int:
        """The number of the last migration that was applied."""
        return schema.schema_version(self._connection)

    def close(self) -> None:
        """Close the database; the store is of no use afterwards."""
        if not self.only_reads:
            key_escrow.update_escrow(self._connection, self.path)
        self._connection.close()


def open_store(home: Home, wait: float = WAIT_SECONDS) -> Store:
    """Open the home's database, creating or upgrading it as needed; `StoreBusy` if others keep it so long.

    Where nothing can be written (a full or read-only disk, lost permissions) what is there can still be read,
    if SQLite can do so without a trace; the store then says in `only_reads` why.
    """
    try:
        make_private_dir(home.root)
        connection = _connect(home.database, wait)
        try:
            known = schema.known_to(connection, home.database)
            _tune(connection, wait)
            _migrate(connection, home, known)
            return Store(connection, home.database, wait=wait)
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        if why := find_obstacle(home.database):
            return _reading(home.database, str(why))
        if _is_busy(error):
            raise _busy(home.database) from error
        raise StoreUnusable(
            f"the database {home.database} cannot be used: {error}; `backstory doctor` tells more"
        ) from error
    except OSError as error:
        found = (
            find_obstacle(home.database) or f"the home {home.root} cannot be used: {error.strerror or error}"
        )
        raise StoreUnusable(str(found)) from error


def scratch_store() -> Store:
    """An empty store in memory, for what the real one cannot take in yet."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    schema.apply_migrations(connection, schema.migrations())
    return Store(connection, Path(":memory:"))


def _reading(path: Path, why: str) -> Store:
    """The database as it is: all of it lies in its one file, or others who have it open share their log."""
    try:
        how = "mode=ro&immutable=1" if backup_copy.is_still(path) else "mode=ro"
        connection = sqlite3.connect(f"{path.as_uri()}?{how}", uri=True, isolation_level=None)
        try:
            if schema.schema_version(connection) == len(schema.migrations()):
                return Store(connection, path, why)
        except BaseException:
            connection.close()
            raise
        connection.close()
    except (OSError, sqlite3.Error) as error:
        raise StoreUnusable(why) from error
    raise StoreUnusable(why)


def _connect(path: Path, wait: float) -> sqlite3.Connection:
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    return sqlite3.connect(path, timeout=wait, isolation_level=None)


def _migrate(connection: sqlite3.Connection, home: Home, known: Sequence[schema.Migration]) -> None:
    """Bring a home's database up to date; one that holds something is copied to the backups before."""
    before = schema.schema_version(connection)
    if before == len(known):
        return
    if before:
        backup_copy.make_copy(connection, home, backup_copy.BEFORE_SCHEMA.format(before))
    schema.apply_migrations(connection, known[before:])


def _be_patient(connection: sqlite3.Connection, seconds: float) -> None:
    connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")


def _is_busy(error: BaseException) -> bool:
    return bool(getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY)


def _busy(path: Path) -> StoreBusy:
    return StoreBusy(f"{path} is being written to: try again in a moment")


def _tune(connection: sqlite3.Connection, wait: float) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    _set_wal(connection, wait)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA journal_size_limit = 67108864")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA cache_size = -16384")


def _set_wal(connection: sqlite3.Connection, wait: float) -> None:
    """Only the first opener changes the mode; SQLite does not wait for a lock when it does."""
    deadline = time.monotonic() + wait
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _local_key(connection: sqlite3.Connection) -> str:
    """The secret that semantic keys are hashed with; made once, never exported."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'key'").fetchone()
    if row is None:
        connection.execute(
            "INSERT INTO meta (key, value) VALUES ('key', ?) ON CONFLICT DO NOTHING", (secrets.token_hex(16),)
        )
        row = connection.execute("SELECT value FROM meta WHERE key = 'key'").fetchone()
    return str(row[0])
