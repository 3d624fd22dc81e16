"""The use cases, the one waist between the surfaces (CLI, MCP, web) and the parts.

A surface opens an `App`, asks it for values, and prints them; it never touches store, spool or files itself.
"""

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backstory import clock, remembering, settings
from backstory.agents import AGENTS
from backstory.agents import agent as known_agent
from backstory.atomic import lock, read_state, write_atomic, write_state
from backstory.capture import quarantine
from backstory.capture.calling import wake_worker
from backstory.capture.documents import Documents
from backstory.capture.hookfiles import write_hook_settings
from backstory.capture.importing import Import, Line, Tally, Wish, trails_of
from backstory.capture.places import Places
from backstory.capture.privacy import Privacy
from backstory.capture.remembered import USER
from backstory.capture.waiting import waiting
from backstory.embed.provider import QUESTION_SECONDS, Means, means, missing
from backstory.errors import Failed, SourceMissing, StoreUnusable, UsageError
from backstory.hook import spool
from backstory.hook.identity import claimed, ident, project_id, session_id
from backstory.llm.governor import Spending, resume, spending
from backstory.llm.provider import OFF
from backstory.llm.writer import ModelWriter
from backstory.model import (
    Act,
    Event,
    Kind,
    Memory,
    MemoryKind,
    MemoryStatus,
    Project,
    Session,
    StoredEvent,
)
from backstory.paths import Home
from backstory.recall import prepare
from backstory.recall.brief import Brief, brief_for
from backstory.recall.handles import full_id
from backstory.recall.handoff import Handoff, checkpoint_of, hand_over
from backstory.recall.standing import Standing
from backstory.search import find, narrowing
from backstory.search.answer import Answer
from backstory.search.asking import own_words
from backstory.search.ranking import Here
from backstory.settings import Settings
from backstory.store import Store, open_store
from backstory.store.copies import Contents
from backstory.store.jobs import ASKING, DAY
from backstory.store.obstacles import obstacle
from backstory.store.protocol import Arrival, Call, Filters, Injection, Job, SpentOn
from backstory.upkeep import backups, export, forget, orphans, room
from backstory.upkeep.forget import Forgotten, Wanted

if TYPE_CHECKING:
    from backstory.upkeep.repair import Repaired
    from backstory.upkeep.scrub import Scrubbed
    from backstory.work import Work

_CATCH_UP_SECONDS = 5.0
# So long an import distils what it brought before it leaves the rest to the worker.
_SETTLE_SECONDS = 5.0
_PATIENCE_SECONDS = 55  # as long as a worker heeds a wish
_LONGEST_NOTE = 20_000
_TELLING = (MemoryKind.LESSON, MemoryKind.DECISION, MemoryKind.ATTEMPT, MemoryKind.SUMMARY)
_FOREVER = 2**62
# What is counted on the way in: payloads that hooks left, and what became of them.
_CAPTURED = ("spooled", "stored", "duplicate", "quarantined", "failed", "late")
# Files that were changed so lately count a little more in a search.
_IN_PLAY_MS = 4 * 3_600_000
_MOST_IN_PLAY = 8


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
    captured: dict[str, int]
    unindexed: int
    jobs: dict[str, int]
    briefs: int
    brief_tokens: int
    schema: int
    database_bytes: int
    sizes: dict[str, int]
    freeable: dict[str, int]
    last_event_at: int
    worker_running: bool
    spending: Spending
    by_status: dict[str, int]
    by_source: dict[str, int]
    worst_attempts: int
    vectors: tuple[int, int]
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


def payload_state(view: EventView) -> str:
    """Whether what the agent sent is there, has grown old and left, or never was."""
    if view.payload is not None:
        return f"{view.stored.payload_size} characters; `backstory show {view.stored.id} --raw` prints it"
    if view.stored.payload_size:
        return f"aged out; it had {view.stored.payload_size} characters"
    return "none of its own"


