"""Memories of what another tool noted. Like all memories they are made from events, again on every rebuild.

They are labelled: the tool says so, not the user, and not what we saw. A session's last summary counts as its
summary, earlier ones as what happened on the way; only its last next steps are still open.
"""

import re
from collections.abc import Sequence

from backstory.hook.brief_text import shorten
from backstory.importers import event_writer
from backstory.model import Draft, Kind, MemoryKind, StoredEvent

_CHARS = 400
_WEIGHT = 0.8  # what we saw ourselves counts 1, what the user said more
_ENDS = (".", "!", "?", ":", ";", "。")
_MARKUP = re.compile(r"^(?:#{1,6}|[-*+]|\d+\.)\s+")
# What becomes of what a tool noted, by what the tool calls it; anything else is something that happened.
_KINDS = {
    event_writer.DECISION: MemoryKind.DECISION,
    "bugfix": MemoryKind.LESSON,
    event_writer.FACT: MemoryKind.FACT,
    event_writer.SUMMARY: MemoryKind.SUMMARY,
    event_writer.NEXT_STEP: MemoryKind.NEXT_STEP,
}
# Found by search; no memories.
_ONLY_FOUND = frozenset((event_writer.HEADER, event_writer.LOG, event_writer.INDEX))
_LAST_ONLY = {MemoryKind.SUMMARY: MemoryKind.TURN, MemoryKind.NEXT_STEP: None}


def imported_drafts(agent: str, events: Sequence[StoredEvent]) -> list[Draft]:
    """What is worth giving back of a session that another tool noted."""
    notes = [stored for stored in events if stored.event.kind is Kind.NOTED]
    last = {what: _last(notes, what) for what in (event_writer.SUMMARY, event_writer.NEXT_STEP)}
    drafts = []
    for stored in notes:
        what = _what(stored)
        if what in _ONLY_FOUND:
            continue
        kind: MemoryKind | None = _KINDS.get(what, MemoryKind.TURN)
        if kind in _LAST_ONLY and stored.id != last[what]:
            kind = _LAST_ONLY[kind]
        if kind is not None:
            drafts.append(_draft(agent, kind, stored))
    return drafts


def _last(notes: Sequence[StoredEvent], what: str) -> str:
    """The latest of its kind; next steps are open only if the latest summary has them."""
    named = [note for note in notes if _what(note) in (what, event_writer.SUMMARY)]
    latest = max((note.event.at for note in named), default=0)
    found = [note.id for note in named if note.event.at == latest and _what(note) == what]
    return found[-1] if found else ""


def _what(note: StoredEvent) -> str:
    return note.event.tool.removeprefix(event_writer.COMPRESSED)


def _draft(agent: str, kind: MemoryKind, stored: StoredEvent) -> Draft:
    event = stored.event
    said = [line.strip() for line in event.text.split("\n") if line.strip()]
    told = [line for line in said if not line.startswith(event_writer.ASIDES)]
    files = [
        name
        for line in said
        if line.startswith((event_writer.READ, event_writer.CHANGED))
        for name in line.partition(": ")[2].split(", ")
    ]
    return Draft(
        kind,
        f"{agent}:{event_writer.row_of(event.native_id)}",
        _short(told or said),
        event.at,
        (stored.id,),
        detail=event.text,
        reason=event.reason,
        files=tuple(dict.fromkeys(files)),
        said_by=agent,
        weight=_WEIGHT,
        turn=stored.turn,
    )


def _short(lines: Sequence[str]) -> str:
    """The headline and as much of the rest as a row takes."""
    said, *rest = (_MARKUP.sub("", line) for line in lines)
    between = ": "
    for line in rest:
        said += (" " if said.endswith(_ENDS) else between) + line
        between = "; "
    return shorten(said, _CHARS)
