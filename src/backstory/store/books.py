"""Bookkeeping: counters of what capture did, receipts of spool files, transcript marks, tombstones."""

import sqlite3
from collections.abc import Iterable, Mapping

from backstory.store.protocol import Receipt


class Books:
    """The bookkeeping tables of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def count(self, day: str, counts: Mapping[tuple[str, str, str], int]) -> None:
        """Add to the day's counters; keys are (agent, event, name)."""
        self._db.executemany(
            """
            INSERT INTO counters (day, agent, event, name, n) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (day, agent, event, name) DO UPDATE SET n = n + excluded.n
            """,
            [(day, agent, event, name, n) for (agent, event, name), n in counts.items()],
        )

    def counted(self, since_day: str = "") -> list[tuple[str, str, str, str, int]]:
        """All counters from a day on: (day, agent, event, name, n)."""
        return self._db.execute(
            "SELECT day, agent, event, name, n FROM counters WHERE day >= ? ORDER BY day, agent, event, name",
            (since_day,),
        ).fetchall()

    def total(self, name: str) -> int:
        """The sum of one counter over all days, agents and events."""
        return int(
            self._db.execute("SELECT coalesce(sum(n), 0) FROM counters WHERE name = ?", (name,)).fetchone()[0]
        )

    def table_counts(self) -> dict[str, int]:
        """How many events, sessions (of agents, without sub-agents), memories and projects there are."""
        tables = {
            "events": "events",
            "sessions": "sessions WHERE parent_id = '' AND agent <> 'user'",
            "memories": "memories",
            "projects": "projects",
        }
        return {
            name: int(self._db.execute(f"SELECT count(*) FROM {rows}").fetchone()[0])  # noqa: S608 - constants
            for name, rows in tables.items()
        }

    def add_receipts(self, receipts: Iterable[Receipt]) -> None:
        """Note spool files as stored, in the transaction that stores them."""
        self._db.executemany("INSERT OR IGNORE INTO receipts VALUES (?, ?, ?)", receipts)

    def receipts(self) -> list[Receipt]:
        """All receipts that are still kept."""
        return [Receipt(*row) for row in self._db.execute("SELECT name, inode, mtime_ns FROM receipts")]

    def drop_receipts(self, receipts: Iterable[Receipt]) -> None:
        """Forget receipts of files that are gone."""
        self._db.executemany(
            "DELETE FROM receipts WHERE name = ? AND inode = ? AND mtime_ns = ?",
            receipts,
        )

    def transcript_mark(self, path: str) -> tuple[int, int]:
        """Where to read a transcript from (the last prompt seen), and how large it was."""
        row = self._db.execute("SELECT offset, size FROM transcripts WHERE path = ?", (path,)).fetchone()
        return (0, 0) if row is None else (int(row[0]), int(row[1]))

    def set_transcript_mark(self, path: str, session_id: str, mark: tuple[int, int], at: int) -> None:
        """Note where to read a transcript from next, and how large it is."""
        self._db.execute(
            """
            INSERT INTO transcripts (path, session_id, offset, size, read_at) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (path) DO UPDATE SET offset = excluded.offset, size = excluded.size,
                read_at = excluded.read_at
            """,
            (path, session_id, *mark, at),
        )

    def tombstoned(self, ids: Iterable[str]) -> set[str]:
        """Which of these ids were forgotten and must not come back."""
        query = "SELECT 1 FROM tombstones WHERE id = ?"
        return {i for i in ids if self._db.execute(query, (i,)).fetchone() is not None}

    def bury(self, what: str, ids: Iterable[str], reason: str, at: int) -> None:
        """Leave tombstones, so that no import brings these ids back."""
        self._db.executemany(
            "INSERT OR IGNORE INTO tombstones (id, what, reason, at) VALUES (?, ?, ?, ?)",
            [(i, what, reason, at) for i in ids],
        )

    def meta(self, key: str) -> str:
        """A small value kept in the database, or ""."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return "" if row is None else str(row[0])

    def set_meta(self, key: str, value: str) -> None:
        """Keep a small value in the database."""
        self._db.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, value),
        )
