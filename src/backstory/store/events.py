"""Sessions, turns and events: stored exactly once, in the order they happened.

An event's id is a keyed hash of what it *is* (event_ids.py), so that live capture and a later import of the
same session meet in the same rows. The first arrival makes the row, the second fills its gaps.
"""

import sqlite3
from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass, replace

from backstory.hook.brief_text import shorten
from backstory.hook.project_identity import session_id
from backstory.model import (
    LOST,
    Event,
    Kind,
    Outcome,
    SessionStatus,
)
from backstory.store.compression import pack
from backstory.store.event_ids import EventIds, own_id
from backstory.store.event_reader import EventReader
from backstory.store.projects import Projects
from backstory.store.records import Added, Arrival

_LIVE = "live"
_TITLE_CHARS = 120
_LATEST = 2**62
_AT_ONCE = 500


@dataclass(slots=True)
class _Open:
    """A session as it is being written in this transaction.

    `turn` is the one that goes on now; `starts` are the times and numbers of all turns, once history asked
    for them. `made` are the ids of its events if it was not stored before, so that none needs to be sought.
    """

    id: str
    prompts: int = 0
    events: int = 0
    last_at: int = 0
    turn: int = 0
    dirty: bool = False
    made: set[str] | None = None
    starts: list[tuple[int, int]] | None = None


