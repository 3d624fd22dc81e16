"""Rows that are lost, made again from rows that are not: sessions, projects, turns, counts.

A session's id is a hash of its agent and of what the agent calls it. So whatever is found that may be its
name (in an index, a transcript's path, a payload, a copy of a transcript, the spool) can be tried, and the
right one is known to be right. A session whose name is nowhere is called `lost:…` until its agent is heard of
again: it never gets a name that no agent gave it.
"""

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from backstory.hook.project_identity import ident, session_id
from backstory.model import LOST, Project
from backstory.store.compression import unpack

_UNKNOWN_AGENT = "unknown"
_ID = re.compile(r"[\w.~:-]{4,200}")
_DEEPEST = 6
_PAYLOADS = 5  # of a session are looked into: nearly every one names it
_PAIRS = 12  # strings of a payload that are tried as the name of a sub-agent's session, where none is known
_OWN = 20  # sessions of a project for what people ask to remember
_TITLE_CHARS = 120

Name = tuple[str, str]  # an agent, and what it calls a session


@dataclass(frozen=True, slots=True)
class Clues:
    """What outside the database tells of lost rows.

    `texts` gives JSON that may name some sessions, `project_of` the project of a folder at a time.
    """

    agents: Sequence[str]
    texts: Callable[[Iterable[str]], Iterator[bytes]]
    project_of: Callable[[str, int], Project]


def rebuild_lost_rows(db: sqlite3.Connection, clues: Clues, lost: Iterable[str]) -> None:
    """Make again what can be of the tables that are `lost`, and of sessions and projects that are missing."""
    _remake_sessions(db, clues)
    _remake_projects(db, clues)
    if "turns" in lost:
        _remake_turns(db)
    if "counters" in lost:
        _remake_counters(db)
    # numbers that new events and turns go on from
    db.execute(
        """
        UPDATE sessions SET
            event_count = max(event_count, coalesce(
                (SELECT max(seq) FROM events e WHERE e.session_id = sessions.id), 0)),
            prompt_count = max(prompt_count, coalesce(
                (SELECT max(number) FROM turns t WHERE t.session_id = sessions.id), 0), coalesce(
                (SELECT max(turn) FROM events e WHERE e.session_id = sessions.id), 0))
        """
    )


# --- sessions ----------------------------------------------------------------------------------------------


def _remake_sessions(db: sqlite3.Connection, clues: Clues) -> None:
    rows = db.execute(
        """
        SELECT session_id FROM events UNION SELECT session_id FROM memories
        UNION SELECT parent_id FROM sessions WHERE parent_id <> '' EXCEPT SELECT id FROM sessions
        """
    )
    missing = {str(sid) for (sid,) in rows}
    if not missing:
        return
    names = _names(db, clues, missing)
    for sid, (agent, native) in sorted(names.items()):
        top, _, subagent = native.partition("/")
        if subagent and (parent := session_id(agent, top)) not in names and not _is_there(db, parent):
            _insert_session(db, clues, parent, (agent, top), like=sid)
        _insert_session(db, clues, sid, (agent, native))
    for sid in sorted(missing - names.keys()):
        _insert_session(db, clues, sid, None)


def _is_there(db: sqlite3.Connection, sid: str) -> bool:
    return db.execute("SELECT 1 FROM sessions WHERE id = ?", (sid,)).fetchone() is not None


def _names(db: sqlite3.Connection, clues: Clues, missing: set[str]) -> dict[str, Name]:
    """What the agents call these sessions, as far as anything tells."""
    found: dict[str, Name] = {}
    for agent, native, sid in db.execute("SELECT agent, native_id, id FROM session_names"):
        if sid in missing and agent in (*clues.agents, "user", "docs"):
            found[sid] = (agent, native)
    for agent, native, parent in db.execute("SELECT agent, native_id, parent_id FROM sessions"):
        if parent in missing:
            found[parent] = (agent, native.partition("/")[0])
    _match(_own(db), ("user",), missing, found)
    for texts in (_paths(db), _payloads(db, missing - found.keys())):
        _match(texts, clues.agents, missing, found)
    if left := missing - found.keys():
        _match(map(_strings, clues.texts(left)), clues.agents, missing, found)
    return found


