"""What only people look at: long lists by cursor, sums for pictures, what has just happened."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable

from backstory.model import MemoryKind, Session, StoredEvent
from backstory.store.events import Events
from backstory.store.memories import VISIBLE
from backstory.store.passages import TOUCHED
from backstory.store.records import SessionActivity, SessionFilter

_TOP = "s.parent_id = '' AND s.agent NOT IN ('user', 'docs', 'team')"
# Tombstones of sessions that a source has taken back; what was forgotten has no row any more.
_SHOWN = "NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.id = s.id)"


class Listings:
    """Reads of one database for pages and pictures."""

    def __init__(self, connection: sqlite3.Connection, events: Events) -> None:
        self._db = connection
        self._events = events

    def sessions(self, wanted: SessionFilter, before: tuple[int, str] | None, limit: int) -> list[Session]:
        """Sessions, the latest first, from before a cursor (last_at, id)."""
        clauses, values = [_TOP, _SHOWN], list[object]()
        for column, value in (
            ("project_id", wanted.project_id),
            ("agent", wanted.agent),
            ("branch", wanted.branch),
        ):
            if value:
                clauses.append(f"s.{column} = ?")
                values.append(value)
        if wanted.since:
            clauses.append("s.last_at >= ?")
            values.append(wanted.since)
        if wanted.until:
            clauses.append("s.last_at < ?")
            values.append(wanted.until)
        if before is not None:
            clauses.append("(s.last_at, s.id) < (?, ?)")
            values += before
        where = " AND ".join(clauses)
        return self._events.read_sessions(
            f"WHERE {where} ORDER BY s.last_at DESC, s.id DESC LIMIT ?", (*values, limit)
        )

    def filter_choices(self, project_id: str) -> tuple[list[str], list[str]]:
        """The agents, and the branches of a project, that sessions have."""
        agents = self._db.execute(
            """
            WITH RECURSIVE found (agent) AS (  -- from one to the next in the index, past all their sessions
                SELECT min(agent) FROM sessions
                UNION ALL
                SELECT (SELECT min(s.agent) FROM sessions s WHERE s.agent > found.agent) FROM found
                WHERE agent IS NOT NULL
            )
            SELECT agent FROM found WHERE agent NOT IN ('user', 'docs', 'team') ORDER BY 1
            """
        )
        branches = self._db.execute(
            "SELECT DISTINCT branch FROM sessions WHERE project_id = ? AND branch <> '' ORDER BY 1 LIMIT 200",
            (project_id,),
        )
        return [agent for (agent,) in agents], [branch for (branch,) in branches]

    def branches(self, project_id: str | None) -> list[str]:
        """The branches of sessions, in one project or in all."""
        rows = self._db.execute(
            """
            SELECT DISTINCT branch FROM sessions
            WHERE branch <> '' AND (:project IS NULL OR project_id = :project) ORDER BY 1
            """,
            {"project": project_id},
        )
        return [branch for (branch,) in rows]

    def knows_branch(self, branch: str, project_id: str | None) -> bool:
        """Whether anything happened on a branch: a session may leave the one it began on."""
        found = self._db.execute(
            """
            SELECT EXISTS (
                SELECT 1 FROM sessions
                WHERE branch = :branch AND (:project IS NULL OR project_id = :project)
            ) OR EXISTS (
                SELECT 1 FROM events e JOIN sessions s ON s.id = e.session_id
                WHERE e.branch = :branch AND (:project IS NULL OR s.project_id = :project))
            """,
            {"branch": branch, "project": project_id},
        )
        return bool(found.fetchone()[0])

    def knows_file(self, file: str, project_id: str | None) -> bool:
        """Whether anything that can be found, in one project or in all, had to do with a file."""
        found = self._db.execute(
            f"""
            SELECT EXISTS (
                SELECT 1 FROM passages f LEFT JOIN memories m ON m.id = f.owner
                WHERE {TOUCHED} AND f.project_id = coalesce(?, f.project_id))
            """,  # noqa: S608 - a constant
            (*[f"/{file}"] * TOUCHED.count("?"), project_id),
        )
        return bool(found.fetchone()[0])

    def session_events(self, sid: str, after: tuple[int, int], limit: int) -> list[StoredEvent]:
        """Events of a session in their order, from behind a cursor (at, seq)."""
        return self._events.read_events(
            "WHERE e.session_id = ? AND (e.at, e.seq) > (?, ?) ORDER BY e.at, e.seq LIMIT ?",
            (sid, *after, limit),
        )

    def words_for_others(self, sid: str) -> list[StoredEvent]:
        """What a session's outcome is told by: its commands that commit, and the last words of each turn."""
        return self._events.read_events(
            """
            WHERE e.session_id = ? AND (
                e.kind = 'tool' AND e.action = 'run' AND e.target GLOB '*commit*'
                OR e.row IN (
                    SELECT max(w.row) FROM events w
                    WHERE w.session_id = e.session_id AND w.kind IN ('said', 'turn_ended') AND w.text <> ''
                    GROUP BY w.turn))
            ORDER BY e.at, e.seq
            """,
            (sid,),
        )

    def last_row(self) -> int:
        """The number of the event that was stored last."""
        return int(self._db.execute("SELECT coalesce(max(row), 0) FROM events").fetchone()[0])

    def events_after(self, row: int, limit: int) -> list[tuple[int, StoredEvent]]:
        """Events that were stored after one, in the order they were stored."""
        rows = self._db.execute(
            "SELECT row FROM events WHERE row > ? ORDER BY row LIMIT ?", (row, limit)
        ).fetchall()
        if not rows:
            return []
        found = self._events.read_events(
            "WHERE e.row BETWEEN ? AND ? ORDER BY e.row", (rows[0][0], rows[-1][0])
        )
        return [(number, stored) for (number,), stored in zip(rows, found, strict=False)]

    def session_activity(self, since: int, project_id: str = "") -> list[SessionActivity]:
        """The sessions, of one project or of all, in which something happened since then, for a picture."""
        rows = self._db.execute(
            f"""
            SELECT s.started_at, s.agent, s.event_count, s.prompt_count FROM sessions s
            WHERE s.last_at >= ? AND s.project_id = coalesce(?, s.project_id) AND {_TOP}
            """,  # noqa: S608 - a constant
            (since, project_id or None),
        )
        return list(map(SessionActivity._make, rows))

    def brief_tokens(self, since: int) -> list[tuple[int, int]]:
        """When briefs were given since then, and their tokens."""
        return self._db.execute("SELECT at, tokens FROM injections WHERE at >= ?", (since,)).fetchall()

    def changed_files(self, since: int, project_id: str, limit: int) -> list[tuple[str, ...]]:
        """The files that each of the latest sessions changed."""
        rows = self._db.execute(
            f"""
            SELECT m.files FROM memories m WHERE m.kind = ? AND m.at >= ?
                AND (? = '' OR m.project_id = ?) AND {VISIBLE} ORDER BY m.at DESC LIMIT ?
            """,  # noqa: S608 - a constant
            (MemoryKind.SUMMARY, since, project_id, project_id, limit),
        )
        return [tuple(json.loads(files)) for (files,) in rows]

    def memory_counts(self) -> tuple[dict[str, int], dict[str, int]]:
        """How many memories there are by status, and by what made them."""
        by_status: Counter[str] = Counter()
        by_maker: Counter[str] = Counter()
        for status, maker, n in self._db.execute(
            "SELECT status, made_by, count(*) FROM memories GROUP BY status, made_by"
        ):
            by_status[status] += n
            by_maker[maker] += n
        return dict(by_status), dict(by_maker)

    def table_counts(self) -> dict[str, int]:
        """How many events, sessions (of agents, without sub-agents), memories and projects there are."""
        tables = {
            "events": "events",
            "sessions": "sessions WHERE parent_id = '' AND agent NOT IN ('user', 'docs', 'team')",
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
