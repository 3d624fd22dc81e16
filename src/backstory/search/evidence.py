"""How sure it is that passages answer (the bars of search and notes): nearness, and the question's words.

The evidence is a cosine plus a fifth of the share that a text has of the question's words, the rarer words
counting more. Of several texts it is taken of the three nearest together: chance brings one near text more
easily than three, and the more passages there are, the more easily. Hooks use this too, so it imports little.
"""

import math
import re
from collections.abc import Sequence

from backstory.embed.word_rarity import rarity
from backstory.search.names import bare

#: So many of the best hits are looked at.
LOOKED_AT = 10
_NEAREST = 3
# What all of a question's words are worth beside a cosine; the bars for several texts and for one alone.
_SHARED = 0.2
_TOGETHER, _ALONE = 0.46, 0.50
# The bars are for so many passages; a tenth of them has nothing by chance that is so near, by this much.
_MANY, _FEW, _TENTH = 1_300, 20, 0.02
PARTS = re.compile(r"[^\W_]+")


def enough(
    cosines: Sequence[float],
    texts: Sequence[str],
    words: Sequence[str],
    among: int,
    known: float,
    more: float = 0.0,
) -> bool:
    """Whether the best texts, found among so many, have to do with a question.

    `known` is the share of its words that anything has; `more` is what the bars are higher by.
    """
    near = sorted(cosines, reverse=True)[:_NEAREST]
    together = sum(near) / len(near) + _SHARED * weight(words, " ".join(texts))
    alone = max(of_one(cosine, text, words) for cosine, text in zip(cosines, texts, strict=True))
    more += _by_chance(among)
    return known * together >= _TOGETHER + more or known * alone >= _ALONE + more


def enough_alone(
    cosine: float, text: str, words: Sequence[str], among: int, known: float, more: float = 0.0
) -> bool:
    """Whether one text, found among so many, has by itself to do with a question."""
    return known * of_one(cosine, text, words) >= _ALONE + more + _by_chance(among)


def _by_chance(among: int) -> float:
    return _TENTH * math.log10(max(among or _MANY, _FEW) / _MANY)


def of_one(cosine: float, text: str, words: Sequence[str]) -> float:
    """The evidence of one text."""
    return cosine + _SHARED * weight(words, text)


def weight(words: Sequence[str], text: str) -> float:
    """The share that a text has of the words, the rarer ones counting more."""
    rare = {word: rarity(word) for word in words}
    return sum(rare[word] for word in shared(words, text)) / max(sum(rare.values()), 1e-9)


def shares_enough(words: Sequence[str], text: str) -> bool:
    """By words alone: one of up to three must begin a word of the text, else a third of them."""
    return len(shared(words, text)) >= (1 if len(words) <= 3 else -(-len(words) // 3))


def shared(words: Sequence[str], text: str) -> set[str]:
    """Those of the words that begin a word of the text."""
    there = " " + " ".join(PARTS.findall(bare(text)))
    return {word for word in words if f" {_stem(bare(word.strip('.:?')))}" in there}


def shares_any(words: Sequence[str], text: str) -> bool:
    """By words alone: whether one of them begins a word of the text."""
    return bool(shared(words, text))


def _stem(word: str) -> str:
    """Enough of a word to recognise its other forms."""
    return word if len(word) <= 4 else word[: max(4, len(word) - 3)]
