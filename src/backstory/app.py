"""The use cases, the one waist between the surfaces (CLI, later MCP and web) and the parts.

A surface opens an `App`, asks it for values, and prints them; it never touches store, spool or files itself.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backstory import clock, settings
from backstory.atomic import lock, read_state, write_state
from backstory.capture import quarantine
from backstory.capture.hookfiles import write_hook_settings
from backstory.capture.places import Places
from backstory.capture.privacy import Privacy
from backstory.capture.remembered import USER, fact
from backstory.capture.waiting import waiting
from backstory.errors import Failed, SourceMissing, UsageError
from backstory.hook import spool
from backstory.hook.identity import claimed
from backstory.model import (
    Event,
    Kind,
    Memory,
    Project,
    Session,
    StoredEvent,
    Tier,
    Where,
)
from backstory.paths import Home
from backstory.recall import prepare
from backstory.recall.brief import Brief, brief_for
from backstory.search import lexical
from backstory.settings import Settings
from backstory.store import Store, open_store
from backstory.store.protocol import Arrival, Injection, Job

if TYPE_CHECKING:
    from backstory.work import Work

_CATCH_UP_SECONDS = 5.0
_LONGEST_NOTE = 20_000


@dataclass(frozen=True, slots=True)
class Status:
    """How the memory is doing, in numbers."""

    home: Path
    events: int
    sessions: int
    memories: int
    projects: int
    spooled: int
    quarantined: int
    duplicates: int
    failed_hooks: int
    unindexed: int
    jobs: dict[str, int]
    briefs: int
    brief_tokens: int
    schema: int
    database_bytes: int
    last_event_at: int
    worker_running: bool
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session with what happened in it and what was learned from it."""

    session: Session
    children: tuple[Session, ...]
    memories: tuple[Memory, ...]
    events: tuple[StoredEvent, ...]
    injections: tuple[Injection, ...]


@dataclass(frozen=True, slots=True)
class EventView:
    """One event with its session and, if it was kept, its whole payload."""

    stored: StoredEvent
    session: Session
    payload: str | None


@dataclass(frozen=True, slots=True)
class MemoryView:
    """One memory with the events that it rests on."""

    memory: Memory
    sources: tuple[StoredEvent, ...]


