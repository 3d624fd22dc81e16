"""Import: everything that agents have kept of their sessions, each part of it once.

Sessions are told apart by their marks: one that is not marked is new, one that is larger than its mark has
grown, the others are skipped without being opened. What is stored already, because it was captured live or
imported before, meets the same rows. Sources are only read. Killed or interrupted at any point, the next run
goes on where this one stopped.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from backstory import clock
from backstory.agents.history_source import Source, Trail
from backstory.agents.importable_histories import histories, history_of
from backstory.capture.history_reader import (
    HistoryReading,
    ReadTotals,
    Sink,
    StoreSink,
    is_unchanged,
    starting_point,
)
from backstory.capture.privacy import Privacy
from backstory.capture.project_lookup import ProjectLookup
from backstory.capture.rewritten_rows import RowRewriter
from backstory.errors import SourceMissing, StoreUnusable, UsageError
from backstory.failpoints import step
from backstory.file_reader import open_file
from backstory.hook.project_identity import project_id, session_id
from backstory.importers.folder_names import tool_slug
from backstory.model import RUNNING_MS, Event, Project, SessionStatus
from backstory.store import Store
from backstory.store.job_queue import ARCHIVE, DISTIL
from backstory.store.records import REPLACED, Added, Arrival, Mark

log = logging.getLogger(__name__)
MIN_MESSAGES = 3
# Nothing was written for so long: who waits for a result now waits in vain.
_DEAD_AFTER_MS = 6 * 3_600_000
_NOWHERE = Project("", "", "", "", 0)


class Tag(StrEnum):
    """What becomes of a session."""

    NEW = "NEW"
    GROWN = "GROWN"
    SKIP = "SKIP"


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What is to be imported, and how."""

    since: int = 0
    session: str = ""
    min_messages: int = MIN_MESSAGES
    again: bool = False
    project: Project | None = None
    user: str = ""


@dataclass(frozen=True, slots=True)
class ImportLine:
    """One session, or one of its sub-agents, and what became of it.

    `why` says why it was skipped. `failed`: it could not be imported; `unreadable`: nor even be read.
    """

    tag: Tag
    agent: str
    session: str
    path: Path
    messages: int = 0
    events: int = 0
    why: str = ""
    failed: bool = False
    subagent: str = ""
    unreadable: bool = False


@dataclass(slots=True)
class ImportTally:
    """What an import has come to."""

    new: int = 0
    grown: int = 0
    skipped: int = 0
    events: int = 0
    subagents: int = 0  # of the new and grown ones
    errors: int = 0
    corrupt: int = 0
    unknown: int = 0
    _unreadable: Counter[str] = field(default_factory=Counter)
    _told: Counter[str] = field(default_factory=Counter)

    @property
    def sources_unreadable(self) -> bool:
        """Whether all that went wrong is that of some source nothing at all could be read."""
        lost = sum(n for agent, n in self._unreadable.items() if n == self._told[agent])
        return 0 < self.errors == lost

    def add(self, line: ImportLine) -> None:
        """Count one session in."""
        self.events += line.events
        self.errors += line.failed
        self._told[line.agent] += 1
        self._unreadable[line.agent] += line.unreadable
        self.new += line.tag is Tag.NEW
        self.grown += line.tag is Tag.GROWN
        self.skipped += line.tag is Tag.SKIP
        self.subagents += line.tag is not Tag.SKIP and bool(line.subagent)


def trails_of(names: Sequence[str], path: Path | None) -> list[tuple[Source, list[Trail]]]:
    """What there is to import: of the named agents, or of every agent that has kept something here."""
    if path is not None and len(names) != 1:
        raise UsageError("--path says where the history of one agent lies: name that agent")
    if names:
        chosen = [(source, _readable(path or source.history.root())) for source in map(history_of, names)]
    else:
        chosen = [(source, source.history.root()) for source in histories().values()]
        chosen = [(source, place) for source, place in chosen if place.exists()]
    return [(source, list(source.history.find(place))) for source, place in chosen]


def _readable(place: Path) -> Path:
    """A place that is there and can be read."""
    try:
        if place.is_dir():
            next(place.iterdir(), None)
        else:
            open_file(place).close()
    except FileNotFoundError:
        raise SourceMissing(f"{place} does not exist: name a file or folder with --path") from None
    except OSError as error:
        raise SourceMissing(f"{place} cannot be read ({error.strerror or error}): make it readable") from None
    return place


