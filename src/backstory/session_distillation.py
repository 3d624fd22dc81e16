"""The stage that distils: one session's events become its memories, by rules, and with what a model has said.

What a person asked to remember and what another memory tool noted are taken as they are.
"""

import logging
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from backstory import clock, distil, model_pass
from backstory.capture import project_docs
from backstory.capture.note_payload import USER, note_draft
from backstory.distil import claims
from backstory.distil.merge import merge
from backstory.failpoints import step
from backstory.importers.imported_memories import imported_drafts
from backstory.importers.importer_table import FOREIGN
from backstory.model import Draft, Kind, MemoryKind, MemoryStatus, Session, StoredEvent, Tier
from backstory.paths import Home
from backstory.recall import notes
from backstory.settings import Settings
from backstory.store import Store
from backstory.store.job_queue import BRIEF, DAY, REFINE, SUPERSEDE

log = logging.getLogger(__name__)
# So many of a project's rejected memories are looked at: they are not to come back in other words.
_REJECTED = 500


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
        if session is None or session.agent == project_docs.AGENT:
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
        step("distil.made")
        with self._store.transaction():
            self._store.memories.replace(session, drafts, tier, made_by)
            if tier is Tier.RULES:
                self._add_claims(session, drafts, events, ask_model)
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

    def _add_claims(
        self, session: Session, observed: list[Draft], events: list[StoredEvent], ask_model: bool
    ) -> None:
        """Put what models have said beside what the rules observed, and ask one about what is new."""
        said = self._store.ledger.bodies(session.id)
        if said:
            no_more = [MemoryStatus.REJECTED]
            rejected = self._store.memories.listed(claims.KINDS, no_more, session.project_id, None, _REJECTED)
            made = [claim for _, body in said for claim in claims.loads(body)]
            drafts = merge(made, observed, events, rejected)
            self._store.memories.replace(session, drafts, Tier.MODEL, f"{claims.VERSION} {said[-1][0]}")
        if ask_model and model_pass.wants_model(self._settings, self._store, session, events):
            now = clock.now_ms()
            self._store.jobs.ask(REFINE, session.id, now)
            self._store.jobs.thaw(REFINE, now, session.id)

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
