"""The words of a question: those that say what is sought, and the phrases that the index finds them by.

A word with punctuation inside (`foo_bar.py:42`, `--no-verify`) stays one word, which finds itself. Hooks use
this too, so it imports little.
"""

import re
from typing import NamedTuple

from backstory.search.smallwords import SMALL
from backstory.store.tokenizer import query_phrases

#: So many words of a question are looked for.
MOST = 40
WORD = re.compile(r"[^\s\"'`()\[\]{}<>,;!?]+")


class Word(NamedTuple):
    """One word of a question, and the quoted phrases by which the index finds it."""

    text: str
    phrases: tuple[str, ...]


def words_of(text: str) -> tuple[list[Word], list[Word]]:
    """The words of a text: those that tell something, and the small ones."""
    telling: dict[str, Word] = {}
    spare: dict[str, Word] = {}
    for found in WORD.findall(text)[: 4 * MOST]:
        quoted = tuple(query_phrases(found))
        if quoted:
            target = spare if found.strip(".:*-_/?").lower() in SMALL else telling
            target.setdefault(found.lower(), Word(found.lower(), quoted))
    return list(telling.values()), list(spare.values())


def phrases_of(words: "list[Word] | tuple[Word, ...]") -> list[str]:
    """The phrases of some words, each once."""
    return list(dict.fromkeys(phrase for word in words for phrase in word.phrases))
