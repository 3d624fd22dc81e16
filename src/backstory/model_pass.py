"""What a model is asked, if one is configured: about sessions and for the wiki, what is new, within a budget.

Done after a worker's rounds and outside its lock, because an answer takes its time and nobody shall wait for
it. The model's own lock is held instead: one call at a time, whichever process makes it. An answer about a
session is kept by the hash of its question; distilling the session again puts it beside what the rules
observed. What a wiki's articles are introduced with goes into its pages. Whatever goes wrong here, what the
rules made stands.
"""

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import blake2b

from backstory import clock, job_limits
from backstory.atomic import lock
from backstory.capture.privacy import Privacy
from backstory.distil import claims, excerpt
from backstory.distil.claims import Claim
from backstory.distil.excerpt import Part
from backstory.failpoints import step
from backstory.knowledge.log_writer import LogWriter
from backstory.llm.governor import Governor, Purpose, Refused, note_refusal
from backstory.llm.model_provider import OFF, Provider, Question, Trouble, provider
from backstory.llm.prices import token_estimate
from backstory.llm.prose_writer import ModelWriter
from backstory.llm.structured_answer import ask_for
from backstory.model import Session, StoredEvent
from backstory.paths import Home
from backstory.settings import Settings, load_settings
from backstory.store import Store
from backstory.store.job_queue import ASKING, DISTIL, PROSE
from backstory.store.records import Job, ModelAnswer

log = logging.getLogger(__name__)
# So little is not worth a call: a greeting, a question and its answer.
LEAST_CHARS = 400
_CHARS_PER_TOKEN = 3.0  # more cautious than the estimate: a part must not exceed the cap of a call
_LOCK_SECONDS = 0.05
# A try that is due so soon is waited for; a later one is left to the next worker.
_PATIENCE_MS = 6_000


def wants_model(settings: Settings, store: Store, session: Session, events: list[StoredEvent]) -> bool:
    """Whether a model is to be asked about this session now; without a provider never."""
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
    through = store.ledger.read_through(session.id)
    return excerpt.is_due(session, events, through, settings.model_batch_turns, LEAST_CHARS)


