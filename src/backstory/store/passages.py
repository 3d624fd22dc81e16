"""The text index: pieces of about a thousand characters that search looks through.

Memories are indexed when they are stored. Events are committed first and indexed afterwards, from a
high-water mark, so that a kill in between costs nothing. The project is a term of the index: a search
within one project reads only its rows.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from backstory.model import Kind
from backstory.store.protocol import Found

PASSAGE_CHARS = 1_000
_SEARCHED = (Kind.PROMPT, Kind.SAID, Kind.TOOL, Kind.COMPACTED, Kind.DOCUMENT)


class Passages:
    """Writes and searches the text index of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def put(self, owner: str, project_id: str, session_id: str, kind: str, at: int, text: str) -> None:
        """Index `text` for its owner, in place of what was indexed for it before."""
        self.remove(owner)
        for part, piece in enumerate(pieces(text)):
            row = self._db.execute(
                "INSERT INTO passages VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)",
                (owner, part, project_id, session_id, kind, at, project_id, piece),
            ).lastrowid
            self._db.execute(
                "INSERT INTO passage_fts (rowid, text, scope) VALUES (?, ?, ?)", (row, piece, project_id)
            )

    def remove(self, owner: str) -> None:
        """Take everything of an owner out of the index."""
        rows = self._db.execute("SELECT row, text, scope FROM passages WHERE owner = ?", (owner,)).fetchall()
        if rows:
            self._db.executemany(
                "INSERT INTO passage_fts (passage_fts, rowid, text, scope) VALUES ('delete', ?, ?, ?)", rows
            )
            self._db.execute("DELETE FROM passages WHERE owner = ?", (owner,))

    def index_events(self, limit: int = 1_000) -> int:
        """Index the next events that are not indexed yet; 0 when all are. Call it inside a transaction."""
        mark = int(self._meta("indexed_events") or 0)
        rows = self._db.execute(
            """
            SELECT e.row, e.id, s.project_id, e.session_id, e.kind, e.at, e.target, e.text, e.recalled,
                   e.turn, s.imported_by
            FROM events e JOIN sessions s ON s.id = e.session_id
            WHERE e.row > ? ORDER BY e.row LIMIT ?
            """,
            (mark, limit),
        ).fetchall()
        if not rows:
            return 0
        self._forget_between(mark, rows[-1][0])
        found: list[tuple[object, ...]] = []
        for _, eid, project_id, session_id, kind, at, target, text, recalled, turn, imported_by in rows:
            if recalled or kind not in _SEARCHED:
                continue
            body = f"{target}\n{text}" if target and text else target or text
            for part, piece in enumerate(pieces(body)):
                found.append((eid, part, project_id, session_id, kind, at, project_id, piece))
            if imported_by and turn == 1 and kind == Kind.PROMPT:
                found.append(self._header(session_id, project_id))
        self._put_all(found)
        self._db.execute(
            """
            INSERT INTO meta (key, value) VALUES ('indexed_events', ?)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value
            """,
            (str(rows[-1][0]),),
        )
        return len(rows)

    def _forget_between(self, first: int, last: int) -> None:
        """Take out what is indexed already of the events between two rows; there is nothing, as a rule."""
        owners = self._db.execute(
            """
            SELECT DISTINCT p.owner FROM events e JOIN passages p ON p.owner = e.id
            WHERE e.row > ? AND e.row <= ?
            """,
            (first, last),
        ).fetchall()
        for (owner,) in owners:
            self.remove(owner)

    def _header(self, session_id: str, project_id: str) -> tuple[object, ...]:
        """What an imported session is found by as a whole: its title, folder, day and agent."""
        self.remove(session_id)
        title, cwd, agent, at = self._db.execute(
            "SELECT title, cwd, agent, started_at FROM sessions WHERE id = ?", (session_id,)
        ).fetchone()
        day = datetime.fromtimestamp(at / 1000, UTC).date()
        text = f"{title}\n{agent} session in {cwd or 'an unknown folder'}, {day}"
        return (session_id, 0, project_id, session_id, "session", at, project_id, text)

    def _put_all(self, found: list[tuple[object, ...]]) -> None:
        last = self._db.execute("SELECT coalesce(max(row), 0) FROM passages").fetchone()[0]
        self._db.executemany("INSERT INTO passages VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", found)
        self._db.execute(
            """
            INSERT INTO passage_fts (rowid, text, scope)
            SELECT row, text, scope FROM passages WHERE row > ?
            """,
            (last,),
        )

    def clear(self) -> None:
        """Empty the index, to be built again from the start."""
        self._db.execute("INSERT INTO passage_fts (passage_fts) VALUES ('delete-all')")
        self._db.execute("DELETE FROM passages")
        self._db.execute("DELETE FROM meta WHERE key = 'indexed_events'")

    def unindexed(self) -> int:
        """How many events wait to be indexed."""
        mark = int(self._meta("indexed_events") or 0)
        return int(self._db.execute("SELECT count(*) FROM events WHERE row > ?", (mark,)).fetchone()[0])

    def _meta(self, key: str) -> str | None:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def search(self, terms: Sequence[str], project_id: str | None, limit: int) -> list[Found]:
        """Passages with any of the quoted `terms`, best first, of one project or of all."""
        words = " OR ".join(terms)
        scope = "" if project_id is None else f'scope : "{project_id}" AND '
        expression = f"{scope}text : ({words})"
        rows = self._db.execute(
            """
            SELECT f.owner, f.project_id, p.name, f.session_id, s.agent, f.kind, f.at, f.text, q.rank
            FROM (
                SELECT rowid, bm25(passage_fts, 1.0, 0.0) AS rank
                FROM passage_fts WHERE passage_fts MATCH ? ORDER BY rank LIMIT ?
            ) q
            JOIN passages f ON f.row = q.rowid
            JOIN projects p ON p.id = f.project_id
            JOIN sessions s ON s.id = f.session_id
            WHERE NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.id IN (f.owner, f.session_id))
              AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.id = f.owner
                              AND m.status NOT IN ('candidate', 'confirmed'))
            ORDER BY q.rank
            """,
            (expression, limit),
        ).fetchall()
        return [Found(*row) for row in rows]


def pieces(text: str, size: int = PASSAGE_CHARS) -> Iterator[str]:
    """Cut text into passages at line ends or spaces where there are any; nothing is dropped."""
    start = 0
    while start < len(text):
        end = min(start + size, len(text))
        if end < len(text):
            cut = max(text.rfind("\n", start + size // 2, end), text.rfind(" ", start + size // 2, end))
            end = cut + 1 if cut > 0 else end
        if piece := text[start:end].strip():
            yield piece
        start = end
