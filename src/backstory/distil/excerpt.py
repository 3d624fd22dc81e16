"""What a model is given of a session: new events only, as numbered lines, in parts of a bounded size.

Reads and searches stand together in one line, outputs of commands that passed are left out, long words are
cut: what is left is what a person would skim. A number stands for the events of its line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from backstory.distil.prose import shorten
from backstory.model import Action, Kind, Outcome, Session, SessionStatus, StoredEvent

_PROMPT, _SAID, _COMMAND, _ERROR, _NAMES = 900, 700, 160, 240, 6
_LOOKING = (Action.READ, Action.FIND, Action.FETCH)
_CHANGING = (Action.WRITE, Action.EDIT)
_TOLD = (Kind.PROMPT, Kind.SAID, Kind.TOOL, Kind.TURN_FAILED)
_ENDS = (Kind.TURN_ENDED, Kind.TURN_FAILED, Kind.SESSION_ENDED)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the log, and the events that it stands for."""

    text: str
    events: tuple[StoredEvent, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """As much of a session as one call can take. Everything up to `last_seq` has been told by then."""

    lines: tuple[Line, ...]
    first_seq: int
    last_seq: int

    @property
    def text(self) -> str:
        return "\n".join(f"[{number}] {line.text}" for number, line in enumerate(self.lines, 1))


def unread(session: Session, events: Sequence[StoredEvent], through: int) -> list[StoredEvent]:
    """What no model has read yet, of turns that are over."""
    over = session.status is not SessionStatus.ACTIVE
    ended = {stored.turn for stored in events if stored.event.kind in _ENDS}
    return [
        stored
        for stored in sorted(events, key=lambda stored: (stored.event.at, stored.seq))
        if stored.seq > through
        and stored.event.kind in _TOLD
        and not stored.event.recalled
        and (over or stored.turn in ended)
    ]


def is_due(session: Session, events: Sequence[StoredEvent], through: int, turns: int, least: int) -> bool:
    """Whether there is enough to ask a model about: a session that is over, or so many turns of it."""
    new = unread(session, events, through)
    if sum(len(line.text) for line in lines_of(new)) < least:
        return False
    return session.status is not SessionStatus.ACTIVE or len({stored.turn for stored in new}) >= max(turns, 1)


def parts(
    session: Session, events: Sequence[StoredEvent], through: int, room: int, least: int = 0
) -> list[Part]:
    """What no model has read yet, in parts of at most `room` characters; too little is left for later."""
    new = unread(session, events, through)
    waiting = [s.seq for s in events if s.seq > through and s.event.kind in _TOLD and s not in new]
    lines = list(lines_of(new))
    if sum(len(line.text) for line in lines) < least:
        return []
    cut: list[list[Line]] = [[]]
    size = 0
    for line in lines:
        size += len(line.text) + 8
        if size > room and cut[-1]:
            cut.append([])
            size = len(line.text) + 8
        cut[-1].append(line)
    return [
        _part(chosen, [*_seqs(cut[number + 1 :]), *waiting]) for number, chosen in enumerate(cut) if chosen
    ]


def _seqs(rest: Sequence[Sequence[Line]]) -> list[int]:
    return [stored.seq for lines in rest for line in lines for stored in line.events]


def _part(lines: Sequence[Line], later: Sequence[int]) -> Part:
    """Events may come in late, with a high number at an early time: the mark stays below all that is left."""
    own = _seqs([lines])
    return Part(tuple(lines), min(own), min([max(own), *(seq - 1 for seq in later)]))


def lines_of(events: Sequence[StoredEvent]) -> Iterator[Line]:
    """The log of these events."""
    for (_, way), group in groupby(events, key=lambda stored: (stored.turn, _way(stored))):
        some = list(group)
        if way == "looked":
            yield Line(f"looked at {_names(some)}", tuple(some))
        elif way == "changed":
            yield Line(f"changed {_names(some)}", tuple(some))
        else:
            yield from (Line(_told(stored), (stored,)) for stored in some)


def _way(stored: StoredEvent) -> str:
    event = stored.event
    if event.kind is Kind.TOOL and event.outcome is not Outcome.FAILED:
        return "looked" if event.action in _LOOKING else "changed" if event.action in _CHANGING else stored.id
    return stored.id


def _names(events: Sequence[StoredEvent]) -> str:
    names = list(dict.fromkeys(shorten(stored.event.target, 80) for stored in events if stored.event.target))
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return (", ".join(names[:_NAMES]) or "something") + more


def _told(stored: StoredEvent) -> str:
    event = stored.event
    match event.kind:
        case Kind.PROMPT:
            return f"user: {_flat(event.text, _PROMPT)}"
        case Kind.SAID:
            return f"agent: {_flat(event.text, _SAID)}"
        case Kind.TURN_FAILED:
            return f"the turn broke: {_flat(event.text or event.reason, _ERROR)}"
    what = f"{event.action or event.tool} {_flat(event.target, _COMMAND)}".strip()
    if event.outcome is Outcome.FAILED:
        return f"FAILED {what} → {_tail(event.text)}"
    return what if event.outcome is not Outcome.INTERRUPTED else f"interrupted {what}"


def _flat(text: str, limit: int) -> str:
    return shorten(" ".join(text.split()), limit)


def _tail(text: str) -> str:
    """The end of an error: where most programs say what is wrong."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _ERROR else f"…{flat[-_ERROR:]}"
