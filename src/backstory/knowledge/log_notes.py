"""A daily log, read back: one note for each row, with what the store knows of the memory it tells.

Logs are people's too: rows that they wrote are notes of theirs, and rows that they deleted are gone. A row
whose memory may no longer be shown is passed over, and one whose memory a person has worded anew says that.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from backstory.hook.brief_text import HANDLE
from backstory.knowledge import daily_log
from backstory.knowledge import log_entry as sections
from backstory.knowledge.markdown_page import shorten_markdown
from backstory.store import Store

_HEADING = re.compile(r"### (\d\d:\d\d) · (\S+) · (s[0-9a-f]+)")
_LABEL = re.compile(r"\*\*([A-Z][A-Za-z ]+):\*\*")
_ROW = re.compile(r"- (?:\[[ xX]\] )?`(m[0-9a-f]{6,})` (.+)")
_LINE = re.compile(r"- (\d\d:\d\d) \[([^\]]*)\] (.+?)(?: \(out of order\))?$")
_FREE = re.compile(r"[-*] (\S+(?: \S+){2,})")
_KINDS = {
    sections.EXCHANGES: "turn",
    sections.FACTS: "fact",
    sections.CONTACTS: "fact",
    sections.DECISIONS: "decision",
    sections.LESSONS: "lesson",
    sections.ACTIONS: "step",
    sections.OUTCOME: "outcome",
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


_SHAPE: Mapping[str, type] = {
    **dict.fromkeys(("kind", "text", "day", "time", "source", "handle", "session"), str),
    "files": list,
    "turn": int,
}
_NEEDED = {"kind", "text", "day", "time", "source", "files"}  # the others came later
_TURN = re.compile(r"Asked: (?P<asked>.+?)(?: (?:Changed|Read|Ran|Failed with) .*?)?(?: Said: (?P<said>.+))?")
_FAILED = re.compile(r'failed: ["“](.{1,600}?)["”] →')


def note_summary(note: Note) -> str:
    """What a note says in an article: of a turn what was asked and answered; the rest is in the log."""
    found = _TURN.fullmatch(note.text) if note.kind == "turn" else None
    if found is None:
        return note.text
    return f"{found['asked']} → {found['said']}" if found["said"] else found["asked"]


def note_gist(note: Note, longest: int = 110) -> str:
    """A few words that tell a note from others: of a failure, the error."""
    found = _FAILED.search(note.text)
    return shorten_markdown(f"“{found[1]}”" if found else note_summary(note), longest)


def is_note(value: Any) -> bool:
    """Whether this is a note as `as_json` writes it."""
    if not isinstance(value, dict) or not _NEEDED <= value.keys() <= _SHAPE.keys():
        return False
    shaped = all(isinstance(found, _SHAPE[name]) for name, found in value.items())
    return shaped and all(isinstance(file, str) for file in value["files"])


def note_from(value: dict[str, Any]) -> Note:
    """A note from our own state."""
    return Note(**{**value, "files": tuple(value["files"])})


@dataclass(frozen=True, slots=True)
class Standing:
    """How the memories that logs tell stand by now: what may not be shown, what people worded anew."""

    hidden: frozenset[str] = frozenset()
    reworded: Mapping[str, str] = field(default_factory=dict)

    def differs(self, notes: Iterable[Note], passed: Iterable[str]) -> bool:
        """Whether what was once read of a log, and passed over in it, would be read otherwise now."""
        if any(handle not in self.hidden for handle in passed):
            return True
        return any(
            note.handle
            and (note.handle in self.hidden or self.reworded.get(note.handle, note.text) != note.text)
            for note in notes
        )


def load_standing(store: Store | None, project_id: str) -> Standing:
    """How the memories of a project stand."""
    if store is None or not project_id:
        return Standing()
    return Standing(
        frozenset(
            mid[:HANDLE] for mid in (*store.memories.hidden(project_id), *store.memories.revised(project_id))
        ),
        {memory.id[:HANDLE]: sections.memory_line(memory) for memory in store.memories.reworded(project_id)},
    )


def passed_over(text: str, now: Standing) -> list[str]:
    """The handles in a log whose memories may not be shown."""
    return sorted(
        {found[1] for row in text.splitlines() if (found := _ROW.match(row)) and found[1] in now.hidden}
    )


def notes_in(text: str, day: str, store: Store | None, now: Standing | None = None) -> list[Note]:
    """What a log, or its tail, says; a decision is about the files that its turn changed."""
    found = [
        note for piece in daily_log.log_chunks(text) for note in _notes(piece, day, store, now or Standing())
    ]
    changed = {(note.session, note.turn): note.files for note in found if note.kind == "turn" and note.turn}
    return [
        replace(note, files=changed.get((note.session, note.turn), ()))
        if note.kind == "decision" and not note.files
        else note
        for note in found
    ]


def _notes(text: str, day: str, store: Store | None, now: Standing) -> Iterator[Note]:
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
            handle, said = found[1], now.reworded.get(found[1], found[2])
            if kind and handle not in now.hidden:
                yield _told(kind, said, day, time, agent, session, handle, store)
        elif found := _LINE.match(row):
            yield Note("line", found[3], day, found[1], found[2])
        elif (found := _FREE.match(row)) and not kind:
            yield Note("line", found[1], day, time, PEOPLE)


def _told(
    kind: str, text: str, day: str, time: str, agent: str, session: str, handle: str, store: Store | None
) -> Note:
    files: tuple[str, ...] = ()
    turn = 0
    if store is not None:
        full = [one for one in store.events.ids_like(handle) if one.startswith("m")]
        if len(full) == 1:
            memory = store.memories.memory(full[0])
            if memory is not None:
                # what a decision's words name is in its text; what was changed with it is its turn's
                files = () if kind == "decision" else memory.files[:12]
                turn = memory.turn
    if kind == "decision" and text.startswith("The user wants: "):
        kind = "wish"
    elif kind == "lesson" and text.startswith("Abandoned: "):
        kind = "attempt"
    return Note(kind, text, day, time, agent, handle, session, files, turn)