def _match(
    groups: Iterable[Sequence[str]], agents: Sequence[str], missing: set[str], found: dict[str, Name]
) -> None:
    """Try strings that stand together as names of sessions, or two of them as that of a sub-agent's."""
    for strings in groups:
        if not missing - found.keys():
            return
        alone = {session_id(agent, native): (agent, native) for native in strings for agent in agents}
        named = {sid: name for sid, name in alone.items() if sid in missing}
        tops = {native for _, native in named.values()} or strings[:_PAIRS]
        for top in tops:
            for native in (f"{top}/{each}" for each in strings if each != top):
                for agent in agents:
                    if (sid := session_id(agent, native)) in missing:
                        named[sid] = (agent, native)
        for sid, name in named.items():
            found.setdefault(sid, name)


def _own(db: sqlite3.Connection) -> Iterator[Sequence[str]]:
    """What people ask to remember is kept in sessions that we have named ourselves, after their projects."""
    query = (
        "SELECT id FROM projects UNION SELECT project_id FROM memories UNION SELECT project_id FROM places"
    )
    for (pid,) in db.execute(query).fetchall():
        yield [f"user-{pid}", *(f"user-{pid}-{number}" for number in range(2, _OWN))]


def _paths(db: sqlite3.Connection) -> Iterator[Sequence[str]]:
    """Agents call a transcript after its session, some with a time before it."""
    for (path,) in db.execute("SELECT path FROM transcripts"):
        stem = PurePath(str(path).replace("\\", "/")).stem
        yield [stem, stem[-36:]]


def _payloads(db: sqlite3.Connection, missing: Iterable[str]) -> Iterator[Sequence[str]]:
    for sid in missing:
        yield from (_strings(unpack(body) or b"") for body in _bodies(db, sid))


def _bodies(db: sqlite3.Connection, sid: str) -> list[bytes]:
    """Some payloads of a session, as they are stored."""
    rows = db.execute(
        """
        SELECT p.body FROM events e JOIN payloads p ON p.event_row = e.row
        WHERE e.session_id = ? ORDER BY length(p.body) LIMIT ?
        """,
        (sid, _PAYLOADS),
    )
    return [body for (body,) in rows]


def _strings(text: bytes) -> Sequence[str]:
    """Strings in JSON that may be somebody's id."""
    leaves = _leaves(_parsed(text), 0)
    return list(dict.fromkeys(ident(each) for each in leaves if _ID.fullmatch(each)))


def _parsed(text: bytes) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _leaves(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list) and depth < _DEEPEST:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _leaves(each, depth + 1)


