"""Search's floor: whether hits have enough to do with the question to be shown; for notes see recall/lookup.

Whoever searches the database asks

    best = ranking.ranked(...)                       # asked = question.question(text, now)
    floor.answered(best, asked)                      # whether the question has to do with what is remembered
    floor.strength(best[0], asked) >= floor.FLOOR    # and whether one hit has to do with the question

What speaks for hits is counted in `evidence.py`, which notes with prompts use too; without vectors the words
alone decide (`shares_enough`). The bar was chosen on questions put to the project that answers them, against
off-topic questions and those of other projects (docs/lab/recall.md has the numbers). A name that the
question spells out (`foo_bar.py:42`, two Chinese characters; not a number) and that stands in the text needs
no likeness; nor do one or two words that are all that is asked for. A name that nothing has takes its share
of the evidence away.
"""

import math
from collections.abc import Sequence

from backstory.model import Kind
from backstory.search.evidence import LOOKED_AT, PARTS, enough, of_one, shares_any, shares_enough
from backstory.search.names import bare, stands_in
from backstory.search.question import Question
from backstory.search.question_words import Word
from backstory.search.ranking import Ranked
from backstory.search.smallwords import SMALL

FLOOR = 0.5
# The bar for a hit among others.
_HIT, _STEEP = 0.25, 12.0
_LOOKED_UP = 2
_LITTLE = 4  # words that are not small


def answered(best: Sequence[Ranked], question: Question, among: int = 0) -> bool:
    """Whether the best hits, best first, found among so many passages, have to do with the question."""
    hits = best[:LOOKED_AT]
    sure = [strength(one, question) for one in hits]
    if 1.0 in sure or not any(one.cosine is not None for one in hits):
        return any(each >= FLOOR for each in sure)
    words = [word.text for word in question.words]
    known = 1 - len(question.unknown) / max(len(words), 1)
    cosines, texts = [one.cosine or 0.0 for one in hits], [one.found.text for one in hits]
    return enough(cosines, texts, words, among, known)


def strength(one: Ranked, question: Question) -> float:
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
    return min(1 / (1 + math.exp(-_STEEP * (of_one(one.cosine, one.found.text, asked) - _HIT))), 0.99)


def _says_little(kind: str, text: str) -> bool:
    """Whether an event is a few words; what was distilled is worth its words, and signs are words each."""
    events = kind in (Kind.PROMPT, Kind.SAID, Kind.TOOL) and text.isascii()
    return events and sum(part not in SMALL for part in PARTS.findall(text)) < _LITTLE


def _looked_up(words: Sequence[Word], text: str) -> bool:
    """Whether one or two words are all that is asked for, and stand in it: `KeyError`, `mysql login`."""
    if not 0 < len(words) <= _LOOKED_UP:
        return False
    there = set(PARTS.findall(text))
    return all(set(PARTS.findall(bare(word.text))) <= there for word in words)
