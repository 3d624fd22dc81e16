"""The floor: below it there is no answer. Better nothing than something irrelevant.

Whoever searches the database asks

    best = ranking.ranked(...)                       # asked = question.question(text, now)
    floor.answered(best, asked)                      # whether the question has to do with what is remembered
    floor.of(best[0], asked) >= floor.FLOOR          # and whether one hit has to do with the question

Whoever has neither vectors nor a database at hand asks `floor.shares_enough(words, text)`: plain Python; the
words are those of `question.question(text, now).words`. It is what search itself falls back on without a
model. A hook has neither, nor numpy: it adds up what the words weigh that prompt and note share, as the
worker prepared it; `of_notes` says how much they must weigh.

The evidence is a cosine plus a fifth of the share that the hits have of the question's words, the rarer words
counting more. For a question it is taken of the three nearest hits together: chance brings one near text more
easily than three, and the more passages there are, the more easily. The bar was chosen on questions put to
the project that answers them, against off-topic questions and those of other projects (docs/recall.md has the
numbers). A name that the question spells out (`foo_bar.py:42`, two Chinese characters; not a number) and that
stands in the text needs no likeness; nor do one or two words that are all that is asked for. A name that
nothing has takes its share of the evidence away.
"""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from backstory.embed.word_rarity import rarity
from backstory.model import Kind
from backstory.search.names import bare, stands_in
from backstory.search.question import Question, Word
from backstory.search.ranking import Ranked
from backstory.search.smallwords import SMALL

FLOOR = 0.5
# What all of a question's words are worth beside a cosine; the bars for a question, for one hit that is to be
# enough alone, and for a hit among others.
_SHARED = 0.2
_QUESTION, _ALONE, _HIT = 0.46, 0.50, 0.25
_STEEP = 12.0
# The bars are for so many passages; a tenth of them has nothing by chance that is so near, by this much.
_MANY, _FEW, _TENTH = 1_300, 20, 0.02
_NEAREST, _LOOKED_AT = 3, 10
_LOOKED_UP = 2
_LITTLE = 4  # words that are not small
# How sure a note is: by what the shared words weigh, and by how often the number of a prompt's words doubles.
_NOTE_WEIGHT, _NOTE_DOUBLING, _NOTE_BIAS = 5.2, -3.2, 0.1
_PARTS = re.compile(r"[^\W_]+")


def answered(best: Sequence[Ranked], question: Question, among: int = _MANY) -> bool:
    """Whether the best hits, best first, found among so many passages, have to do with the question."""
    hits = best[:_LOOKED_AT]
    sure = [of(one, question) for one in hits]
    if 1.0 in sure or not any(one.cosine is not None for one in hits):
        return any(each >= FLOOR for each in sure)
    words = [word.text for word in question.words]
    known = 1 - len(question.unknown) / max(len(words), 1)
    near = sorted((one.cosine or 0.0 for one in hits), reverse=True)[:_NEAREST]
    together = sum(near) / len(near) + _SHARED * _weight(words, " ".join(one.found.text for one in hits))
    alone = max(_evidence(one, words) for one in hits)
    chance = _TENTH * math.log10(max(among or _MANY, _FEW) / _MANY)
    return known * together >= _QUESTION + chance or known * alone >= _ALONE + chance


def of(one: Ranked, question: Question) -> float:
    """How sure it is that a hit has to do with the question, from 0 to 1."""
    if all(word.text.strip(".:?") in SMALL for word in question.words):
        return 0.0  # they are in every text, and say nothing of what is sought
    text, asked = bare(one.found.text), [word.text for word in question.words]
    if any(stands_in(word.text, text) for word in question.words) or _looked_up(question.words, text):
        return 1.0
    if _says_little(one.found.kind, text) and not shares_any(asked, text):
        return 0.0
    if one.cosine is None:
        return 1.0 if shares_enough(asked, text) else 0.0
    return min(1 / (1 + math.exp(-_STEEP * (_evidence(one, asked) - _HIT))), 0.99)


def _evidence(one: Ranked, words: Sequence[str]) -> float:
    return (one.cosine or 0.0) + _SHARED * _weight(words, one.found.text)


def _weight(words: Sequence[str], text: str) -> float:
    """The share that a text has of the words, the rarer ones counting more."""
    rare = {word: rarity(word) for word in words}
    return sum(rare[word] for word in shared(words, text)) / max(sum(rare.values()), 1e-9)


def _says_little(kind: str, text: str) -> bool:
    """Whether an event is a few words; what was distilled is worth its words, and signs are words each."""
    events = kind in (Kind.PROMPT, Kind.SAID, Kind.TOOL) and text.isascii()
    return events and sum(part not in SMALL for part in _PARTS.findall(text)) < _LITTLE


class Needed(NamedTuple):
    """What shared words must weigh: this, and so much more each time that the prompt is twice as long."""

    weight: float
    a_doubling: float


def of_notes(sure: float = FLOOR) -> Needed:
    """What a prompt and a note must share for the note to be as sure as this."""
    wanted = math.log(sure / (1 - sure))
    return Needed(round((wanted - _NOTE_BIAS) / _NOTE_WEIGHT, 3), round(-_NOTE_DOUBLING / _NOTE_WEIGHT, 3))


def _looked_up(words: Sequence[Word], text: str) -> bool:
    """Whether one or two words are all that is asked for, and stand in it: `KeyError`, `mysql login`."""
    if not 0 < len(words) <= _LOOKED_UP:
        return False
    there = set(_PARTS.findall(text))
    return all(set(_PARTS.findall(bare(word.text))) <= there for word in words)


def shares_enough(words: Sequence[str], text: str) -> bool:
    """By words alone: one of up to three must begin a word of the text, else a third of them."""
    return len(shared(words, text)) >= (1 if len(words) <= 3 else -(-len(words) // 3))


def shared(words: Sequence[str], text: str) -> set[str]:
    """Those of the words that begin a word of the text."""
    there = " " + " ".join(_PARTS.findall(bare(text)))
    return {word for word in words if f" {_stem(bare(word.strip('.:?')))}" in there}


def shares_any(words: Sequence[str], text: str) -> bool:
    """By words alone: whether one of them begins a word of the text."""
    return bool(shared(words, text))


def _stem(word: str) -> str:
    """Enough of a word to recognise its other forms."""
    return word if len(word) <= 4 else word[: max(4, len(word) - 3)]
