"""Forgetting inside the database: lineage, rows, index, tombstones, and the rewrite of the file.

SQLite leaves deleted text in free pages, FTS5 in its segments until they are merged, and the write-ahead log
until it is reused. `erase_traces` sees to all three; it rewrites the file, so it runs once, at the end.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from backstory.store.compression import pack, unpack_text
from backstory.store.model_ledger import drop_answers
from backstory.store.passages import Passages
from backstory.store.records import Reach

EVENT, MEMORY, SESSION, TITLE = "event", "memory", "session", "title"
_BATCH = 500
_DUE = "erase_traces"  # from the moment that something is removed until no byte of it is left
# Every place outside the payloads in which words of a session can stand.
_EVENT_TEXTS = "tool, target, reason, text, native_id, cwd, branch, commit_id, worktree"
_MEMORY_TEXTS = "text, detail, reason, files"
# A title is the agent's own, or made of a prompt; when something is gone, of the first that is left.
_SESSION_TEXTS = "native_id, source, cwd, branch, transcript, end_reason"
# What an error says may quote anything.
_COMPLAINTS = (("jobs", "last_error"), ("model_calls", "error"))
_UNTOLD = "not told any more: something was forgotten since"


class RowErasure:
    """Finds and removes what is to be forgotten in one database."""

    def __init__(self, connection: sqlite3.Connection, passages: Passages) -> None:
        self._db = connection
        self._passages = passages
        #: Events whose payloads were damaged when they were looked into.
        self.unreadable: set[str] = set()

    # --- finding ---------------------------------------------------------------------------------------

    def holding(self, matches: Callable[[str], bool]) -> Reach:
        """Everything with a text, a payload or a place that matches; reads the whole database."""
        events = {eid for eid, text in self._event_texts() if matches(text)}
        memories = {
            str(row[0])
            for row in self._db.execute(f"SELECT id, {_MEMORY_TEXTS} FROM memories")  # noqa: S608
            if any(matches(text) for text in row[1:])
        }
        return Reach(frozenset(events), frozenset(memories))

    def _event_texts(self) -> Iterator[tuple[str, str]]:
        rows = self._db.execute(
            f"""
            SELECT e.id, p.body, {_EVENT_TEXTS}
            FROM events e LEFT JOIN payloads p ON p.event_row = e.row
            """  # noqa: S608 - columns of this file
        )
        for eid, body, *texts in rows:
            yield from ((eid, text) for text in texts if text)
            if body is not None and (payload := self._read(eid, body)):
                yield eid, payload

    def _read(self, eid: str, body: bytes) -> str:
        """An event's payload; "" if it is damaged, which is noted."""
        text = unpack_text(body)
        if text is None:
            self.unreadable.add(eid)
        return text or ""

    def sessions_like(self, matches: Callable[[str], bool]) -> list[str]:
        """Sessions whose own row (folder, branch, transcript) matches."""
        rows = self._db.execute(f"SELECT id, {_SESSION_TEXTS} FROM sessions")  # noqa: S608
        return [row[0] for row in rows if any(matches(text) for text in row[1:])]

    def sessions_with_title(self, matches: Callable[[str], bool]) -> dict[str, str]:
        """Sessions whose title matches, with their projects."""
        rows = self._db.execute("SELECT id, title, project_id FROM sessions WHERE title <> ''")
        return {sid: project for sid, title, project in rows if matches(title)}

    def sessions_with_answer(self, matches: Callable[[str], bool]) -> dict[str, str]:
        """Sessions of which a model said something that matches, with their projects."""
        rows = self._db.execute(
            """
            SELECT s.id, s.project_id, a.body FROM model_answers a JOIN sessions s ON s.id = a.session_id
            """
        )
        return {sid: project for sid, project, body in rows if matches(body)}

    def between(self, since: int, until: int, project_id: str | None) -> frozenset[str]:
        """Events that happened in [since, until), of one project or of all."""
        rows = self._db.execute(
            """
            SELECT e.id FROM events e JOIN sessions s ON s.id = e.session_id
            WHERE e.at >= ? AND e.at < ? AND (? IS NULL OR s.project_id = ?)
            """,
            (since, until, project_id, project_id),
        )
        return frozenset(eid for (eid,) in rows)

    def with_sources(self, reach: Reach) -> Reach:
        """The reach, and the events that its memories rest on."""
        events = set(reach.events)
        for mid in reach.memories:
            rows = self._db.execute("SELECT event_id FROM memory_sources WHERE memory_id = ?", (mid,))
            events.update(eid for (eid,) in rows)
        return Reach(frozenset(events), reach.memories, reach.sessions)

    def with_lineage(self, reach: Reach) -> Reach:
        """The reach and all that hangs on it: sub-agents, events, the memories that were made of them."""
        sessions = set(reach.sessions)
        for sid in reach.sessions:
            children = self._db.execute("SELECT id FROM sessions WHERE parent_id = ?", (sid,))
            sessions.update(child for (child,) in children)
        events, memories = set(reach.events), set(reach.memories)
        for sid in sessions:
            events.update(
                e for (e,) in self._db.execute("SELECT id FROM events WHERE session_id = ?", (sid,))
            )
            memories.update(
                m for (m,) in self._db.execute("SELECT id FROM memories WHERE session_id = ?", (sid,))
            )
        for eid in events:
            rows = self._db.execute("SELECT memory_id FROM memory_sources WHERE event_id = ?", (eid,))
            memories.update(mid for (mid,) in rows)
        return Reach(frozenset(events), frozenset(memories), frozenset(sessions))

    def of_project(self, project_id: str) -> frozenset[str]:
        """All sessions of a project, sub-agents' too."""
        rows = self._db.execute("SELECT id FROM sessions WHERE project_id = ?", (project_id,))
        return frozenset(sid for (sid,) in rows)

    def touched(self, reach: Reach) -> dict[str, str]:
        """The sessions that lose something, with their projects."""
        found: dict[str, str] = {}
        for table, ids in (("events", reach.events), ("memories", reach.memories)):
            for part in _parts(ids):
                marks = ",".join("?" * len(part))
                found.update(
                    self._db.execute(
                        f"""
                        SELECT DISTINCT s.id, s.project_id FROM {table} t
                        JOIN sessions s ON s.id = t.session_id WHERE t.id IN ({marks})
                        """,  # noqa: S608 - question marks and constants
                        part,
                    ).fetchall()
                )
        for sid in reach.sessions:
            row = self._db.execute("SELECT project_id FROM sessions WHERE id = ?", (sid,)).fetchone()
            found.update({sid: row[0]} if row else {})
        return found

    def transcripts(self, sessions: Iterable[str]) -> list[str]:
        """The agents' own history files of these sessions; they are outside our reach."""
        found = set()
        for sid in sessions:
            row = self._db.execute("SELECT transcript FROM sessions WHERE id = ?", (sid,)).fetchone()
            found.update([row[0]] if row and row[0] else [])
        return sorted(found)

    def recalled(self, events: Iterable[str]) -> frozenset[str]:
        """Those of these events that are our own words, come back to us."""
        found: set[str] = set()
        for part in _parts(events):
            marks = ",".join("?" * len(part))
            rows = self._db.execute(
                f"SELECT id FROM events WHERE recalled AND id IN ({marks})",  # noqa: S608 - question marks
                part,
            )
            found.update(eid for (eid,) in rows)
        return frozenset(found)

    def said_by(self, reach: Reach) -> Iterator[str]:
        """What was said in these events, what these memories say, and what these sessions are called."""
        for query, ids in (
            ("SELECT text, '' FROM events WHERE kind <> 'tool' AND NOT recalled AND id IN", reach.events),
            ("SELECT text, reason FROM memories WHERE id IN", reach.memories),
            ("SELECT title, '' FROM sessions WHERE id IN", reach.sessions),
        ):
            for part in _parts(ids):
                marks = ",".join("?" * len(part))
                for row in self._db.execute(f"{query} ({marks})", part):
                    yield from filter(None, row)

    def own_words(self) -> Iterator[tuple[str, bool, str]]:
        """Every text of events that are our own words, with their ids; True if it is what somebody did."""
        rows = self._db.execute(
            """
            SELECT e.id, e.kind = 'judged', e.target, e.text, p.body
            FROM events e LEFT JOIN payloads p ON p.event_row = e.row WHERE e.recalled
            """
        )
        for eid, act, target, text, body in rows:
            yield from ((eid, bool(act), one) for one in (target, text) if one)
            if body is not None and (payload := self._read(eid, body)):
                yield eid, bool(act), payload

    def calls(self, events: Iterable[str]) -> Iterator[str]:
        """What agents call these uses of tools."""
        for part in _parts(events):
            marks = ",".join("?" * len(part))
            query = f"SELECT native_id FROM events WHERE kind = 'tool' AND id IN ({marks})"  # noqa: S608
            yield from (native for (native,) in self._db.execute(query, part))

    def title_without(self, sid: str, gone: frozenset[str]) -> str:
        """What a session will be called when these events are gone."""
        rows = self._db.execute(
            """
            SELECT id, substr(text, 1, 120) FROM events
            WHERE session_id = ? AND kind = 'prompt' AND NOT recalled ORDER BY at, seq
            """,
            (sid,),
        )
        return next((text for eid, text in rows if eid not in gone), "")

    def projects_like(self, matches: Callable[[str], bool]) -> list[str]:
        """The names of projects that are called so, or are known by such an address or folder."""
        rows = self._db.execute("SELECT name, identity, root FROM projects ORDER BY name, id")
        return [row[0] for row in rows if any(matches(text) for text in row)]

    # --- removing --------------------------------------------------------------------------------------

    def remove(self, reach: Reach, named: Reach, at: int) -> None:
        """Delete the reach, and leave tombstones; inside a transaction.

        A memory gets one only if it was `named`: made again from what is left, another may take its id.
        """
        self._db.execute("PRAGMA secure_delete = ON")
        self._db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, '1')", (_DUE,))
        self._bury(EVENT, reach.events, at)
        self._bury(MEMORY, named.memories, at)
        self._bury(SESSION, reach.sessions, at)
        of_others = Reach(reach.events - self.recalled(reach.events), reach.memories, reach.sessions)
        drop_answers(self._db, list(self.touched(of_others)))  # no model was told our own words
        self._passages.remove(*reach.memories, *reach.events, *reach.sessions)
        for mid in reach.memories:
            self._db.execute("DELETE FROM memories WHERE id = ?", (mid,))
            self._db.execute("DELETE FROM injected WHERE memory_id = ?", (mid,))
        for eid in reach.events:
            self._db.execute("DELETE FROM memory_sources WHERE event_id = ?", (eid,))
            self._db.execute("UPDATE turns SET prompt_id = '' WHERE prompt_id = ?", (eid,))
        for part in _parts(reach.events):
            marks = ",".join("?" * len(part))
            gone = self._db.execute(
                f"SELECT count(*), session_id FROM events WHERE id IN ({marks}) GROUP BY session_id",  # noqa: S608
                part,
            ).fetchall()
            # not counted anew: what retention has archived still counts
            self._db.executemany(
                "UPDATE sessions SET event_count = max(0, event_count - ?) WHERE id = ?", gone
            )
            self._db.execute(f"DELETE FROM events WHERE id IN ({marks})", part)  # noqa: S608
        self._passages.lower_mark()
        for sid in reach.sessions:
            self._remove_session(sid)
        for table, column in _COMPLAINTS:
            self._db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} <> ''", (_UNTOLD,))  # noqa: S608
        self._db.execute("DELETE FROM places WHERE project_id NOT IN (SELECT project_id FROM sessions)")
        self._db.execute(
            """
            DELETE FROM projects WHERE id NOT IN (SELECT project_id FROM sessions)
            AND id NOT IN (SELECT project_id FROM memories)
            """
        )

    def _remove_session(self, sid: str) -> None:
        for statement in (
            "DELETE FROM injected WHERE injection_id IN (SELECT id FROM injections WHERE session_id = ?)",
            "DELETE FROM injections WHERE session_id = ?",
            "DELETE FROM transcripts WHERE session_id = ?",
            "DELETE FROM jobs WHERE subject = ?",
            "DELETE FROM jobs WHERE subject = (SELECT transcript FROM sessions WHERE id = ?)",
            "UPDATE model_calls SET session_id = '' WHERE session_id = ?",
            "DELETE FROM turns WHERE session_id = ?",
            "DELETE FROM sessions WHERE id = ?",
        ):
            self._db.execute(statement, (sid,))

    def _bury(self, what: str, ids: Iterable[str], at: int) -> None:
        self._db.executemany(
            "INSERT OR IGNORE INTO tombstones (id, what, reason, at) VALUES (?, ?, 'forgotten', ?)",
            [(i, what, at) for i in ids],
        )

    def drop_answers(self, sessions: Iterable[str]) -> None:
        """Forget what models said about these sessions; inside a transaction."""
        drop_answers(self._db, list(sessions))

    def retitle(self, sid: str) -> None:
        """Give a session the title of the first prompt it still has; its agent's may tell what is gone."""
        self._bury(TITLE, [f"{sid}/{TITLE}"], 0)
        self._db.execute(
            """
            UPDATE sessions SET title = coalesce((
                SELECT substr(e.text, 1, 120) FROM events e
                WHERE e.session_id = sessions.id AND e.kind = 'prompt' AND NOT e.recalled
                ORDER BY e.at, e.seq LIMIT 1), '')
            WHERE id = ?
            """,
            (sid,),
        )
        self._passages.rewrite_header(sid)

    def rewrite(self, clean: Callable[[str], str], clean_json: Callable[[str], str]) -> Reach:
        """Put every stored text as `clean` gives it; inside a transaction. Gives what was changed."""
        self._db.execute("PRAGMA secure_delete = ON")
        self._db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, '1')", (_DUE,))
        events = {
            row[1]
            for row in self._db.execute(f"SELECT row, id, {_EVENT_TEXTS} FROM events").fetchall()  # noqa: S608
            if self._rewrite_row("events", "row", row[0], _EVENT_TEXTS, row[2:], clean)
        }
        for row, eid, body in self._db.execute(
            "SELECT e.row, e.id, p.body FROM events e JOIN payloads p ON p.event_row = e.row"
        ).fetchall():
            text = self._read(eid, body)
            if text and (cleaned := clean_json(text)) != text:
                self._db.execute(
                    "UPDATE payloads SET body = ? WHERE event_row = ?",
                    (pack(cleaned), row),
                )
                events.add(eid)
        memories = {
            row[0]
            for row in self._db.execute(f"SELECT id, {_MEMORY_TEXTS} FROM memories").fetchall()  # noqa: S608
            if self._rewrite_row("memories", "id", row[0], _MEMORY_TEXTS, row[1:], clean)
        }
        sessions = {
            row[0]
            for row in self._db.execute("SELECT id, title FROM sessions").fetchall()
            if self._rewrite_row("sessions", "id", row[0], "title", row[1:], clean)
        }
        for row in self._db.execute("SELECT id, body FROM model_answers").fetchall():
            if (cleaned := clean_json(row[1])) != row[1]:
                self._db.execute("UPDATE model_answers SET body = ? WHERE id = ?", (cleaned, row[0]))
        for owner in events | memories:
            self._rewrite_passages(owner, clean)
        for sid in sessions:
            self._passages.rewrite_header(sid)
        for table, column in _COMPLAINTS:
            for row in self._db.execute(f"SELECT DISTINCT {column} FROM {table}").fetchall():  # noqa: S608
                self._rewrite_row(table, column, row[0], column, row, clean)
        return Reach(frozenset(events), frozenset(memories), frozenset(sessions))

    def _rewrite_row(
        self,
        table: str,
        key: str,
        value: object,
        columns: str,
        texts: Sequence[str],
        clean: Callable[[str], str],
    ) -> bool:
        cleaned = [clean(text) if text else text for text in texts]
        if cleaned == list(texts):
            return False
        assignments = ", ".join(f"{name.strip()} = ?" for name in columns.split(","))
        self._db.execute(f"UPDATE {table} SET {assignments} WHERE {key} = ?", (*cleaned, value))  # noqa: S608
        return True

    def _rewrite_passages(self, owner: str, clean: Callable[[str], str]) -> None:
        self._passages.rewrite(owner, clean)

    def traces_left(self) -> bool:
        """Whether something was removed whose bytes may still be in the file."""
        return self._db.execute("SELECT 1 FROM meta WHERE key = ?", (_DUE,)).fetchone() is not None

    def erase_traces(self) -> bool:
        """Rewrite index, file and log so that no deleted byte is left; False while a reader prevents it."""
        return erase_traces(self._db)


