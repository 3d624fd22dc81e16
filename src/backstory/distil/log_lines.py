"""A session as lines that a model can read: one for each event that says something.

What somebody wrote stands there once, of a pull request the last text, of a commit that failed none. What
was not kept or only cancelled says nothing.
"""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import groupby, pairwise

from backstory.distil.compaction import telling_sections
from backstory.distil.harvest import Passage, PassageKind, harvest
from backstory.distil.messages import rewritten
from backstory.distil.prose import prompt_words, shorten, whole
from backstory.distil.story import relative
from backstory.model import NOT_KEPT, Action, Event, Kind, Outcome, Session, StoredEvent

_CHANGING = (Action.WRITE, Action.EDIT)
_NAMES, _EDIT = 8, 260
_LEAD, _LEAST_LEAD = 220, 60  # what of its reason stands with a command that failed
_WHY = re.compile(
    r"\b(?:because|since|due to|caused?|reason|turns out|otherwise|so that|instead|root)\b", re.I
)
# What a line of each kind begins with, how much of it is shown, and what it is worth: the least goes first.
_GOAL, _HOOK, _DONE, _CHANGED = 100, 50, 45, 20
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
_CANCELLED = "sibling tool call errored"  # how Claude Code says so
# How Claude Code says that a hook would not have a call.
_BY_HOOK = re.compile(
    r"\b(?:blocked by|denied by)\b[^\n]{0,40}\bhook\b|\b(?:Pre|Post)ToolUse(?::\w{1,60})? hook\b", re.I
)
_HOOK_SAID, _COMMAND = 200, 160
_MINUTE, _WAITED = 60_000, 60
_DIRECTIVE = re.compile(r"::[a-z][\w-]{1,40}\{[^{}\n]{0,300}\}")  # what Codex tells its own window


@dataclass(frozen=True, slots=True)
class Line:
    """One line, and the ids of the events that it stands for; `worth` says what goes first."""

    text: str
    events: tuple[str, ...]
    worth: float = 0.0


