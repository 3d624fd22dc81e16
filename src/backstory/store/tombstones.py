"""Tombstones: ids of what was forgotten, so that no import brings it back."""

import sqlite3
from collections.abc import Iterable


class Tombstones:
    """The tombstones of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def among(self, ids: Iterable[str]) -> set[str]:
        """Which of these ids were forgotten and must not come back."""
        query = "SELECT 1 FROM tombstones WHERE id = ?"
        return {i for i in ids if self._db.execute(query, (i,)).fetchone() is not None}

    def holds_forgotten(self, prefix: str) -> bool:
        """Whether something whose id begins so was forgotten because its user asked for that."""
        query = "SELECT 1 FROM tombstones WHERE id >= ? AND id < ? AND reason = 'forgotten' LIMIT 1"
        return self._db.execute(query, (prefix, prefix + "\x7f")).fetchone() is not None

    def of_kind(self, what: str) -> set[str]:
        """The ids of everything of one sort that was forgotten."""
        return {i for (i,) in self._db.execute("SELECT id FROM tombstones WHERE what = ?", (what,))}

    def add(self, what: str, ids: Iterable[str], reason: str, at: int) -> None:
        """Leave tombstones, so that no import brings these ids back."""
        self._db.executemany(
            "INSERT OR IGNORE INTO tombstones (id, what, reason, at) VALUES (?, ?, ?, ?)",
            [(i, what, reason, at) for i in ids],
        )

    def remove(self, ids: Iterable[str], reason: str) -> set[str]:
        """Take tombstones away that were left for this reason; gives which there were."""
        query = "DELETE FROM tombstones WHERE id = ? AND reason = ?"
        return {i for i in ids if self._db.execute(query, (i, reason)).rowcount}
