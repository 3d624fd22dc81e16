"""What agents reasoned, searched only on request: `--kind reasoned`.

Reasoning is not in the text index, where it would drown what was said and done. Whoever asks for it gets what
has all of the question's words, the latest first.
"""

import re

from backstory.errors import UsageError
from backstory.model import Kind
from backstory.search.answer import Answer, Hit
from backstory.search.smallwords import SMALL
from backstory.store import Store
from backstory.store.records import Filters

_WORD = re.compile(r"\w{1,100}")
_MOST_WORDS = 8


def search(store: Store, question: str, project_id: str | None, filters: Filters, limit: int) -> Answer:
    """The thoughts that have the question's words; no other kind can be asked for at the same time."""
    if filters.kinds != (Kind.REASONED,):
        raise UsageError("--kind reasoned is searched by itself: leave the other kinds out")
    words = [word for word in _WORD.findall(question) if word.lower() not in SMALL][:_MOST_WORDS]
    found = store.events.thoughts(words, project_id, filters.since, filters.until, limit) if words else []
    hits = []
    for stored in found:
        event, session = stored.event, store.events.session(stored.session_id)
        if session is not None and (not filters.agents or event.agent in filters.agents):
            hits.append(
                Hit(
                    stored.id, event.kind, event.text, 1.0, session.id, event.agent,
                    session.project_name, event.at, event.where.branch,
                )
            )  # fmt: skip
    return Answer(tuple(hits), not hits, "by words, the latest first", narrowed=True)
