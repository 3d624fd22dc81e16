"""One thing that is stored in two forms is shown once: near-duplicates collapse into the richest.

`canonical` is the key by which two texts are the same: articles and spacing do not count, case does not, and
what has structure (code, paths, addresses, versions, dates, identifiers) counts byte for byte. It is only a
key: texts are stored and shown as they were written.
"""

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
_ARTICLES = frozenset({"a", "an", "the"})
_PLAIN = re.compile(r"[A-Za-z]+[.,;:!?]*")
_ALIKE = 0.8
_WITHIN = 0.95
_FEWEST_WORDS = 6


def canonical(text: str) -> str:
    """The text without what does not tell two texts apart; the same text again when it is done twice."""
    kept = []
    for word in text.split():
        if _PLAIN.fullmatch(word) and (word.islower() or word.istitle()):
            word = word.lower()
            if word in _ARTICLES:
                continue
        kept.append(word)
    return " ".join(kept)


def collapse(
    things: Iterable[T], text_of: Callable[[T], str], richer: Callable[[T, T], T], enough: int
) -> list[T]:
    """Of things best first, each said once: a repeat gives its place to whichever of the two is richer."""
    kept: list[T] = []
    keys: list[str] = []
    words: list[frozenset[str]] = []
    for thing in things:
        key = canonical(text_of(thing))
        these = _words(key)
        for place, those in enumerate(words):
            if key == keys[place] or _alike(these, those):
                kept[place] = richer(kept[place], thing)
                key = canonical(text_of(kept[place]))
                keys[place], words[place] = key, _words(key)
                break
        else:
            kept.append(thing)
            keys.append(key)
            words.append(these)
            if len(kept) >= enough:
                break
    return kept


def _words(key: str) -> frozenset[str]:
    return frozenset(word.strip(".,;:!?") for word in key.lower().split())


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    fewer, more = (len(one), len(other)) if len(one) < len(other) else (len(other), len(one))
    if fewer < _FEWEST_WORDS or fewer < _ALIKE * 0.5 * more:
        return False
    shared = len(one & other)
    return shared >= _ALIKE * (fewer + more - shared) or shared >= _WITHIN * fewer