def _insert_session(
    db: sqlite3.Connection, clues: Clues, sid: str, name: Name | None, like: str = ""
) -> None:
    """Make a session from its events; one that has none is `like` another, or rests on its memories."""
    events = db.execute(
        """
        SELECT at, kind, cwd, branch, reason, outcome, text, recalled FROM events
        WHERE session_id = ? ORDER BY at, seq
        """,
        (like or sid,),
    ).fetchall()
    agent, project, at = db.execute(
        "SELECT max(agent), max(project_id), max(at) FROM memories WHERE session_id = ?", (like or sid,)
    ).fetchone()
    cwd = next((event[2] for event in events if event[2]), "")
    start = next((event for event in events if event[1] == "session_started"), None)
    over = next((e for e in reversed(events) if e[1] in ("session_started", "session_ended")), None)
    ended = over if over is not None and over[1] == "session_ended" and not like else None
    prompt = next((event[6] for event in events if event[1] == "prompt" and not event[7]), "")
    agent, native = name or (agent or _UNKNOWN_AGENT, f"{LOST}{sid}")
    top, _, subagent = native.partition("/")
    status = "failed" if ended and ended[5] == "failed" else "ended" if ended else "active"
    db.execute(
        """
        INSERT OR IGNORE INTO sessions
            (id, agent, native_id, project_id, parent_id, source, cwd, branch, title, started_at, last_at,
             ended_at, end_reason, status, transcript)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        (
            sid, agent, native, project or _project(db, clues, cwd, events[0][0] if events else at or 0),
            session_id(agent, top) if subagent else "", start[4] if start else "", cwd,
            events[0][3] if events else "", "" if like else " ".join(prompt.split())[:_TITLE_CHARS],
            events[0][0] if events else at or 0, events[-1][0] if events else at or 0,
            ended[0] if ended else None, ended[4] if ended else "", status,
            _transcript(db, like or sid, top),
        ),
    )  # fmt: skip


def _transcript(db: sqlite3.Connection, sid: str, native: str) -> str:
    """Where the agent keeps a session's transcript: as it was read, or as a payload names it."""
    query = "SELECT path FROM transcripts WHERE session_id = ? AND path LIKE '%.jsonl' LIMIT 1"
    if row := db.execute(query, (sid,)).fetchone():
        return str(row[0])
    for body in _bodies(db, sid):
        for leaf in _leaves(_parsed(unpack(body) or b""), 0):
            if leaf.endswith(f"{native}.jsonl"):
                return leaf
    return ""


# --- projects ----------------------------------------------------------------------------------------------


def _project(db: sqlite3.Connection, clues: Clues, cwd: str, at: int) -> str:
    """The project of a session that was in a folder."""
    for query in (
        "SELECT project_id FROM places WHERE path = ?",
        "SELECT project_id FROM sessions WHERE cwd = ? AND cwd <> ''",
        "SELECT id FROM projects WHERE root = ? AND root <> ''",
    ):
        if row := db.execute(query, (cwd,)).fetchone():
            return str(row[0])
    return clues.project_of(cwd, at).id if cwd else "p-recovered"


def _remake_projects(db: sqlite3.Connection, clues: Clues) -> None:
    used = db.execute(
        """
        SELECT project_id, max(cwd), min(started_at), max(last_at) FROM sessions
        WHERE project_id NOT IN (SELECT id FROM projects) GROUP BY project_id, cwd
        UNION ALL SELECT project_id, '', min(at), max(at) FROM memories
        WHERE project_id NOT IN (SELECT id FROM projects) GROUP BY project_id
        UNION ALL SELECT project_id, path, seen_at, seen_at FROM places
        WHERE project_id NOT IN (SELECT id FROM projects)
        """
    ).fetchall()
    insert = """
        INSERT OR IGNORE INTO projects (id, identity, name, root, created_at, seen_at)
        VALUES (?, ?, ?, ?, ?, ?)
    """
    for pid, cwd, first, last in used:
        if cwd and (project := clues.project_of(cwd, last)).id == pid:
            db.execute(insert, (pid, project.identity, project.name, project.root, first, last))
    for identity, pid in db.execute("SELECT identity, id FROM project_names").fetchall():
        if any(pid == each[0] for each in used):
            name = PurePath(identity.removesuffix("/.git").replace("\\", "/")).name or identity
            db.execute(insert, (pid, identity, name, "", 0, 0))
    for pid, *_ in used:
        db.execute(insert, (pid, f"{LOST}{pid}", "recovered", "", 0, 0))


# --- what is counted ---------------------------------------------------------------------------------------


def _remake_turns(db: sqlite3.Connection) -> None:
    """A turn begins with its prompt; one whose prompt was forgotten, with the first thing that is left."""
    for prompt, condition in (("id", "kind = 'prompt' AND NOT recalled"), ("''", "1")):
        db.execute(
            f"""
            INSERT OR IGNORE INTO turns (session_id, number, prompt_id, started_at)
            SELECT session_id, turn, {prompt}, min(at) FROM events WHERE turn > 0 AND {condition}
            GROUP BY session_id, turn
            """  # noqa: S608 - constants
        )
    ends = "session_id = turns.session_id AND turn = turns.number AND kind IN ('turn_ended', 'turn_failed')"
    db.execute(
        f"""
        UPDATE turns SET (ended_at, outcome) = (
            SELECT at, outcome FROM events WHERE {ends} ORDER BY at DESC, seq DESC LIMIT 1)
        WHERE ended_at IS NULL AND EXISTS (SELECT 1 FROM events WHERE {ends})
        """  # noqa: S608 - constants
    )


def _remake_counters(db: sqlite3.Connection) -> None:
    """How much was captured from which agent on which day; which hooks brought it nobody knows any more."""
    for name in ("spooled", "stored"):
        db.execute(
            """
            INSERT OR IGNORE INTO counters (day, agent, event, name, n)
            SELECT date(e.at / 1000, 'unixepoch'), s.agent, '', ?, count(*)
            FROM events e JOIN sessions s ON s.id = e.session_id
            WHERE e.origin = 'live' AND NOT EXISTS (
                SELECT 1 FROM counters c
                WHERE c.day = date(e.at / 1000, 'unixepoch') AND c.agent = s.agent AND c.name = ?)
            GROUP BY 1, 2
            """,
            (name, name),
        )
