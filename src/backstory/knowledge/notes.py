"""A daily log, read back: one note for each row, with what the store knows of the memory it tells.

Logs are people's too: rows that they wrote are notes of theirs, and rows that they deleted are gone. A row
whose memory may no longer be shown is passed over.
"""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from backstory.knowledge import entries as sections
from backstory.store import Store

_HEADING = re.compile(r"### (\d\d:\d\d) · (\S+) · (s[0-9a-f]+)")
_LABEL = re.compile(r"\*\*([A-Z][A-Za-z ]+):\*\*")
_ROW = re.compile(r"- (?:\[[ xX]\] )?`(m[0-9a-f]{6,})` (.+)")
_LINE = re.compile(r"- (\d\d:\d\d) \[([^\]]*)\] (.+?)(?: \(out of order\))?$")
_FREE = re.compile(r"[-*] (\S+(?: \S+){2,})")
_KINDS = {
    sections.EXCHANGES: "turn",
    sections.FACTS: "fact",
    sections.DECISIONS: "decision",
    sections.LESSONS: "lesson",
    sections.ACTIONS: "step",
}
PEOPLE = "people"


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that a log says. `source` is who says it: an agent, or the tag of a line."""

    kind: str
    text: str
    day: str
    time: str
    source: str
    handle: str = ""
    session: str = ""
    files: tuple[str, ...] = ()
    turn: int = 0

    def as_json(self) -> dict[str, Any]:
        """For our own state."""
        return asdict(self)


def note_from(value: dict[str, Any]) -> Note:
    """A note from our own state."""
    return Note(**{**value, "files": tuple(value["files"])})


def notes_in(text: str, day: str, store: Store | None) -> list[Note]:
    """What a log, or its tail, says; a decision is about the files that its turn changed."""
    found = list(_notes(text, day, store))
    changed = {(note.session, note.turn): note.files for note in found if note.kind == "turn" and note.turn}
    return [
        replace(note, files=changed.get((note.session, note.turn), ()))
        if note.kind == "decision" and not note.files
        else note
        for note in found
    ]


def _notes(text: str, day: str, store: Store | None) -> Iterator[Note]:
    time, agent, session, kind = "", PEOPLE, "", ""
    for row in text.splitlines():
        if found := _HEADING.match(row):
            time, agent, session = found.groups()
            kind = ""
        elif row.startswith("#"):
            agent, session, kind = PEOPLE, "", ""
        elif found := _LABEL.match(row):
            kind = _KINDS.get(found[1], "")
        elif found := _ROW.match(row):
            if kind and (note := _told(kind, found[2], day, time, agent, session, found[1], store)):
                yield note
        elif found := _LINE.match(row):
            yield Note("line", found[3], day, found[1], found[2])
        elif (found := _FREE.match(row)) and not kind:
            yield Note("line", found[1], day, time, PEOPLE)


def _told(
    kind: str, text: str, day: str, time: str, agent: str, session: str, handle: str, store: Store | None
) -> Note | None:
    files: tuple[str, ...] = ()
    turn = 0
    if store is not None:
        full = [one for one in store.events.ids_like(handle) if one.startswith("m")]
        if len(full) == 1:
            memory = store.memories.memory(full[0])
            if memory is None:
                return None  # rejected, superseded or forgotten since
            files, turn = memory.files[:12], memory.turn
    if kind == "decision" and text.startswith("The user wants: "):
        kind = "wish"
    elif kind == "lesson" and text.startswith("Abandoned: "):
        kind = "attempt"
    return Note(kind, text, day, time, agent, handle, session, files, turn)
