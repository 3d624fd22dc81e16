"""Typing errors: a word that the memory does not have is read as the word of it that is nearest.

Only what is no word at all is read otherwise: a word of English or of code that stands nowhere in the project
is off-topic, not mistyped. Two neighbouring letters that changed places, one that is missing, too many or
wrong are an error each. The first letter must be right.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from backstory.embed.bert_tokenizer import english_words
from backstory.search.answer import ReadAs
from backstory.search.question_words import Word
from backstory.store import Store
from backstory.store.tokenizer import typing_errors

_LETTERS = re.compile(r"[^\W\d_]+")
# Shorter words are near too many others; from eight letters on two errors are forgiven.
_SHORTEST, _LONG, _LONGEST = 5, 8, 30
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "r", "ly", "y", "able", "ion", "al", "ment", "ness")
_BEGINNINGS = ("un", "re", "non", "pre", "de", "dis", "mis", "sub", "over", "in", "co")
_STEM, _HALF = 3, 4


def mistyped(words: Sequence[Word], absent: Collection[str]) -> list[str]:
    """What may be typing errors in the words of a question, if the index has none of these phrases."""
    parts = dict.fromkeys(
        part
        for word in words
        if absent and all(phrase in absent for phrase in word.phrases)
        for part in _LETTERS.findall(word.text)
        if _SHORTEST <= len(part) <= _LONGEST and part.isascii()
    )
    return [part for part in parts if not _is_word(part)]


def read_as(store: Store, typed: Iterable[str], project_id: str | None) -> list[ReadAs]:
    """What these are read as, those for which the memory has something near."""
    found = []
    for word in typed:
        most = 2 if len(word) >= _LONG else 1
        near = [
            (typing_errors(word, other.lower()), -count, other)
            for other, count in store.passages.spelled_like(word, most, project_id).items()
            if _likely(word, other.lower())
        ]
        if near and min(near)[0]:  # else it is there, as a part of some name
            found.append(ReadAs(word, min(near)[2]))
    return found


def mended(text: str, read: Iterable[ReadAs]) -> str:
    """A question's text with its words as they were read."""
    for each in read:
        text = re.sub(rf"(?i)(?<![^\W\d_]){each.typed}(?![^\W\d_])", each.word, text)
    return text


def _likely(typed: str, word: str) -> bool:
    """Whether one may be the other: `prisma` is no `prism`; in a short word letters only change places."""
    if typed == word:
        return True
    if typed.startswith(word):
        return False
    return len(typed) > _SHORTEST or sorted(typed) == sorted(word)


def _is_word(part: str) -> bool:
    """Whether it is a word that is known to be one, a form of it, or made of such."""
    if _has_form(part):
        return True
    if any(_has_form(rest) for each in _BEGINNINGS if (rest := part.removeprefix(each)) != part):
        return True
    known = english_words()
    halves = range(_HALF, len(part) - _HALF + 1)
    return any(part[:at] in known and part[at:] in known for at in halves)


def _has_form(part: str) -> bool:
    known = english_words()
    if part in known:
        return len(part) >= _STEM
    for ending in _ENDINGS:
        stem = part.removesuffix(ending)
        if stem != part and len(stem) >= _STEM and known & {stem, f"{stem}e", f"{stem[:-1]}y", stem[:-1]}:
            return True
    return False
