"""What a question's words stand for in the trade: "message broker" for NATS and Kafka, "rollout" for deploy.

A question for a sort of things is answered by what has one of their names; a word is answered by another for
the same thing, though less surely. `vocabulary` knows both.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from backstory.vocabulary import EVERYDAY, SAME, SORTS

_PARTS = re.compile(r"[^\W_]+")
# How alike a word is to a name of the sort that it names, and to another word for the same thing.
_OF_THE_SORT, _THE_SAME = 0.85, 0.6


class StandIns(NamedTuple):
    """What may stand in a text for some words of a question, how alike that is, and whether it is a name."""

    words: tuple[str, ...]
    others: tuple[str, ...]
    alike: float
    named: bool

    def in_text(self, text: str) -> list[str]:
        """Those of the others that stand in a bare text."""
        spaced = _spaced(text)
        return [other for other in self.others if _spaced(other) in spaced]


def _spaced(text: str) -> str:
    """The parts of a text with one space around each: `docker-compose` is two."""
    return f" {' '.join(_PARTS.findall(text))} "


def standing_in(meant: Sequence[StandIns], text: str) -> str:
    """What of a text stands for what words of a question, told: "kafka and nats for message broker"."""
    found = ((each.in_text(text.lower()), each.words) for each in meant)
    return ", ".join(f"{' and '.join(there)} for {' '.join(words)}" for there, words in found if there)


def stand_ins(words: Sequence[str]) -> tuple[StandIns, ...]:
    """What may stand for the words of a question, which come in their order and without small words."""
    return tuple(_found(words))


def _found(words: Sequence[str]) -> Iterator[StandIns]:
    plain = [word.strip(".:?") for word in words]
    taken: set[int] = set()
    for n, pair in enumerate(pairwise(plain)):
        if names := _of_sort(" ".join(pair)):
            taken |= {n, n + 1}
            yield StandIns(tuple(words[n : n + 2]), names, _OF_THE_SORT, True)
    for n, (word, written) in enumerate(zip(plain, words, strict=True)):
        if n not in taken and (names := _of_sort(word)):
            yield StandIns((written,), names, _OF_THE_SORT, True)
        if others := _same(word):
            yield StandIns((written,), others, _THE_SAME, False)


def _of_sort(word: str) -> tuple[str, ...]:
    return _NAMES.get(word) or _NAMES.get(word.removesuffix("s")) or ()


def _same(word: str) -> tuple[str, ...]:
    return _OTHERS.get(word) or _OTHERS.get(word.removesuffix("s")) or ()


def _names() -> Mapping[str, tuple[str, ...]]:
    """The names that a sort's words stand for: those that are above all of that sort."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    taken: set[str] = set(EVERYDAY)
    for sort in SORTS.values():
        own = [name.lower() for name in sort.names if name not in taken] if sort.called else []
        taken.update(own)
        for called in sort.called:
            found[called].update(dict.fromkeys(own))
    return {called: tuple(names) for called, names in found.items()}


def _others() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for words in SAME:
        for word in words:
            found[word].update((other, None) for other in words if other != word)
    return {word: tuple(others) for word, others in found.items()}


_NAMES, _OTHERS = _names(), _others()
