"""What a model is asked, if one is configured: about sessions and for the wiki, what is new, within a budget.

Done after a worker's rounds and outside its lock, because an answer takes its time and nobody shall wait
for it. The model's own lock is held instead: one call at a time, whichever process makes it. A session is
asked about once, in the order of the sessions, together with the memories that it may touch; the answer is
kept, and merged with what the rules observed before the next session is asked about. What a wiki's articles
are introduced with is asked for once the wiki has that. Whatever goes wrong here, what the rules made stands.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b

from backstory import clock, job_limits
from backstory.atomic import lock
from backstory.capture.privacy import Privacy
from backstory.distil import operations
from backstory.distil.excerpt import Excerpt, excerpt, extent
from backstory.distil.operations import Evidence
from backstory.distil.prose import shorten
from backstory.failpoints import step
from backstory.knowledge.log_writer import LogWriter
from backstory.llm.governor import Governor, Purpose, Refused, note_refusal
from backstory.llm.model_provider import OFF, Provider, Question, Trouble, Unready, provider
from backstory.llm.prices import token_estimate
from backstory.llm.prose_writer import ModelWriter
from backstory.llm.structured_answer import ask_for
from backstory.model import Memory, MemoryKind, Session, Speaker, speaker
from backstory.paths import Home
from backstory.revision import by_touch, known_to
from backstory.session_distillation import SessionDistiller
from backstory.settings import Settings, load_settings
from backstory.store import Store
from backstory.store.job_queue import ASKING, DISTIL, PROSE
from backstory.store.records import Job, ModelAnswer
from backstory.supersession import update_supersessions

log = logging.getLogger(__name__)
_CHARS_PER_TOKEN = 3.0  # more cautious than the estimate: a question must not exceed the cap of a call
_LEAST_ROOM, _MOST_ROOM = 400, 12_000  # characters of an excerpt
_MEMORY_CHARS, _MEMORY_TEXT, _MEMORIES = (
    2_000,
    220,
    200,
)  # what is shown of what is known, of each, of how many
_KINDS = (*operations.KINDS, MemoryKind.NEXT_STEP)
_SPEAKERS = {Speaker.USER: "the user said", Speaker.AGENT: "an agent said", Speaker.TOOL: "a tool said"}
_LOCK_SECONDS, _MERGE_SECONDS = 0.05, 5.0
# A try that is due so soon is waited for; a later one is left to the next worker.
_PATIENCE_MS = 6_000
_UNREADY_MS = 15 * 60_000


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
        self._left_to_worker = False
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
                while self._wait() and self._on() and not self._left_to_worker and not interrupted():
                    kept += self._next()
            if not self._on() or self._left_to_worker:
                break
        return kept

    def _due_at(self) -> int | None:
        """When the next question is due, or None."""
        now = clock.now_ms()
        found = [due for kind in ASKING if (due := self._store.jobs.due_at(kind, now)) is not None]
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
        except Unready as unready:  # the next worker may have what this one lacks
            self._refused(job, Refused("unready", str(unready), clock.now_ms() + _UNREADY_MS))
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
        """The next job that is due: memories before the wiki, sessions in their order, imported ones last."""
        with self._store.transaction():
            for kind in ASKING:
                if (job := self._store.jobs.lease_in_order(clock.now_ms(), kind)) is not None:
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
        if asked is not None and session is not None and self._keep(job, session, asked):
            yield session
            self._merge(session)

    def _room(self, asked: Provider, rest: str) -> int:
        """How many characters an excerpt may have beside the rest of the question."""
        fixed = token_estimate(operations.SYSTEM, str(operations.SCHEMA), rest) + asked.overhead
        room = min(int((self._governor.room() - fixed) * _CHARS_PER_TOKEN), _MOST_ROOM)
        if room < _LEAST_ROOM:
            raise Trouble("model.call_tokens leaves no room for a question: raise it", sent=False)
        return room

    def _keep(self, job: Job, session: Session, asked: Provider) -> bool:
        """Ask about what is new in a session and keep the answer; False if nothing is, or it is known."""
        events = self._store.events.of_session(session.id)
        through = self._store.ledger.read_through(session.id)
        told = excerpt(session, events, through, self._room(asked, "x" * _MEMORY_CHARS))
        if told is None:
            return False
        name = f"{operations.VERSION}\0{asked.name}\0{asked.model}\0{session.id}\0{told.text}"
        key = "a" + blake2b(name.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        if self._store.ledger.answered(key):
            return False
        known = self._known(session, told)
        question = Question(
            operations.SYSTEM,
            _question(
                session, told, known, clock.day_of(session.started_at, clock.zone(self._settings.time_zone))
            ),
            operations.SCHEMA,
            self._settings.model_output_tokens,
        )
        evidence = Evidence(told, tuple(events), known)
        call_id, said = ask_for(
            self._governor,
            self._store,
            asked,
            question,
            Purpose("distil", session.id, job.asked_at),
            lambda found: operations.read_operations(found, evidence),
            self._privacy.text,
        )
        step("refine.answered")
        clean = self._privacy.text
        said = [replace(each, text=clean(each.text), reason=clean(each.reason)) for each in said]
        now = clock.now_ms()
        body = operations.dumps(said)
        answer = ModelAnswer(
            key, session.id, told.first_seq, told.last_seq, asked.model, operations.VERSION, body, now
        )
        with self._store.transaction():
            if self._store.events.session(session.id) is None:
                return False  # forgotten in the meantime
            self._store.ledger.keep(answer)
            self._store.ledger.stored(call_id, now)
            self._store.jobs.ask(DISTIL, session.id, now)
        step("refine.kept")
        return True

    def _known(self, session: Session, told: Excerpt) -> dict[str, Memory]:
        """The memories that the session may touch, with short ids, as many as have room."""
        found = known_to(self._store, session.id, session.project_id, _KINDS, _MEMORIES)
        known: dict[str, Memory] = {}
        left = _MEMORY_CHARS
        for least, memory in by_touch(found, session.id, told.text):
            size = extent(_as_known(memory)) + 5
            if size <= left - least * _MEMORY_CHARS:
                left -= size
                known[f"m{len(known) + 1}"] = memory
        return known

    def _merge(self, session: Session) -> None:
        """Put what was answered in its place: the next session is asked about with it in view.

        Another worker that is at work does that itself, and goes on with the rest.
        """
        with lock(self._home.worker_lock, wait=_MERGE_SECONDS) as held:
            if not held:
                self._left_to_worker = True
                return
            SessionDistiller(self._home, self._settings, self._store).distil(session.id, ask_model=False)
            update_supersessions(self._store, session.project_id)

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


def _question(session: Session, told: Excerpt, known: Mapping[str, Memory], day: str) -> str:
    """What a model is asked about a session."""
    where = " · ".join(" ".join(each.split()) for each in (session.project_name, session.branch, day) if each)
    memories = "\n".join(f"{name} {_as_known(memory)}" for name, memory in known.items()) or "(none)"
    return f"Project: {where}\n\nMemories:\n{memories}\n\nLog:\n{told.text}"


def _as_known(memory: Memory) -> str:
    who = _SPEAKERS.get(speaker(memory.said_by), "")
    return f"{memory.kind}{f', {who}' if who else ''}: {shorten(memory.text, _MEMORY_TEXT)}"