def erase_traces(db: sqlite3.Connection) -> bool:
    """Rewrite index, file and log so that no deleted byte is left; False while a reader prevents it."""
    db.execute("INSERT INTO passage_fts (passage_fts) VALUES ('optimize')")
    db.execute("VACUUM")
    busy, _, _ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if not busy:
        db.execute("DELETE FROM meta WHERE key = ?", (_DUE,))
    return not busy


def carry_tombstones(buried: Sequence[tuple[Any, ...]], restored: Path) -> None:
    """What was forgotten since a backup was made stays forgotten in it."""
    with closing(sqlite3.connect(restored, isolation_level=None)) as db:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("BEGIN IMMEDIATE")
        forgetting = RowErasure(db, Passages(db))
        untitled = _titles(buried) - _titles(db.execute("SELECT id, what FROM tombstones"))
        db.executemany("INSERT OR IGNORE INTO tombstones (id, what, reason, at) VALUES (?, ?, ?, ?)", buried)
        by_kind = {
            kind: frozenset(row[0] for row in buried if row[1] == kind) for kind in (EVENT, MEMORY, SESSION)
        }
        named = Reach(by_kind[EVENT], by_kind[MEMORY], by_kind[SESSION])
        reach = forgetting.with_lineage(named)
        changed = Reach(reach.events, reach.memories, reach.sessions | untitled)
        lost = set(forgetting.touched(changed)) - reach.sessions
        forgetting.remove(reach, named, 0)
        for sid in lost:
            forgetting.retitle(sid)
        _distil_again(db, lost)
        db.execute("COMMIT")
        if changed:
            erase_traces(db)


