"""Hits: from what was found and how it was ranked to what is shown."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from backstory.attribution import author
from backstory.model import Kind
from backstory.search.answer import Hit, Near, Why
from backstory.search.history import in_order
from backstory.search.near_duplicates import collapse
from backstory.search.ranking import Ranked, retells
from backstory.store import Store
from backstory.store.records import Found

_SAME = "says the same"
# So many of the hits that were found otherwise are shown, however many there are of those that come first.
_ROOM = 2
# So many more passages than hits are shown, if they are of the same events.
_MORE = 3


def of_ranked(one: Ranked, sure: Callable[[Ranked], float] | None) -> Hit:
    """The hit of a candidate; explained, if there is what tells how sure it is."""
    score = _rounded(one.score)
    why = _why(one, sure(one)) if sure else None
    return _of(one.found, score, why)


def of_time(found: Found, score: float, explain: bool) -> Hit:
    """The hit of something that a time holds."""
    why = Why(1.0, "time", {"time and kind": score}) if explain else None
    return _of(found, score, why)


def of_depth(found: Found, explain: bool) -> Hit:
    """The hit of an event that has a name where the index does not look."""
    why = Why(1.0, "its whole text", {"name": 1.0}) if explain else None
    return _of(found, 1.0, why)


def each_once(
    hits: Iterable[Hit],
    found: Iterable[Found],
    limit: int,
) -> list[Hit]:
    """Hits best first, each said once by its richest form, what is history last."""
    once = collapse(hits, lambda hit: hit.text, _richer, limit + _MORE, _one_note, lambda hit: bool(hit.form))
    once = _joined(once)[:limit]
    return in_order(once, found)


def _joined(hits: Iterable[Hit]) -> list[Hit]:
    """Hits best first; several passages of one event are one hit."""
    found: dict[str, Hit] = {}
    for hit in hits:
        first = found.get(hit.id)
        found[hit.id] = replace(first, text=f"{first.text} … {hit.text}") if first else hit
    return list(found.values())


def first_of(there: Sequence[Hit], rest: Sequence[Hit], limit: int) -> tuple[Hit, ...]:
    """Hits of the place that was asked for, then the others; what the others have best keeps room."""
    known = {each for hit in there for each in (hit.id, *hit.also)}
    others = [hit for hit in rest if known.isdisjoint((hit.id, *hit.also))]
    kept = max(limit - min(_ROOM, len(others)), 1)
    return (*there[:kept], *others)[:limit]


def with_neighbours(store: Store, hit: Hit, found: Found, count: int) -> Hit:
    """The hit with what happened around it; of a memory, around nothing: its sources tell more."""
    if not found.turn:
        return hit
    before, after = store.passages.around(found, count)
    return replace(hit, before=_told(before), after=_told(after))


def _told(rows: Sequence[Found]) -> tuple[Near, ...]:
    return tuple(Near(each.owner, each.kind, each.text, each.at) for each in rows)


def _why(one: Ranked, fits: float) -> Why:
    parts = {name: _rounded(share) for name, share in one.shares.items()}
    parts["priors"] = _rounded(
        parts["priors"] + _rounded(one.score) - sum(parts.values())
    )  # lost by rounding
    return Why(_rounded(fits, 3), one.found_by, parts)


def _rounded(number: float, digits: int = 4) -> float:
    return round(number, digits) + 0.0  # no -0.0


def _of(found: Found, score: float, why: Why | None) -> Hit:
    return Hit(
        id=found.owner,
        kind=found.kind,
        text=found.text,
        score=score,
        session=found.session_id,
        agent=author(found.agent, found.said_by),
        project=found.project,
        when=found.at,
        branch=found.branch,
        status=found.status,
        by=found.said_by,
        form=found.form,
        why=why,
    )


def _one_note(one: Hit, other: Hit) -> bool:
    """Whether one is what another tool noted and the other the memory of it: both have its headline."""
    pair = {hit.id[:1]: hit for hit in (one, other)}
    if one.session != other.session or pair.keys() != {"e", "m"} or pair["e"].kind != Kind.NOTED:
        return False
    return one.text.partition("\n")[0] == other.text.partition("\n")[0]


def _richer(first: Hit, second: Hit) -> Hit:
    """Of two that say the same, the one to show: what was learned, then what retells it, then an event."""
    keep, drop = (second, first) if _worth(second) > _worth(first) else (first, second)
    also = [each for each in (*keep.also, drop.id, *drop.also) if each != keep.id]
    score, why = max(first.score, second.score), keep.why
    if why is not None and score > keep.score:
        more = why.parts.get(_SAME, 0.0) + score - keep.score
        why = replace(why, parts=why.parts | {_SAME: _rounded(more)})
    return replace(keep, score=score, why=why, also=tuple(dict.fromkeys(also)))


def _worth(hit: Hit) -> tuple[bool, bool, int]:
    """A decision says more than the turn or the open step that has its words among others."""
    return hit.id.startswith("m"), not retells(hit.kind), len(hit.text)
