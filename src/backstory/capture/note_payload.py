"""What a person asks to remember: an act like any event. It lies in the spool first, like a hook's payload.

Saving then waits for nobody: a file is written and synced, whoever holds the worker's lock or the database.
It is cleaned before it is written, names its project, and carries the row by which the next brief tells it.
"""

import json
import os
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from backstory.attribution import BY_AGENT
from backstory.file_mentions import cited_files
from backstory.file_reader import mtime_ns
from backstory.hook import spool
from backstory.hook.payload import BadPayload, parse_payload
from backstory.model import Draft, Event, Kind, MemoryKind, Project, Speaker, Where
from backstory.paths import Home
from backstory.store.records import Receipt

USER = spool.USER
#: What a person may ask for by name.
KINDS = (
    MemoryKind.FACT,
    MemoryKind.DECISION,
    MemoryKind.PREFERENCE,
    MemoryKind.LESSON,
    MemoryKind.ATTEMPT,
    MemoryKind.COMMAND,
)
_EVENT = "Remember"


@dataclass(frozen=True, slots=True)
class Note:
    """One such act: cleaned, with the kind that it was given or that its words have, and whose word it is.

    `folder` is where it was said, `place` how that may be stored, `commit` what git had there. `again`: the
    same was said and forgotten before, so this is another memory.
    """

    id: str
    session: str
    text: str
    kind: MemoryKind
    at: int
    folder: str
    place: str
    project: Project
    again: bool = False
    commit: str = ""
    said_by: str = USER

    @property
    def event(self) -> Event:
        """The act as it is stored."""
        return Event(
            USER, self.session, Kind.REMEMBERED, self.at, self.text, reason=self.kind, native_id=self.id,
            target=self.id if self.again else "", where=Where(self.place, commit=self.commit),
            tool=BY_AGENT if self.said_by == Speaker.AGENT else "",
        )  # fmt: skip


def new_id() -> str:
    """A name for a note, so that it is stored once whoever stores it."""
    return secrets.token_hex(8)


def note_draft(event_id: str, event: Event) -> Draft:
    """The memory of one such act; those of before there were kinds are facts."""
    kind = MemoryKind(event.reason) if event.reason else MemoryKind.FACT
    files = cited_files(event.text, folders=(event.where.cwd,))
    by_agent = event.tool == BY_AGENT
    # what an agent repeats stays beside the user's word, and does not become it
    subject = "\0".join(filter(None, (event.text, event.target, BY_AGENT if by_agent else "")))
    return Draft(
        kind, subject, event.text, event.at, (event_id,), files=files,
        said_by=Speaker.AGENT if by_agent else Speaker.USER, weight=1.0 if by_agent else 2.0, auto=by_agent,
    )  # fmt: skip


def spool_note(home: Home, note: Note, row: dict[str, Any]) -> Receipt:
    """Put a note into the spool, safe from a power cut; `row` tells it in a brief."""
    value = {**asdict(note), "cwd": note.folder, "session_id": note.session, "row": row}
    data = json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")
    path = spool.write_spooled(str(home.spool), USER, _EVENT, data)
    for name in (path, str(home.spool)):
        _sync(name)
    stat = os.stat(path)  # noqa: PTH116
    return Receipt(path.rpartition("/")[2], stat.st_ino, mtime_ns(stat))


def _sync(path: str) -> None:
    if os.name == "nt":  # there a folder cannot be opened, nor synced what was opened to be read
        return
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def read_note(payload: dict[str, Any]) -> Note:
    """The note in a payload."""
    try:
        given = {name: payload[name] for name in Note.__slots__ if name in payload}
        given |= {"kind": MemoryKind(given["kind"]), "project": Project(**given["project"])}
        given["said_by"] = Speaker(given.get("said_by", USER))
        return Note(**given)
    except (KeyError, TypeError, ValueError) as error:
        raise BadPayload(f"no note: {type(error).__name__}") from None


def waiting_notes(home: Home) -> Iterator[Note]:
    """The notes that lie in the spool, oldest first; what cannot be read is left to the drain."""
    for entry in spool.spool_entries(str(home.spool)):
        if entry.name.agent == USER and (data := spool.read_spooled(entry.path)) is not None:
            try:
                yield read_note(parse_payload(data))
            except BadPayload:
                continue