class ModelPass:
    """Asks a model what is to be asked in one home."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        store: Store,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._home = home
        self._store = store
        self._pause = pause
        self._follow(settings)

    def _follow(self, settings: Settings) -> None:
        """Ask whom these settings name, and keep to what they say."""
        self._settings = settings
        self._privacy = Privacy(settings)
        self._governor = Governor(settings, self._store, lambda: load_settings(self._home)[0])

    def _on(self) -> bool:
        """Whether a model is to be asked, by the settings as they are now."""
        current, _ = load_settings(self._home)
        if current != self._settings:
            self._follow(current)
        return self._settings.model_provider != OFF

    def run(self, interrupted: Callable[[], bool] = lambda: False) -> int:
        """Do what is due, and what is due very soon; gives how many answers were kept."""
        if not self._on() or self._due_at() is None:
            return 0
        kept = 0
        # what was asked for after the last look, by a process that found the lock held, must not lie there
        while self._due_soon() and not interrupted():
            with lock(self._home.model_lock, wait=_LOCK_SECONDS) as held:
                if not held:
                    log.info("another process asks the model")
                    return kept
                with self._store.transaction():
                    most = self._settings.jobs_max_attempts
                    self._store.jobs.reclaim(clock.now_ms(), job_limits.previous_end(), most, asking=True)
                while self._wait() and self._on() and not interrupted():
                    kept += self._next()
            if not self._on():
                break
        return kept

    def _due_at(self) -> int | None:
        """When the next question is due, or None."""
        found = [due for kind in ASKING if (due := self._store.jobs.due_at(kind)) is not None]
        return min(found, default=None)

    def _due_soon(self) -> bool:
        due = self._due_at()
        return due is not None and due - clock.now_ms() <= _PATIENCE_MS

    def _wait(self) -> bool:
        """Until the next job is due, if that is soon; False if it is not."""
        due = self._due_at()
        if due is None or (wait := due - clock.now_ms()) > _PATIENCE_MS:
            return False
        if wait > 0:
            self._pause(wait / 1000)
        return True

    def _next(self) -> int:
        job = self._lease()
        if job is None:
            return 0
        kept, trouble = 0, ""
        try:
            with job_limits.job_limit(waits=True):
                for _ in self._answers(job):
                    kept += 1
                    job_limits.reset_usage()
        except Refused as refused:
            self._refused(job, refused)
            return kept
        except Trouble as error:
            trouble, wait = str(error), error.retry_after
            log.warning("no answer for %s of %s: %s", job.kind, job.subject, error)
        except Exception as error:  # one subject's trouble must not stop the others'
            trouble, wait = repr(error), 0.0
            log.exception("%s of %s failed", job.kind, job.subject)
        now = clock.now_ms()
        with self._store.transaction():
            if trouble:
                most = self._settings.jobs_max_attempts
                state = self._store.jobs.failed(job, trouble, now, most, int(wait * 1000))
                if state == "parked":
                    log.error("%s of %s is not tried again: `backstory jobs` shows it", job.kind, job.subject)
            else:
                self._store.jobs.done(job, now)
            if kept:
                for kind in ASKING:
                    self._store.jobs.thaw(kind, now)
        return kept

    def _lease(self) -> Job | None:
        """The next job that is due: memories before the wiki, and no history before what was just done."""
        with self._store.transaction():
            for kind in ASKING:
                if (job := self._store.jobs.lease(clock.now_ms(), kind, newest=True)) is not None:
                    return job
        return None

    def _answers(self, job: Job) -> Iterator[object]:
        """Do a job; yields each answer that was kept."""
        if job.kind == PROSE:
            writer = ModelWriter(self._home, self._settings, self._store, alone=True)
            yield from LogWriter(self._home, self._settings, self._store).introduce(job.subject, writer)
            return
        asked = provider(self._settings, "distil", self._store.projects.folders())
        session = self._store.events.session(job.subject)
        if asked is not None and session is not None:
            for part in self._parts(asked, session):
                if self._keep(job, session, part, asked):
                    yield part

    def _parts(self, asked: Provider, session: Session) -> list[Part]:
        room = self._governor.room() - token_estimate(claims.SYSTEM, str(claims.SCHEMA)) - asked.overhead
        chars = int(room * _CHARS_PER_TOKEN)
        if chars < LEAST_CHARS:
            raise Trouble("model.call_tokens leaves no room for a question: raise it", sent=False)
        events = self._store.events.of_session(session.id)
        through = self._store.ledger.read_through(session.id)
        return excerpt.parts(session, events, through, chars, LEAST_CHARS)

    def _keep(self, job: Job, session: Session, part: Part, asked: Provider) -> bool:
        """Ask about one part and keep what is answered; False if that is known already."""
        name = f"{claims.VERSION}\0{asked.name}\0{asked.model}\0{session.id}\0{part.text}"
        key = "a" + blake2b(name.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        if self._store.ledger.answered(key):
            return False
        call_id, said = self._ask(asked, part, Purpose("distil", session.id, job.asked_at))
        step("refine.answered")
        clean = self._privacy.text
        said = [replace(claim, text=clean(claim.text), reason=clean(claim.reason)) for claim in said]
        now = clock.now_ms()
        answer = ModelAnswer(
            key,
            session.id,
            part.first_seq,
            part.last_seq,
            asked.model,
            claims.VERSION,
            claims.dumps(said),
            now,
        )
        with self._store.transaction():
            if self._store.events.session(session.id) is None:
                return False  # forgotten in the meantime
            self._store.ledger.keep(answer)
            self._store.ledger.stored(call_id, now)
            self._store.jobs.ask(DISTIL, session.id, now)
        step("refine.kept")
        return True

    def _ask(self, asked: Provider, part: Part, purpose: Purpose) -> tuple[str, list[Claim]]:
        """The claims of a part, asked for at most twice: an answer that cannot be used is mended once."""
        question = Question(
            claims.SYSTEM, f"Log:\n{part.text}", claims.SCHEMA, self._settings.model_output_tokens
        )
        return ask_for(
            self._governor,
            self._store,
            asked,
            question,
            purpose,
            lambda found: claims.read(found, part),
            self._privacy.text,
        )

    def _refused(self, job: Job, refused: Refused) -> None:
        """No failure: it is left until there is money again; what can never fit is given up."""
        log.warning("no model is asked for %s of %s: %s", job.kind, job.subject, refused)
        now = clock.now_ms()
        with self._store.transaction():
            if refused.until:  # now, if the settings have changed meanwhile
                self._store.jobs.postpone(job, refused.until, str(refused))
            else:
                self._store.jobs.done(job, now)
            note_refusal(self._store, refused, now)
