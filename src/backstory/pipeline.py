"""One round of work: drain the spool, read transcripts, distil, prepare briefs, index. All of it resumable.

What is to be done is asked for in the transaction that makes it necessary, so that a kill at any point loses
none of it. Small batches release their spool files only after the briefs are prepared: until then the hook
shows them from the spool, and nothing is hidden from the next session.
"""

import contextlib
import logging
import math
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace

from backstory import clock, distil, job_limits, model_pass
from backstory.capture import coverage_audit, live_transcript, project_docs, written_files
from backstory.capture.confirmed_folders import confirmed
from backstory.capture.drain import Batch, Drain
from backstory.capture.note_payload import USER
from backstory.capture.note_payload import draft as noted
from backstory.capture.privacy import Privacy
from backstory.capture.project_claims import publish_joined
from backstory.capture.project_lookup import Places
from backstory.capture.spool_state import waiting
from backstory.capture.transcript_archive import keep_copy
from backstory.distil import claims
from backstory.distil.merge import merge
from backstory.embed.embedder import Means, check, means, wanted
from backstory.failpoints import step
from backstory.importers.imported_memories import memories as noted_elsewhere
from backstory.importers.importer_table import FOREIGN
from backstory.knowledge.log_writer import Writing
from backstory.llm import governor
from backstory.model import Draft, Kind, MemoryKind, MemoryStatus, Session, StoredEvent, Tier
from backstory.passage_indexing import index_events
from backstory.paths import Home
from backstory.recall import notes, prepare
from backstory.search.embedding import embed_waiting
from backstory.settings import Settings
from backstory.store import Store
from backstory.store.job_queue import COMPILE, DAY, ENDED_MOST, INDEX, LINT, PROVE, REBUILD, REINDEX
from backstory.store.passages import BULK, STEP
from backstory.store.records import Job
from backstory.supersession import succeed
from backstory.upkeep import retention_policy, stale_sessions

log = logging.getLogger(__name__)
# As many spool files as the hook itself can show: a batch up to this size waits for its brief.
_HELD_FILES = 300
# So long a round distils, newest first: an imported history lets pass what comes in meanwhile.
_DISTIL_SECONDS = 3.0
# So long briefs wait while there is more to distil, unless a hook has just left something.
_BRIEFS_SECONDS = 30.0
_AFTER_DISTILLING = ("brief", REINDEX)
_ARCHIVE_SECONDS = 2.0
_EMBED_SECONDS = 2.0
# So many of a project's rejected memories are looked at: they are not to come back in other words.
_REJECTED = 500
# Projects whose briefs are made anew each day: what they say of capture and of the last weeks has aged.
_FRESH_PROJECTS = 100


