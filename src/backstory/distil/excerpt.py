"""What a model is given of a session: what carries meaning, as numbered lines, within a bounded size.

Made of passages (`harvest.py`): what the user typed and answered, how turns closed, commits and what was
written for others, compaction summaries, reports of sub-agents, errors with the edit that followed, sentences
with a reason. Outputs of commands that passed, reads and searches stay here. When not all of it fits, what
says least goes first, and of that the oldest. A number stands for the events of its line.
"""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import groupby

from backstory.distil.compaction import telling_sections
from backstory.distil.harvest import Passage, PassageKind, harvest
from backstory.distil.prose import shorten
from backstory.distil.story import relative
from backstory.model import Action, Kind, Outcome, Session, SessionStatus, StoredEvent

_CHANGING = (Action.WRITE, Action.EDIT)
_TELLING = (Kind.PROMPT, Kind.SAID, Kind.TOOL, Kind.COMPACTED, Kind.TURN_ENDED)
_ENDS = (Kind.TURN_ENDED, Kind.TURN_FAILED, Kind.SESSION_ENDED)
_NUMBER = 8  # characters that a line's number and end take
_NAMES, _EDIT = 8, 260
_OTHER_SCRIPT = 3  # a letter of another script takes about a token, as three or four others do
_WHY = re.compile(
    r"\b(?:because|since|due to|caused?|reason|turns out|otherwise|so that|instead|root)\b", re.I
)
# What a line of each kind begins with, how much of it is shown, and what it is worth: the least goes first.
_GOAL, _DONE, _CHANGED = 100, 45, 20
_KINDS: dict[PassageKind, tuple[str, int, int]] = {
    PassageKind.PROMPT: ("user: ", 700, 80),
    PassageKind.ANSWER: ("the user chose: ", 400, 85),
    PassageKind.REFUSAL: ("the user refused a call: ", 400, 85),
    PassageKind.CLOSING: ("agent, closing: ", 650, 60),
    PassageKind.COMMIT: ("committed: ", 420, 70),
    PassageKind.RECORD: ("wrote: ", 420, 65),
    PassageKind.SUMMARY: ("summary before compaction: ", 1_800, 62),
    PassageKind.REPORT: ("sub-agent: ", 420, 40),
    PassageKind.SAID: ("agent: ", 320, 30),
    PassageKind.STEP: ("ran: ", 420, 10),
}
# Lines of what somebody wrote: said again, they say nothing new.
_WORDS = tuple(_KINDS[kind][0] for kind in _KINDS if kind is not PassageKind.STEP)
_WRITTEN = (PassageKind.COMMIT, PassageKind.RECORD)  # what a command writes, if it passes
_REQUEST = re.compile(r"\b(?:gh pr|glab mr) (?:create|new|edit|update)\b(?: #?(\d{1,9}))?")
_BODY = re.compile(r"\s(?:--body|--body-file|--description|-b|-F|-d)\b")
_REQUEST_NUMBER = re.compile(r"/(?:pull|merge_requests)/(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Line:
    """One line, and the ids of the events that it stands for; `worth` says what goes first."""

    text: str
    events: tuple[str, ...]
    worth: float = 0.0


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
    return sum(len(line.text) for line in _lines(session, new)) >= least


def excerpt(session: Session, events: Sequence[StoredEvent], through: int, room: int) -> Excerpt | None:
    """What no model has read yet, in at most `room` characters (see `extent`); None if there is nothing."""
    new = unread(session, events, through)
    lines = list(_lines(session, new))
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


def _lines(session: Session, events: Sequence[StoredEvent]) -> Iterator[Line]:
    """The session as lines, in order, turn by turn; the same words of somebody stand there once."""
    first, said = True, set[str]()
    outdated = _outdated(events)
    failing: set[str] = set()
    for _, turn in groupby(events, key=lambda stored: (stored.session_id, stored.turn)):
        own = list(turn)
        placed = {stored.id: place for place, stored in enumerate(own)}
        lines = [
            *_told(own, session.cwd, outdated),
            *_mended(own, session.cwd),
            *_passed(own, failing),
            *_changed(own, session.cwd),
        ]
        for line in sorted(lines, key=lambda line: placed[line.events[0]]):
            if line.text.startswith(_WORDS):
                if line.text in said:
                    continue
                said.add(line.text)
            if first and line.text.startswith(_KINDS[PassageKind.PROMPT][0]):
                first = False
                line = Line(line.text, line.events, _GOAL)
            yield line


def _outdated(events: Sequence[StoredEvent]) -> set[str]:
    """What wrote the text of a pull request that was written anew later."""
    found: set[str] = set()
    latest: dict[str, str] = {}
    number = ""
    for stored in events:
        event = stored.event
        match = _REQUEST.search(event.target) if event.action is Action.RUN else None
        if match is None or event.outcome is not Outcome.OK or not _BODY.search(event.target):
            continue
        shown = _REQUEST_NUMBER.search(event.text)
        number = match[1] or (shown[1] if shown else number)
        if number in latest:
            found.add(latest[number])
        latest[number] = stored.id
    return found


def _told(turn: Sequence[StoredEvent], cwd: str, outdated: Set[str]) -> Iterator[Line]:
    """A line for each event that says something, made of its passages."""
    events = {stored.id: stored.event for stored in turn}
    for (eid, kind), group in groupby(harvest(turn), key=lambda passage: (passage.event, passage.kind)):
        if kind not in _KINDS or (
            kind in _WRITTEN and (eid in outdated or events[eid].outcome is Outcome.FAILED)
        ):
            continue
        some = list(group)
        lead, limit, worth = _KINDS[kind]
        text = _joined(some)
        if kind is PassageKind.SUMMARY:
            text = telling_sections(events[eid].text, limit)
        if kind is PassageKind.STEP and some[0].failed:
            lead, worth = "FAILED ", 50
        elif kind is PassageKind.STEP:  # what was to be done, if it says why
            lead, _, worth = _KINDS[PassageKind.SAID]
            text, _, _ = some[0].text.rpartition("\n$ ")
        elif kind is PassageKind.COMMIT:
            text = text.removeprefix("commit: ")
        if lead == _KINDS[PassageKind.SAID][0] and not _WHY.search(text):
            continue
        yield Line(lead + _here(shorten(text, limit), cwd), (eid,), worth)


def _joined(passages: Sequence[Passage]) -> str:
    """The passages of one event, each heading once."""
    parts: list[str] = []
    heading = ""
    for passage in passages:
        named = f"{passage.heading}: " if passage.heading and passage.heading != heading else ""
        heading = passage.heading
        parts.append(named + " ".join(passage.text.split()))
    return " ".join(parts)


def _mended(turn: Sequence[StoredEvent], cwd: str) -> Iterator[Line]:
    """The edit that followed an error: what it took out and put in."""
    failed = False
    for stored in turn:
        event = stored.event
        if event.kind is Kind.TOOL and event.outcome is Outcome.FAILED:
            failed = True
        elif failed and event.action in _CHANGING and event.text:
            failed = False
            name = _in_line(relative(event.target, cwd))
            what = shorten(" ".join(event.text.split()), _EDIT)
            yield Line(f"then changed {name}: {what}", (stored.id,), _DONE)


def _passed(turn: Sequence[StoredEvent], failing: set[str]) -> Iterator[Line]:
    """The commands that pass now and failed before, also in an earlier turn."""
    for stored in turn:
        event = stored.event
        command = " ".join(event.target.split())
        if event.action is Action.RUN and event.outcome is Outcome.FAILED:
            failing.add(command)
        elif event.action is Action.RUN and event.outcome is Outcome.OK and command in failing:
            failing.discard(command)
            yield Line(f"passed now: {shorten(command, 160)}", (stored.id,), _DONE)


def _changed(turn: Sequence[StoredEvent], cwd: str) -> Iterator[Line]:
    """The files that a turn changed, in one line where the last of them was changed."""
    edits = [stored for stored in turn if stored.event.action in _CHANGING and stored.event.target]
    if edits:
        names = list(dict.fromkeys(_in_line(relative(stored.event.target, cwd)) for stored in edits))
        more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
        ids = tuple(stored.id for stored in edits)
        yield Line(f"changed {', '.join(names[:_NAMES])}{more}", (ids[-1], *ids[:-1]), _CHANGED)


def _in_line(name: str) -> str:
    """A file's name may have line breaks, and pose as lines of the log."""
    return " ".join(name.split())


def _here(text: str, cwd: str) -> str:
    """Paths as they are seen from the session's folder."""
    return text.replace(f"{cwd.rstrip('/')}/", "") if len(cwd) > 1 else text
