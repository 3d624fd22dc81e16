"""An agent's own history of a session, read into the store.

One way in for both who read it: the worker, which follows a live session's transcript (live_transcript.py),
and the import of everything that an agent has kept (importer.py). It is read in place, from the last prompt
that was seen; the turn it began is read again, which costs little and lets every line know its prompt, but
only what is new gives events. How far it was read is noted in the transaction that stores what was read, so
that a kill at any point loses nothing and doubles nothing.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from backstory import clock, job_limits
from backstory.agents.history_source import Source, Trail
from backstory.capture.privacy import Privacy
from backstory.model import Event, Kind, Project, Session
from backstory.store import Store
from backstory.store.records import Added, Arrival, Mark

BATCH = 1_000
# The counter of the tokens that agents wrote down as spent, by day and agent.
SPENT = "spent"
# The stamp of a mark that stands in the middle of a history.
UNFINISHED = -1
_ANSWERS = frozenset((Kind.SAID, Kind.TOOL, Kind.TURN_FAILED))


@dataclass(slots=True)
class ReadTotals:
    """What reading a history has come to so far. A message is something asked, said or done."""

    events: int = 0
    new: int = 0
    messages: int = 0
    asked: bool = False
    answered: bool = False
    corrupt: int = 0
    unknown: int = 0


class Sink(Protocol):
    """Where what was read goes."""

    def key(self, event: Event) -> str:
        """What tells this event from all others, asked for before it is redacted."""

    def keep(
        self, trail: Trail, arrivals: Sequence[Arrival], mark: Mark, title: str, spent: Mapping[str, int]
    ) -> int:
        """Store these, the mark, what the agent calls the session, and the tokens that it spent each day.

        All of it together; gives how many are new.
        """


@dataclass(frozen=True, slots=True)
class StoreSink:
    """Into the store. `also` is called in the same transaction, for what else belongs there."""

    store: Store
    agent: str
    session: Session | None = None
    also: Callable[[Sequence[Arrival], Sequence[Added]], None] = lambda arrivals, added: None

    def key(self, event: Event) -> str:
        """The store's key."""
        return self.store.events.key(event)

    def keep(
        self, trail: Trail, arrivals: Sequence[Arrival], mark: Mark, title: str, spent: Mapping[str, int]
    ) -> int:
        """Events, mark, title and the rest in one transaction."""
        with self.store.transaction():
            added = self.store.events.add(arrivals)
            if self.session is not None:
                mark = mark._replace(session_id=self.session.id)
            elif added:
                mark = mark._replace(session_id=added[0].session_id)
            elif (before := self.store.transcript_marks.get(trail.key)) is not None:
                mark = mark._replace(session_id=before.session_id)
            self.also(arrivals, added)
            for day, tokens in spent.items():
                self.store.counters.add(day, {(self.agent, "", SPENT): tokens})
            self.store.transcript_marks.set(trail.key, mark, clock.now_ms())
            if title and mark.session_id:
                self.store.events.note_title(mark.session_id, title)
                self.store.passages.rewrite_header(mark.session_id)
        return sum(result.new for result in added)


def is_unchanged(mark: Mark | None, trail: Trail) -> bool:
    """Whether nothing was added to a history since it was read."""
    return mark is not None and mark.size == trail.size and mark.stamp in (0, trail.stamp)


def starting_point(mark: Mark | None, trail: Trail, resumable: bool) -> tuple[int, int]:
    """Where to read from, and up to where everything is stored already; a smaller one was written anew."""
    if mark is None or not resumable or not mark.session_id or trail.size < mark.size:
        return 0, 0
    if trail.size == mark.size and not is_unchanged(mark, trail):
        return 0, 0
    return mark.offset, mark.size


@dataclass(slots=True)
class HistoryReading:
    """One history on its way to a sink.

    `project` (folder, time) tells where it belongs, once. `finish`: the session is over, and what still waits
    for a result was interrupted. `enough` says whether what was told so far is worth keeping; until then it
    is held back.
    """

    sink: Sink
    privacy: Privacy
    source: Source
    trail: Trail
    project: Callable[[str, int], Project]
    session: Session | None = None
    finish: bool = False
    enough: Callable[[ReadTotals], bool] = lambda told: True
    told: ReadTotals = field(default_factory=ReadTotals)
    _events: list[tuple[Event, str, str]] = field(default_factory=list)
    _first: tuple[str, int] = ("", 0)  # the first folder that it names, and when
    _equals: Counter[str] | None = None
    _project: Project | None = None
    _at: int = 0
    _spent: Counter[str] = field(default_factory=Counter)

    def run(self, mark: Mark | None, start: int, seen: int) -> ReadTotals:
        """Read on from `start`, keep what lies behind `seen`; gives what it came to."""
        history, trail, told = self.source.history, self.trail, self.told
        told.messages = mark.messages if mark and seen else 0
        told.asked = told.answered = seen > 0
        self._equals = None if seen else Counter()  # read from its start, equal things are counted anew
        reader = history.reader(trail, start)
        at = start
        for line in history.lines(trail, start):
            at += len(line)
            before = reader.counts["tokens"]
            events = reader.feed(line)
            if at <= seen:
                continue
            self._at = events[-1].at if events else self._at
            if tokens := reader.counts["tokens"] - before:
                self._spent[clock.day_of(self._at or clock.now_ms(), clock.zone())] += tokens
            for event in events:
                self._take(event)
            if len(self._events) >= BATCH and self.enough(told):
                self._keep(Mark("", reader.turn_start, at, UNFINISHED, told.messages), reader.title)
        for event in reader.finish() if self.finish else []:
            self._take(event)
        told.corrupt += reader.counts["malformed"]
        told.unknown += reader.counts["unknown"]
        if self.enough(told):
            held = not self.finish and reader.offset < at
            mark = Mark("", reader.turn_start, trail.size, trail.stamp, told.messages, held)
            self._keep(mark, reader.title)
        return told

    def _take(self, event: Event) -> None:
        told, session = self.told, self.session
        if event.kind is Kind.PROMPT:
            told.messages += 1
            told.asked = True
        elif event.kind in _ANSWERS:
            told.messages += 1
            told.answered = True
        if self.privacy.refuses(event, self.source.our_tools):
            return
        if session is not None and session.source == "fork" and event.at < session.started_at:
            return  # it only repeats what happened in the session that it was forked from
        told.events += 1
        key = self.sink.key(event)
        if self._equals is not None and key.endswith("+"):
            self._equals[key] += 1
            key += str(self._equals[key])
        where = event.where
        if session is not None and not (where.cwd and where.branch):
            where = replace(where, cwd=where.cwd or session.cwd, branch=where.branch or session.branch)
        if where.cwd and not self._first[0]:
            self._first = where.cwd, event.at
        self._events.append((self.privacy.told(event, where), key, self.privacy.native(event)))

    def _keep(self, mark: Mark, title: str) -> None:
        project = self._project
        if project is None:
            project = self._project = self.project(*self._first)
        arrivals = [Arrival(event, project, key, native) for event, key, native in self._events]
        self.told.new += self.sink.keep(self.trail, arrivals, mark, self.privacy.text(title), self._spent)
        job_limits.reset_usage()
        self._events.clear()
        self._spent.clear()
