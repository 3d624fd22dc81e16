"""Names that a question spells out: `foo_bar.py:42`, `--no-verify`, CVE-2021-44228, two Chinese characters.

Such a name is that one or none. A text that has it needs no likeness to be an answer; and if nothing has it,
what is merely called alike (PROJ-1234 for PROJ-1235) is no nearer for that.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence

from backstory.search.question_words import Word

# What many texts have by chance: a word in Latin letters, a number, a year, an amount.
_PLAIN = re.compile(r"[a-z\u00c0-\u024f]+|[\d.,:%]+")
_EDGES = "-*_/"
# What is called so by a program or a tracker; not "long-term", "10-day" or "and/or".
_CALLED = re.compile(r"(?:[a-z]+-)+\d[\w-]*|(?=[\w/-]*\w_\w)[\w/-]+|[\w./-]{3,}\.[a-z]{1,5}|[^/]+/[^/]+/.+")
_FEW = 2


def bare(text: str) -> str:
    """Small letters without their accents, as the index has them."""
    low = text.lower()
    if low.isascii():
        return low
    return "".join(c for c in unicodedata.normalize("NFD", low) if not unicodedata.combining(c))


def stands_in(word: str, text: str) -> bool:
    """Whether a word that is no plain word, nor just a number, stands in a bare text as it is written."""
    name = bare(word.strip(".:?"))
    if _is_plain(name):
        return False
    if not name.isascii():  # scripts that the table does not know, mostly without spaces
        return name in text
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def unknown(words: Sequence[Word], absent: Collection[str]) -> tuple[str, ...]:
    """The names among a question's words that nothing has, if the index has none of these phrases."""
    alone = len(words) <= _FEW
    return tuple(
        word.text
        for word in words
        if all(phrase in absent for phrase in word.phrases)
        and word.text.isascii()
        and not _is_plain(name := word.text.strip(".:?"))
        and (alone or _CALLED.fullmatch(name))
    )


def _is_plain(name: str) -> bool:
    inner = name.strip(_EDGES)
    return not inner or _PLAIN.fullmatch(inner) is not None
