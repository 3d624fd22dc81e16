"""What is history stands behind what is in force: replaced decisions, and whatever says only such a one."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from backstory.model import MemoryKind, MemoryStatus
from backstory.search.answer import Hit
from backstory.search.smallwords import SMALL
from backstory.store.records import Found

_WORD = re.compile(r"\w+")
# Of the words of a hit so many are the decision's: it says little else.
_LITTLE_ELSE = 0.6


def in_order(hits: Iterable[Hit], found: Iterable[Found]) -> list[Hit]:
    """The hits, history last; what only repeats a replaced decision of its session has its handle, too."""
    past: dict[str, list[Found]] = {}
    for each in found:
        if each.kind == MemoryKind.DECISION and each.status == MemoryStatus.SUPERSEDED:
            past.setdefault(each.session_id, []).append(each)
    told = [_told(hit, past.get(hit.session, ())) for hit in hits]
    return sorted(told, key=lambda hit: hit.status == MemoryStatus.SUPERSEDED)


def _told(hit: Hit, decisions: Sequence[Found]) -> Hit:
    if hit.kind == MemoryKind.DECISION:
        return hit
    words = _words(hit.text)
    for each in decisions:
        if words and len(words & _words(each.text)) >= _LITTLE_ELSE * len(words):
            return replace(hit, status=MemoryStatus.SUPERSEDED, also=(*hit.also, each.owner))
    return hit


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - SMALL
