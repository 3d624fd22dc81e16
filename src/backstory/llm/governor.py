"""Every call of a model goes through here: estimated, held against the caps, written down, then made.

The row in the ledger is there before the call, with its estimate; two processes cannot spend the same
money twice, and what a kill interrupts counts as spent. The settings are read before each call: who turns
models off, or lowers a cap, stops a worker that is in the middle of asking.
"""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from backstory import clock
from backstory.errors import Failed
from backstory.llm import breaker
from backstory.llm.model_provider import (
    LATER,
    OFF,
    PURPOSES,
    Provider,
    Question,
    Reply,
    Trouble,
    answer_seconds,
    model_for,
)
from backstory.llm.prices import call_cost, format_money, price_of, token_estimate
from backstory.llm.spending_caps import Cap, cap_period, spending_caps
from backstory.settings import Settings
from backstory.store import Store
from backstory.store.job_queue import ASKING, BRIEF
from backstory.store.model_ledger import ANOMALY, FAILED, OK, OPEN
from backstory.store.records import Call, Spent

_HOUR_MS = 3_600_000
_RESUMED = "model.resumed_at"
_SAID = "model.said"
SAID_ONCE = ("day", "month", "breaker")
_MONTH_MS = 31 * 24 * _HOUR_MS
# A server with a short context reads the end of a question and tells how much that was. No context is shorter
# than the one number; no estimate is as far off as the other.
_LEAST_CONTEXT, _READ_WHOLE = 1_000, 0.6


class Refused(Failed):
    """A call that the governor does not allow now; `until` says when it may be tried again, 0: never."""

    def __init__(self, scope: str, why: str, until: int) -> None:
        super().__init__(why)
        self.scope = scope
        self.until = until


