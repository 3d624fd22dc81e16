"""What is being done right now: the prompts that agents are busy with, the files that they change."""

import sqlite3
from collections.abc import Sequence

from backstory.model import Action, Kind


class Activity:
    """Reads of one database about what goes on."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def open_prompts(
        self, natives: Sequence[str] = (), project_id: str | None = None, since: int = 0
    ) -> frozenset[str]:
        """The prompts of turns that go on, and the memories that rest on them.

        Of the sessions with these ids of the agents' own; without any, of a project's (or all) sessions that
        were heard of since then.
        """
        chosen = f"s.native_id IN ({','.join('?' * len(natives))})" if natives else "s.last_at >= ?"
        values: list[object] = list(natives) or [since]
        if project_id is not None:
            chosen += " AND s.project_id = ?"
            values.append(project_id)
        rows = self._db.execute(
            f"""
            WITH prompts (id) AS (
                SELECT e.id FROM sessions s
                JOIN turns t ON t.session_id = s.id AND t.ended_at IS NULL
                    AND t.number = (SELECT max(number) FROM turns WHERE session_id = s.id)
                JOIN events e ON e.session_id = s.id AND e.turn = t.number AND e.kind = '{Kind.PROMPT}'
                WHERE {chosen} AND s.ended_at IS NULL
            )
            SELECT id FROM prompts
            UNION SELECT memory_id FROM memory_sources JOIN prompts ON event_id = prompts.id
            """,  # noqa: S608 - constants of this file
            values,
        )
        return frozenset(row[0] for row in rows)

    def recent_files(self, project_id: str, since: int, limit: int) -> list[str]:
        """The names, without their folders, of the files that were changed last in a project."""
        rows = self._db.execute(
            f"""
            SELECT e.target FROM sessions s JOIN events e ON e.session_id = s.id
            WHERE s.project_id = ? AND s.last_at >= ? AND e.at >= ?
              AND e.action IN ('{Action.EDIT}', '{Action.WRITE}')
            GROUP BY e.target ORDER BY max(e.at) DESC LIMIT ?
            """,  # noqa: S608
            (project_id, since, since, limit),
        )
        return [name for (target,) in rows if (name := target.rsplit("/", 1)[-1])]
