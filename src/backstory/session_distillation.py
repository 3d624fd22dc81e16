"""The stage that distils: one session's events become its memories, by rules, and with what a model has said.

What a person asked to remember and what another memory tool noted are taken as they are.
"""

import logging
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from backstory import clock, delegated_prompts, distil
from backstory.attribution import TEAM
from backstory.capture import project_docs
from backstory.capture.note_payload import USER, note_draft
from backstory.distil import excerpt, operations
from backstory.distil.merge import merge
from backstory.failpoints import step
from backstory.importers.imported_memories import imported_drafts
from backstory.importers.importer_table import FOREIGN
from backstory.llm.model_provider import OFF
from backstory.model import Draft, Kind, MemoryKind, MemoryStatus, Session, StoredEvent, Tier
from backstory.paths import Home
from backstory.recall import notes
from backstory.settings import Settings
from backstory.store import Store
from backstory.store.job_queue import BRIEF, DAY, DISTIL, REFINE, SUPERSEDE

log = logging.getLogger(__name__)
# So many of a project's rejected memories are looked at: they are not to come back in other words.
_REJECTED = 500
# So little is not worth a call: a greeting, a question and its answer.
_LEAST_CHARS = 400


class SessionDistiller:
    """Distils sessions of one home, and asks for what follows from that."""

    def __init__(self, home: Home, settings: Settings, store: Store) -> None:
        self._home = home
        self._settings = settings
        self._store = store
        self._limits = distil.Limits(
            max_turns=settings.distil_max_turns,
            max_chars=settings.distil_max_chars,
            min_turns_end=settings.distil_min_turns_end,
            min_turns_compact=settings.distil_min_turns_compact,
        )

    def distil(self, sid: str, ask_model: bool = True) -> None:
        """Replace a session's memories by what its events give now; a model is asked if `ask_model`."""
        step("distil.begun", sid)
        session = self._store.events.session(sid)
        if session is None or session.agent in (project_docs.AGENT, TEAM):
            return
        if session.agent == USER:
            self._distil_notes(session)
            return
        events = self._with_subagents(session)
        tier, made_by = Tier.RULES, distil.VERSION
        if session.agent in FOREIGN:
            drafts = imported_drafts(session.agent, events)
            tier, made_by = Tier.VERBATIM, session.agent
        elif reason := distil.too_little(session, events, self._limits):
            log.info("session %s: %s", session.native_id, reason)
            self._keep_checkpoint(session, events)
            if not notes.flagged(self._home, session.cwd):  # a folder that the project was not in before
                with self._store.transaction():
                    self._store.jobs.ask(BRIEF, session.project_id, clock.now_ms())
            return
        else:
            drafts = distil.distil_session(session, events, self._limits)
            drafts = delegated_prompts.whose(self._store, sid, events, drafts)
        step("distil.made")
        with self._store.transaction():
            if tier is not Tier.RULES:
                self._store.memories.replace(session, drafts, tier, made_by)
            else:
                self._revise(session, drafts, events)
                for started in delegated_prompts.started_sessions(self._store, events):
                    self._store.jobs.ask(DISTIL, started, clock.now_ms())
                if ask_model and self._wants_model(session, events):
                    self._store.jobs.ask(REFINE, session.id, clock.now_ms())
                    self._store.jobs.thaw(REFINE, clock.now_ms(), session.id)
            compacting = bool(events) and events[-1].event.kind is Kind.COMPACTING
            self._ask_for_what_follows(session, sid if compacting else session.project_id)
        step("distil.stored")

    def _distil_notes(self, session: Session) -> None:
        """What people asked to remember, read and written in one go: somebody may be saving another one."""
        with self._store.transaction():
            events = self._store.events.of_session(session.id)
            said = [stored for stored in events if stored.event.kind is Kind.REMEMBERED]
            drafts = [note_draft(stored.id, stored.event) for stored in said]
            self._store.memories.replace(session, drafts, Tier.VERBATIM, USER)
            self._ask_for_what_follows(session, session.project_id)
        step("distil.stored")

    def _revise(self, session: Session, observed: list[Draft], events: list[StoredEvent]) -> None:
        """Store what the rules observed, and beside it what models have said."""
        memories = self._store.memories
        said = self._store.ledger.bodies(session.id)
        revised: list[Draft] = []
        if said:
            kinds = (*operations.KINDS, MemoryKind.NEXT_STEP)
            rejected = memories.listed(kinds, [MemoryStatus.REJECTED], session.project_id, None, _REJECTED)
            made = [operation for _, body in said for operation in operations.loads(body)]
            merged = merge(made, observed, events, rejected)
            revised = delegated_prompts.whose(self._store, session.id, events, merged)
        summed_up = any(draft.kind is MemoryKind.SUMMARY for draft in revised)
        plain = [draft for draft in observed if not (summed_up and draft.kind is MemoryKind.SUMMARY)]
        memories.replace(session, plain, Tier.RULES, distil.VERSION)
        memories.replace(session, revised, Tier.MODEL, f"{operations.VERSION} {said[-1][0]}" if said else "")

    def _wants_model(self, session: Session, events: list[StoredEvent]) -> bool:
        """Whether a model is to be asked about this session now; without a provider never."""
        settings = self._settings
        if settings.model_provider == OFF or session.parent_id:
            return False
        if session.imported_by and not settings.model_imported:
            return False
        if session.event_count > settings.model_session_events:
            log.warning(
                "session %s has %d events, more than model.session_events (%d): no model reads it any more",
                session.id, session.event_count, settings.model_session_events,
            )  # fmt: skip
            return False
        through = self._store.ledger.read_through(session.id)
        return excerpt.is_due(session, events, through, settings.model_batch_turns, _LEAST_CHARS)

    def _with_subagents(self, session: Session) -> list[StoredEvent]:
        """A session's events, and in their places what its sub-agents did with tools."""
        own = self._store.events.of_session(session.id)
        theirs = [
            stored
            for child in self._store.events.children(session.id)
            for stored in self._store.events.of_session(child.id)
            if stored.event.kind is Kind.TOOL
        ]
        if not theirs:
            return own
        starts = [stored.event.at for stored in own if stored.event.kind is Kind.PROMPT]
        placed = [replace(stored, turn=bisect_right(starts, stored.event.at)) for stored in theirs]
        return sorted([*own, *placed], key=lambda stored: (stored.event.at, stored.seq))

    def _keep_checkpoint(self, session: Session, events: Sequence[StoredEvent]) -> None:
        """However short a session is: when it is being compacted, it must know what it was doing."""
        relaxed = replace(self._limits, min_turns_compact=self._limits.min_turns_end)
        for draft in distil.distil_session(session, events, relaxed):
            if draft.kind is MemoryKind.CHECKPOINT:
                with self._store.transaction():
                    self._store.memories.add(session, draft, Tier.RULES, distil.VERSION)
                    self._ask_for_what_follows(session)

    def _ask_for_what_follows(self, session: Session, logged: str = "") -> None:
        """Ask for the stages after this one; `logged` is the project or session to write a log of."""
        now = clock.now_ms()
        self._store.jobs.ask(SUPERSEDE, session.project_id, now)
        self._store.jobs.ask(BRIEF, session.id, now)
        self._store.jobs.ask(BRIEF, session.project_id, now)
        if logged and self._settings.knowledge_enabled:
            self._store.jobs.ask(DAY, logged, now)
