"""The pipeline: `STAGES` is the table of what becomes of an event, `Pipeline.round` goes through it.

The spool is drained, then each stage does the jobs of its kind. What is to be done is asked for in the
transaction that makes it necessary, so that a kill at any point loses none of it. Small batches release their
spool files only after the briefs are prepared: until then the hook shows them from the spool, and nothing is
hidden from the next session.
"""

import contextlib
import logging
import math
import time
from collections.abc import Callable
from typing import Literal, NamedTuple

from backstory import clock, job_limits
from backstory.capture import coverage_audit, live_transcript, written_files
from backstory.capture.confirmed_folders import confirmed_projects
from backstory.capture.drain import Batch, Drain
from backstory.capture.privacy import Privacy
from backstory.capture.project_claims import publish_joined
from backstory.capture.project_lookup import ProjectLookup
from backstory.capture.spool_state import has_waiting_files
from backstory.capture.transcript_archive import keep_copy
from backstory.embed.embedder import Means, check_model_files, configured_model, load_embedder
from backstory.failpoints import step
from backstory.knowledge.log_writer import LogWriter
from backstory.llm import governor
from backstory.passage_indexing import index_events
from backstory.paths import Home
from backstory.recall import notes, prepare, ready_answers
from backstory.search.embedding import embed_waiting
from backstory.session_distillation import SessionDistiller
from backstory.settings import Settings
from backstory.store import Store
from backstory.store.job_queue import (
    ANSWERS,
    ARCHIVE,
    BRIEF,
    COMPILE,
    DAY,
    DISTIL,
    EMBED,
    ENDED_MOST,
    INDEX,
    LINT,
    NOTES,
    PROSE,
    PROVE,
    REBUILD,
    REFINE,
    REINDEX,
    SUPERSEDE,
    TRANSCRIPT,
)
from backstory.store.passages import BULK, STEP
from backstory.store.records import Job
from backstory.supersession import update_supersessions
from backstory.upkeep import retention_policy, stale_sessions

log = logging.getLogger(__name__)
# As many spool files as the hook itself can show: a batch up to this size waits for its brief.
_HELD_FILES = 300
_EMBED_SECONDS = 2.0
# Projects whose briefs are made anew each day: what they say of capture and of the last weeks has aged.
_FRESH_PROJECTS = 100


class Stage(NamedTuple):
    """A stage of the pipeline: the jobs of one kind, in their turn.

    `seconds` is its slice of a round, `follows` the kinds of job that it may ask for. `waits`: so many
    seconds it may be put off while there is more to distil. `turn`: "first" comes before spool files are
    removed, "then" ends the round, "last" is done when nothing else is left.
    """

    kind: str
    run: Callable[["Pipeline", str], None]
    seconds: float
    follows: tuple[str, ...] = ()
    turn: Literal["first", "then", "last"] = "first"
    waits: float = 0.0
    newest_first: bool = False


# What asks a model (`refine`, `prose`) is in `model_pass.py`, what asks a team's server in
# `share/share_pass.py`: both are done without the worker's lock.
STAGES = (
    Stage(TRANSCRIPT, lambda work, sid: work.read_transcript(sid), math.inf, (DISTIL, ARCHIVE)),
    # the newest first, and not for long: an imported history lets pass what comes in meanwhile
    Stage(
        DISTIL,
        lambda work, sid: work.distiller.distil(sid),
        3.0,
        (SUPERSEDE, BRIEF, DAY, REFINE),
        newest_first=True,
    ),
    Stage(
        REBUILD, lambda work, sid: work.distiller.distil(sid, ask_model=False), 3.0, (SUPERSEDE, BRIEF, DAY)
    ),
    Stage(REINDEX, lambda work, what: work.reindex(what), math.inf, waits=math.inf),
    Stage(SUPERSEDE, lambda work, project: update_supersessions(work.store, project), math.inf, waits=30.0),
    Stage(BRIEF, lambda work, subject: work.prepare_brief(subject), math.inf, (ANSWERS,), waits=30.0),
    Stage(PROVE, lambda work, _: work.prove(again=True), math.inf, (BRIEF,)),
    Stage(
        ANSWERS,
        lambda work, project: ready_answers.write_answers(work.home, work.store, project),
        math.inf,
        waits=30.0,
    ),
    Stage(EMBED, lambda work, model: work.make_vectors(model), _EMBED_SECONDS, (EMBED, NOTES), "then"),
    Stage(
        NOTES, lambda work, project: notes.write_notes(work.home, work.store, project), math.inf, (), "then"
    ),
    Stage(ARCHIVE, lambda work, key: work.copy_transcript(key), 2.0, (), "then"),
    Stage(DAY, lambda work, on: work.log_writer.day(on), math.inf, (COMPILE,), "last"),
    Stage(COMPILE, lambda work, on: work.log_writer.compile(on), math.inf, (COMPILE, LINT, PROSE), "last"),
    Stage(LINT, lambda work, on: work.log_writer.lint(on), math.inf, (), "last"),
)


