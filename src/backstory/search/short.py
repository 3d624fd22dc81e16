"""The answer in short: of the best hits, the sentences that say most about the question, as they stand.

What is history, and what is no sentence (a path, a command, a line of a log), says nothing in short.
"""

import re
from collections.abc import Sequence

from backstory.model import MemoryStatus
from backstory.search.answer import Hit
from backstory.search.question import Question
from backstory.store.tokenizer import UNSPACED_RUN

FEWEST_HITS = 3
_MOST = 3
_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_WORD = re.compile(r"\w+")
_CHARS = range(20, 300)
_PLAIN = re.compile(r"[“\"'(]*[^\W\d_]+(?:['’-][^\W\d_]+)*[.,;:!?)”\"']*")
_FEWEST_WORDS, _MOSTLY = 4, 0.6
_FEWEST_CHARS = 8


def in_short(hits: Sequence[Hit], question: Question) -> tuple[str, ...]:
    """At most three sentences, one of each of the best hits; none if there are few hits."""
    if len(hits) < FEWEST_HITS:
        return ()
    asked = {part[:5] for word in question.words for part in _WORD.findall(word.text)}
    found: dict[str, None] = {}
    for hit in hits:
        if hit.status == MemoryStatus.SUPERSEDED:
            continue
        sentences = [s.strip() for s in _END.split(hit.text) if _is_sentence(s.strip())]
        if sentences:
            best = max(sentences, key=lambda s: len(asked & {w[:5] for w in _WORD.findall(s.lower())}))
            found.setdefault(best)
        if len(found) == _MOST:
            break
    return tuple(found)


def _is_sentence(text: str) -> bool:
    if sum(map(len, UNSPACED_RUN.findall(text))) >= _FEWEST_CHARS:
        return len(text) < _CHARS.stop
    words = text.split()
    plain = sum(_PLAIN.fullmatch(word) is not None for word in words)
    return len(text) in _CHARS and plain >= max(_FEWEST_WORDS, _MOSTLY * len(words))
