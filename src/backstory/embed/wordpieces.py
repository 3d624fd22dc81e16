"""Text to the numbers of its word pieces: small letters without accents, names cut at their humps.

A word that the vocabulary has is one piece; any other is cut, from its beginning, into the longest pieces
there are (those inside a word begin with ##). What is neither Latin letter nor digit has no piece.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[a-z0-9]+")
_LONGEST_WORD = 40


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
    return _WORD.findall(_HUMP.sub(" ", text).lower())


class WordPieces:
    """Cuts words by one vocabulary, and remembers how."""

    def __init__(self, vocabulary: Iterable[str]) -> None:
        self._numbers: Mapping[str, int] = {piece: n for n, piece in enumerate(vocabulary)}
        self._known: dict[str, tuple[int, ...]] = {}

    def of(self, text: str) -> list[int]:
        """The numbers of a text's pieces, in order."""
        found: list[int] = []
        known = self._known
        for word in words(text):
            pieces = known.get(word)
            if pieces is None:
                pieces = known[word] = self._cut(word[:_LONGEST_WORD])
            found += pieces
        return found

    def _cut(self, word: str) -> tuple[int, ...]:
        found = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(len(word), start, -1):
                number = self._numbers.get(mark + word[start:end])
                if number is not None:
                    found.append(number)
                    break
            else:
                return ()
            start = end
        return tuple(found)
