"""Small values kept in the database: dates of the last passes, versions, marks."""

import sqlite3


class MetaValues:
    """The table `meta` of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def get(self, key: str) -> str:
        """A small value kept in the database, or ""."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return "" if row is None else str(row[0])

    def set(self, key: str, value: str) -> None:
        """Keep a small value in the database."""
        self._db.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, value),
        )
