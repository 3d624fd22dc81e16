"""After a burial: the text leaves heap, index and log as well, not only the answers.

PostgreSQL keeps what was deleted until its place is needed, and its log until it is used again. So the
tables that hold texts are written anew, the log goes on to another file, and a checkpoint lets the old ones
go. It takes the owner's connection: without one a burial hides a text, and the disk keeps it.
"""

import logging
import threading

import psycopg
from psycopg import sql

from backstory.team.migrator import SCHEMA

log = logging.getLogger(__name__)
TABLES = ("memories", "words")
_LOCK_MS = 15_000


def erase(owner_url: str) -> bool:
    """Do it now; whether all of it was done."""
    if not owner_url:
        return False
    try:
        with psycopg.connect(
            owner_url, autocommit=True, options=f"-c search_path={SCHEMA} -c lock_timeout={_LOCK_MS}"
        ) as connection:
            for table in TABLES:
                connection.execute(sql.SQL("VACUUM FULL {}").format(sql.Identifier(table)))
            connection.execute("SELECT pg_switch_wal()")
            connection.execute("CHECKPOINT")
    except psycopg.Error as error:
        log.warning("what was forgotten is not erased from the disk yet: %s", str(error).splitlines()[0])
        return False
    return True


class DiskErasure:
    """A thread that erases some time after a burial, once for all that were made meanwhile."""

    def __init__(self, owner_url: str, after_seconds: float) -> None:
        self._owner_url, self._after = owner_url, after_seconds
        self._due, self._ended = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work, name="erasure", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Something was buried."""
        self._due.set()

    def now(self) -> bool:
        """Erase before going on; whether it was done."""
        return erase(self._owner_url)

    def close(self) -> None:
        """End; what is due is done first."""
        self._ended.set()
        self._due.set()
        self._thread.join(60)

    def _work(self) -> None:
        while not self._ended.is_set():
            self._due.wait()
            self._ended.wait(self._after)
            was_due = self._due.is_set() and not (self._ended.is_set() and not self._owner_url)
            self._due.clear()
            if was_due:
                erase(self._owner_url)
