"""Text to the numbers of its word pieces, as BERT (uncased) cuts it: small letters without accents.

Punctuation and Chinese characters stand alone. A word that the vocabulary has is one piece; any other is cut,
from its beginning, into the longest pieces there are (those inside a word begin with ##), or is unknown.
"""

import re
import unicodedata
from functools import lru_cache
from pathlib import Path

DATA = Path(__file__).parent / "data"
CLS, SEP, UNKNOWN = 101, 102, 100
_LONGEST_WORD = 100
_MOST_KNOWN = 50_000
_ASCII = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")


@lru_cache(maxsize=1)
def vocabulary() -> dict[str, int]:
    """The word pieces and their numbers."""
    return {piece: n for n, piece in enumerate((DATA / "vocab.txt").read_text("utf-8").split("\n")) if piece}


@lru_cache(maxsize=1)
def english_words() -> frozenset[str]:
    """The whole words that the vocabulary has."""
    return frozenset(piece for piece in vocabulary() if piece.isascii() and piece.isalpha())


class Tokenizer:
    """Cuts texts by the vocabulary, and remembers how words were cut."""

    def __init__(self) -> None:
        self._numbers = vocabulary()
        self._known: dict[str, tuple[int, ...]] = {}

    def of(self, text: str) -> list[int]:
        """The numbers of a text's pieces, in order."""
        text = text.lower()
        words = _ASCII.findall(text) if text.isascii() else _words(text)
        return [piece for word in words for piece in self._cut(word)]

    def _cut(self, word: str) -> tuple[int, ...]:
        found = self._known.get(word)
        if found is None:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            found = self._known[word] = self._pieces(word)
        return found

    def _pieces(self, word: str) -> tuple[int, ...]:
        if len(word) > _LONGEST_WORD:
            return (UNKNOWN,)
        found, start = [], 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(len(word), start, -1):
                number = self._numbers.get(mark + word[start:end])
                if number is not None:
                    found.append(number)
                    break
            else:
                return (UNKNOWN,)
            start = end
        return tuple(found)


def _words(text: str) -> list[str]:
    """The words of a text that is not plain ASCII, in small letters."""
    found: list[str] = []
    word = ""
    for sign in unicodedata.normalize("NFD", text):
        category = unicodedata.category(sign)
        if category == "Mn":
            continue
        alone = category[0] == "P" or (_ASCII.fullmatch(sign) and not sign.isalnum()) or _is_chinese(sign)
        if not alone and not sign.isspace() and category not in ("Cc", "Cf"):
            word += sign
            continue
        if word:
            found.append(word)
            word = ""
        if alone:
            found.append(sign)
    return [*found, word] if word else found


def _is_chinese(sign: str) -> bool:
    return "\u4e00" <= sign <= "\u9fff" or "\u3400" <= sign <= "\u4dbf"
