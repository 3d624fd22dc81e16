"""What the memory knows: briefs, search, what lies behind a handle, handing over."""

import contextlib
import os
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from backstory import clock, user_notes
from backstory.agents import AGENTS
from backstory.agents import agent as known_agent
from backstory.app.context import Context
from backstory.embed.embedder import QUESTION_SECONDS, Means, load_embedder
from backstory.errors import SourceMissing, StoreUnusable, UsageError
from backstory.hook.brief_text import HANDLE, Row, rows_of, shorten
from backstory.hook.normalize import names_command
from backstory.hook.project_identity import ident, session_id
from backstory.hook.session_brief import json_file
from backstory.model import Kind, Memory, MemoryKind, MemoryStatus, Project, Session, StoredEvent, Tier
from backstory.recall.brief import Brief, brief_for
from backstory.recall.gitpast import names_before
from backstory.recall.handles import full_id
from backstory.recall.handoff import Handoff, checkpoint_of, hand_over
from backstory.recall.standing import Standing
from backstory.search import find, narrowing, reasoning
from backstory.search.answer import Answer, Hit, ReadAs
from backstory.search.asking import own_words
from backstory.search.ranking import Here
from backstory.store import Store
from backstory.store.memories import SHOWN
from backstory.store.records import Filters, Injection

_TELLING = (
    MemoryKind.LESSON,
    MemoryKind.DECISION,
    MemoryKind.PREFERENCE,
    MemoryKind.COMMAND,
    MemoryKind.ATTEMPT,
    MemoryKind.SUMMARY,
)
_LOOKED_THROUGH = 50
# Why a memory in this state is shown to nobody, and the option of `backstory review` that changes it.
_NOT_SHOWN = {
    MemoryStatus.REJECTED: ("it was rejected, and this takes that back", "--restore"),
    MemoryStatus.PROPOSED: ("a model proposed it without evidence, and it waits for your word", "--confirm"),
    MemoryStatus.EXPIRED: ("it has expired, and this brings it back", "--restore"),
}
_WELL_KNOWN = "`git "  # what every agent knows about git says nothing of anybody's own work
# Files that were changed so lately count a little more in a search.
_IN_PLAY_MS = 4 * 3_600_000
_MOST_IN_PLAY = 8


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

    @property
    def commit(self) -> str:
        """What git had when the first of its events happened, or ""."""
        return next((stored.event.where.commit for stored in self.sources if stored.event.where.commit), "")


