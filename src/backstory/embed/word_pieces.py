"""Text to the numbers of its word pieces: small letters without accents, names cut at their humps.

A word that the vocabulary has is one piece; any other is cut, from its beginning, into the longest pieces
there are (those inside a word begin with ##). What is neither Latin letter nor digit has no piece.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain
from pathlib import Path

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
_MARKS = re.compile("[\u0300-\u036f]+")
_LONGEST_WORD = 40
_MOST_KNOWN = 200_000
DATA = Path(__file__).parent / "data"


def words(text: str) -> list[str]:
    """The words of a text in order, as they are written."""
    if not text.isascii():
        text = _MARKS.sub("", unicodedata.normalize("NFD", text))
    return _WORD.findall(text)


@lru_cache(maxsize=1)
def vocabulary() -> frozenset[str]:
    """The whole words that the table knows: English ones, and those that are frequent in code."""
    return frozenset(piece for piece in (DATA / "pieces.txt").read_text("ascii").split() if piece.isalpha())


class WordPieces:
    """Cuts words by one vocabulary, and remembers how."""

    def __init__(self, vocabulary: Iterable[str]) -> None:
        self._cut = _Cut({piece: n for n, piece in enumerate(vocabulary)})

    def of(self, text: str) -> list[int]:
        """The numbers of a text's pieces, in order."""
        return list(chain.from_iterable(map(self._cut.__getitem__, words(text))))


class _Cut(dict[str, tuple[int, ...]]):
    """Words and their pieces, those that were asked for so far."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        super().__init__()
        self._numbers = numbers

    def __missing__(self, word: str) -> tuple[int, ...]:
        found = []
        start, low = 0, word[:_LONGEST_WORD].lower()
        while start < len(low):
            mark = "##" if start else ""
            for end in range(len(low), start, -1):
                number = self._numbers.get(mark + low[start:end])
                if number is not None:
                    found.append(number)
                    break
            else:
                found = []
                break
            start = end
        if len(self) > _MOST_KNOWN:
            self.clear()
        self[word] = tuple(found)
        return self[word]
