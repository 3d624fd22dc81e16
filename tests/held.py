"""Somebody is in the way, for as long as a test wants."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from backstory.atomic import lock
from tests.conftest import eventually
from tests.story import House


@contextlib.contextmanager
def worker_held_at(house: House, step: str) -> Iterator[None]:
    """A real worker that came so far with what lies in the spool, and holds its lock there."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", "backstory.worker", str(house.home.root)],
        env={**os.environ, "BACKSTORY_STRIKE": f"{step}=STOP"},
        start_new_session=True,
    )
    try:
        eventually("it is held", lambda: _stopped(house), 60)
        with lock(house.home.worker_lock) as free:
            assert not free
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _stopped(house: House) -> bool:
    """Whether the process that holds the worker's lock, a child of the one that was started, is stopped."""
    with contextlib.suppress(OSError, ValueError):
        pid = int(house.home.worker_lock.read_text())
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    return False


@contextlib.contextmanager
def database_held(house: House) -> Iterator[None]:
    """Somebody writes to the database and does not come to an end."""
    assert house.store
    with contextlib.closing(sqlite3.connect(house.home.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextlib.contextmanager
def database_locked(house: House) -> Iterator[None]:
    """Somebody has the database for himself alone, so that it cannot even be read."""
    house.close()
    with contextlib.closing(sqlite3.connect(house.home.database, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")


@contextlib.contextmanager
def upgrade_held(house: House) -> Iterator[None]:
    """The database is of an older Backstory, and somebody is at upgrading it and does not come to an end."""
    version = house.store.schema_version()
    house.close()
    with contextlib.closing(sqlite3.connect(house.home.database, isolation_level=None)) as other:
        other.execute(f"PRAGMA user_version = {version - 1}")
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")
        other.execute(f"PRAGMA user_version = {version}")