class Queries(Context):
    """The use cases of recall."""

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
        if filters and Kind.REASONED in filters.kinds:
            return reasoning.search(self.store, question, project_id, filters, most)
        but = own_words(self.store, project_id, os.environ, by_agent, clock.now_ms())

        def ask(store: Store, means: Means = find.BY_WORDS, filters: Filters | None = filters) -> Answer:
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
        answer = user_notes.found_beside(self.home, self.store, answer, most, ask)
        if filters and not answer.hits:
            names = narrowing.renamed(
                self.store, filters, project_id, partial(self._names_before, project_id)
            )
            if names:
                files = tuple(names.get(file, file) for file in filters.files)
                answer = ask(self.store, self.means(), replace(filters, files=files))
                read = tuple(ReadAs(new, old) for new, old in names.items())
                answer = replace(answer, read_as=(*answer.read_as, *read))
        if project_id and not filters:
            answer = self._with_histories(question, project_id, answer, most)
        label = Standing(self.store).label
        return replace(
            answer, hits=tuple(replace(hit, label=label(hit.id, *hit.also)) for hit in answer.hits)
        )

    def _with_histories(self, question: str, project_id: str, answer: Answer, most: int) -> Answer:
        """The answer with how a command that the question names failed here, before what single runs tell."""
        prepared = json_file(str(self.home.notes / f"{project_id}.json"))
        stems = prepared.get("stems")
        if not isinstance(stems, dict) or not any(names_command(question, stem) for stem in stems):
            return answer
        from backstory.failure_history import OF_LATE, failure_histories  # rules that few searches need

        project = self.store.projects.get(project_id)
        told = [
            Hit(
                each.last.id, Kind.TOOL, each.text, 0.0, each.last.session, each.last.agent,
                project.name if project else "", each.last.at, form="history",
            )
            for each in failure_histories(self.store.events.deeds(project_id, OF_LATE))
            if names_command(question, each.stem)
        ]  # fmt: skip
        if not told:
            return answer
        others = [hit for hit in answer.hits if hit.id not in {each.id for each in told}]
        steps = (number for number, hit in enumerate(others) if hit.form == "step")
        place = next(steps, len(others))
        score = others[place].score if place < len(others) else 0.0
        hits = [*others[:place], *(replace(hit, score=score) for hit in told), *others[place:]]
        return replace(answer, hits=tuple(hits[:most]), abstained=False, withheld=False)

    def _names_before(self, project_id: str | None, file: str) -> list[str]:
        """The names that a file of a project had, as far as git knows them, the latest first."""
        project = self.store.projects.get(project_id) if project_id else None
        return names_before(Path(project.root), file) if project and project.root else []

    def files_in_play(self, project_id: str) -> tuple[str, ...]:
        """The names of files that were changed in a project in the last hours."""
        since = clock.now_ms() - _IN_PLAY_MS
        return tuple(self.store.activity.recent_files(project_id, since, _MOST_IN_PLAY))

    def means(self) -> Means:
        """What there is to search by meaning with, and if there is nothing, why."""
        return load_embedder(self.settings, QUESTION_SECONDS)

    def timeline(self, project_id: str | None, since: int, limit: int) -> list[StoredEvent]:
        """The latest events, newest first."""
        self.catch_up(notes=False)
        found = self.store.events.latest(project_id, since, limit)
        if (waits := user_notes.unsaved_notes(self.home, self.store)) is not None:
            with contextlib.closing(waits):
                found = [*waits.events.latest(project_id, since, limit), *found]
            found = sorted(found, key=lambda stored: stored.event.at, reverse=True)[:limit]
        return found

    def sessions(self, project_id: str | None, limit: int) -> list[Session]:
        """The latest sessions, newest first."""
        self.catch_up()
        return self.store.events.sessions(project_id, limit)

    def came_of(self, session: Session, room: int = 220) -> str:
        """What came of a session, as a model said or as its commits and closing words sum it up; or ""."""
        for summary in self.store.memories.of_session(session.id, [MemoryKind.SUMMARY]):
            if summary.tier is Tier.MODEL:
                return shorten(summary.text, room)
        found = self.store.listings.words_for_others(session.id)
        bare = [  # what a command printed says nothing of it
            replace(each, event=replace(each.event, text="")) if each.event.kind is Kind.TOOL else each
            for each in found
        ]
        from backstory.recall import worth  # the rules of distilling: a search need not load them
        from backstory.recall.outcomes import outcome
        from backstory.statements import statements

        told = statements(session, bare)
        around = worth.surroundings([session.id], told)
        return outcome([(worth.worth(each, around), each) for each in told], room, worth.FLOOR)

    def standing_rows(self, project: Project) -> list[Row]:
        """What is known of a project and worth telling, best first: the rows that its briefs choose from."""
        prepared = json_file(str(self.home.briefs / f"{project.id}.json"))
        return [row for row in rows_of(prepared.get("rows")) if self._may_be_shown(row.id)]

    def _may_be_shown(self, handle: str) -> bool:
        if handle.startswith("m"):
            return self.store.memories.memory(handle) is not None
        return self.store.events.event(handle) is not None

    def show(self, handle: str, untold: bool = False) -> SessionView | EventView | MemoryView:
        """What a handle stands for: a session, an event or a memory; the beginning of an id is enough.

        `untold`: a person asks, who may also see a memory of which no agent is told yet.
        """
        self.catch_up(notes=False)
        try:
            return self._view(full_id(self.store, handle), untold)
        except SourceMissing:
            if self._only_told(handle):
                raise SourceMissing(
                    f"the session {handle!r} was told something, and nothing that happened in it is captured "
                    "yet: look again after its next prompt or command"
                ) from None
            if (waits := user_notes.unsaved_notes(self.home, self.store)) is None:
                raise
        with type(self)(self.home, attended=True) as there:
            there._store = waits
            return there._view(full_id(waits, handle))

    def _only_told(self, handle: str) -> bool:
        """Whether it names a session of which there is but a receipt: a note before its first event."""
        names = (handle, *(session_id(agent, handle) for agent in AGENTS))
        store = self.store
        return any(store.briefs.of_session(name) and store.events.session(name) is None for name in names)

    def _view(self, full: str, untold: bool = False) -> SessionView | EventView | MemoryView:
        events = self.store.events
        if full.startswith("m") and (memory := self._shown_memory(full, untold)) is not None:
            sources = [stored for sid in memory.sources if (stored := events.event(sid)) is not None]
            return MemoryView(
                memory,
                tuple(sorted(sources, key=lambda s: (s.event.at, s.seq))),
                Standing(self.store).label(full),
                (*self.store.supersessions.older_than(full), *self.store.memories.gave_way_to(full)),
                self.store.supersessions.newer_than(full) or self.store.memories.model_instead(full),
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
        raise SourceMissing(f"{full!r} is not to be shown{self._why_not(full)}")

    def _shown_memory(self, full: str, untold: bool) -> Memory | None:
        """A memory that may be shown: one in force, or one that is history."""
        if (memory := self.store.memories.memory(full)) is not None:
            return memory
        kept = self.store.memories.kept(full)
        if kept is None:
            return None
        waits = untold and kept.untold and not kept.author
        return kept if waits or kept.status is MemoryStatus.SUPERSEDED else None

    def _why_not(self, full: str) -> str:
        """Why a memory is not shown, and what its user can do."""
        if (kept := self.store.memories.kept(full)) is None:
            return ": it was forgotten, and only a backup from before still has it" * full.startswith("m")
        if kept.author and kept.status in SHOWN:
            return f": its author is muted; `backstory team unmute {kept.author}` takes that back"
        why, option = _NOT_SHOWN.get(kept.status, ("", ""))
        return f": {why}; `backstory review {full[:HANDLE]} {option}`" if why else ""

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

    def replaced_by(self, memory_id: str) -> list[str]:
        """The older memories whose place a memory took."""
        return self.store.supersessions.older_than(memory_id)

    def telling(self, most: int = 3) -> list[Memory]:
        """What says most about the user's own work: of each telling kind what most sessions showed."""
        projects = self.projects()
        best = []
        for kind in _TELLING:
            found = [
                memory
                for project in projects
                for memory in self.store.memories.of_project(project.id, [kind], _LOOKED_THROUGH)
                if not memory.text.startswith(_WELL_KNOWN)
            ]
            if found:
                best.append(max(found, key=lambda memory: (memory.pinned, memory.seen, memory.at)))
        return best[:most]

    def busiest_project(self) -> Project | None:
        """The project with most sessions, of those that have a folder."""
        rooted = [project for project in self.projects() if project.root]
        count = self.store.listings.session_activity
        return max(rooted, key=lambda project: len(count(0, project.id)), default=None)

    def kept_by_agent(self) -> list[tuple[str, int, int]]:
        """Each agent with its sessions and their events, as every list of sessions counts them."""
        counted: dict[str, list[int]] = {}
        for each in self.store.listings.session_activity(0):
            counted.setdefault(each.agent, []).append(each.events)
        return [(agent, len(events), sum(events)) for agent, events in sorted(counted.items())]
