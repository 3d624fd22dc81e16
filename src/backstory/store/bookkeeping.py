"""Bookkeeping: counters of what capture did, receipts of spool files, transcript marks, tombstones."""

import sqlite3
from collections.abc import Iterable, Mapping

from backstory.store.records import Kept, Mark, Receipt

#: In `meta` while files may wait in the spool whose events are stored, though no receipt says so.
RECEIPTS_LOST = "receipts_lost"
_MARK = "session_id, offset, size, stamp, messages, held"


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

    def by_agent(self, name: str, since_day: str) -> dict[str, int]:
        """One counter from a day on, for each agent."""
        rows = self._db.execute(
            "SELECT agent, sum(n) FROM counters WHERE day >= ? AND name = ? GROUP BY agent", (since_day, name)
        )
        return dict(rows.fetchall())

    def total(self, name: str, but: str | None = None) -> int:
        """The sum of one counter over all days, agents and events; one event may be left out."""
        query = "SELECT coalesce(sum(n), 0) FROM counters WHERE name = ? AND event IS NOT ?"
        return int(self._db.execute(query, (name, but)).fetchone()[0])

    def table_counts(self) -> dict[str, int]:
        """How many events, sessions (of agents, without sub-agents), memories and projects there are."""
        tables = {
            "events": "events",
            "sessions": "sessions WHERE parent_id = '' AND agent NOT IN ('user', 'docs')",
            "memories": "memories",
            "projects": "projects",
        }
        return {
            name: int(self._db.execute(f"SELECT count(*) FROM {rows}").fetchone()[0])  # noqa: S608 - constants
            for name, rows in tables.items()
        }

    def row_counts(self, tables: Iterable[str]) -> dict[str, int]:
        """How many rows these tables have."""
        return {
            table: int(self._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608 - ours
            for table in tables
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

    def mark(self, key: str) -> Mark | None:
        """How far a history was read; None if it never was."""
        row = self._db.execute(f"SELECT {_MARK} FROM transcripts WHERE path = ?", (key,)).fetchone()  # noqa: S608
        return None if row is None else Mark(*row)

    def marks(self) -> dict[str, Mark]:
        """All marks, by what they are noted under."""
        rows = self._db.execute(f"SELECT path, {_MARK} FROM transcripts")  # noqa: S608 - a constant
        return {key: Mark(*rest) for key, *rest in rows}

    def set_mark(self, key: str, mark: Mark, at: int) -> None:
        """Note how far a history was read."""
        self._db.execute(
            """
            INSERT INTO transcripts (path, session_id, offset, size, stamp, messages, held, read_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (path) DO UPDATE SET session_id = excluded.session_id, offset = excluded.offset,
                size = excluded.size, stamp = excluded.stamp, messages = excluded.messages,
                held = excluded.held, read_at = excluded.read_at
            """,
            (key, mark.session_id, mark.offset, mark.size, mark.stamp, mark.messages, mark.held, at),
        )

    def kept(self, key: str) -> Kept:
        """How much of a transcript is in our copy of it."""
        row = self._db.execute("SELECT kept, kept_size FROM transcripts WHERE path = ?", (key,)).fetchone()
        return Kept(0, 0) if row is None else Kept(*row)

    def set_kept(self, key: str, source: int, size: int) -> None:
        """Note how much of a transcript is in our copy of it."""
        self._db.execute("UPDATE transcripts SET kept = ?, kept_size = ? WHERE path = ?", (source, size, key))

    def resize_copy(self, sid: str, size: int) -> None:
        """Note that the copy of a session's transcript was written anew; inside a transaction."""
        self._db.execute("UPDATE transcripts SET kept_size = ? WHERE session_id = ?", (size, sid))

    def drop_copies(self, sids: Iterable[str]) -> None:
        """Note that copies of these sessions' transcripts were removed; what was in them stays out."""
        self._db.executemany(
            "UPDATE transcripts SET kept = size, kept_size = 0 WHERE session_id = ?", [(sid,) for sid in sids]
        )

    def tombstoned(self, ids: Iterable[str]) -> set[str]:
        """Which of these ids were forgotten and must not come back."""
        query = "SELECT 1 FROM tombstones WHERE id = ?"
        return {i for i in ids if self._db.execute(query, (i,)).fetchone() is not None}

    def buried(self, what: str) -> set[str]:
        """The ids of everything of one sort that was forgotten."""
        return {i for (i,) in self._db.execute("SELECT id FROM tombstones WHERE what = ?", (what,))}

    def bury(self, what: str, ids: Iterable[str], reason: str, at: int) -> None:
        """Leave tombstones, so that no import brings these ids back."""
        self._db.executemany(
            "INSERT OR IGNORE INTO tombstones (id, what, reason, at) VALUES (?, ?, ?, ?)",
            [(i, what, reason, at) for i in ids],
        )

    def dig_up(self, ids: Iterable[str], reason: str) -> set[str]:
        """Take tombstones away that were left for this reason; gives which there were."""
        query = "DELETE FROM tombstones WHERE id = ? AND reason = ?"
        return {i for i in ids if self._db.execute(query, (i, reason)).rowcount}

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