class GovernedReply(NamedTuple):
    """A reply, and the row that its call has in the ledger."""

    call_id: str
    reply: Reply


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a call is for: its name in the ledger, its session if it has one, when the work became due."""

    name: str
    session_id: str = ""
    finalized_at: int = 0


class Governor:
    """Allows or refuses calls in one home; the caller holds the model's lock.

    `current` reads the settings as they are now; without it those that were given hold.
    """

    def __init__(
        self, settings: Settings, store: Store, current: Callable[[], Settings] | None = None
    ) -> None:
        self._settings = settings
        self._store = store
        self._current = current
        self._caps: dict[str, Cap] = spending_caps(settings)
        self._zone = clock.zone(settings.time_zone)

    def room(self) -> int:
        """How many tokens a question of one call may have, its system text included."""
        return max(self._caps["call"].tokens - self._settings.model_output_tokens, 0)

    def ask(self, provider: Provider, question: Question, purpose: Purpose) -> GovernedReply:
        """Make a call, if it is allowed: `Refused` if not, `Trouble` if there is no answer."""
        now = clock.now_ms()
        self._heed_changes(now)
        price = price_of(provider.model, self._settings.model_prices)
        inward = (
            token_estimate(question.system, question.text, json.dumps(question.schema)) + provider.overhead
        )
        most = call_cost(price, inward, question.max_tokens)
        call = Call(
            f"c{uuid.uuid4().hex[:14]}", purpose.name, purpose.session_id, provider.name, provider.model,
            purpose.finalized_at or now, now, None, None, None, OPEN, "", inward, question.max_tokens, most,
        )  # fmt: skip
        with self._store.transaction():
            self._allow(call, now)
            self._store.ledger.open(call)
        try:
            reply = provider.ask(question)
            # halves of characters, which JSON can spell, are no text that can be kept
            reply = replace(reply, text=reply.text.encode("utf-8", "replace").decode())
            _raise_if_useless(provider, question, reply, inward)
        except Trouble as trouble:
            took = (call.tokens_in, 0) if trouble.sent else (0, 0)
            said = f"{trouble} ({trouble.said})" if trouble.said else str(trouble)
            self._settle(call, FAILED, said, took, price)
            raise
        took = reply.tokens_in or inward, reply.tokens_out or token_estimate(reply.text)
        odd = breaker.is_anomalous(inward + question.max_tokens, sum(took))
        error = f"{sum(took):,} tokens, at most {inward + question.max_tokens:,} were expected" if odd else ""
        if reply.cut and not odd:
            error = f"cut off after {question.max_tokens:,} tokens (model.output_tokens)"
        self._settle(call, ANOMALY if odd else OK, error, took, price)
        if not odd:
            self._end_notice(now)
        return GovernedReply(call.id, reply)

    def _end_notice(self, now: int) -> None:
        """A call succeeded: no brief is to say that none is made."""
        if spending_notice(self._store):
            with self._store.transaction():
                note_told(self._store)
                ask_for_briefs(self._store, now)

    def _heed_changes(self, now: int) -> None:
        """Follow the settings as they are now; `Refused` if nobody, or somebody else, is to be asked."""
        if self._current is None:
            return
        current = self._current()
        if current.model_provider == OFF:
            raise Refused(OFF, "model.provider is off", now)
        if _who(current) != _who(self._settings):
            raise Refused("changed", "another model is to be asked", now)
        self._settings, self._caps = current, spending_caps(current)

    def _settle(
        self, call: Call, outcome: str, error: str, took: tuple[int, int], price: tuple[int, int] | None
    ) -> None:
        settled = call._replace(
            answered_at=clock.now_ms(), outcome=outcome, error=error, tokens_in=took[0], tokens_out=took[1],
            cost=call_cost(price, *took),
        )  # fmt: skip
        with self._store.transaction():
            self._store.ledger.settle(settled)

    def _allow(self, call: Call, now: int) -> None:
        """Raise `Refused` if this call is one too many."""
        ledger = self._store.ledger
        until, why = self.paused(now)
        if until > now:
            raise Refused("breaker", why, until)
        if ledger.spent(now - _HOUR_MS).calls >= self._settings.model_calls_hour:
            raise Refused(
                "hour",
                f"{self._settings.model_calls_hour} calls in an hour (model.calls_hour)",
                now + _HOUR_MS,
            )
        for scope, cap in self._caps.items():
            spent, after = Spent(0, 0, 0), 0
            if scope == "session" and call.session_id:
                spent = ledger.spent(0, call.session_id)
            elif scope in ("day", "month"):
                since, after = cap_period(scope, now, self._zone)
                spent = ledger.spent(since)
            if reason := cap.exceeded(spent, call.tokens_in + call.tokens_out, call.cost):
                raise Refused(scope, reason, after)

    def paused(self, now: int) -> tuple[int, str]:
        """Until when the breaker is open, and why; (0, "") if it is closed."""
        resumed = int(self._store.meta.get(_RESUMED) or 0)
        until, why = breaker.open_until(self._store.ledger.latest(breaker.LOOK_BACK, resumed))
        return (until, why) if until > now else (0, "")


def _raise_if_useless(provider: Provider, question: Question, reply: Reply, estimated: int) -> None:
    """A `Trouble` if nothing was said, or if what was asked was not read to its end."""
    if not reply.text.strip():
        why = f": it used up {question.max_tokens:,} tokens before; raise model.output_tokens"
        raise Trouble(f"{provider.model} answered with nothing" + (why if reply.cut else ""), LATER)
    if _LEAST_CONTEXT <= reply.tokens_in < estimated * _READ_WHOLE:
        raise Trouble(
            f"{provider.model} read {reply.tokens_in:,} of about {estimated:,} tokens: its context is too "
            "small. Use model.provider ollama, which asks for what it needs, start the server with a longer "
            "context, or lower model.call_tokens",
            LATER,
        )


def _who(settings: Settings) -> tuple[str, ...]:
    """Whom the settings name."""
    return (
        settings.model_provider,
        settings.model_url,
        settings.model_key_env,
        settings.model_distil,
        settings.model_compile,
    )


def resume_calls(store: Store, now: int) -> None:
    """A person says that calls may be made again: what went wrong before counts no more."""
    store.meta.set(_RESUMED, str(now))


def note_refusal(store: Store, refused: Refused, now: int) -> bool:
    """Write that the next brief says why no model is asked, once each; True if that is news."""
    if refused.scope not in SAID_ONCE:
        return False
    key = f"{refused.scope} {refused.until if refused.scope != 'breaker' else now // (24 * _HOUR_MS)}"
    said = json.loads(store.meta.get(_SAID) or "{}")
    if said.get("key") == key:
        return False
    briefs, _ = store.briefs.totals()
    store.meta.set(_SAID, json.dumps({"key": key, "why": str(refused), "briefs": briefs}))
    ask_for_briefs(store, now)
    return True


def ask_for_briefs(store: Store, now: int) -> None:
    """Have the briefs of projects that somebody works on prepared anew; inside a transaction."""
    for project in store.projects.all():
        if project.seen_at > now - _MONTH_MS:
            store.jobs.ask(BRIEF, project.id, now)


def spending_notice(store: Store) -> str:
    """What the next brief says of models that are not asked; "" once a brief has said it."""
    said = json.loads(store.meta.get(_SAID) or "{}")
    if not said.get("why") or store.briefs.totals()[0] > said["briefs"]:
        return ""
    return f"Backstory asks no model for now, and goes on by rules: {said['why']}. See `backstory cost`"


def notice_was_given(store: Store) -> bool:
    """Whether a brief has said it, and nobody has written that down yet."""
    said = json.loads(store.meta.get(_SAID) or "{}")
    return bool(said.get("why")) and store.briefs.totals()[0] > said["briefs"]


def note_told(store: Store) -> None:
    """Write that a brief has said it."""
    said = json.loads(store.meta.get(_SAID) or "{}")
    store.meta.set(_SAID, json.dumps({"key": said.get("key", "")}))


@dataclass(frozen=True, slots=True)
class Spending:
    """What models take, for people: who is asked, what today and this month took, what the caps are."""

    provider: str
    models: dict[str, str]
    today: Spent
    month: Spent
    caps: dict[str, Cap]
    paused_until: int
    paused_why: str
    unpriced: tuple[str, ...]
    under_way: int = 0
    waiting: int = 0
    waits_for: str = ""

    @property
    def line(self) -> str:
        """All of it in one line."""
        if self.provider == OFF:
            sent = f", but {self.under_way} sent before is not answered yet" if self.under_way else ""
            return f"off: nothing is sent{sent}"
        day = self.caps["day"]
        today = self.today
        line = (
            f"{self.provider} {self.models['distil']}: {today.calls:,} calls today, "
            f"{today.tokens:,} of {day.tokens:,} tokens, "
            f"{format_money(today.cost)} of {format_money(day.money)}"
        )
        line += f"; {self.under_way} under way" if self.under_way else ""
        line += f"; {self.waiting} wait: {self.waits_for}" if self.waits_for and not self.paused_until else ""
        return f"{line}; PAUSED: {self.paused_why}" if self.paused_until else line


def spending_report(settings: Settings, store: Store | None) -> Spending:
    """How things stand."""
    now, zone = clock.now_ms(), clock.zone(settings.time_zone)
    models = {purpose: model_for(settings, purpose) for purpose in PURPOSES}
    until, why = Governor(settings, store).paused(now) if store else (0, "")
    sums = [
        store.ledger.spent(cap_period(scope, now, zone)[0]) if store else Spent(0, 0, 0)
        for scope in ("day", "month")
    ]
    unpriced = {
        model for model in models.values() if model and price_of(model, settings.model_prices) is None
    }
    since = now - 1000 * answer_seconds(settings)
    under_way = (
        [call for call in store.ledger.latest(breaker.LOOK_BACK, since) if call.outcome == OPEN]
        if store
        else []
    )
    jobs = [*store.jobs.all("waiting"), *store.jobs.all("parked")] if store else []
    waiting = [job for job in jobs if job.kind in ASKING and job.last_error]
    return Spending(
        settings.model_provider,
        models,
        sums[0],
        sums[1],
        spending_caps(settings),
        until,
        why,
        tuple(sorted(unpriced)),
        len(under_way),
        len(waiting),
        waiting[-1].last_error if waiting else "",
    )
