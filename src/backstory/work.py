"""One round of work: drain the spool, read transcripts, distil, prepare briefs, index. All of it resumable.

Small batches release their spool files only after the briefs are prepared: until then the hook shows them
from the spool, so that a worker killed at any point hides nothing from the next session.
"""

import logging
from collections.abc import Callable, Iterable

from backstory import clock, distil
from backstory.atomic import read_state
from backstory.capture import transcripts
from backstory.capture.drain import Batch, Drain
from backstory.capture.places import Places
from backstory.capture.privacy import Privacy
from backstory.model import Session, Tier
from backstory.paths import Home
from backstory.recall import prepare
from backstory.settings import Settings
from backstory.store import Store
from backstory.store.protocol import Job

log = logging.getLogger(__name__)
# As many spool files as the hook itself can show: a batch up to this size waits for its brief.
_HELD_FILES = 300


class Work:
    """Does what is to be done in one home; the caller holds the worker's lock."""

    def __init__(self, home: Home, settings: Settings, store: Store) -> None:
        self._home = home
        self._settings = settings
        self._store = store
        self._privacy = Privacy(settings)
        self._confirmed = read_state(home.confirmed, {})

    def round(self) -> int:
        """Do everything that is due now; gives how much was done, 0 when there was nothing."""
        places = Places(self._store, self._confirmed, self._settings.project_monorepo)
        drain = Drain(self._home, self._settings, self._store, places)
        done = 0
        held: list[Batch] = []
        touched: set[str] = set()
        for batch in drain.batches():
            done += len(batch.receipts)
            touched |= batch.sessions
            if len(batch.receipts) <= _HELD_FILES:
                held.append(batch)
            else:
                drain.release(batch)
        done += self._run_jobs("transcript", lambda s: self._read_transcript(s, places))
        done += self._run_jobs("distil", lambda s: self._distil(s, touched))
        self._prepare(touched)
        for batch in held:
            drain.release(batch)
        return done + self._index()

    def _run_jobs(self, kind: str, run: Callable[[Session], None]) -> int:
        done = 0
        while (job := self._lease(kind)) is not None:
            done += 1
            try:
                session = self._store.events.session(job.subject)
                if session is not None:
                    run(session)
            except Exception as error:  # one session's trouble must not stop the others'
                log.exception("%s of %s failed", kind, job.subject)
                with self._store.transaction():
                    state = self._store.jobs.failed(
                        job, repr(error), clock.now_ms(), self._settings.jobs_max_attempts
                    )
                if state == "parked":
                    log.error("%s of %s is parked: `backstory status` shows it", kind, job.subject)
            else:
                with self._store.transaction():
                    self._store.jobs.done(job, clock.now_ms())
        return done

    def _lease(self, kind: str) -> Job | None:
        with self._store.transaction():
            return self._store.jobs.lease(clock.now_ms(), kind)

    def _read_transcript(self, session: Session, places: Places) -> None:
        if self._settings.capture_transcripts:
            transcripts.catch_up(self._store, session, places, self._privacy)
            with self._store.transaction():
                self._store.jobs.ask("distil", session.id, clock.now_ms())

    def _distil(self, session: Session, touched: set[str]) -> None:
        limits = distil.Limits(
            max_turns=self._settings.distil_max_turns,
            max_chars=self._settings.distil_max_chars,
            min_turns_end=self._settings.distil_min_turns_end,
            min_turns_compact=self._settings.distil_min_turns_compact,
        )
        events = self._store.events.of_session(session.id)
        if reason := distil.too_little(session, events, limits):
            log.info("SKIP session %s: %s", session.native_id, reason)
            return
        drafts = distil.distil_session(session, events, limits)
        with self._store.transaction():
            self._store.memories.replace(session, drafts, Tier.RULES, distil.VERSION)
        touched.add(session.id)

    def _prepare(self, session_ids: Iterable[str]) -> None:
        projects = set()
        for sid in session_ids:
            if (session := self._store.events.session(sid)) is not None:
                projects.add(session.project_id)
                prepare.session_file(self._home, self._store, session)
        for project_id in projects:
            prepare.project_file(self._home, self._store, project_id)

    def _index(self) -> int:
        done = 0
        while True:
            with self._store.transaction():
                step = self._store.passages.index_events()
            if not step:
                return done
            done += step

    def rebuild(self, progress: Callable[[int, int], None] = lambda done, of: None) -> int:
        """Make everything derived again from the events; gives the number of sessions."""
        ids = self._store.events.all_session_ids()
        with self._store.transaction():
            self._store.passages.clear()
        touched: set[str] = set()
        for number, sid in enumerate(ids, 1):
            if (session := self._store.events.session(sid)) is not None:
                self._distil(session, touched)
            progress(number, len(ids))
        self._prepare(ids)
        self._index()
        return len(ids)
