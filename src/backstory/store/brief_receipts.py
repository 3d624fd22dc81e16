"""Receipts of briefs: what was given to which session, and when."""

import sqlite3
from collections.abc import Sequence
from hashlib import blake2b

from backstory.store.records import Injection


class Briefs:
    """The receipts of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def add(self, injection: Injection) -> None:
        """Keep a receipt, once."""
        key = f"{injection.session_id}\0{injection.at}\0{injection.source}"
        iid = "i" + blake2b(key.encode(), digest_size=7).hexdigest()
        self._db.execute(
            "INSERT OR IGNORE INTO injections VALUES (?, ?, ?, ?, ?, ?)",
            (iid, injection.session_id, injection.at, injection.source, injection.chars, injection.tokens),
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO injected VALUES (?, ?)",
            [(iid, memory_id) for memory_id in injection.shown],
        )

    def of_session(self, session_id: str) -> list[Injection]:
        """The briefs that a session received, oldest first."""
        rows = self._db.execute(
            "SELECT id, at, source, chars, tokens FROM injections WHERE session_id = ? ORDER BY at",
            (session_id,),
        ).fetchall()
        return [
            Injection(session_id, at, source, chars, tokens, self._shown([iid]))
            for iid, at, source, chars, tokens in rows
        ]

    def held_by(self, session_id: str, sources: Sequence[str] = ()) -> tuple[str, ...]:
        """Ids of the memories that the session's context still holds: given since its last compaction.

        `sources` are the occasions that count; all if empty.
        """
        rows = self._db.execute(
            """
            SELECT id, source FROM injections WHERE session_id = :sid AND at >= coalesce((
                SELECT max(at) FROM injections WHERE session_id = :sid AND source IN ('compact', 'clear')
            ), 0)
            """,
            {"sid": session_id},
        )
        return self._shown([iid for iid, source in rows if not sources or source in sources])

    def _shown(self, injections: Sequence[str]) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for iid in injections:
            for (mid,) in self._db.execute("SELECT memory_id FROM injected WHERE injection_id = ?", (iid,)):
                found[mid] = None
        return tuple(found)

    def times_told(self, memory_id: str) -> tuple[int, int]:
        """In how many sessions this was told, and when last; zeros if never."""
        row = self._db.execute(
            """
            SELECT count(DISTINCT i.session_id), coalesce(max(i.at), 0)
            FROM injected d JOIN injections i ON i.id = d.injection_id WHERE d.memory_id = ?
            """,
            (memory_id,),
        ).fetchone()
        return int(row[0]), int(row[1])

    def told_to(self, memory_id: str, limit: int) -> list[tuple[str, int]]:
        """The latest sessions that were told this, newest first, each with when it was first told."""
        return self._db.execute(
            """
            SELECT i.session_id, min(i.at) FROM injected d JOIN injections i ON i.id = d.injection_id
            WHERE d.memory_id = ? GROUP BY i.session_id ORDER BY min(i.at) DESC LIMIT ?
            """,
            (memory_id, limit),
        ).fetchall()

    def totals(self) -> tuple[int, int]:
        """How many briefs were given, and their estimated tokens."""
        row = self._db.execute("SELECT count(*), coalesce(sum(tokens), 0) FROM injections").fetchone()
        return int(row[0]), int(row[1])