class Pipeline:
    """Does what is to be done in one home; the caller holds the worker's lock.

    `wanted` tells that somebody waits for that lock: then a round ends after the job at hand, unless hooks
    have just left something that the next brief must tell.
    """

    home: Home
    store: Store
    distiller: SessionDistiller
    log_writer: LogWriter

    def __init__(
        self, home: Home, settings: Settings, store: Store, wanted: Callable[[], bool] = lambda: False
    ) -> None:
        self.home = home
        self._wanted = wanted
        self._settings = settings
        self.store = store
        self._privacy = Privacy(settings)
        self._zone = clock.zone(settings.time_zone)
        self._confirmed = confirmed_projects(home)
        self._followed: set[str] = set()
        self._vectors_asked_for = False
        self._unfit: str | None = None  # what is wrong with the files of the model; looked at once
        self._began_at = time.monotonic()
        self._done_at: dict[str, float] = {}  # when each stage was last gone through
        self.distiller = SessionDistiller(home, settings, store)
        self.log_writer = LogWriter(home, settings, store)
        with store.transaction():
            store.jobs.reclaim(clock.now_ms(), job_limits.previous_end(), settings.jobs_max_attempts)
            store.jobs.hasten_stranded(clock.now_ms())

    def round(self) -> int:
        """Do everything that is due now; gives how much was done, 0 when there was nothing.

        First what lies in the spool: events, memories, briefs. Then vectors and copies of transcripts.
        """
        self._begin_day()
        self._end_orphans()
        self._end_notice()
        done = self._take_in()
        done += self._index(
            lambda: has_waiting_files(self.home) or self._wanted(),
            BULK if self.store.passages.unindexed() > BULK else STEP,
        )
        if done or not self._vectors_asked_for:
            self._ask_for_vectors()
        for stage in STAGES:
            if stage.turn == "then" and not self._wanted():
                done += self._run(stage)
        return done

    def _take_in(self) -> int:
        """Drain the spool, and do what follows from it before its files are removed."""
        monorepo = self._settings.project_monorepo
        publish_joined(self.store, self.home.joined, self._confirmed, monorepo)
        places = ProjectLookup(self.store, self._confirmed, monorepo, self._privacy.place, self.home.joined)
        drain = Drain(self.home, self._settings, self.store, places)
        done = 0
        held: list[Batch] = []
        for batch in drain.batches():
            done += len(batch.receipts)
            if len(batch.receipts) <= _HELD_FILES:
                held.append(batch)
            else:
                drain.release(batch)
                self.store.checkpoint()
        done += self._index(lambda: True)  # found at once, whatever a job does to this worker
        for stage in STAGES:
            if stage.turn == "first" and (held or not self._behind(stage)):
                done += self._run(stage, enough=lambda: not held and self._wanted())
        for batch in held:
            drain.release(batch)
        return done

    def _behind(self, stage: Stage) -> bool:
        """Whether a stage waits, since there is more to distil first; but not for longer than it may.

        A history of thousands of sessions would have its projects' briefs prepared after every few of them.
        """
        last = self._done_at.get(stage.kind, self._began_at)
        waits = time.monotonic() - last <= stage.waits
        return waits and self.store.jobs.due((DISTIL, REBUILD), clock.now_ms()) > 0

    def _begin_day(self) -> None:
        now = clock.now_ms()
        today = clock.day_of(now, self._zone)
        if self.store.meta.get("day") != today:
            with self.store.transaction():
                self.store.meta.set("day", today)
                for project in self.store.projects.all()[:_FRESH_PROJECTS]:
                    self.store.jobs.ask(SUPERSEDE, project.id, now)
                    self.store.jobs.ask(BRIEF, project.id, now)

    def _end_orphans(self) -> None:
        """Give sessions that nobody ended an end, at most once an hour."""
        hours, hour = self._settings.sessions_max_silence_hours, str(clock.now_ms() // stale_sessions.HOUR_MS)
        if hours > 0 and self.store.meta.get("orphans") != hour:
            with self.store.transaction():
                self.store.meta.set("orphans", hour)
                stale_sessions.end_stale_sessions(
                    self.store, stale_sessions.find_stale_sessions(self.store, hours)
                )

    def _end_notice(self) -> None:
        """Once a brief has said that no model is asked, the others need not say it again."""
        if governor.notice_was_given(self.store):
            with self.store.transaction():
                governor.note_told(self.store)
                governor.ask_for_briefs(self.store, clock.now_ms())

    def look_again(self) -> int:
        """Read on in the transcripts that were read: some agents write the last words after their last hook.

        Gives how many of them had something new; the next round distils it.
        """
        followed, self._followed = self._followed, set()
        grown = 0
        for sid in followed:
            session = self.store.events.session(sid)
            with job_limits.job_limit():
                more = session is not None and live_transcript.catch_up(self.store, session, self._privacy)
            if more:
                grown += 1
                with self.store.transaction():
                    self.store.jobs.ask(DISTIL, sid, clock.now_ms())
        return grown

    def prove(self, again: bool = False) -> None:
        """Look, at most once an hour, for sessions of which nothing was captured; briefs tell of them."""
        now = clock.now_ms()
        hour = str(now // stale_sessions.HOUR_MS)
        if self.store.meta.get("proved") == hour and not again:
            return
        with self.store.transaction():  # before: what ends the worker now does not end the next one, too
            self.store.meta.set("proved", hour)
        agents = list(written_files.written_sites(self.home))
        unheard: dict[str, tuple[int, int]] = {}
        with job_limits.job_limit():
            for session in coverage_audit.audit_sessions(
                self.home, self.store, self._settings, agents, unknown_only=True
            ):
                job_limits.reset_usage()
                if session.missing:
                    sessions, since = unheard.get(session.agent, (0, now))
                    unheard[session.agent] = (sessions + 1, min(since, session.at))
        with self.store.transaction():
            if prepare.note_unheard(self.store, unheard):
                for project in self.store.projects.all()[:_FRESH_PROJECTS]:
                    self.store.jobs.ask(BRIEF, project.id, now)
        self._run(next(stage for stage in STAGES if stage.kind == BRIEF))

    def prune(self) -> None:
        """Archive what has grown old, once a day; makes way for what comes in meanwhile."""
        retention_policy.prune_expired(
            self.home, self._settings, self.store, lambda: has_waiting_files(self.home)
        )

    def write_down(self) -> None:
        """Bring daily logs and wikis up to date: of what was distilled, and once an hour of all projects."""
        if not self._settings.knowledge_enabled:
            return
        now = clock.now_ms()
        hour = str(now // stale_sessions.HOUR_MS)
        if self.store.meta.get("written_down") != hour:
            with self.store.transaction():
                self.store.meta.set("written_down", hour)
                for project in self.store.projects.all()[:_FRESH_PROJECTS]:
                    self.store.jobs.ask(DAY, project.id, now)
        self.log_writer.look_at_what_is_shared()
        for stage in STAGES:
            if stage.turn == "last":
                self._run(stage, enough=self._wanted)

    def _run(self, stage: Stage, enough: Callable[[], bool] = lambda: False) -> int:
        """Do the jobs of a stage that are due for about its time, one of them at least; gives how many."""
        done = 0
        deadline = time.monotonic() + stage.seconds
        while not enough() and not (done and time.monotonic() >= deadline):
            if (job := self._lease(stage)) is None:
                break
            done += 1
            try:
                with job_limits.job_limit():
                    stage.run(self, job.subject)
            except Exception as error:  # one session's trouble must not stop the others'
                log.exception("%s of %s failed", stage.kind, job.subject)
                with self.store.transaction():
                    state = self.store.jobs.failed(
                        job, repr(error), clock.now_ms(), self._settings.jobs_max_attempts
                    )
                if state == "parked":
                    log.error(
                        "%s of %s is not tried again: `backstory jobs` shows it", stage.kind, job.subject
                    )
            else:
                with self.store.transaction():
                    self.store.jobs.done(job, clock.now_ms())
        self._done_at[stage.kind] = time.monotonic()
        return done

    def _lease(self, stage: Stage) -> Job | None:
        with self.store.transaction():
            return self.store.jobs.lease(clock.now_ms(), stage.kind, stage.newest_first)

    def read_transcript(self, sid: str) -> None:
        session = self.store.events.session(sid)
        if session is not None and self._settings.capture_transcripts:
            self._followed.add(sid)
            live_transcript.catch_up(self.store, session, self._privacy)
            step("transcript.read")
            with self.store.transaction():
                for told in filter(None, (sid, session.parent_id)):
                    self.store.jobs.ask(DISTIL, told, clock.now_ms())
                if session.transcript:
                    self.store.jobs.ask(ARCHIVE, session.transcript, clock.now_ms())

    def copy_transcript(self, key: str) -> None:
        if self._settings.capture_keep_transcripts:
            with contextlib.suppress(OSError):  # the agent may have deleted it already
                keep_copy(self.home, self.store, self._privacy, key)

    def prepare_brief(self, subject: str) -> None:
        """Write the file of a project or of a session; their ids begin differently."""
        project = subject
        if subject.startswith("p"):
            prepare.project_file(self.home, self.store, subject)
        elif (session := self.store.events.session(subject)) is not None and not session.parent_id:
            prepare.session_file(self.home, self.store, session)
            project = session.project_id
        step("brief.prepared")
        if self.store.projects.get(project) is not None:
            with self.store.transaction():
                self.store.jobs.ask(ANSWERS, project, clock.now_ms())

    def _index(self, interrupted: Callable[[], bool] = lambda: False, limit: int = STEP) -> int:
        done = 0
        while True:
            some = self._index_some(limit)
            done += some
            if not some or interrupted():
                return done

    def _index_some(self, limit: int) -> int:
        """Index the next events; what ended a worker event by event, and after the third time not at all."""
        passages, jobs = self.store.passages, self.store.jobs
        first = passages.first_unindexed()
        tries = 0
        if first is not None:
            with self.store.transaction():
                tries = jobs.begin(INDEX, str(first), clock.now_ms())
        with job_limits.job_limit(), self.store.transaction():
            if first is not None and tries > ENDED_MOST:
                log.error("event %d is not indexed: it ended the worker %d times", first, tries - 1)
                some = passages.skip_event(first)
            else:
                step("index.begun", str(first))
                some = index_events(self.store, limit if tries <= 1 else 1)
            jobs.finished(INDEX, [str(first)])
        step("index.stored")
        return some

    def _ask_for_vectors(self) -> None:
        """Ask for the vectors that are missing, or for all if another model is to make them."""
        self._vectors_asked_for = True
        model = configured_model(self._settings)
        if model and (self.store.vectors.waiting(1) or self.store.vectors.model() != model):
            with self.store.transaction():
                self.store.jobs.ask(EMBED, model, clock.now_ms())

    def make_vectors(self, model: str) -> None:
        """Make vectors for a while, and ask to go on if that was not enough."""
        if model != configured_model(self._settings):
            return
        self._unfit = check_model_files(self._settings) if self._unfit is None else self._unfit
        there = Means(why=self._unfit) if self._unfit else load_embedder(self._settings)
        if there.embedder is None:
            log.info("search is %s", there.why)
        elif not embed_waiting(self.store, there.embedder, _EMBED_SECONDS):
            with self.store.transaction():
                self.store.jobs.ask(EMBED, model, clock.now_ms())
        else:
            self._ask_for_outgrown_notes()

    def _ask_for_outgrown_notes(self) -> None:
        """Notes on commands are looked up by meaning too: again, once there are many more vectors."""
        recent = self.store.projects.all()[:_FRESH_PROJECTS]
        if grown := [each.id for each in recent if notes.outgrown(self.home, self.store, each.id)]:
            with self.store.transaction():
                for project_id in grown:
                    self.store.jobs.ask(NOTES, project_id, clock.now_ms())

    def reindex(self, what: str) -> None:
        """Index the memories that the text index lacks, or all of them; the events follow."""
        with self.store.transaction():
            if what == "all":
                self.store.passages.clear()
            self.store.memories.index_missing()
