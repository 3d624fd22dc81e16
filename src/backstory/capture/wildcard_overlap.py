"""Whether two patterns with wildcards can match the same path: `cat .e*` reads the `.env` that is ignored."""

import re
from collections.abc import Set as AbstractSet

_LONGEST = 200
_CLASS = re.compile(r"\[[^\]]{1,40}\]")
_WILD = re.compile(r"[*?]+")


def letter_pairs(pattern: str) -> frozenset[str]:
    """The pairs of letters in a pattern's longest part without wildcards."""
    part = max((each.strip("/") for each in _WILD.split(_CLASS.sub("?", pattern.lower()))), key=len)
    return frozenset(part[at : at + 2] for at in range(len(part) - 1))


def may_both_match(word: str, pattern: str, pairs: AbstractSet[str]) -> bool:
    """Whether a word of a command, with wildcards, may stand for a path that an ignored pattern matches.

    Something must point to it: a pair of its letters (`pairs`), or a glob of hidden files. `cat *` and
    `pytest tests/test_*` may match any pattern that begins with a star, and are not taken for it.
    """
    word = _CLASS.sub("?", word.rpartition(":")[2].removeprefix("!")).removeprefix("./")
    name = word.rpartition("/")[2]
    hidden = pattern.startswith(".") and name.startswith(".") and _WILD.search(name) is not None
    if len(word) > _LONGEST or not (hidden or any(pair in word for pair in pairs)):
        return False
    whole = word if "/" in pattern else name
    return _meet(whole, _CLASS.sub("?", pattern))


def _meet(word: str, pattern: str) -> bool:
    """Whether both match a common text; a star of the word does not reach over a slash."""
    todo, seen = [(0, 0)], {(0, 0)}
    while todo:
        one, two = todo.pop()
        if one == len(word) and two == len(pattern):
            return True
        for after in _steps(word, one, pattern, two):
            if after not in seen:
                seen.add(after)
                todo.append(after)
    return False


def _steps(word: str, one: int, pattern: str, two: int) -> list[tuple[int, int]]:
    a, b = word[one : one + 1], pattern[two : two + 1]
    found = []
    if a == "*":
        found.append((one + 1, two))
    if b == "*":
        found.append((one, two + 1))
    if not a or not b:
        return found
    wild_a, wild_b = a in "*?", b in "*?"
    if (wild_a and (wild_b or b != "/")) or (wild_b and not wild_a) or a == b:
        found.append((one if a == "*" else one + 1, two if b == "*" else two + 1))
    return found
