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
_MARKS = str.maketrans("", "", ".,;:!?")
_ALIKE = 0.8
_WITHIN = 0.95
_OVERLAP = 0.6
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
    things: Iterable[T],
    text_of: Callable[[T], str],
    richer: Callable[[T, T], T],
    enough: int,
    twice: Callable[[T, T], bool] = lambda one, other: False,
    retold: Callable[[T], bool] = lambda thing: False,
) -> list[T]:
    """Of things best first, each said once: a repeat gives its place to whichever is richer.

    All of them are looked at, so that the richest is kept however few are wanted. Of what may be `retold`
    that is left out which mostly repeats something before it. `twice` knows of two things that are one
    whatever they say.
    """
    kept: list[T] = []
    words: list[frozenset[str]] = []
    for thing in things:
        text = text_of(thing)
        these = _words(text)
        place = next(
            (
                n
                for n, those in enumerate(words)
                if _same(text, these, text_of(kept[n]), those) or twice(thing, kept[n])
            ),
            len(kept),
        )
        if place >= enough:
            continue
        if place == len(kept):
            if retold(thing) and any(_overlap(these, those) for those in words):
                continue
            kept.append(thing)
            words.append(these)
        else:
            kept[place] = richer(kept[place], thing)
            words[place] = _words(text_of(kept[place]))
    return kept


def _words(text: str) -> frozenset[str]:
    return frozenset(text.lower().translate(_MARKS).split()) - _ARTICLES


def _same(one: str, its_words: frozenset[str], other: str, others_words: frozenset[str]) -> bool:
    if _alike(its_words, others_words):
        return True
    return its_words == others_words and canonical(one) == canonical(other)


def _overlap(one: frozenset[str], other: frozenset[str]) -> bool:
    fewer = min(len(one), len(other))
    return fewer >= _FEWEST_WORDS and len(one & other) >= _OVERLAP * fewer


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    fewer, more = (len(one), len(other)) if len(one) < len(other) else (len(other), len(one))
    if fewer < _FEWEST_WORDS or fewer < _ALIKE * 0.5 * more:
        return False
    shared = len(one & other)
    return shared >= _ALIKE * (fewer + more - shared) or shared >= _WITHIN * fewer
