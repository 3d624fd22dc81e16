"""An answer of a fixed shape: asked for, read, and mended once by asking again.

Each step is booked: answered by the governor, parsed or unusable here.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from backstory import clock
from backstory.llm import lenient_json
from backstory.llm.governor import GovernedReply, Governor, Purpose
from backstory.llm.model_provider import LATER, Provider, Question, Trouble
from backstory.store import Store

log = logging.getLogger(__name__)
T = TypeVar("T")
_REPAIR = """

Your last answer could not be used: {error}. It began: {answer}
Answer again, with the JSON object only."""
_SHORTER = """

Your last answer was cut off before anything of it was whole. It began: {answer}
Answer again, with the JSON object only, in less than {words} words: only what matters most."""
_WORDS_PER_TOKEN = 0.4  # with braces and names of fields, and half of what there was room for


def ask_for(
    governor: Governor,
    store: Store,
    provider: Provider,
    question: Question,
    purpose: Purpose,
    read: Callable[[dict[str, Any]], T],
    clean: Callable[[str], str],
) -> tuple[str, T]:
    """The row of the call in the ledger, and what `read` makes of its answer; a ValueError of it asks again.

    `clean` takes out what the ledger must not repeat of an answer.
    """
    first = governor.ask(provider, question, purpose)
    try:
        return first.call_id, _read(store, first, read)
    except ValueError as error:
        _unusable(store, first, error, clean)
        again = question.text + (_SHORTER if first.reply.cut else _REPAIR).format(
            error=error, answer=first.reply.text[:300], words=int(question.max_tokens * _WORDS_PER_TOKEN)
        )
    second = governor.ask(provider, replace(question, text=again), replace(purpose, name="repair"))
    try:
        return second.call_id, _read(store, second, read)
    except ValueError as error:
        _unusable(store, second, error, clean)
        raise Trouble(
            f"{provider.model} answered twice in a way that cannot be used: {error}", LATER
        ) from None


def _read(store: Store, asked: GovernedReply, read: Callable[[dict[str, Any]], T]) -> T:
    found = read(lenient_json.read_object(asked.reply.text))
    with store.transaction():
        store.ledger.parsed(asked.call_id, clock.now_ms())
    return found


def _unusable(store: Store, asked: GovernedReply, error: ValueError, clean: Callable[[str], str]) -> None:
    log.warning("an answer (%s) cannot be used: %s", asked.call_id, error)
    with store.transaction():
        store.ledger.unusable(asked.call_id, f"{error}; it began: {clean(asked.reply.text)[:200]}")