class App:
    """One home, opened for use; close it, or use it in a `with`."""

    def __init__(self, home: Home | None = None) -> None:
        self.home = home or Home.default()
        self.settings, self.problems = settings.load(self.home)
        self._store: Store | None = None

    def __enter__(self) -> "App":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what was opened."""
        if self._store is not None:
            self._store.close()
            self._store = None

    @property
    def store(self) -> Store:
        """The store, opened when it is first needed."""
        if self._store is None:
            self._store = open_store(self.home)
        return self._store

    def catch_up(self, wait: float = _CATCH_UP_SECONDS) -> bool:
        """Take in what lies in the spool, or wait for the worker that does; False if some is left."""
        deadline = time.monotonic() + wait
        while waiting(self.home):  # also what a hook left in the meantime: its worker found the lock held
            with lock(self.home.worker_lock) as held:
                if held:
                    self._work().round()
            if time.monotonic() > deadline:
                return not waiting(self.home)
            if not held:
                time.sleep(0.05)
        return True

    def _work(self) -> "Work":
        from backstory.work import Work  # distilling is most of what there is to import (160 ms)

        return Work(self.home, self.settings, self.store)

    def _spooled(self) -> int:
        return len(spool.entries(str(self.home.spool)))

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the worker's lock, or say that the worker is busy."""
        with lock(self.home.worker_lock, wait=30) as held:
            if not held:
                raise Failed("a worker has been busy for 30 s: try again in a moment")
            yield

    # --- projects --------------------------------------------------------------------------------------

    def project_at(self, folder: Path) -> Project:
        """The project of a folder, which need not exist any more."""
        places = Places(self.store, self.confirmed(), self.settings.project_monorepo)
        return places.project(str(folder), clock.now_ms())

    def project_named(self, name: str) -> Project:
        """The one project with this id, name or identity."""
        found = [p for p in self.store.events.projects() if name in (p.id, p.name, p.identity)]
        if not found:
            raise SourceMissing(f"no project is called {name!r}; `backstory status --json` lists them")
        if len(found) > 1:
            choices = ", ".join(f"{p.id} ({p.identity})" for p in found)
            raise UsageError(f"several projects are called {name!r}; name one by its id: {choices}")
        return found[0]

    def projects(self) -> list[Project]:
        """All projects, the latest seen first."""
        return self.store.events.projects() if self.home.database.exists() else []

    def confirmed(self) -> dict[str, str]:
        """The folders whose `.backstory.toml` the user has agreed to, with what it says."""
        found: dict[str, str] = read_state(self.home.confirmed, {})
        return found

    def claim_at(self, folder: Path) -> tuple[Path, str, bool] | None:
        """The nearest `.backstory.toml`: its folder, the project that it names, whether the user agreed."""
        confirmed = self.confirmed()
        here = Path(os.path.realpath(folder))
        for place in (here, *here.parents):
            if name := claimed(str(place)):
                return place, name, confirmed.get(str(place)) == name
        return None

    def confirm_project(self, folder: Path, agreed: bool = True) -> tuple[Path, str]:
        """Let the nearest `.backstory.toml` name its project, or no longer; gives its folder and the name."""
        claim = self.claim_at(folder)
        if claim is None:
            raise SourceMissing(
                f'{folder} has no .backstory.toml that names a project: write one that says project = "name"'
            )
        place, name, _ = claim
        others = {k: v for k, v in self.confirmed().items() if k != str(place)}
        write_state(self.home.confirmed, others | ({str(place): name} if agreed else {}))
        self.publish_settings(self.settings)
        return place, name

    # --- recall ----------------------------------------------------------------------------------------

    def brief(self, folder: Path, agent: str, source: str = "startup", session: str = "") -> Brief:
        """What a session starting in a folder is told, as the hook would print it; leaves no receipt."""
        self.catch_up()
        if self.home.hook.is_dir():
            self.publish_settings(self.settings)  # the file may have been edited by hand
        hook_settings = self.settings.for_hook(self.confirmed())
        is_there = os.path.isdir(folder)  # noqa: PTH112 - no error for a name that is too long
        gone = not is_there and self.home.database.exists()
        project_was = self.project_at(folder).id if gone else ""
        return brief_for(self.home, hook_settings, str(folder), agent, source, session, project_was)

    def search(
        self, question: str, project_id: str | None, limit: int = lexical.DEFAULT_LIMIT, floor: bool = True
    ) -> lexical.Answer:
        """The best hits for a question."""
        self.catch_up()
        return lexical.search(self.store, question, project_id, limit, floor)

    def timeline(self, project_id: str | None, since: int, limit: int) -> list[StoredEvent]:
        """The latest events, newest first."""
        self.catch_up()
        return self.store.events.latest(project_id, since, limit)

    def sessions(self, project_id: str | None, limit: int) -> list[Session]:
        """The latest sessions, newest first."""
        self.catch_up()
        return self.store.events.sessions(project_id, limit)

    def show(self, handle: str) -> SessionView | EventView | MemoryView:
        """What a handle stands for: a session, an event or a memory; the beginning of an id is enough."""
        self.catch_up()
        found = self.store.events.ids_like(handle) if len(handle) >= 4 else []
        if handle in found:
            found = [handle]
        if not found:
            raise SourceMissing(f"nothing has the handle {handle!r}; `backstory search` prints handles")
        if len(found) > 1:
            raise UsageError(f"{handle!r} stands for several: {', '.join(found)}")
        return self._view(found[0])

    def _view(self, full: str) -> SessionView | EventView | MemoryView:
        events = self.store.events
        if full.startswith("m") and (memory := self.store.memories.memory(full)) is not None:
            sources = [stored for sid in memory.sources if (stored := events.event(sid)) is not None]
            return MemoryView(memory, tuple(sorted(sources, key=lambda s: (s.event.at, s.seq))))
        if full.startswith("e") and (stored := events.event(full)) is not None:
            session = events.session(stored.session_id)
            if session is not None:
                return EventView(stored, session, events.payload(full))
        if full.startswith("s") and (session := events.session(full)) is not None:
            return SessionView(
                session,
                tuple(events.children(full)),
                tuple(self.store.memories.of_session(full)),
                tuple(events.of_session(full)),
                tuple(self.store.briefs.of_session(full)),
            )
        raise SourceMissing(f"{full!r} is not to be shown")

    def remember(self, text: str, folder: Path) -> Memory:
        """Keep something that the user says, for the project of a folder. An event like any other."""
        if not text.strip():
            raise UsageError("there is nothing to remember: say it in one sentence")
        if len(text) > _LONGEST_NOTE:
            raise UsageError(f"that is too long to remember: say it in at most {_LONGEST_NOTE} characters")
        self.catch_up()
        now = clock.now_ms()
        project = self.project_at(folder)
        where = Where(str(folder))
        event = Event(USER, f"user-{project.id}", Kind.REMEMBERED, now, text.strip(), where=where)
        key = self.store.events.key(event)
        clean = Privacy(self.settings).text(event.text)
        with self._alone():
            with self.store.transaction():
                arrival = Arrival(replace(event, text=clean), project, key)
                added = self.store.events.add([arrival])[0]
                session = self.store.events.session(added.session_id)
                assert session is not None
                draft = fact(added.event_id, clean, now)
                mid = self.store.memories.add(session, draft, Tier.VERBATIM, USER)
            prepare.project_file(self.home, self.store, project.id)
        memory = self.store.memories.memory(mid)
        assert memory is not None
        return memory

    # --- upkeep ----------------------------------------------------------------------------------------

    def status(self) -> Status:
        """How the memory is doing; looks, and changes nothing."""
        if not self.home.database.exists():
            return self._nothing_yet()
        store = self.store
        books = store.books
        counts = books.table_counts()
        briefs, tokens = store.briefs.totals()
        latest = store.events.latest(None, 0, 1)
        with lock(self.home.worker_lock) as free:
            running = not free
        return Status(
            home=self.home.root,
            **counts,
            spooled=self._spooled(),
            quarantined=len(quarantine.listing(self.home)),
            duplicates=books.total("duplicate"),
            failed_hooks=books.total("failed"),
            unindexed=store.passages.unindexed(),
            jobs=store.jobs.counts(),
            briefs=briefs,
            brief_tokens=tokens,
            schema=store.schema_version(),
            database_bytes=self.home.database.stat().st_size,
            last_event_at=latest[0].event.at if latest else 0,
            worker_running=running,
            problems=(*self.problems, *prepare.notices(store)),
        )

    def _nothing_yet(self) -> Status:
        """The status of a home in which nothing was stored; it is not made by asking."""
        names = (
            "events sessions memories projects duplicates failed_hooks unindexed briefs brief_tokens schema "
            "database_bytes last_event_at"
        )
        return Status(
            home=self.home.root,
            **dict.fromkeys(names.split(), 0),
            spooled=self._spooled(),
            quarantined=len(quarantine.listing(self.home)),
            jobs={},
            worker_running=False,
            problems=tuple(self.problems),
        )

    def parked(self) -> list[Job]:
        """Jobs that failed too often and wait for a person."""
        return self.store.jobs.all("parked")

    def rebuild(self, progress: Callable[[int, int], None] = lambda done, of: None) -> int:
        """Make everything derived again from the events; gives the number of sessions."""
        self.catch_up()
        with self._alone():
            return self._work().rebuild(progress)

    def setting_rows(self) -> list[settings.Row]:
        """All settings with their values, defaults and meaning."""
        return settings.rows(self.settings)

    def change_setting(self, key: str, text: str | None) -> Any:
        """Set or unset a setting, and tell the hook."""
        value = settings.change(self.home, key, text)
        self.settings, self.problems = settings.load(self.home)
        self.publish_settings(self.settings)
        return value

    def publish_settings(self, current: Settings) -> None:
        """Hand the hook the settings that it needs."""
        write_hook_settings(self.home.root, current.for_hook(self.confirmed()))
