"""What a model is given of a session: what carries meaning, as numbered lines, within a bounded size.

Made of lines (`log_lines.py`): what the user typed and answered, how turns closed, commits and what was
written for others, compaction summaries, reports of sub-agents, errors with the edit that followed, sentences
with a reason. Outputs of commands that passed, reads and searches stay here. When not all of it fits, what
says least goes first, and of that the oldest. A number stands for the events of its line.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from backstory.distil.log_lines import Line, lines_of
from backstory.model import Kind, Session, SessionStatus, StoredEvent

_TELLING = (Kind.PROMPT, Kind.SAID, Kind.TOOL, Kind.COMPACTED, Kind.TURN_ENDED)
_ENDS = (Kind.TURN_ENDED, Kind.TURN_FAILED, Kind.SESSION_ENDED)
_NUMBER = 8  # characters that a line's number and end take
_OTHER_SCRIPT = 3  # a letter of another script takes about a token, as three or four others do


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What of a session one call is about. Everything up to `last_seq` has been told by then."""

    lines: tuple[Line, ...]
    first_seq: int
    last_seq: int
    branch: str = ""

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
        if _tells(stored, through) and (over or stored.turn in ended)
    ]


def _tells(stored: StoredEvent, through: int) -> bool:
    return stored.seq > through and stored.event.kind in _TELLING and not stored.event.recalled


def is_due(session: Session, events: Sequence[StoredEvent], through: int, turns: int, least: int) -> bool:
    """Whether there is enough to ask a model about: a session that is over, or so many turns of it."""
    new = unread(session, events, through)
    if session.status is SessionStatus.ACTIVE and len({stored.turn for stored in new}) < max(turns, 1):
        return False
    return sum(len(line.text) for line in lines_of(session, new)) >= least


def excerpt(session: Session, events: Sequence[StoredEvent], through: int, room: int) -> Excerpt | None:
    """What no model has read yet, in at most `room` characters (see `extent`); None if there is nothing."""
    new = unread(session, events, through)
    lines = list(lines_of(session, new))
    if not lines:
        return None
    left = room
    kept: set[int] = set()
    for place in sorted(range(len(lines)), key=lambda place: (-lines[place].worth, -place)):
        size = extent(lines[place].text) + _NUMBER
        if size <= left:
            left -= size
            kept.add(place)
    own = [stored.seq for stored in new]
    # events may come in late, with a high number at an early time: the mark stays below what is left
    told = set(own)
    later = [stored.seq for stored in events if _tells(stored, through) and stored.seq not in told]
    last = min([max(own), *(seq - 1 for seq in later)])
    shown = tuple(line for place, line in enumerate(lines) if place in kept)
    return Excerpt(shown, min(own), last, session.branch)


def extent(text: str) -> int:
    """How much room a text takes, in characters of plain English."""
    others = 0 if text.isascii() else sum(each.isalpha() and not each.isascii() for each in text)
    return len(text) + (_OTHER_SCRIPT - 1) * others
