"""What others share, among the rows of a brief: behind one's own, at most a third, each with its author.

The same thing known by several people is one row, which names its witnesses. People who decided otherwise are
both told, each with the other's handle. Others' commands and outcomes of sessions are not told at a start but
by search, and never as a note before a tool.
"""

from collections.abc import Mapping

from backstory.attribution import OWN_MACHINE, PERSON
from backstory.hook.brief_text import HANDLE
from backstory.model import Memory, MemoryKind, MemoryStatus
from backstory.recall.rows import Row, row
from backstory.store import Store

_KINDS = {
    MemoryKind.DECISION: "decisions",
    MemoryKind.FACT: "prefs",
    MemoryKind.PREFERENCE: "prefs",
    MemoryKind.LESSON: "failed",
    MemoryKind.ATTEMPT: "failed",
    MemoryKind.NEXT_STEP: "open",
    MemoryKind.SUMMARY: "others",
}
_LOOKED_AT, _MOST = 60, 12
_SHARE = 2  # own rows for each of others
_FEW = 3  # of others, where there is nothing of one's own to speak of
# What a start is told first of what others share: what they said before what was found. All of it is
# below what one's own rows of the same sort are worth.
_PINNED, _CONFIRMED, _SAID, _FOUND, _OWN_MACHINE = 2.5, 0.45, 0.35, 0.22, 0.05
_AGING = 0.01  # the newest first


def with_others(store: Store, project_id: str, own: list[Row]) -> list[Row]:
    """The rows of a brief with what others share."""
    if not store.others.has(project_id):
        return own
    witnesses = store.others.witnesses(project_id, MemoryKind.LESSON)
    told = [_with_contradiction(store, each) for each in _with_witnesses(store, own, witnesses)]
    known = set(store.others.signatures([each["id"] for each in own]).values())
    said = {_words(each["text"]) for each in own}
    rows: list[Row] = []
    for memory in store.others.of_project(project_id, list(_KINDS), _LOOKED_AT):
        signature = store.others.signatures([memory.id]).get(memory.id, "")
        if (signature and signature in known) or _words(memory.text) in said:
            continue
        known.add(signature)
        said.add(_words(memory.text))
        rows.append(_row(store, memory, witnesses.get(signature, {}), len(rows)))
    rows.sort(key=lambda each: -each["worth"])
    return told + rows[: max(_FEW, min(_MOST, len(own) // _SHARE))]


def _row(store: Store, memory: Memory, witnesses: Mapping[str, int], place: int) -> Row:
    value = row(_KINDS[memory.kind], memory)
    other = {} if memory.origin == OWN_MACHINE else {"other": True}
    if len(witnesses) > 1:
        value["text"] += _told_by(len(witnesses), sum(witnesses.values()))
    return _with_contradiction(store, value | {"worth": _worth(memory, place)} | other)


def _worth(memory: Memory, place: int) -> float:
    if memory.pinned:
        return _PINNED
    judged = memory.status is MemoryStatus.CONFIRMED
    value = _CONFIRMED if judged else _SAID if memory.said_by == PERSON else _FOUND
    return value + (_OWN_MACHINE if memory.origin == OWN_MACHINE else 0.0) - _AGING * min(place, 10)


def _with_witnesses(store: Store, own: list[Row], witnesses: Mapping[str, Mapping[str, int]]) -> list[Row]:
    """One's own rows, with how many people and sessions know the same."""
    if not witnesses:
        return own
    signatures = store.others.signatures([each["id"] for each in own])
    found = []
    for each in own:
        also = witnesses.get(signatures.get(each["id"], ""), {})
        if also:
            memory = store.memories.memory(each["id"])
            sessions = sum(also.values()) + (memory.seen if memory else 1)
            each = each | {"text": f"{each['text']}{_told_by(len(also) + 1, sessions)}"}
        found.append(each)
    return found


def _told_by(people: int, sessions: int) -> str:
    return f" ({people} people, {sessions} sessions)"


def _with_contradiction(store: Store, value: Row) -> Row:
    """A row with who says otherwise, if somebody does: both are told, and neither is hidden."""
    others = [
        memory
        for mid in store.others.contradicting(str(value["id"]))
        if (memory := store.memories.memory(mid)) is not None
    ]
    if not others:
        return value
    said = ", ".join(f"{memory.author or 'you'} ({memory.id[:HANDLE]})" for memory in others[:2])
    label = f"decided otherwise: {said}"
    return value | {"label": f"{value['label']}; {label}" if value.get("label") else label}


def _words(text: str) -> str:
    return " ".join(text.lower().split())