@dataclass(frozen=True, slots=True)
class MemoryView:
    """One memory with the events that it rests on.

    `label` says how it stands today; `replaced` are the older ones whose place it took, `replaced_by` is the
    one that took its own.
    """

    memory: Memory
    sources: tuple[StoredEvent, ...]
    label: str = ""
    replaced: tuple[str, ...] = ()
    replaced_by: str = ""


class App:
    """One home, opened for use; close it, or use it in a `with`."""

    def __init__(
        self, home: Home | None = None, attended: bool = False, patience: float = _CATCH_UP_SECONDS
    ) -> None:
        """`attended`: the process that asks sees to the spool itself, so nobody has to wait for it.

        `patience` is how many seconds a question waits at most for what still lies in the spool.
        """
        self.home = home or Home.default()
        self._attended = attended
        self._patience = patience
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

    @property
    def only_reads(self) -> str:
        """Why the store that was opened cannot be written; "" if it can, or none was opened."""
        return self._store.only_reads if self._store else ""

    def catch_up(self, notes: bool = True) -> bool:
        """Take in what lies in the spool, or wait for the worker that does; False if some is left.

        Who finds notes where they lie need not wait for them: without `notes`.
        """
        if self._attended:
            return True
        deadline = time.monotonic() + self._patience
        # also what a hook left in the meantime: its worker found the lock held
        while waiting(self.home, notes):
            if self.store.only_reads:
                return False
            with lock(self.home.worker_lock) as held:
                if held:
                    self._work().take_in(deadline)
            if time.monotonic() > deadline:
                return not waiting(self.home, notes)
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
        """Hold the worker's lock, which a worker without work gives up, or say what stands in the way."""
        if why := obstacle(self.home.database):
            raise StoreUnusable(str(why))
        with lock(self.home.worker_lock) as held:
            if held:
                yield
                return
        write_atomic(self.home.wanted, b"")
        try:
            with lock(self.home.worker_lock, wait=_PATIENCE_SECONDS) as held:
                if not held:
                    raise Failed(f"a worker has been busy for {_PATIENCE_SECONDS} s: try again in a moment")
                yield
        finally:
            self.home.wanted.unlink(missing_ok=True)

    # --- projects --------------------------------------------------------------------------------------

    def project_at(self, folder: Path) -> Project:
        """The project of a folder, which need not exist any more."""
        shown = Privacy(self.settings).place
        places = Places(self.store, self.confirmed(), self.settings.project_monorepo, shown)
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

    def project_called(self, name: str) -> Project:
        """The one project with this name, or a new one."""
        try:
            return self.project_named(name)
        except SourceMissing:
            return Project(project_id(name), name, name, "", clock.now_ms())

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
        with contextlib.suppress(StoreUnusable, OSError):  # it shows what waits, too, and needs no database
            self.catch_up()
        with contextlib.suppress(OSError):
            if self.home.hook.is_dir():
                self.publish_settings(self.settings)  # the file may have been edited by hand
        hook_settings = self.settings.for_hook(self.confirmed())
        is_there = os.path.isdir(folder)  # noqa: PTH112 - no error for a name that is too long
        gone = not is_there and self.home.database.exists()
        project_was = self.project_at(folder).id if gone else ""
        return brief_for(self.home, hook_settings, str(folder), agent, source, session, project_was)

    def search(
        self,
        question: str,
        project_id: str | None,
        limit: int | None = None,
        floor: bool = True,
        *,
        filters: Filters | None = None,
        here: Here | None = None,
        explain: bool = False,
        neighbours: int = 0,
        by_agent: bool = False,
    ) -> Answer:
        """The best hits for a question; what an agent was just asked is no answer to its own question."""
        self.catch_up(notes=False)
        if filters:
            narrowing.check(self.store, filters, project_id, AGENTS)
        most = self.settings.search_max_hits if limit is None else limit
        but = own_words(self.store, project_id, os.environ, by_agent, clock.now_ms())

        def ask(store: Store, means: Means = find.BY_WORDS) -> Answer:
            return find.search(
                store,
                question,
                project_id,
                most,
                floor,
                means=means,
                filters=filters,
                here=here,
                explain=explain,
                neighbours=neighbours,
                zone=clock.zone(self.settings.time_zone),
                but=but,
            )

        answer = ask(self.store, self.means())
        answer = remembering.found_beside(self.home, self.store, answer, most, ask)
        if filters and not answer.hits:
            narrowing.check_files(self.store, filters, project_id)
        label = Standing(self.store).label
        return replace(
            answer, hits=tuple(replace(hit, label=label(hit.id, *hit.also)) for hit in answer.hits)
        )

    def files_in_play(self, project_id: str) -> tuple[str, ...]:
        """The names of files that were changed in a project in the last hours."""
        since = clock.now_ms() - _IN_PLAY_MS
        return tuple(self.store.doing.files(project_id, since, _MOST_IN_PLAY))

    def _search_problems(self) -> list[str]:
        why = missing(self.settings)
        return [f"search goes {why}"] if why else []

    def means(self) -> Means:
        """What there is to search by meaning with, and if there is nothing, why."""
        return means(self.settings, QUESTION_SECONDS)

    def timeline(self, project_id: str | None, since: int, limit: int) -> list[StoredEvent]:
        """The latest events, newest first."""
        self.catch_up(notes=False)
        found = self.store.events.latest(project_id, since, limit)
        if (waits := remembering.beside(self.home, self.store)) is not None:
            with contextlib.closing(waits):
                found = [*waits.events.latest(project_id, since, limit), *found]
            found = sorted(found, key=lambda stored: stored.event.at, reverse=True)[:limit]
        return found

    def sessions(self, project_id: str | None, limit: int) -> list[Session]:
        """The latest sessions, newest first."""
        self.catch_up()
        return self.store.events.sessions(project_id, limit)

    def show(self, handle: str) -> SessionView | EventView | MemoryView:
        """What a handle stands for: a session, an event or a memory; the beginning of an id is enough."""
        self.catch_up(notes=False)
        try:
            return self._view(full_id(self.store, handle))
        except SourceMissing:
            if (waits := remembering.beside(self.home, self.store)) is None:
                raise
        with App(self.home, attended=True) as there:
            there._store = waits
            return there._view(full_id(waits, handle))

    def _view(self, full: str) -> SessionView | EventView | MemoryView:
        events = self.store.events
        if full.startswith("m") and (memory := self._shown_memory(full)) is not None:
            sources = [stored for sid in memory.sources if (stored := events.event(sid)) is not None]
            return MemoryView(
                memory,
                tuple(sorted(sources, key=lambda s: (s.event.at, s.seq))),
                Standing(self.store).label(full),
                tuple(self.store.successions.before(full)),
                self.store.successions.after(full),
            )
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

    def _shown_memory(self, full: str) -> Memory | None:
        """A memory that may be shown: one in force, or one that is history."""
        if (memory := self.store.memories.memory(full)) is not None:
            return memory
        kept = self.store.memories.kept(full)
        return kept if kept is not None and kept.status is MemoryStatus.SUPERSEDED else None

    def handoff(self, project_id: str | None, to: str | None = None, session: str = "") -> Handoff:
        """What a session leaves, for the agent that goes on; the latest session with work by default."""
        self.catch_up()
        target = known_agent(to) if to else None
        recent = self.store.events.sessions(project_id, 50)
        for each in [self._session_named(session)] if session else recent:
            parts = checkpoint_of(self.store.memories.of_session(each.id))
            if parts is None or each.agent not in AGENTS:
                continue
            next_agent = target or AGENTS[each.agent]
            theirs = next(
                (s for s in (each, *recent) if (s.agent, s.project_id) == (next_agent.name, each.project_id)),
                None,
            )
            return hand_over(each, parts, AGENTS[each.agent].title, next_agent, theirs, clock.now_ms())
        raise SourceMissing("no work is to be handed over: `backstory timeline --sessions` lists sessions")

    def _session_named(self, name: str) -> Session:
        """The session with this handle, or with this id of an agent's own."""
        for agent in AGENTS:
            if found := self.store.events.session(session_id(agent, ident(name))):
                return found
        view = self.show(name)
        if not isinstance(view, SessionView):
            raise UsageError(f"{name!r} is not a session; `backstory timeline --sessions` lists them")
        return view.session

    def remember(self, text: str, folder: Path, kind: str = "") -> Memory:
        """Keep something that a person says, for the project of a folder; at once, however busy it is here.

        It is of the kind that its words have, or of the one that is asked for.
        """
        project = self.project_at(folder)
        privacy = Privacy(self.settings)
        kept = remembering.remember(
            self.home, self.store, privacy, project, folder, text, kind, clock.now_ms()
        )
        if not self._attended:
            wake_worker(self.home)
        return kept

    def replaced_by(self, memory_id: str) -> list[str]:
        """The older memories whose place a memory took."""
        return self.store.successions.before(memory_id)

    # --- a person's say ----------------------------------------------------------------------------------

    def judge(self, handle: str, act: Act, text: str = "") -> Memory:
        """Do to a memory what a person wants: an event, which a rebuild does again. Gives it as it then is.

        `text` is the new wording of an edit, or the handle of the memory that supersedes it.
        """
        self.catch_up()
        memory = self._kept_memory(handle)
        if act is Act.SUPERSEDE:
            newer = self._kept_memory(text)
            if newer.id == memory.id or newer.project_id != memory.project_id:
                raise UsageError("a memory is superseded by another one of the same project: name that one")
            text = newer.id
        elif act is not Act.EDIT:
            text = ""
        elif not text.strip() or len(text) > _LONGEST_NOTE:
            raise UsageError(f"the new wording must have 1 to {_LONGEST_NOTE} characters")
        now = clock.now_ms()
        project = self.store.events.project(memory.project_id)
        assert project is not None
        # never searched or distilled: what it says is found as the memory itself
        event = Event(
            USER, f"user-{project.id}", Kind.JUDGED, now, Privacy(self.settings).text(text.strip()),
            target=memory.id, reason=act, native_id=f"{act}-{memory.id}-{now}", recalled=True,
        )  # fmt: skip
        key = self.store.events.key(event)
        with self._alone():
            with self.store.transaction():
                added = self.store.events.add([Arrival(event, project, key)])[0]
                self.store.memories.judge(memory.id, act, event.text, added.event_id)
                self.store.jobs.ask(DAY, project.id, now)  # what the wiki tells of it has changed
            prepare.project_file(self.home, self.store, project.id)
        return self._kept_memory(memory.id)

    def _kept_memory(self, handle: str) -> Memory:
        full = full_id(self.store, handle)
        if not full.startswith("m") or (memory := self.store.memories.kept(full)) is None:
            raise SourceMissing(f"{handle!r} is no memory; `backstory review` lists memories with handles")
        return memory

    def memories(
        self,
        kinds: Sequence[MemoryKind],
        statuses: Sequence[MemoryStatus],
        project_id: str | None = None,
        before: tuple[int, str] | None = None,
        limit: int = 50,
        pinned: bool = False,
    ) -> list[Memory]:
        """Memories of these kinds in these states, newest first; for a person who looks through them."""
        self.catch_up()
        return self.store.memories.listed(kinds, statuses, project_id, before, limit, pinned)

    # --- import ----------------------------------------------------------------------------------------

    def import_history(
        self,
        names: Sequence[str],
        wish: Wish,
        path: Path | None = None,
        dry: bool = False,
        said: Callable[[Line], None] = lambda line: None,
        progress: Callable[[int, int], None] = lambda done, of: None,
    ) -> Tally:
        """Bring in what agents have kept of their sessions: of those named, or of all that have something."""
        found = trails_of(names, path)
        privacy = Privacy(self.settings)
        if dry:
            return Import(self._readable_store(), privacy, None, wish, dry).bring(found, said, progress)
        self.catch_up()
        with self._alone():
            places = Places(self.store, self.confirmed(), self.settings.project_monorepo, privacy.place)
            tally = Import(self.store, privacy, places, wish).bring(found, said, progress)
            if tally.events:
                self._work().settle(_SETTLE_SECONDS)
        self._wake_worker()
        return tally

    def _wake_worker(self) -> None:
        """Leave what is still to be done to a worker, if there is any."""
        if self.store.jobs.counts().get("waiting"):
            wake_worker(self.home)

    def import_documents(
        self,
        folder: Path,
        project: Project | None,
        user: str,
        dry: bool = False,
        said: Callable[[Line], None] = lambda line: None,
        progress: Callable[[int, int], None] = lambda done, of: None,
        again: bool = False,
    ) -> Tally:
        """Make a folder's documentation searchable, in its own project or in another one."""
        privacy = Privacy(self.settings)
        if dry:
            store = self._readable_store()
            into = project or (self.project_at(folder) if store else Project("", "", "", "", 0))
            return Documents(store, privacy, folder, into, user, again).bring(dry, said, progress)
        if not folder.exists():
            raise SourceMissing(f"{folder} does not exist: name a folder with documents, or a document")
        self.catch_up()
        with self._alone():
            into = project or self.project_at(folder if folder.is_dir() else folder.parent)
            tally = Documents(self.store, privacy, folder, into, user, again).bring(dry, said, progress)
            if tally.events:
                self._work().settle(_SETTLE_SECONDS)
        return tally

    def _readable_store(self) -> Store | None:
        """The store, if there is one that can be opened; looking does not make one."""
        try:
            return self.store if self.home.database.exists() else None
        except StoreUnusable:
            return None

    def telling(self) -> Memory | None:
        """The memory that says most about the user's own work: the latest of the most telling kind."""
        projects = self.projects()
        for kind in _TELLING:
            found = [m for p in projects for m in self.store.memories.of_project(p.id, [kind], 1)]
            if found:
                return max(found, key=lambda memory: memory.at)
        return None

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
        by_status, by_source = store.views.memory_counts()
        return Status(
            home=self.home.root,
            **counts,
            spooled=self._spooled(),
            quarantined=len(quarantine.listing(self.home)),
            duplicates=books.total("duplicate"),
            failed_hooks=books.total("failed"),
            captured={name: books.total(name) for name in _CAPTURED},
            unindexed=store.passages.unindexed(),
            jobs=store.jobs.counts(),
            briefs=briefs,
            brief_tokens=tokens,
            schema=store.schema_version(),
            database_bytes=self.home.database.stat().st_size,
            sizes=room.taken(self.home, store),
            freeable=room.freeable(store),
            last_event_at=latest[0].event.at if latest else 0,
            worker_running=self._worker_runs(),
            by_status=by_status,
            by_source=by_source,
            worst_attempts=max((job.attempts for job in store.jobs.all("parked")), default=0),
            vectors=store.vectors.counts(),
            spending=spending(self.settings, store),
            problems=(
                *self.problems,
                *filter(None, [store.only_reads]),
                *(
                    f"{path} cannot be read: `backstory doctor --fix` mends that"
                    for path in self.closed_parts()
                ),
                *prepare.notices(store),
                *self._search_problems(),
            ),
        )

    def _worker_runs(self) -> bool:
        try:
            with lock(self.home.worker_lock) as free:
                return not free
        except OSError:  # nobody can take it here
            return False

    def closed_parts(self) -> list[Path]:
        """Files and folders of the home that its owner may not read any more."""
        return [path for path in sorted(self.home.root.iterdir()) if not os.access(path, os.R_OK)]

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
            captured=dict.fromkeys(_CAPTURED, 0),
            jobs={},
            sizes=room.taken(self.home, None),
            freeable={},
            worker_running=False,
            by_status={},
            by_source={},
            worst_attempts=0,
            vectors=(0, 0),
            spending=spending(self.settings, None),
            problems=tuple(self.problems),
        )

    def jobs(self, states: Sequence[str] = ()) -> list[Job]:
        """Work to be done, oldest first; in these states, or in all but done."""
        found = self.store.jobs.all() if self.home.database.exists() else []
        return [job for job in found if (job.state in states if states else job.state != "done")]

    def jobs_called(self, names: Sequence[str]) -> list[Job]:
        """The jobs with these handles, `kind:subject`; a kind, or the beginning of a subject, is enough."""
        waiting = self.jobs(("waiting", "parked"))
        found: dict[tuple[str, str], Job] = {}
        for name in names:
            matching = [j for j in waiting if name == j.kind or f"{j.kind}:{j.subject}".startswith(name)]
            matching = matching or [j for j in waiting if len(name) >= 4 and j.subject.startswith(name)]
            if not matching:
                raise SourceMissing(f"no job waits or is parked as {name!r}; `backstory jobs` lists them")
            found.update({(job.kind, job.subject): job for job in matching})
        return list(found.values())

    def retry_jobs(self, jobs: Sequence[Job], here: bool = False) -> list[Job]:
        """Have jobs tried again, by a worker that is started or here and now; gives those still there."""
        with self.store.transaction():
            changed = [job for job in jobs if self.store.jobs.retry(job, clock.now_ms())]
        if here:
            with self._alone():
                self._work().round()
        else:
            self._wake_worker()
        return changed

    def drop_jobs(self, jobs: Sequence[Job]) -> list[Job]:
        """Take jobs out of the queue; what they were about is asked for again when there is something new."""
        with self.store.transaction():
            return [job for job in jobs if self.store.jobs.drop(job)]

    def writer(self) -> ModelWriter | None:
        """Whoever writes better than the rules do; None without a configured model."""
        if self.settings.model_provider == OFF:
            return None
        return ModelWriter(self.home, self.settings, self.store)

    def spending(self) -> Spending:
        """Who is asked, and what that has taken."""
        return spending(self.settings, self._readable_store())

    def spent_on(self, since: int) -> list[SpentOn]:
        """What calls since then took, by purpose and model."""
        store = self._readable_store()
        return store.ledger.spent_on(since) if store else []

    def model_calls(self, limit: int, since: int = 0) -> list[Call]:
        """The latest calls of models, newest first."""
        store = self._readable_store()
        return store.ledger.latest(limit, since) if store else []

    def resume_models(self) -> None:
        """Let models be asked again after the breaker has stopped all calls."""
        with self.store.transaction():
            resume(self.store, clock.now_ms())
            for job in self.store.jobs.all("waiting"):
                if job.kind in ASKING:
                    self.store.jobs.retry(job, clock.now_ms())
        self._wake_worker()

    def parked(self) -> list[Job]:
        """Jobs that failed too often and wait for a person."""
        return self.store.jobs.all("parked")

    def rebuild(self, progress: Callable[[int, int], None] = lambda done, of: None) -> int:
        """Make everything derived again from the events; gives the number of sessions."""
        self.catch_up()
        with self._alone():
            return self._work().rebuild(progress)

    def reindex(self) -> None:
        """Build the text index again, of memories and events as they are."""
        with self._alone():
            self._work().index_again()

    def prove(self) -> None:
        """Look again whether there are sessions of which nothing was captured."""
        with self._alone():
            self._work().prove(again=True)

    def kept_backups(self) -> list[Contents]:
        """All backups with what they hold, newest first."""
        return backups.listing(self.home)

    def back_up(self) -> Contents:
        """Copy the database, while it is in use, into the backups."""
        if not self.home.database.exists():
            raise SourceMissing("there is nothing to back up yet: the first event makes the database")
        return backups.make(self.home, self.store)

    def restore(self, name: str, really: bool) -> backups.Restored:
        """Go back to a backup, or only tell what that would replace."""
        backup = backups.named(self.home, name)
        if not really:
            return backups.Restored(backup, backups.current(self.home), None)
        with self._alone():
            self.close()
            restored = backups.restore(self.home, backup)
            self._prepare_again()
        return restored

    def repair(self) -> "Repaired":
        """Build a new database from what the damaged one still gives, and put it in its place."""
        from backstory.upkeep.repair import repair

        if not self.home.database.exists():
            raise SourceMissing(f"there is no database at {self.home.database}: nothing to repair")
        with self._alone():
            self.close()
            repaired = repair(self.home)
            with self.store.transaction():
                for sid in self.store.events.all_session_ids():
                    self.store.jobs.ask("transcript", sid, clock.now_ms())
            self._prepare_again()
            self._work().rebuild()
        return repaired

    def _prepare_again(self) -> None:
        """The prepared briefs tell what the database has now; in the worker's lock."""
        shutil.rmtree(self.home.briefs, ignore_errors=True)
        now = clock.now_ms()
        with self.store.transaction():
            for project in self.store.events.projects():
                self.store.jobs.ask("brief", project.id, now)
            for session in self.store.events.sessions(limit=1_000):
                self.store.jobs.ask("brief", session.id, now)
        self._work().round()

    def wanted(self, handles: Sequence[str], **rest: Any) -> Wanted:
        """What is meant by the beginnings of ids, and the rest as it is."""
        return Wanted(tuple(full_id(self.store, handle) for handle in handles), **rest)

    def forget(self, wanted: Wanted, really: bool, agreed: Forgotten | None = None) -> Forgotten:
        """Forget something for good, or only tell everything that would be touched.

        With the plan that somebody `agreed` to, nothing else is forgotten: `Changed` is raised instead.
        """
        self.catch_up()
        if not really:
            return forget.plan(self.home, self.store, wanted)
        with self._alone():
            if waiting(self.home):
                self._work().round()
            what = forget.plan(self.home, self.store, wanted)
            if agreed is not None:
                forget.hold_to(self.store, agreed, what)
            if what:
                self.store.writable()  # else files would go while the rows stay
                forget.carry_out(self.home, self.store, what)
                self._work().round()
            if self.store.forgetting.traces_left() and not self.store.forgetting.erase_traces():
                raise Failed(
                    "it is forgotten, but another process is reading the database and keeps old pages alive: "
                    "the next worker erases them"
                )
        return what

    def clean_up(self, max_age_hours: float, really: bool) -> list[Session]:
        """End sessions in which nothing has happened for so long, or only tell which."""
        self.catch_up()
        with self._alone():
            found = orphans.find(self.store, max_age_hours)
            if really and found:
                with self.store.transaction():
                    orphans.end(self.store, found)
                self._work().round()
        return found

    def scrub(self, really: bool) -> "Scrubbed":
        """Take secrets out of what is stored already, or only tell where some are."""
        from backstory.upkeep.scrub import scrub

        self.catch_up()
        with self._alone():
            found = scrub(self.home, self.store, self.settings, really)
            if really:
                self._work().round()
        return found

    def export_lines(self, project_id: str | None, since: int, until: int) -> Iterator[str]:
        """Everything as JSON lines; of a project or a time only what belongs to its sessions."""
        self.catch_up()
        some = project_id is not None or since > 0 or until < _FOREVER
        return export.lines(self.store, self._sessions_in(project_id, since, until) if some else None)

    def export_markdown(self, project_id: str | None, since: int, until: int) -> Iterator[str]:
        """What was learned, to read."""
        self.catch_up()
        sessions = self._sessions_in(project_id, since, until)
        return export.markdown(self.store, sessions, clock.zone(self.settings.time_zone))

    def learned(self, project_id: str | None, since: int, until: int) -> list[tuple[Session, list[Memory]]]:
        """Sessions with what was learned in each."""
        self.catch_up()
        sessions = self._sessions_in(project_id, since, until)
        return [(session, self.store.memories.of_session(session.id)) for session in sessions]

    def _sessions_in(self, project_id: str | None, since: int, until: int) -> list[Session]:
        every = self.store.events.sessions(project_id, limit=1_000_000, top_level=False)
        return [s for s in reversed(every) if s.last_at >= since and s.started_at < until]

    def import_export(self, path: Path, dry: bool = False) -> tuple[dict[str, int], bool]:
        """Take in an export of another home; gives what was new, and whether its ids go on being met."""
        if dry:
            return export.look(self._readable_store(), path)
        with self._alone():
            new, same_key = export.load(self.store, path)
            with self.store.transaction():
                self.store.memories.index_missing()
            self._work().round()
            self._prepare_again()
        return new, same_key

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
