"""The words of the text index: what it holds beside the text, and how a question's words are put to it.

The index cuts text at everything that is neither letter nor digit, so `snake_case`, paths and versions are
phrases of their parts and find themselves. Two things it cannot cut: `camelCase`, and scripts that are
written without spaces. For these `spread` gives the parts, which are indexed in a column of their own: the
parts of a camel-case name, and of a run of Chinese, Japanese or Korean every two neighbouring characters.
"""

import re

_CAMEL = re.compile(r"\b[A-Za-z]*[a-z0-9][A-Z][A-Za-z0-9]*\b|\b[A-Z]{2,}[a-z][A-Za-z0-9]*\b")
_CAMEL_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
_RUN = re.compile(f"[{_UNSPACED}]+")
_PART = re.compile(rf"[^\W_{_UNSPACED}]+")
_MOST = 400


def spread(text: str) -> str:
    """What is indexed beside a text: the parts of names and scripts that have no gaps."""
    found: dict[str, None] = {}
    if not text.islower():
        for name in _CAMEL.findall(text):
            found.setdefault(" ".join(_CAMEL_PART.findall(name)))
    if not text.isascii():
        for run in _RUN.findall(text):
            found.update(dict.fromkeys(_pairs(run)))
    return " ".join(list(found)[:_MOST])


def phrases(word: str) -> list[str]:
    """What to look for in the index to find a word of a question: itself, whole, and its parts."""
    found = []
    if parts := _PART.findall(word):
        found.append(" ".join(parts))
        pieces = [piece for part in parts for piece in _CAMEL_PART.findall(part) or [part]]
        if len(pieces) > len(parts):
            found.append(" ".join(pieces))
        if len(pieces) > 1 and not re.search(r"[^\w]", word):
            found.append("".join(pieces))
        if (base := word.rstrip("/").rsplit("/", 1)[-1]) != word and (name := _PART.findall(base)):
            found.append(" ".join(name))
    for run in _RUN.findall(word):
        found.extend(_pairs(run))
    return [f'"{phrase}"' for phrase in dict.fromkeys(phrase.lower() for phrase in found)]


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]