class Work:
    """Does what is to be done in one home; the caller holds the worker's lock.

    `wanted` tells that somebody waits for that lock: then a round ends after the job at hand, unless hooks
    have just left something that the next brief must tell.
    """

    def __init__(
        self, home: Home, settings: Settings, store: Store, wanted: Callable[[], bool] = lambda: False
    ) -> None:
        self._home = home
        self._wanted = wanted
        self._settings = settings
        self._store = store
        self._privacy = Privacy(settings)
        self._zone = clock.zone(settings.time_zone)
        self._confirmed = confirmed(home)
        self._followed: set[str] = set()
        self._spends = True
        self._vectors_asked_for = False
        self._unfit: str | None = None  # what is wrong with the files of the model; looked at once
        self._prepared_at = time.monotonic()
        self._limits = distil.Limits(
            max_turns=settings.distil_max_turns,
            max_chars=settings.distil_max_chars,
            min_turns_end=settings.distil_min_turns_end,
            min_turns_compact=settings.distil_min_turns_compact,
        )
        with store.transaction():
            store.jobs.reclaim(clock.now_ms(), job_limits.ended(), settings.jobs_max_attempts)
            store.jobs.hasten_stranded(clock.now_ms())

    def round(self) -> int:
        """Do everything that is due now; gives how much was done, 0 when there was nothing."""
        done = self.take_in()
        if self._wanted():
            return done
        return done + self._run_jobs("archive", self._archive, _ARCHIVE_SECONDS)

    def take_in(self, deadline: float = math.inf) -> int:
        """Make what lies in the spool known: events, memories, briefs, indexes; gives how much was done.

        A large backlog is left to the worker when the deadline (of the monotonic clock) has passed.
        """
        self._begin_day()
        self._end_orphans()
        self._end_notice()
        monorepo = self._settings.project_monorepo
        publish_joined(self._store, self._home.joined, self._confirmed, monorepo)
        places = Places(self._store, self._confirmed, monorepo, self._privacy.place, self._home.joined)
        drain = Drain(self._home, self._settings, self._store, places)
        done = 0
        held: list[Batch] = []
        for batch in drain.batches():
            done += len(batch.receipts)
            if len(batch.receipts) <= _HELD_FILES:
                held.append(batch)
            else:
                drain.release(batch)
                self._store.checkpoint()
            if time.monotonic() > deadline:
                break

        def enough() -> bool:
            return not held and (time.monotonic() > deadline or self._wanted())

        done += self._index(lambda: True)  # found at once, whatever a job does to this worker
        for kind, run, seconds in self._stages():
            if kind in _AFTER_DISTILLING and not held and self._behind(kind):
                continue
            done += self._run_jobs(kind, run, seconds, enough)
            if kind == "brief":
                self._prepared_at = time.monotonic()
        for batch in held:
            drain.release(batch)
        done += self._index(
            lambda: time.monotonic() > deadline or waiting(self._home) or self._wanted(),
            BULK if self._store.passages.unindexed() > BULK else STEP,
        )
        if self._wanted():
            return done
        if done or not self._vectors_asked_for:
            self._ask_for_vectors()
        left = min(_EMBED_SECONDS, deadline - time.monotonic())
        return (
            done
            if left <= 0
            else done + self._run_jobs("embed", lambda model: self._embed(model, left), left)
        )

    def _stages(self) -> tuple[tuple[str, Callable[[str], None], float], ...]:
        """What becomes of what was taken in, in this order: the kind of job, who does it, for how long."""
        return (
            ("transcript", self._read_transcript, math.inf),
            ("distil", self._distil, _DISTIL_SECONDS),
            (REBUILD, self._distil_again, _DISTIL_SECONDS),
            (REINDEX, self._reindex, math.inf),
            ("brief", self._prepare, math.inf),
            (PROVE, lambda _: self.prove(again=True), math.inf),
        )

    def _behind(self, kind: str) -> bool:
        """Whether there is more to distil first; but briefs are prepared once in a while all the same.

        A history of thousands of sessions would have its projects' briefs prepared after every few of them.
        """
        waited = kind == "brief" and time.monotonic() - self._prepared_at > _BRIEFS_SECONDS
        return not waited and self._store.jobs.due(("distil", REBUILD), clock.now_ms()) > 0

    def _begin_day(self) -> None:
        now = clock.now_ms()
        today = clock.day_of(now, self._zone)
        if self._store.books.meta("day") != today:
            with self._store.transaction():
                self._store.books.set_meta("day", today)
                for project in self._store.projects.all()[:_FRESH_PROJECTS]:
                    self._store.jobs.ask("brief", project.id, now)

    def _end_orphans(self) -> None:
        """Give sessions that nobody ended an end, at most once an hour."""
        hours, hour = self._settings.sessions_max_silence_hours, str(clock.now_ms() // stale_sessions.HOUR_MS)
        if hours > 0 and self._store.books.meta("orphans") != hour:
            with self._store.transaction():
                self._store.books.set_meta("orphans", hour)
                stale_sessions.end(self._store, stale_sessions.find(self._store, hours))

    def _end_notice(self) -> None:
        """Once a brief has said that no model is asked, the others need not say it again."""
        if governor.told(self._store):
            with self._store.transaction():
                governor.note_told(self._store)
                for project in self._store.projects.all()[:_FRESH_PROJECTS]:
                    self._store.jobs.ask("brief", project.id, clock.now_ms())

    def look_again(self) -> int:
        """Read on in the transcripts that were read: some agents write the last words after their last hook.

        Gives how many of them had something new; the next round distils it.
        """
        followed, self._followed = self._followed, set()
        grown = 0
        for sid in followed:
            session = self._store.events.session(sid)
            with job_limits.limited():
                more = session is not None and live_transcript.catch_up(self._store, session, self._privacy)
            if more:
                grown += 1
                with self._store.transaction():
                    self._store.jobs.ask("distil", sid, clock.now_ms())
        return grown

    def prove(self, again: bool = False) -> None:
        """Look, at most once an hour, for sessions of which nothing was captured; briefs tell of them."""
        now = clock.now_ms()
        hour = str(now // stale_sessions.HOUR_MS)
        if self._store.books.meta("proved") == hour and not again:
            return
        with self._store.transaction():  # before: what ends the worker now does not end the next one, too
            self._store.books.set_meta("proved", hour)
        agents = list(written_files.known(self._home))
        unheard: dict[str, tuple[int, int]] = {}
        with job_limits.limited():
            for session in coverage_audit.compare(
                self._home, self._store, self._settings, agents, unknown_only=True
            ):
                job_limits.progressed()
                if session.missing:
                    sessions, since = unheard.get(session.agent, (0, now))
                    unheard[session.agent] = (sessions + 1, min(since, session.at))
        with self._store.transaction():
            if prepare.note_unheard(self._store, unheard):
                for project in self._store.projects.all()[:_FRESH_PROJECTS]:
                    self._store.jobs.ask("brief", project.id, now)
        self._run_jobs("brief", self._prepare)

    def prune(self) -> None:
        """Archive what has grown old, once a day; makes way for what comes in meanwhile."""
        retention_policy.prune(self._home, self._settings, self._store, lambda: waiting(self._home))

    def write_down(self) -> None:
        """Bring daily logs and wikis up to date: of what was distilled, and once an hour of all projects."""
        if not self._settings.knowledge_enabled:
            return
        now = clock.now_ms()
        hour = str(now // stale_sessions.HOUR_MS)
        if self._store.books.meta("written_down") != hour:
            with self._store.transaction():
                self._store.books.set_meta("written_down", hour)
                for project in self._store.projects.all()[:_FRESH_PROJECTS]:
                    self._store.jobs.ask(DAY, project.id, now)
        hand = Writing(self._home, self._settings, self._store)
        hand.look_at_what_is_shared()
        for kind, run in (
            (DAY, hand.day),
            (COMPILE, hand.compile),
            (LINT, hand.lint),
        ):
            self._run_jobs(kind, run, enough=self._wanted)

    def _run_jobs(
        self,
        kind: str,
        run: Callable[[str], None],
        seconds: float = math.inf,
        enough: Callable[[], bool] = lambda: False,
    ) -> int:
        """Do what is due of a kind for about so long, one piece of it at least; gives how many."""
        done = 0
        deadline = time.monotonic() + seconds
        while not enough() and not (done and time.monotonic() >= deadline):
            if (job := self._lease(kind)) is None:
                break
            done += 1
            try:
                with job_limits.limited():
                    run(job.subject)
            except Exception as error:  # one session's trouble must not stop the others'
                log.exception("%s of %s failed", kind, job.subject)
                with self._store.transaction():
                    state = self._store.jobs.failed(
                        job, repr(error), clock.now_ms(), self._settings.jobs_max_attempts
                    )
                if state == "parked":
                    log.error("%s of %s is not tried again: `backstory jobs` shows it", kind, job.subject)
            else:
                with self._store.transaction():
                    self._store.jobs.done(job, clock.now_ms())
        return done

    def _lease(self, kind: str) -> Job | None:
        with self._store.transaction():
            return self._store.jobs.lease(clock.now_ms(), kind, newest=kind == "distil")

    def _read_transcript(self, sid: str) -> None:
        session = self._store.events.session(sid)
        if session is not None and self._settings.capture_transcripts:
            self._followed.add(sid)
            live_transcript.catch_up(self._store, session, self._privacy)
            step("transcript.read")
            with self._store.transaction():
                for told in filter(None, (sid, session.parent_id)):
                    self._store.jobs.ask("distil", told, clock.now_ms())
                if session.transcript:
                    self._store.jobs.ask("archive", session.transcript, clock.now_ms())

    def _archive(self, key: str) -> None:
        if self._settings.capture_keep_transcripts:
            with contextlib.suppress(OSError):  # the agent may have deleted it already
                keep_copy(self._home, self._store, self._privacy, key)

    def _distil(self, sid: str) -> None:
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
            drafts = noted_elsewhere(session.agent, events)
            tier, made_by = Tier.VERBATIM, session.agent
        elif reason := distil.too_little(session, events, self._limits):
            log.info("session %s: %s", session.native_id, reason)
            self._keep_checkpoint(session, events)
            if not notes.flagged(self._home, session.cwd):  # a folder that the project was not in before
                with self._store.transaction():
                    self._store.jobs.ask("brief", session.project_id, clock.now_ms())
            return
        else:
            drafts = distil.distil_session(session, events, self._limits)
        step("distil.made")
        with self._store.transaction():
            self._store.memories.replace(session, drafts, tier, made_by)
            if tier is Tier.RULES:
                self._add_claims(session, drafts, events)
            self._ask_for_briefs(session)
            if self._settings.knowledge_enabled:
                compacting = bool(events) and events[-1].event.kind is Kind.COMPACTING
                self._store.jobs.ask(DAY, sid if compacting else session.project_id, clock.now_ms())
        step("distil.stored")

    def _distil_notes(self, session: Session) -> None:
        """What people asked to remember, read and written in one go: somebody may be saving another one."""
        with self._store.transaction():
            events = self._store.events.of_session(session.id)
            said = [stored for stored in events if stored.event.kind is Kind.REMEMBERED]
            drafts = [noted(stored.id, stored.event) for stored in said]
            self._store.memories.replace(session, drafts, Tier.VERBATIM, USER)
            self._ask_for_briefs(session)
            if self._settings.knowledge_enabled:
                self._store.jobs.ask(DAY, session.project_id, clock.now_ms())
        step("distil.stored")

    def _add_claims(self, session: Session, observed: list[Draft], events: list[StoredEvent]) -> None:
        """Put what models have said beside what the rules observed, and ask one about what is new."""
        said = self._store.ledger.bodies(session.id)
        if said:
            no_more = [MemoryStatus.REJECTED]
            rejected = self._store.memories.listed(claims.KINDS, no_more, session.project_id, None, _REJECTED)
            made = [claim for _, body in said for claim in claims.loads(body)]
            drafts = merge(made, observed, events, rejected)
            self._store.memories.replace(session, drafts, Tier.MODEL, f"{claims.VERSION} {said[-1][0]}")
        if self._spends and model_pass.wants(self._settings, self._store, session, events):
            now = clock.now_ms()
            self._store.jobs.ask(model_pass.KIND, session.id, now)
            self._store.jobs.thaw(model_pass.KIND, now, session.id)

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
                    self._ask_for_briefs(session)

    def _ask_for_briefs(self, session: Session) -> None:
        now = clock.now_ms()
        self._store.jobs.ask("brief", session.id, now)
        self._store.jobs.ask("brief", session.project_id, now)

    def _prepare(self, subject: str) -> None:
        """Write the file of a project or of a session; their ids begin differently."""
        if subject.startswith("p"):
            succeed(self._store, subject)
            prepare.project_file(self._home, self._store, subject)
        elif (session := self._store.events.session(subject)) is not None and not session.parent_id:
            prepare.session_file(self._home, self._store, session)
        step("brief.prepared")

    def _index(self, interrupted: Callable[[], bool] = lambda: False, limit: int = STEP) -> int:
        done = 0
        while True:
            some = self._index_some(limit)
            done += some
            if not some or interrupted():
                return done

    def _index_some(self, limit: int) -> int:
        """Index the next events; what ended a worker event by event, and after the third time not at all."""
        passages, jobs = self._store.passages, self._store.jobs
        first = passages.first_unindexed()
        tries = 0
        if first is not None:
            with self._store.transaction():
                tries = jobs.begin(INDEX, str(first), clock.now_ms())
        with job_limits.limited(), self._store.transaction():
            if first is not None and tries > ENDED_MOST:
                log.error("event %d is not indexed: it ended the worker %d times", first, tries - 1)
                some = passages.skip_event(first)
            else:
                step("index.begun", str(first))
                some = index_events(self._store, limit if tries <= 1 else 1)
            jobs.finished(INDEX, [str(first)])
        step("index.stored")
        return some

    def _ask_for_vectors(self) -> None:
        """Ask for the vectors that are missing, or for all if another model is to make them."""
        self._vectors_asked_for = True
        model = wanted(self._settings)
        if model and (self._store.vectors.waiting(1) or self._store.vectors.model() != model):
            with self._store.transaction():
                self._store.jobs.ask("embed", model, clock.now_ms())

    def _embed(self, model: str, seconds: float = _EMBED_SECONDS) -> None:
        """Make vectors for a while, and ask to go on if that was not enough."""
        if model != wanted(self._settings):
            return
        self._unfit = check(self._settings) if self._unfit is None else self._unfit
        there = Means(why=self._unfit) if self._unfit else means(self._settings)
        if there.embedder is None:
            log.info("search is %s", there.why)
        elif not embed_waiting(self._store, there.embedder, seconds):
            with self._store.transaction():
                self._store.jobs.ask("embed", model, clock.now_ms())

    def _distil_again(self, sid: str) -> None:
        """A session is distilled because somebody rebuilds: no model is asked about it."""
        self._spends = False
        try:
            self._distil(sid)
        finally:
            self._spends = True

    def _reindex(self, what: str) -> None:
        """Index the memories that the text index lacks, or all of them; the events follow."""
        with self._store.transaction():
            if what == "all":
                self._store.passages.clear()
            self._store.memories.index_missing()
