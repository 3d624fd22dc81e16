"""The answer in short: of the best hits, the sentences that say most about the question, as they stand."""

import re
from collections.abc import Sequence

from backstory.search.answer import Hit
from backstory.search.question import Question

FEWEST_HITS = 3
_MOST = 3
_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_WORD = re.compile(r"\w+")
_CHARS = range(20, 300)


def in_short(hits: Sequence[Hit], question: Question) -> tuple[str, ...]:
    """At most three sentences, one of each of the best hits; none if there are few hits."""
    if len(hits) < FEWEST_HITS:
        return ()
    asked = {part[:5] for word in question.words for part in _WORD.findall(word.text)}
    found: dict[str, None] = {}
    for hit in hits:
        sentences = [s.strip() for s in _END.split(hit.text) if len(s.strip()) in _CHARS]
        if sentences:
            best = max(sentences, key=lambda s: len(asked & {w[:5] for w in _WORD.findall(s.lower())}))
            found.setdefault(best)
        if len(found) == _MOST:
            break
    return tuple(found)
