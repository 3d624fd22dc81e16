"""Receipts of spool files: which of them are stored, though they are not removed yet."""

import sqlite3
from collections.abc import Iterable

from backstory.store.records import Receipt

#: In `meta` while files may wait in the spool whose events are stored, though no receipt says so.
RECEIPTS_LOST = "receipts_lost"


class SpoolReceipts:
    """The receipts of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def add(self, receipts: Iterable[Receipt]) -> None:
        """Note spool files as stored, in the transaction that stores them."""
        self._db.executemany("INSERT OR IGNORE INTO receipts VALUES (?, ?, ?)", receipts)

    def all(self) -> list[Receipt]:
        """All receipts that are still kept."""
        return [Receipt(*row) for row in self._db.execute("SELECT name, inode, mtime_ns FROM receipts")]

    def drop(self, receipts: Iterable[Receipt]) -> None:
        """Forget receipts of files that are gone."""
        self._db.executemany(
            "DELETE FROM receipts WHERE name = ? AND inode = ? AND mtime_ns = ?",
            receipts,
        )
