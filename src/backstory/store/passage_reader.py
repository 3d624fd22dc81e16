"""The text index as a hook reads it: one connection that cannot write, opened for one question.

A reader in WAL mode waits for nobody and keeps nobody waiting. It imports little: a hook has milliseconds.
"""

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

_WAIT_SECONDS = 0.1
_AT_ONCE = 500
_PROMPT_CHARS = 12_000
_READ = """
    SELECT f.row, f.owner, f.part, f.session_id, s.agent, f.kind, f.form, f.turn, f.at, f.text,
           coalesce(m.said_by, ''), coalesce(m.status, '')
    FROM passages f JOIN sessions s ON s.id = f.session_id LEFT JOIN memories m ON m.id = f.owner
    WHERE f.row IN ({marks}) AND f.session_id <> ? AND (coalesce(s.parent_id, '') = '' OR s.parent_id <> ?)
      AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.id IN (f.owner, f.session_id))
"""


class Told(NamedTuple):
    """A passage that may be told: where it stands, whose it is, and what it says."""

    row: int
    owner: str
    part: int
    session_id: str
    agent: str
    kind: str
    form: str
    turn: int
    at: int
    text: str
    said_by: str
    status: str

    @property
    def id(self) -> str:
        """The memory, or which part of the event: another part of a long message is news."""
        return f"{self.owner}.{self.part}" if self.form else self.owner


class Place(NamedTuple):
    """A passage in the order of its session."""

    row: int
    turn: int
    form: str


@contextmanager
def reading(path: str) -> Iterator[sqlite3.Connection]:
    """The database at `path`, to be read and never written; an sqlite3.Error if it cannot be."""
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    connection = sqlite3.connect(f"file:{quoted}?mode=ro", uri=True, timeout=_WAIT_SECONDS)
    try:
        yield connection
    finally:
        connection.close()


def told_passages(connection: sqlite3.Connection, rows: Sequence[int], but: str = "") -> list[Told]:
    """These passages, but for those of session `but` and of its sub-agents, and for what was forgotten."""
    found: list[Told] = []
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        query = _READ.format(marks=",".join("?" * len(some)))
        found += map(Told._make, connection.execute(query, (*some, but, but)))
    return found


def places_of(connection: sqlite3.Connection, session: str) -> list[Place]:
    """The passages of a session's turns, in their order."""
    query = "SELECT row, turn, form FROM passages WHERE session_id = ? AND turn > 0 ORDER BY turn, at, row"
    return [Place._make(row) for row in connection.execute(query, (session,))]


def texts_of(connection: sqlite3.Connection, ids: Collection[str]) -> list[str]:
    """What was indexed of these memories and events, or of these parts of events."""
    owners = list(dict.fromkeys(each.partition(".")[0] for each in ids))
    found: list[str] = []
    for start in range(0, len(owners), _AT_ONCE):
        some = owners[start : start + _AT_ONCE]
        marks = ",".join("?" * len(some))
        rows = connection.execute(f"SELECT owner, part, text FROM passages WHERE owner IN ({marks})", some)  # noqa: S608
        found += [text for owner, part, text in rows if owner in ids or f"{owner}.{part}" in ids]
    return found


def prompt_of(connection: sqlite3.Connection, event: str) -> str:
    """A prompt as it was sent, as far as passages are made of it."""
    query = "SELECT substr(text, 1, ?) FROM events WHERE id = ?"
    row = connection.execute(query, (_PROMPT_CHARS, event)).fetchone()
    return str(row[0]) if row else ""


def rejected(connection: sqlite3.Connection, project_id: str) -> list[str]:
    """What a person said is wrong: the texts of the project's rejected memories."""
    query = "SELECT text FROM memories WHERE project_id = ? AND status = 'rejected'"
    return [text for (text,) in connection.execute(query, (project_id,))]