class Events(EventReader):
    """Writes sessions, turns and events of one database, and reads them."""

    def __init__(self, connection: sqlite3.Connection, ids: EventIds, projects: Projects) -> None:
        super().__init__(connection)
        self._ids = ids
        self._projects = projects
        # rows that are to be inserted together, by their events' ids, and their payloads; empty between two
        # calls of `add`
        self._rows: dict[str, tuple[object, ...]] = {}
        self._bodies: list[tuple[int, bytes]] = []
        self._next = 0
        # what was asked of the database for all arrivals at once: ids, and what is stored of them
        self._sought: frozenset[str] = frozenset()
        self._found: dict[str, tuple[int, int]] = {}
        self._replays = False
        self._met: set[int] = set()  # rows that a replay has met: two equal things stay two

    def key(self, event: Event) -> str:
        """What tells this event from all others; one that ends in + stands for several equal things."""
        return self._ids.key(event)

    # --- writing ---------------------------------------------------------------------------------------

    def add(self, arrivals: Sequence[Arrival], replays: bool = False) -> list[Added]:
        """Store what is new of `arrivals`, in their order; call it inside a transaction.

        `replays`: some may be stored already though nobody has noted it. What has no id of its own is then
        known by its moment.
        """
        self._replays = replays
        self._met.clear()
        open_sessions: dict[tuple[str, str, str], _Open] = {}
        self._rows.clear()
        self._bodies.clear()
        self._next = self._db.execute("SELECT coalesce(max(row), 0) + 1 FROM events").fetchone()[0]
        self._seek([own_id(arrival.key) for arrival in arrivals if "+" not in arrival.key])
        graves = self._db.execute("SELECT 1 FROM tombstones LIMIT 1").fetchone() is not None
        added = [
            (graves and self._forgotten(arrival)) or self._add(arrival, open_sessions) for arrival in arrivals
        ]
        self._insert_rows()
        self._db.executemany(
            "UPDATE sessions SET prompt_count = ?, event_count = ?, last_at = ? WHERE id = ?",
            [(s.prompts, s.events, s.last_at, s.id) for s in open_sessions.values() if s.dirty],
        )
        return added

    def _forgotten(self, arrival: Arrival) -> Added | None:
        """What becomes of an arrival that a tombstone keeps out; None if there is none for it."""
        event = arrival.event
        top = session_id(event.agent, event.session)
        sid = session_id(event.agent, f"{event.session}/{event.subagent}") if event.subagent else top
        # equal things are counted only when one of them is really stored, or its turn would be lost
        event_id = self._ids.next_id(arrival.key, event.origin, ahead=True)
        for buried in (event_id, sid, top):
            if self._db.execute("SELECT 1 FROM tombstones WHERE id = ?", (buried,)).fetchone():
                self._ids.next_id(arrival.key, event.origin)
                return Added(event_id, sid, 0, new=False)
        return None

    def _add(self, arrival: Arrival, open_sessions: dict[tuple[str, str, str], _Open]) -> Added:
        event = arrival.event
        who = (event.agent, event.session, event.subagent)
        session = open_sessions.get(who)
        if session is None:
            native = f"{event.session}/{event.subagent}" if event.subagent else event.session
            shown = arrival.native or native
            session = self._open_session(session_id(event.agent, native), shown, arrival)
            open_sessions[who] = session
        sid = session.id
        if self._replays and arrival.key.endswith("+") and (known := self._replayed(arrival, sid)):
            return known
        event_id = self._ids.next_id(arrival.key, event.origin)
        row = self._stored_row(event_id, session)
        while row is not None and arrival.key.endswith("+") and self._is_from(event.origin, row[0]):
            # nobody tells of the same thing twice: the count of equal things was lost, and is made up for
            event_id = self._ids.next_id(arrival.key, event.origin)
            row = self._stored_row(event_id, session)
        if row is not None:
            self._fill_gaps(row[0], event)
            return Added(event_id, sid, row[1], new=False)
        if event.origin == _LIVE and event.at < session.last_at:
            # the clock went back, or hooks ran side by side: the order of arrival counts
            event = replace(event, at=session.last_at)
        turn = self._turn_for(event, event_id, session)
        session.events += 1
        session.last_at = max(session.last_at, event.at)
        session.dirty = True
        self._insert(event_id, sid, turn, session.events, event)
        self._apply_to_session(event, sid, turn)
        return Added(event_id, sid, turn, new=True)

    def _replayed(self, arrival: Arrival, sid: str) -> Added | None:
        """The event of this very moment among the equal ones that are stored."""
        event = arrival.event
        self._insert_rows()
        for event_id in self._ids.equals(arrival.key, event.origin):
            # under a clock that went back it was stored at the time of the event before it
            row = self._db.execute(
                """
                SELECT e.row, e.turn FROM events e
                WHERE e.id = :id AND e.session_id = :sid AND e.origin = :origin AND (e.at = :at
                    OR (e.at > :at AND EXISTS (SELECT 1 FROM events b
                        WHERE b.session_id = e.session_id AND b.at = e.at AND b.seq < e.seq)))
                """,
                {"id": event_id, "sid": sid, "origin": event.origin, "at": event.at},
            ).fetchone()
            if row is not None and row[0] not in self._met:
                self._met.add(row[0])
                self._fill_gaps(row[0], event)
                return Added(event_id, sid, row[1], new=False)
        return None

    def _stored_row(self, event_id: str, session: _Open) -> tuple[int, int] | None:
        """The row and the turn of an event that is stored already."""
        if session.made is not None and event_id not in session.made:
            session.made.add(event_id)
            return None
        if event_id in self._rows:
            self._insert_rows()
        elif event_id in self._sought:
            return self._found.get(event_id)
        row: tuple[int, int] | None = self._db.execute(
            "SELECT row, turn FROM events WHERE id = ?", (event_id,)
        ).fetchone()
        return row

    def _is_from(self, origin: str, row: int) -> bool:
        found = self._db.execute("SELECT 1 FROM events WHERE row = ? AND origin = ?", (row, origin))
        return found.fetchone() is not None

    def _seek(self, ids: list[str]) -> None:
        """Look for many events at once."""
        self._sought, self._found = frozenset(ids), {}
        for start in range(0, len(ids), _AT_ONCE):
            part = ids[start : start + _AT_ONCE]
            places = ", ".join("?" * len(part))
            rows = self._db.execute(f"SELECT id, row, turn FROM events WHERE id IN ({places})", part)  # noqa: S608
            self._found.update((event_id, (row, turn)) for event_id, row, turn in rows)

    def _open_session(self, sid: str, native: str, arrival: Arrival) -> _Open:
        event = arrival.event
        # what is told of a stored session carries the name that was stored, which may not be all of it
        row = self._db.execute(
            """
            SELECT id, prompt_count, event_count, last_at, native_id FROM sessions
            WHERE id = ? OR (agent = ? AND native_id = ?) ORDER BY id = ? DESC LIMIT 1
            """,
            (sid, event.agent, native, sid),
        ).fetchone()
        if row is not None:
            found, prompts, events, last_at, name = row
            if found == sid and name.startswith(LOST) and name != native:
                self._db.execute(
                    "UPDATE sessions SET agent = ?, native_id = ? WHERE id = ?", (event.agent, native, sid)
                )
            return _Open(found, prompts, events, last_at, self._turn_at(found))
        self._projects.note(arrival.project)
        parent = ""
        if event.subagent:
            # a sub-agent hangs below the session that started it, also when its events arrive first
            parent = session_id(event.agent, event.session)
            top = Arrival(replace(event, subagent="", subagent_type=""), arrival.project, arrival.key)
            self._open_session(parent, native.partition("/")[0], top)
        self._db.execute(
            """
            INSERT INTO sessions (id, agent, native_id, project_id, parent_id, subagent_type, cwd, branch,
                                  transcript, started_at, last_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            (
                sid,
                event.agent,
                native,
                arrival.project.id,
                parent,
                event.subagent_type,
                event.where.cwd,
                event.where.branch,
                event.transcript,
                event.at,
                event.at,
            ),
        )
        return _Open(sid, made=set())

    def _turn_for(self, event: Event, event_id: str, session: _Open) -> int:
        """The turn an event belongs to; a prompt begins one. What history adds may lie before the newest."""
        if event.kind is Kind.PROMPT and not event.recalled:
            session.prompts += 1
            self._db.execute(
                "INSERT INTO turns (session_id, number, prompt_id, started_at) VALUES (?, ?, ?, ?)",
                (session.id, session.prompts, event_id, event.at),
            )
            if session.starts is not None:
                insort(session.starts, (event.at, session.prompts))
            live = event.origin == _LIVE
            session.turn = session.prompts if live else self._turn_of_history(session, _LATEST)
            return session.prompts
        return session.turn if event.origin == _LIVE else self._turn_of_history(session, event.at)

    def _turn_of_history(self, session: _Open, at: int) -> int:
        if session.starts is None:
            session.starts = self._db.execute(
                "SELECT started_at, number FROM turns WHERE session_id = ? ORDER BY started_at, number",
                (session.id,),
            ).fetchall()
        before = bisect_right(session.starts, (at, _LATEST))
        return session.starts[before - 1][1] if before else 0

    def _turn_at(self, sid: str, at: int = _LATEST) -> int:
        row = self._db.execute(
            """
            SELECT number FROM turns WHERE session_id = ? AND started_at <= ?
            ORDER BY started_at DESC, number DESC LIMIT 1
            """,
            (sid, at),
        ).fetchone()
        return 0 if row is None else int(row[0])

    def _insert(self, event_id: str, sid: str, turn: int, seq: int, event: Event) -> None:
        # What is no plain str or int costs sqlite3 a search for an adapter, per value.
        where = event.where
        self._rows[event_id] = (
            self._next,
            event_id,
            sid,
            turn,
            seq,
            event.at,
            event.kind.value,
            event.action.value,
            event.tool,
            event.target,
            event.outcome.value,
            event.reason,
            event.text,
            event.native_id,
            where.cwd,
            where.branch,
            where.commit,
            where.worktree,
            None if where.dirty is None else int(where.dirty),
            int(event.recalled),
            event.origin,
            len(event.body),
        )
        if event.body:
            self._bodies.append((self._next, pack(event.body)))
        self._next += 1

    def _insert_rows(self) -> None:
        if self._rows:
            places = ", ".join("?" * 22)
            self._db.executemany(f"INSERT INTO events VALUES ({places})", self._rows.values())  # noqa: S608
            self._db.executemany("INSERT INTO payloads VALUES (?, ?)", self._bodies)
            # a third one of the same in these arrivals must find what the second one made
            self._sought -= self._rows.keys()
            self._rows.clear()
            self._bodies.clear()

    def _fill_gaps(self, row: int, event: Event) -> None:
        self._db.execute(
            """
            UPDATE events SET text = ?, outcome = CASE ? WHEN '' THEN outcome ELSE ? END
            WHERE row = ? AND text = '' AND ? <> ''
            """,
            (event.text, event.outcome, event.outcome, row, event.text),
        )
        if event.outcome is not Outcome.NONE:  # Codex's hooks do not tell how a command ended
            self._db.execute(
                "UPDATE events SET outcome = ? WHERE row = ? AND outcome = ''", (event.outcome, row)
            )
        if event.body:
            self._db.execute(
                "INSERT INTO payloads (event_row, body) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (row, pack(event.body)),
            )
            self._db.execute(
                "UPDATE events SET payload_size = ? WHERE row = ? AND payload_size = 0",
                (len(event.body), row),
            )

    def _apply_to_session(self, event: Event, sid: str, turn: int) -> None:
        if event.kind is Kind.PROMPT:  # whoever is spoken to after the end is alive again
            self._db.execute(
                """
                UPDATE sessions SET status = 'active', ended_at = NULL, end_reason = ''
                WHERE id = ? AND status <> 'active' AND ended_at < ?
                """,
                (sid, event.at),
            )
        match event.kind:
            case Kind.SESSION_STARTED:
                # a resumed session is alive again
                self._db.execute(
                    """
                    UPDATE sessions SET status = 'active', ended_at = NULL, end_reason = '',
                           source = CASE source WHEN '' THEN ? ELSE source END,
                           transcript = CASE ? WHEN '' THEN transcript ELSE ? END
                    WHERE id = ?
                    """,
                    (event.reason, event.transcript, event.transcript, sid),
                )
            case Kind.PROMPT if turn == 1 and not event.recalled:
                self._db.execute(
                    "UPDATE sessions SET title = ? WHERE id = ? AND title = ''", (_title(event.text), sid)
                )
            case Kind.TURN_ENDED | Kind.TURN_FAILED:
                self._db.execute(
                    "UPDATE turns SET ended_at = ?, outcome = ? WHERE session_id = ? AND number = ?",
                    (event.at, event.outcome, sid, turn),
                )
                # some agents do not name it, or not the right one, when a session starts
                self._db.execute(
                    "UPDATE sessions SET transcript = ? WHERE id = ? AND transcript = ''",
                    (event.transcript, sid),
                )
            case Kind.SUBAGENT_ENDED if not event.subagent:
                pass  # nobody says whose end it was: not this session's
            case Kind.SESSION_ENDED | Kind.SUBAGENT_ENDED:
                status = SessionStatus.FAILED if event.outcome is Outcome.FAILED else SessionStatus.ENDED
                self._db.execute(
                    "UPDATE sessions SET status = ?, ended_at = ?, end_reason = ? WHERE id = ?",
                    (status, event.at, event.reason, sid),
                )
            case _:
                pass

    def note_import(self, sid: str, user: str, running_since: int) -> None:
        """Remember who imported a session, and that it has ended unless something happened since then."""
        self._db.execute("UPDATE sessions SET imported_by = ? WHERE id = ?", (user, sid))
        self._db.execute(
            """
            UPDATE sessions SET status = 'ended', ended_at = last_at
            WHERE id = ? AND last_at < ? AND status <> 'failed' AND end_reason = ''
            """,
            (sid, running_since),
        )

    def note_title(self, sid: str, title: str) -> None:
        """Call a session what its agent calls it, unless something of it was forgotten."""
        self._db.execute(
            """
            UPDATE sessions SET title = ?
            WHERE id = ? AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.id = sessions.id || '/title')
            """,
            (_title(title), sid),
        )

    def missing(self, arrivals: Sequence[Arrival]) -> set[str]:
        """The ids of those that are not stored yet, and were not forgotten."""
        graves = self._db.execute("SELECT 1 FROM tombstones LIMIT 1").fetchone() is not None
        ids = ((self._ids.next_id(each.key, each.event.origin, ahead=True), each) for each in arrivals)
        return {event_id for event_id, each in ids if not self._is_known(event_id, each.event, graves)}

    def _is_known(self, event_id: str, event: Event, graves: bool) -> bool:
        if self._db.execute("SELECT 1 FROM events WHERE id = ?", (event_id,)).fetchone():
            return True
        buried = (event_id, session_id(event.agent, event.session))
        return graves and any(
            self._db.execute("SELECT 1 FROM tombstones WHERE id = ?", (i,)).fetchone() for i in buried
        )


def _title(text: str) -> str:
    return shorten(" ".join(text.split()), _TITLE_CHARS)
