"""Things of which one mostly takes one at a time, by what they are for: what `vocabulary` knows of them.

Two names of one row are alternatives; two names that share no row are not, however alike the sentences are in
which they stand ("ESLint for the frontend", "Prettier for the frontend"). Of names that are not here nothing
is known.
"""

from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations

from backstory.distil.terms import telling
from backstory.vocabulary import EVERYDAY, SORTS, TONGUES

#: One has several of these beside each other, whatever is said of them.
_BESIDE_EACH_OTHER = frozenset(
    telling(
        """linux macos windows ios android chrome firefox safari staging production prod dev test local
        desktop mobile"""
    )
)


def _table() -> Mapping[frozenset[str], frozenset[str]]:
    found: dict[frozenset[str], set[str]] = defaultdict(set)
    for kind, sort in SORTS.items():
        for name in sort.names:
            found[frozenset(telling(name))].add(kind)
    return {name: frozenset(kinds) for name, kinds in found.items()}


_TONGUES = frozenset(telling(" ".join(TONGUES)))
_EVERYDAY = frozenset(telling(" ".join(EVERYDAY)))
_KINDS = _table()
_LONGEST_NAME = 2


@lru_cache(8_192)
def kinds(words: frozenset[str]) -> frozenset[str]:
    """What the named things among a few telling words are for; empty if none is known."""
    parts = (
        frozenset(part) for size in range(1, _LONGEST_NAME + 1) for part in combinations(sorted(words), size)
    )
    return frozenset().union(*(_KINDS.get(part, frozenset()) for part in parts))


def is_known(words: frozenset[str]) -> bool:
    """Whether these words are the name of one thing that is in the table."""
    return words in _KINDS


def side_by_side(words: frozenset[str]) -> bool:
    """Whether something is meant of which one has several: platforms, environments, languages."""
    return not words.isdisjoint(_BESIDE_EACH_OTHER | _TONGUES)


def tongues(words: frozenset[str]) -> bool:
    """Whether these words are languages that people speak."""
    return words <= _TONGUES


def everyday(words: frozenset[str]) -> bool:
    """Whether these words are names only if somebody means them so: "server", "less", "go"."""
    return words <= _EVERYDAY
