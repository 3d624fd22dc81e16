"""The floor: below it a hit is no answer. Better nothing than something irrelevant.

Whoever searches the database asks

    ranked = ranking.ranked(...)                 # or a `Ranked` of their own
    floor.of(ranked[0], asked, among) >= floor.FLOOR    # asked = question.question(text, now)

Whoever has neither vectors nor a database at hand asks `floor.shares_enough(words, text)`: plain Python; the
words are those of `question.question(text, now).words`. It is what search itself falls back on without a
model. A hook has neither, nor numpy: it adds up what the words weigh that prompt and note share, as the
worker prepared it; `of_notes` says how much they must weigh to be as sure as a hit of search must be.
`FLOOR` is the one number for all of them (docs/decisions/0006-one-floor.md).

How sure it is that a hit has to do with the question is a logistic function of the cosine of their vectors,
of the share of the question's words that stand in the hit, and of how many passages it was found among: the
more there are, the likelier a likeness is chance. It was fitted on questions put to the store that answers
them, against questions of another store and everyday questions (docs/recall.md has the numbers). A name that
the question spells out (`foo_bar.py:42`, two Chinese characters; not a number) and that stands in the text
needs no likeness; nor do one or two words that are all that is asked for.
"""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from backstory.model import Kind
from backstory.search.names import bare, stands_in
from backstory.search.question import Question, Word
from backstory.search.ranking import Ranked
from backstory.search.smallwords import SMALL

FLOOR = 0.5
_COSINE, _SHARED, _BIAS = 10.0, 3.0, -5.0
_MANY = 1_000
_LOOKED_UP = 2
_LITTLE = 4  # words that are not small
# How sure a note is: by what the shared words weigh, and by how often the number of a prompt's words doubles.
_NOTE_WEIGHT, _NOTE_DOUBLING, _NOTE_BIAS = 5.2, -3.2, 0.1
_PARTS = re.compile(r"[^\W_]+")


def of(one: Ranked, question: Question, among: int = _MANY) -> float:
    """How sure it is that a hit, found among so many passages, has to do with the question, from 0 to 1."""
    if all(word.text.strip(".:?") in SMALL for word in question.words):
        return 0.0  # they are in every text, and say nothing of what is sought
    text, asked = bare(one.found.text), [word.text for word in question.words]
    if any(stands_in(word.text, text) for word in question.words) or _looked_up(question.words, text):
        return 1.0
    if _says_little(one.found.kind, text) and not shares_any(asked, text):
        return 0.0
    if one.cosine is None:
        return 1.0 if shares_enough(asked, text) else 0.0
    sum_ = _BIAS + _COSINE * one.cosine + _SHARED * len(shared(asked, text)) / len(asked)
    return 1 / (1 + math.exp(-sum_))


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