@dataclass(frozen=True, slots=True)
class _Looking:
    """A sink that stores nothing: it only counts what is not stored yet, as far as the store can be read."""

    store: Store | None
    counted: set[str] = field(default_factory=set)

    def key(self, event: Event) -> str:
        """The store's key, if there is one."""
        return self.store.events.key(event) if self.store else ""

    def keep(
        self, trail: Trail, arrivals: Sequence[Arrival], mark: Mark, title: str, spent: Mapping[str, int]
    ) -> int:
        """How many of these are new; what a history tells twice is stored once."""
        if self.store is None:
            return len(arrivals)
        new = self.store.events.missing(arrivals) - self.counted
        self.counted.update(new)
        return len(new)


class Importer:
    """Brings histories into one store; `dry`, it only tells what it would do, and needs no store for that."""

    def __init__(
        self,
        store: Store | None,
        privacy: Privacy,
        places: ProjectLookup | None,
        wish: ImportOptions,
        dry: bool = False,
    ) -> None:
        self.tally = ImportTally()
        self._store = store
        self._privacy = privacy
        self._places = places
        self._wish = wish
        self._dry = dry
        self._marks = self._known_marks()
        self._fresh: set[str] = set()  # sessions that nobody knew before this import
        self._kept: set[str] = set()  # what is stored by now, or would be

    def bring(
        self,
        found: Sequence[tuple[Source, Sequence[Trail]]],
        said: Callable[[ImportLine], None],
        progress: Callable[[int, int], None],
    ) -> ImportTally:
        """Import all of it; tells of each session, and how many bytes of how many are done."""
        total = sum(trail.size for _, trails in found for trail in trails)
        done = 0
        for source, trails in found:
            for trail in trails:
                for line in self.run(source, [trail]):
                    said(line)
                done += trail.size
                progress(done, total)
        return self.tally

    def run(self, source: Source, trails: Iterable[Trail]) -> Iterator[ImportLine]:
        """Import these histories; each is stored when its line is given."""
        for trail in trails:
            try:
                step("import.begun", str(trail.path))
                line = self._one(source, trail)
            except StoreUnusable:
                raise
            except OSError as error:
                line = _line(source, trail, why=str(error), failed=True, unreadable=True)
            except Exception as error:  # one history's trouble must not stop the others
                log.exception("%s cannot be imported", trail.path)
                why = f"{type(error).__name__}: {error}"
                line = _line(source, trail, why=why, failed=True)
            if line is not None:
                self.tally.add(line)
                yield line

    def _known_marks(self) -> dict[str, Mark]:
        if self._store is None:
            return {}
        try:
            return self._store.transcript_marks.all()
        except Exception as error:
            if not self._dry:
                raise
            log.warning("the store cannot be read, so everything counts as new: %s", error)
            self._store = None
            return {}

    def _one(self, source: Source, trail: Trail) -> ImportLine | None:
        """What becomes of one history; None if it is none of this agent's, or not the one that is wanted."""
        wish = self._wish
        mark = self._marks.get(trail.key)
        dead = clock.now_ms() - trail.updated > _DEAD_AFTER_MS
        if not wish.session and not wish.again and mark is not None and self._settled(mark, trail, dead):
            why = "unchanged" if mark.session_id else _short(mark.messages, wish.min_messages)
            return _line(source, trail, messages=mark.messages, why=why)
        identified = source.history.identify(trail)
        if identified is None or (wish.session and wish.session not in _names(identified.session)):
            return None
        trail = identified
        if trail.updated < wish.since:
            return _line(source, trail, why="older than --since")
        return self._read(source, trail, mark, dead)

    def _settled(self, mark: Mark, trail: Trail, dead: bool) -> bool:
        """Whether reading it again would give nothing."""
        if not is_unchanged(mark, trail) or (mark.held and dead):
            return False
        return bool(mark.session_id) or mark.messages < self._wish.min_messages

    def _read(self, source: Source, trail: Trail, mark: Mark | None, dead: bool) -> ImportLine:
        store, wish = self._store, self._wish
        native = f"{trail.session}/{trail.subagent}" if trail.subagent else trail.session
        sid = session_id(source.agent, native)
        session = store.events.session(sid) if store else None
        top = session_id(source.agent, trail.session)
        parent = store.events.session(top) if store else None
        if source.secondhand and session is None and store and store.events.ids_like(trail.session):
            return _line(source, trail, why="known from its agent itself")
        if session is None:
            self._fresh.add(sid)
        alive = session is not None and not session.imported_by and session.status is SessionStatus.ACTIVE
        over = dead and not alive
        again = (0, 0) if wish.again else starting_point(mark, trail, source.history.resumable)

        def enough(told: ReadTotals) -> bool:
            if source.whole or session is not None:
                return True
            if trail.subagent and (parent is not None or top in self._kept):
                return True
            asked = told.asked or bool(trail.subagent)
            return told.messages >= wish.min_messages and asked and told.answered

        def project(cwd: str, at: int) -> Project:
            known = session or parent
            found = store.projects.get(known.project_id) if store and known else wish.project
            if found is None and trail.project and not cwd:
                found = self._called(trail.project, trail.updated)
            return found or (self._places.project(cwd, at) if self._places else _NOWHERE)

        sink: Sink = _Looking(store)
        if store is not None and not self._dry:
            noted = partial(self._noted, store, trail, sid in self._fresh, over)
            if source.replaces:
                noted = partial(self._replaced, store, trail, sid, set(), noted)
            also = RowRewriter(store, sid, trail.updated, noted) if source.rewrites else noted
            sink = StoreSink(store, source.agent, session, also)
        told = HistoryReading(sink, self._privacy, source, trail, project, session, over, enough).run(
            mark, *again
        )
        self.tally.corrupt += told.corrupt
        self.tally.unknown += told.unknown
        line = _line(source, trail, messages=told.messages, events=told.new)
        if not enough(told):
            if store is not None and not self._dry:
                self._pass_over(store, trail, told.messages)
            return replace(line, events=0, why=_short(told.messages, wish.min_messages, told))
        self._kept.add(sid)
        if not told.new:
            return replace(line, why="nothing new")
        return replace(line, tag=Tag.NEW if sid in self._fresh else Tag.GROWN)

    def _noted(
        self,
        store: Store,
        trail: Trail,
        brought: bool,
        over: bool,
        arrivals: Sequence[Arrival],
        added: Sequence[Added],
    ) -> None:
        """What is written together with a batch: who brought it, where it was, what is to be distilled."""
        changed = {result.session_id for result in added if result.new}
        for sid in changed if brought else ():
            now = clock.now_ms()
            store.events.note_import(sid, self._wish.user, now + 1 if over else now - RUNNING_MS)
        if changed and trail.subagent:  # the parent's story tells what its sub-agents did
            changed.add(session_id(arrivals[0].event.agent, arrivals[0].event.session))
        for sid in changed:
            store.jobs.ask(DISTIL, sid, trail.updated)
        if changed:
            store.jobs.ask(ARCHIVE, trail.key, trail.updated)
        for cwd, arrival in {a.event.where.cwd: a for a in arrivals if a.event.where.cwd}.items():
            store.projects.note(replace(arrival.project, seen_at=arrival.event.at))
            if self._wish.project is None:
                store.projects.note_place(cwd, arrival.project.id, arrival.event.at)

    def _replaced(
        self,
        store: Store,
        trail: Trail,
        sid: str,
        told: set[str],
        noted: Callable[[Sequence[Arrival], Sequence[Added]], None],
        arrivals: Sequence[Arrival],
        added: Sequence[Added],
    ) -> None:
        """What a file said before and says no more is found no more; what it says again is."""
        told |= {result.event_id for result in added}
        back = store.tombstones.remove(told, REPLACED)
        if back:
            store.events.add(arrivals)
        noted(arrivals, added)
        gone = [
            stored.id
            for stored in store.events.of_session(sid)
            if stored.event.target == str(trail.path) and stored.id not in told
        ]
        store.tombstones.add("event", gone, REPLACED, clock.now_ms())
        if back or gone:
            store.jobs.ask(DISTIL, sid, trail.updated)

    def _called(self, name: str, at: int) -> Project:
        """The one project of this name, or a new one, for what tells no more than that."""
        known = self._store.projects.all() if self._store else []
        found = [project for project in known if tool_slug(project.name) == tool_slug(name)]
        shown = self._privacy.place(name)
        return found[0] if len(found) == 1 else Project(project_id(shown), shown, shown, "", at)

    def _pass_over(self, store: Store, trail: Trail, messages: int) -> None:
        """Remember that a history was not worth storing, so that it is not read again."""
        with store.transaction():
            mark = Mark("", 0, trail.size, trail.stamp, messages)
            store.transcript_marks.set(trail.key, mark, clock.now_ms())


def _line(source: Source, trail: Trail, **told: Any) -> ImportLine:
    """What is told of a history that is skipped until more is known."""
    return ImportLine(Tag.SKIP, source.agent, trail.session, trail.path, subagent=trail.subagent, **told)


def _names(session: str) -> tuple[str, str]:
    """What a session may be called: of another tool's, also by the id without the tool's name."""
    return session, session.partition(":")[2]


def _short(messages: int, least: int, told: ReadTotals | None = None) -> str:
    """Why a history is not worth storing: what is missing in it."""
    missing = [f"{messages} messages, --min-messages is {least}"] if messages < least else []
    if told is not None:
        missing += ["no prompt"] if not told.asked else []
        missing += ["no answer"] if not told.answered else []
    return f"too short ({', '.join(missing) or f'{messages} messages'})"
