"""Sessions and events, read: one, those of a session, the latest, and what was said or failed in them."""

import sqlite3
from collections.abc import Sequence

from backstory.model import (
    Action,
    Event,
    Kind,
    Outcome,
    Session,
    SessionStatus,
    StoredEvent,
    Where,
)
from backstory.store.compression import unpack
from backstory.store.records import Deed

_AT_ONCE = 500
# What a timeline tells: no documents, nothing that its source has taken back.
_TOLD = "e.kind <> 'document' AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.id = e.id)"


class EventReader:
    """Reads sessions and events of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def session(self, sid: str) -> Session | None:
        """One session by its id."""
        return next(iter(self.read_sessions("WHERE s.id = ?", (sid,))), None)

    def last_spoke(self, sid: str) -> int:
        """When something last happened in a session, apart from its starts and ends; 0 if nothing did."""
        row = self._db.execute(
            """
            SELECT coalesce(max(at), 0) FROM events
            WHERE session_id = ? AND kind NOT IN ('session_started', 'session_ended')
            """,
            (sid,),
        ).fetchone()
        return int(row[0])

    def sessions(
        self, project_id: str | None = None, limit: int = 50, top_level: bool = True
    ) -> list[Session]:
        """The latest sessions, of one project or of all, newest first."""
        clauses = ["s.agent NOT IN ('user', 'docs', 'team')"]
        values: list[object] = []
        if project_id is not None:
            clauses.append("s.project_id = ?")
            values.append(project_id)
        if top_level:
            clauses.append("s.parent_id = ''")
        where = "WHERE " + " AND ".join(clauses)
        return self.read_sessions(f"{where} ORDER BY s.last_at DESC LIMIT ?", (*values, limit))

    def silent_since(self, at: int) -> list[Session]:
        """Sessions that never ended and in which nothing has happened since then, oldest first."""
        silent = "WHERE s.status = 'active' AND s.last_at < ? AND s.agent <> 'user' ORDER BY s.last_at"
        return self.read_sessions(silent, (at,))

    def turn_is_open(self, sid: str) -> bool:
        """Whether the agent never came to the end of the session's last turn."""
        row = self._db.execute(
            "SELECT ended_at FROM turns WHERE session_id = ? ORDER BY number DESC LIMIT 1", (sid,)
        ).fetchone()
        return row is not None and row[0] is None

    def children(self, sid: str) -> list[Session]:
        """The sub-agents that a session started."""
        return self.read_sessions("WHERE s.parent_id = ? AND s.parent_id <> '' ORDER BY s.started_at", (sid,))

    def all_session_ids(self) -> list[str]:
        """Every session of this home, oldest first: what `rebuild` goes through."""
        return [
            row[0]
            for row in self._db.execute("SELECT id FROM sessions WHERE author = '' ORDER BY started_at, id")
        ]

    def read_sessions(self, clause: str, values: Sequence[object]) -> list[Session]:
        """Sessions `s` for which a clause of this package holds."""
        rows = self._db.execute(
            f"""
            SELECT s.id, s.agent, s.native_id, s.project_id, p.name, s.parent_id, s.subagent_type, s.source,
                   s.cwd, s.branch, s.transcript, s.started_at, s.last_at, s.ended_at, s.end_reason, s.status,
                   s.prompt_count, s.event_count, s.title, s.imported_by
            FROM sessions s JOIN projects p ON p.id = s.project_id
            {clause}
            """,  # noqa: S608 - the clauses above are constants
            values,
        ).fetchall()
        return [Session(*(*row[:15], SessionStatus(row[15]), *row[16:])) for row in rows]

    def of_session(self, sid: str, after: int = -1) -> list[StoredEvent]:
        """All events of a session in the order they happened; payloads stay where they are."""
        return self.read_events("WHERE e.session_id = ? AND e.seq > ? ORDER BY e.at, e.seq", (sid, after))

    def withheld(self, sid: str, text: str) -> list[str]:
        """The agent's own ids of what stands for something that was not kept, sub-agents' included."""
        rows = self._db.execute(
            """
            SELECT DISTINCT e.native_id FROM events e JOIN sessions s ON s.id = e.session_id
            WHERE (s.id = ? OR s.parent_id = ?) AND e.text = ? AND e.native_id <> ''
            """,
            (sid, sid, text),
        )
        return [str(native) for (native,) in rows]

    def of_turns(self, turns: Sequence[tuple[str, int]], but: Sequence[int] = ()) -> list[StoredEvent]:
        """All events of these turns, turn by turn in the order they happened; not those in these rows."""
        left_out = f"AND e.row NOT IN ({', '.join(map(str, but))})" if but else ""
        clause = f"WHERE e.session_id = ? AND e.turn = ? {left_out} ORDER BY e.at, e.seq"
        return [stored for turn in turns for stored in self.read_events(clause, turn)]

    def latest(self, project_id: str | None, since: int, limit: int) -> list[StoredEvent]:
        """The latest events of a project, newest first, for a timeline."""
        if project_id is None:
            return self.read_events(
                f"WHERE e.at >= ? AND {_TOLD} ORDER BY e.at DESC, e.seq DESC LIMIT ?",
                (since, limit),
            )
        return self.read_events(
            f"""
            WHERE s.project_id = ? AND e.at >= ? AND {_TOLD}
            ORDER BY e.at DESC, e.seq DESC LIMIT ?
            """,
            (project_id, since, limit),
        )

    def thoughts(
        self, words: Sequence[str], project_id: str | None, since: int, until: int, limit: int
    ) -> list[StoredEvent]:
        """What agents reasoned with all of these words in it, the latest first; it is not in the index."""
        having = " AND ".join(["instr(lower(e.text), ?) > 0"] * len(words))
        return self.read_events(
            f"""
            WHERE e.kind = 'reasoned' AND NOT e.recalled AND {_TOLD} AND {having or "1"}
              AND (? IS NULL OR s.project_id = ?) AND e.at >= ? AND (? = 0 OR e.at < ?)
            ORDER BY e.at DESC, e.seq DESC LIMIT ?
            """,
            (*(word.lower() for word in words), project_id, project_id, since, until, until, limit),
        )

    def event(self, event_id: str) -> StoredEvent | None:
        """One event by its id."""
        return next(iter(self.read_events("WHERE e.id = ?", (event_id,))), None)

    def read_events(self, clause: str, values: Sequence[object]) -> list[StoredEvent]:
        """Events `e` for which a clause of this package holds."""
        rows = self._db.execute(
            f"""
            SELECT e.id, e.session_id, e.turn, e.seq, e.payload_size, s.agent, s.native_id, e.kind, e.at,
                   e.text, e.action, e.tool, e.target, e.outcome, e.reason, e.native_id, s.parent_id,
                   s.subagent_type, s.transcript, e.cwd, e.branch, e.commit_id, e.worktree, e.dirty,
                   e.recalled, e.origin
            FROM events e JOIN sessions s ON s.id = e.session_id
            {clause}
            """,  # noqa: S608 - the clauses above are constants
            values,
        )
        return [_stored(row) for row in rows]

    def payload(self, event_id: str) -> str | None:
        """The whole redacted payload of an event, or None if it has none or that is damaged."""
        row = self._db.execute(
            "SELECT p.body FROM payloads p JOIN events e ON e.row = p.event_row WHERE e.id = ?", (event_id,)
        ).fetchone()
        data = None if row is None else unpack(row[0])
        return None if data is None else data.decode("utf-8", "surrogatepass")

    def passes(self, project_id: str, since: int) -> list[tuple[str, str, int]]:
        """The commands that passed since then: each with a session it passed in, and when last."""
        return self._db.execute(
            """
            SELECT e.target, e.session_id, max(e.at) FROM sessions s JOIN events e ON e.session_id = s.id
            WHERE s.project_id = ? AND s.last_at >= ? AND e.at >= ? AND e.action = 'run' AND e.outcome = 'ok'
            GROUP BY e.target, e.session_id
            """,
            (project_id, since, since),
        ).fetchall()

    def prompts_between(self, since: int, until: int) -> list[tuple[str, str]]:
        """What was asked in that time, each with its session, whatever the project."""
        return self._db.execute(
            "SELECT session_id, text FROM events WHERE at BETWEEN ? AND ? AND kind = 'prompt'",
            (since, until),
        ).fetchall()

    def commands_between(self, since: int, until: int) -> list[tuple[str, str]]:
        """The commands of that time, each with its session, whatever the project."""
        return self._db.execute(
            "SELECT session_id, target FROM events WHERE at BETWEEN ? AND ? AND action = 'run'",
            (since, until),
        ).fetchall()

    def deeds(self, project_id: str, sessions: int) -> list[Deed]:
        """The commands and changes of files of a project's last sessions, session by session, in order."""
        rows = self._db.execute(
            """
            SELECT e.session_id, s.agent, e.id, e.at, e.action, e.outcome, e.target,
                   CASE WHEN e.outcome = 'failed' AND e.action = 'run' THEN e.text ELSE '' END, e.branch
            FROM events e JOIN sessions s ON s.id = e.session_id
            WHERE e.session_id IN (SELECT id FROM sessions WHERE project_id = ? ORDER BY last_at DESC LIMIT ?)
              AND (e.action = 'run' OR (e.action IN ('edit', 'write') AND e.outcome = 'ok'))
              AND NOT e.recalled
            ORDER BY e.session_id, e.seq
            """,
            (project_id, sessions),
        )
        return [Deed(*row) for row in rows]

    def failed_commands(self, project_id: str, sessions: int, limit: int = 1_000) -> list[str]:
        """Commands that failed in so many of a project's last sessions, the latest first."""
        rows = self._db.execute(
            """
            SELECT e.target, max(e.at) AS last FROM events e
            WHERE e.session_id IN (SELECT id FROM sessions WHERE project_id = ? ORDER BY last_at DESC LIMIT ?)
              AND e.action = 'run' AND e.outcome = 'failed'
            GROUP BY e.target ORDER BY last DESC LIMIT ?
            """,
            (project_id, sessions, limit),
        )
        return [command for command, _ in rows]

    def ids_like(self, prefix: str) -> list[str]:
        """Ids that begin with `prefix`, at most ten; or of the session that its agent calls so."""
        named = "SELECT id FROM sessions WHERE native_id = ? LIMIT 10"
        native = self._db.execute(named, (prefix,)).fetchall()
        table = {"s": "sessions", "e": "events", "m": "memories"}.get(prefix[:1])
        if native or table is None:
            return [row[0] for row in native]
        rows = self._db.execute(
            f"SELECT id FROM {table} WHERE id >= ? AND id < ? ORDER BY id LIMIT 10",  # noqa: S608 - fixed names
            (prefix, prefix + "\x7f"),
        )
        return [row[0] for row in rows]


def _stored(row: tuple[object, ...]) -> StoredEvent:
    (eid, sid, turn, seq, size, agent, native, kind, at, text, action, tool, target, outcome, reason, own,
     parent, sub_type, transcript, cwd, branch, commit, worktree, dirty, recalled, origin) = row  # fmt: skip
    session, _, subagent = str(native).partition("/") if parent else (str(native), "", "")
    event = Event(
        agent=str(agent),
        session=session,
        kind=Kind(str(kind)),
        at=int(at),  # type: ignore[call-overload]
        text=str(text),
        action=Action(str(action)),
        tool=str(tool),
        target=str(target),
        outcome=Outcome(str(outcome)),
        reason=str(reason),
        native_id=str(own),
        subagent=subagent,
        subagent_type=str(sub_type),
        transcript=str(transcript),
        where=Where(
            str(cwd), str(branch), str(commit), str(worktree), None if dirty is None else bool(dirty)
        ),
        recalled=bool(recalled),
        origin=str(origin),
    )
    return StoredEvent(str(eid), str(sid), int(turn), int(seq), int(size), event)  # type: ignore[call-overload]
