"""What has grown old: found a few rows at a time, and deleted once its archive is on the disk.

Memories outlive the events that they rest on; a person's own acts and documents never grow old. Rows are
found in the order of time, from where the last step stopped, so that a pass reads each of them once.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any

from backstory.errors import StoreUnusable
from backstory.store.passages import Passages
from backstory.store.records import DatabaseSize, OldRows
from backstory.store.row_export import RowExport

_KEPT_AGENTS = "('user', 'docs', 'team')"


class Retention:
    """Finds and deletes old rows of one database."""

    def __init__(self, connection: sqlite3.Connection, passages: Passages, dump: RowExport) -> None:
        self._db = connection
        self._passages = passages
        self._dump = dump

    # --- finding ---------------------------------------------------------------------------------------

    def payloads(self, before: int, after: tuple[int, int], limit: int) -> OldRows:
        """Events from before a time that still have their payload, oldest first, with it."""
        found = self._db.execute(
            f"""
            SELECT e.at, e.row FROM events e JOIN payloads p ON p.event_row = e.row
            WHERE e.at >= :at AND (e.at > :at OR e.row > :row) AND e.at < :before
              AND e.session_id NOT IN (SELECT id FROM sessions WHERE agent IN {_KEPT_AGENTS})
            ORDER BY e.at, e.row LIMIT :limit
            """,  # noqa: S608 - a constant
            {"at": after[0], "row": after[1], "before": before, "limit": limit},
        ).fetchall()
        numbers = tuple(row for _, row in found)
        return OldRows(list(self._dump.events(numbers)), numbers, found[-1] if found else after)

    def sessions(self, before: int, limit: int) -> list[str]:
        """Sessions that were over before a time and still have events, oldest first; sub-agents' too."""
        found = self._db.execute(
            f"""
            SELECT s.id FROM sessions s
            LEFT JOIN sessions top ON top.id = s.parent_id AND s.parent_id <> ''
            WHERE max(s.last_at, coalesce(top.last_at, 0)) < ? AND s.agent NOT IN {_KEPT_AGENTS}
              AND EXISTS (SELECT 1 FROM events e WHERE e.session_id = s.id)
            ORDER BY s.last_at LIMIT ?
            """,  # noqa: S608 - a constant
            (before, limit),
        )
        return [sid for (sid,) in found]

    def events(self, sid: str, limit: int) -> OldRows:
        """The first events of a session, with their payloads."""
        found = self._db.execute(
            "SELECT row FROM events WHERE session_id = ? ORDER BY row LIMIT ?", (sid, limit)
        ).fetchall()
        numbers = tuple(row for (row,) in found)
        return OldRows(list(self._dump.events(numbers)), numbers, (0, 0))

    def memories(self, kind: str, before: int, limit: int) -> OldRows:
        """Memories of a kind from before a time that nobody has confirmed or pinned, with their sources."""
        found = self._db.execute(
            """
            SELECT id FROM memories
            WHERE kind = ? AND at < ? AND author = '' AND auto AND NOT pinned AND status <> 'confirmed'
            ORDER BY at LIMIT ?
            """,
            (kind, before, limit),
        ).fetchall()
        ids = tuple(mid for (mid,) in found)
        return OldRows(list(self._dump.memories(ids)), ids, (0, 0))

    # --- deleting --------------------------------------------------------------------------------------

    def drop_payloads(self, rows: Sequence[Any]) -> None:
        """Delete the payloads of these events; inside a transaction."""
        self._db.executemany("DELETE FROM payloads WHERE event_row = ?", [(row,) for row in rows])

    def drop_events(self, rows: Sequence[Any]) -> None:
        """Delete these events, not what was distilled from them; inside a transaction."""
        ids = [self._db.execute("SELECT id FROM events WHERE row = ?", (row,)).fetchone() for row in rows]
        self._passages.remove(*(found[0] for found in ids if found is not None))
        self._db.executemany("DELETE FROM events WHERE row = ?", [(row,) for row in rows])
        self._passages.lower_mark()

    def drop_memories(self, ids: Sequence[Any]) -> None:
        """Delete these memories; inside a transaction."""
        self._passages.remove(*ids)
        self._db.executemany("DELETE FROM memories WHERE id = ?", [(mid,) for mid in ids])

    # --- room ------------------------------------------------------------------------------------------

    def room(self) -> DatabaseSize:
        """How large the file is, and how much of it is free."""
        size, pages, free = (
            int(self._db.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_size", "page_count", "freelist_count")
        )
        return DatabaseSize(size * pages, size * free)

    def payload_bytes(self, before: int) -> tuple[int, int]:
        """How many bytes all payloads take, and those of events from before a time."""
        row = self._db.execute(
            """
            SELECT coalesce(sum(length(p.body)), 0),
                   coalesce(sum(CASE WHEN e.at < ? THEN length(p.body) END), 0)
            FROM payloads p JOIN events e ON e.row = p.event_row
            """,
            (before,),
        ).fetchone()
        return int(row[0]), int(row[1])

    def compact(self) -> None:
        """Give free pages back to the disk; outside a transaction."""
        try:
            self._db.execute("VACUUM")
        except sqlite3.Error as error:
            raise StoreUnusable(str(error)) from error
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