def expected_counts(backup: Path, restored: Path) -> dict[str, int]:
    """How many sessions and events a restored backup must have: all but what a tombstone took."""
    buried = "SELECT id FROM main.tombstones WHERE what IN ('event', 'session')"
    gone = f"SELECT id FROM backup.sessions WHERE id IN ({buried}) OR parent_id IN ({buried})"  # noqa: S608
    forgotten = {"sessions": f"id IN ({gone})", "events": f"id IN ({buried}) OR session_id IN ({gone})"}
    with closing(sqlite3.connect(restored.as_uri(), uri=True)) as db:
        db.execute("ATTACH ? AS backup", (f"{backup.as_uri()}?mode=ro&immutable=1",))
        return {
            table: int(
                db.execute(
                    f"""
                    SELECT count(*) FROM backup.{table}
                    WHERE NOT ({condition}) OR id IN (SELECT id FROM main.{table})
                    """  # noqa: S608 - constants
                ).fetchone()[0]
            )
            for table, condition in forgotten.items()
        }


def _titles(graves: Iterable[Sequence[Any]]) -> frozenset[str]:
    """The sessions whose titles these graves bury."""
    return frozenset(str(row[0]).removesuffix(f"/{TITLE}") for row in graves if row[1] == TITLE)


def clean_file(restored: Path, clean: Callable[[str], str], clean_json: Callable[[str], str]) -> Reach:
    """Put every text of a database that nobody uses yet as `clean` gives it; gives what was changed."""
    with closing(sqlite3.connect(restored, isolation_level=None)) as db:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("BEGIN IMMEDIATE")
        forgetting = RowErasure(db, Passages(db))
        reach = forgetting.rewrite(clean, clean_json)
        _distil_again(db, forgetting.touched(reach))
        db.execute("COMMIT")
        erase_traces(db)
    return reach


def _distil_again(db: sqlite3.Connection, sessions: Iterable[str]) -> None:
    db.executemany(
        """
        INSERT INTO jobs (kind, subject, state, asked_at) VALUES ('distil', ?, 'waiting', 0)
        ON CONFLICT (kind, subject) DO UPDATE SET state = 'waiting', attempts = 0, not_before = 0
        """,
        [(sid,) for sid in sessions],
    )


def _parts(ids: Iterable[str]) -> Iterator[Sequence[str]]:
    every = sorted(ids)
    for start in range(0, len(every), _BATCH):
        yield every[start : start + _BATCH]
