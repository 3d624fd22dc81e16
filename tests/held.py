"""Somebody is in the way, for as long as a test wants."""

import contextlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator

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
        eventually("it is held", lambda: os.waitpid(process.pid, os.WUNTRACED | os.WNOHANG)[0], 60)
        with lock(house.home.worker_lock) as free:
            assert not free
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait()


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
