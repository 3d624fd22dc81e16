"""What the store has after an import, as plain values to look at."""

import sqlite3
from contextlib import closing
from typing import NamedTuple

from tests.cli.memory import Memory


class Stored(NamedTuple):
    """An event as it lies there."""

    kind: str
    tool: str
    text: str
    at: int
    reason: str
    target: str
    project: str
    session: str


class Known(NamedTuple):
    """A memory as it lies there."""

    kind: str
    text: str
    reason: str
    files: str
    at: int
    detail: str


def events(memory: Memory, kind: str = "") -> list[Stored]:
    """All events that are found, in order."""
    with closing(sqlite3.connect(memory.home / "backstory.db")) as db:
        rows = db.execute(
            """
            SELECT e.kind, e.tool, e.text, e.at, e.reason, e.target, p.name, s.native_id
            FROM events e JOIN sessions s ON s.id = e.session_id JOIN projects p ON p.id = s.project_id
            WHERE NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.id = e.id) ORDER BY e.at, e.seq
            """
        ).fetchall()
    return [stored for row in rows if (stored := Stored(*row)).kind == kind or not kind]


def memories(memory: Memory, kind: str = "") -> list[Known]:
    """All memories, in order."""
    with closing(sqlite3.connect(memory.home / "backstory.db")) as db:
        rows = db.execute(
            "SELECT kind, text, reason, files, at, detail FROM memories ORDER BY at, kind"
        ).fetchall()
    return [known for row in rows if (known := Known(*row)).kind == kind or not kind]


def found(memory: Memory, words: str) -> list[str]:
    """What a search gives that has one of the words, as kind and first line."""
    hits = memory.json("search", words, "--all", "--no-floor")["hits"]
    sought = words.lower().split()
    having = [hit for hit in hits if any(word in hit["text"].lower() for word in sought)]
    return [f"{hit['kind']}: {hit['text'].splitlines()[0]}" for hit in having]