def lines_of(session: Session, events: Sequence[StoredEvent]) -> Iterator[Line]:
    """The session as lines, in order, turn by turn; the same words of somebody stand there once."""
    first, said = True, set[str]()
    outdated = rewritten(events)
    failing: set[str] = set()
    for _, turn in groupby(events, key=lambda stored: (stored.session_id, stored.turn)):
        own = list(turn)
        placed = {stored.id: place for place, stored in enumerate(own)}
        lines = [
            *_told(own, session.cwd, outdated),
            *_mended(own, session.cwd),
            *_passed(own, failing),
            *_changed(own, session.cwd),
            *_refused_by_hook(own, session.cwd),
            *_long(own),
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


def _told(turn: Sequence[StoredEvent], cwd: str, outdated: Set[str]) -> Iterator[Line]:
    """A line for each event that says something, made of its passages."""
    events = {stored.id: stored.event for stored in turn}
    leads = _leads(turn)
    for (eid, kind), group in groupby(harvest(turn), key=lambda passage: (passage.event, passage.kind)):
        event = events[eid]
        if kind not in _KINDS or _says_nothing(event) or _is_hooks(event):
            continue
        if kind in _WRITTEN and (eid in outdated or event.outcome is Outcome.FAILED):
            continue
        some = list(group)
        lead, limit, worth = _KINDS[kind]
        text = _joined(some)
        if kind is PassageKind.SUMMARY:
            text = telling_sections(event.text, limit)
        if kind is PassageKind.STEP and some[0].failed:
            lead, worth = "FAILED ", 50
            text = _failed_step(some[0].text, leads.get(eid, ""), limit)
        elif kind is PassageKind.STEP:  # what was to be done, if it says why
            lead, limit, worth = _KINDS[PassageKind.SAID]
            text = leads.get(eid, "") if "\n$ " in some[0].text else ""
        elif kind is PassageKind.COMMIT:
            text = text.removeprefix("commit: ")
        if lead == _KINDS[PassageKind.SAID][0] and not _WHY.search(text):
            continue
        yield Line(lead + _here(whole(text, limit), cwd), (eid,), worth)


def _leads(turn: Sequence[StoredEvent]) -> dict[str, str]:
    """What the agent said last before each call, from its beginning; a passage has only its end."""
    found: dict[str, str] = {}
    last = ""
    for stored in turn:
        event = stored.event
        if event.kind in (Kind.SAID, Kind.TURN_ENDED) and event.text:
            last = " ".join(prompt_words(event.text).split())
        elif event.kind is Kind.TOOL:
            found[stored.id] = last
    return found


def _failed_step(passage: str, lead: str, limit: int) -> str:
    """What failed and how, and before that, as far as there is room, what it was to be good for."""
    before, _, step = passage.rpartition("\n")
    step = shorten(step, limit)
    room = min(limit - len(step) - 1, _LEAD)
    return f"{whole(lead, room)} {step}" if before and room > _LEAST_LEAD else step


def _says_nothing(event: Event) -> bool:
    """Whether it was not kept, or was only cancelled because another call of its batch failed."""
    return (
        event.text.startswith(NOT_KEPT)
        or _is_cancelled(event)
        or (event.action is Action.RUN and (not event.target.strip() or event.target.startswith(NOT_KEPT)))
    )


def _is_cancelled(event: Event) -> bool:
    return event.outcome is Outcome.FAILED and _CANCELLED in event.text[:200].lower()


def _joined(passages: Sequence[Passage]) -> str:
    """The passages of one event, each heading once."""
    parts: list[str] = []
    heading = ""
    for passage in passages:
        named = f"{passage.heading}: " if passage.heading and passage.heading != heading else ""
        heading = passage.heading
        parts.append(named + " ".join(_DIRECTIVE.sub(" ", passage.text).split()))
    return " ".join(parts)


def _mended(turn: Sequence[StoredEvent], cwd: str) -> Iterator[Line]:
    """The edit that followed an error: what it took out and put in."""
    failed = False
    for stored in turn:
        event = stored.event
        if _says_nothing(event):
            continue
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
        if _says_nothing(event):
            continue
        if event.action is Action.RUN and event.outcome is Outcome.FAILED:
            failing.add(command)
        elif event.action is Action.RUN and event.outcome is Outcome.OK and command in failing:
            failing.discard(command)
            yield Line(f"passed now: {shorten(command, _COMMAND)}", (stored.id,), _DONE)


def _is_hooks(event: Event) -> bool:
    return event.outcome is Outcome.FAILED and _BY_HOOK.search(event.text[:_HOOK_SAID]) is not None


def _refused_by_hook(turn: Sequence[StoredEvent], cwd: str) -> Iterator[Line]:
    """What a hook of the user's own would not let the agent do, and why: it will not the next time either."""
    for stored in turn:
        event = stored.event
        if _is_hooks(event):
            what = shorten(_here(event.target, cwd), _COMMAND) or event.tool
            why = shorten(_here(event.text, cwd), _EDIT)
            yield Line(f"a hook refused {event.tool} {what}: {why}", (stored.id,), _HOOK)


def _long(turn: Sequence[StoredEvent]) -> Iterator[Line]:
    """Commands that took more than a minute, from the words with which the agent called them to their end.

    The time of a call is not kept, that of the words right before it is. What took longer than an hour waited
    for somebody.
    """
    for before, stored in pairwise(turn):
        event, called = stored.event, before.event
        if event.action is not Action.RUN or called.kind is not Kind.SAID or _says_nothing(event):
            continue
        minutes = (event.at - called.at) / _MINUTE
        if event.outcome in (Outcome.OK, Outcome.FAILED) and 1 < minutes < _WAITED:
            yield Line(f"took {minutes:.0f} min: {shorten(event.target, _COMMAND)}", (stored.id,), _DONE)


def _changed(turn: Sequence[StoredEvent], cwd: str) -> Iterator[Line]:
    """The files that a turn changed, in one line where the last of them was changed."""
    edits = [
        stored
        for stored in turn
        if stored.event.action in _CHANGING
        and stored.event.target
        and stored.event.outcome is not Outcome.FAILED
    ]
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
