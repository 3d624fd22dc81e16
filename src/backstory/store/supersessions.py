"""Which decision, or fact that a person told, took the place of which. Derived; what was judged stays."""

import sqlite3
from collections.abc import Mapping

from backstory.store.memories import ONCE
from backstory.store.records import DecisionRow

_MOST = 300
_SUCCEEDED = "(m.kind = 'decision' OR (m.kind = 'fact' AND m.agent = 'user'))"
_JUDGED = """
    EXISTS (SELECT 1 FROM memory_sources f JOIN events e ON e.id = f.event_id
            WHERE f.memory_id = m.id AND e.kind = 'judged')
"""


class Supersessions:
    """Who succeeded whom in one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def candidates(self, project_id: str) -> list[DecisionRow]:
        """The latest decisions of a project, and facts that a person told, in force and history."""
        rows = self._db.execute(
            f"""
            SELECT m.id, m.at, m.text, m.reason,
                (m.status = 'confirmed' AND m.agent <> 'user') OR m.pinned OR {_JUDGED},
                m.said_by = 'user' OR m.status = 'confirmed'
            FROM memories m JOIN sessions s ON s.id = m.session_id
            WHERE m.project_id = ? AND {_SUCCEEDED} AND m.author = '' AND s.parent_id = '' AND {ONCE}
                AND (m.status IN ('candidate', 'confirmed') OR (m.status = 'superseded' AND NOT {_JUDGED}))
                AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.id IN (m.id, m.session_id))
            ORDER BY m.at DESC LIMIT {_MOST}
            """,  # noqa: S608 - constants of this file
            (project_id,),
        )
        return [DecisionRow(*row[:4], *map(bool, row[4:])) for row in rows]

    def write(self, project_id: str, found: Mapping[str, str]) -> bool:
        """Make these, older → newer, the successions of a project; False if they were so already."""
        if self.of_project(project_id) == found and not self._left_behind(project_id):
            return False
        self._db.execute(
            "DELETE FROM successions WHERE older IN (SELECT id FROM memories WHERE project_id = ?)",
            (project_id,),
        )
        self._db.execute(
            f"""
            UPDATE memories AS m SET status = CASE WHEN auto THEN 'candidate' ELSE 'confirmed' END
            WHERE project_id = ? AND author = '' AND {_SUCCEEDED} AND status = 'superseded'
                AND NOT {_JUDGED}
            """,  # noqa: S608 - constants of this file
            (project_id,),
        )
        for older, newer in found.items():
            self._db.execute("INSERT INTO successions VALUES (?, ?)", (older, newer))
            self._db.execute("UPDATE memories SET status = 'superseded' WHERE id = ?", (older,))
        return True

    def _left_behind(self, project_id: str) -> bool:
        """Whether a decision still counts as superseded although what took its place is gone."""
        row = self._db.execute(
            f"""
            SELECT 1 FROM memories m
            WHERE m.project_id = ? AND m.author = '' AND {_SUCCEEDED} AND m.status = 'superseded'
                AND NOT {_JUDGED}
                AND m.id NOT IN (SELECT older FROM successions) LIMIT 1
            """,  # noqa: S608 - constants of this file
            (project_id,),
        ).fetchone()
        return row is not None

    def of_project(self, project_id: str) -> dict[str, str]:
        """The successions of a project, older → newer."""
        rows = self._db.execute(
            """
            SELECT x.older, x.newer FROM successions x JOIN memories m ON m.id = x.older
            WHERE m.project_id = ?
            """,
            (project_id,),
        )
        return dict(rows.fetchall())

    def newer_than(self, older: str) -> str:
        """The memory that took this one's place, or ""."""
        row = self._db.execute("SELECT newer FROM successions WHERE older = ?", (older,)).fetchone()
        return str(row[0]) if row else ""

    def older_than(self, newer: str) -> list[str]:
        """The memories whose place this one took."""
        return [
            older for (older,) in self._db.execute("SELECT older FROM successions WHERE newer = ?", (newer,))
        ]
