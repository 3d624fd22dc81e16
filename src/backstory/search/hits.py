"""Hits: from what was found and how it was ranked to what is shown."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from backstory.attribution import author
from backstory.model import Kind
from backstory.search.answer import Hit, Near, Why
from backstory.search.history import in_order
from backstory.search.meant import StandIns, standing_in
from backstory.search.ranking import Ranked, retells, shares
from backstory.search.repeats import collapse
from backstory.store import Store
from backstory.store.records import Found

_MARKS = {"near": "meaning"}
_SAME = "says the same"
# So many of the hits that were found otherwise are shown, however many there are of those that come first.
_ROOM = 2


def of_ranked(one: Ranked, sure: Callable[[Ranked], float] | None, meant: Sequence[StandIns] = ()) -> Hit:
    """The hit of a candidate; explained, if there is what tells how sure it is."""
    score = _rounded(one.score)
    why = _why(one, sure(one), score, standing_in(meant, one.found.text)) if sure else None
    return _of(one.found, score, why)


def of_time(found: Found, score: float, explain: bool) -> Hit:
    """The hit of something that a time holds."""
    why = Why(0, 0, 0, 0, 0, 0, 0, 0, 1.0, "time", {"time and kind": score}) if explain else None
    return _of(found, score, why)


def of_depth(found: Found, explain: bool) -> Hit:
    """The hit of an event that has a name where the index does not look."""
    why = Why(0, 0, 0, 0, 0, 0, 0, 0, 1.0, "its whole text", {"name": 1.0}) if explain else None
    return _of(found, 1.0, why)


def each_once(
    hits: Iterable[Hit],
    found: Iterable[Found],
    limit: int,
    fits: Callable[[Hit], bool] = lambda hit: True,
    history: bool = False,
) -> list[Hit]:
    """Hits best first that fit, each said once by its richest form, what is history last, unless wanted."""
    once = collapse(hits, lambda hit: hit.text, _richer, limit, fits, _one_note)
    return once if history else in_order(once, found)


def first_of(there: Sequence[Hit], rest: Sequence[Hit], limit: int) -> tuple[Hit, ...]:
    """Hits of the place that was asked for, then the others; what the others have best keeps room."""
    known = {each for hit in there for each in (hit.id, *hit.also)}
    others = [hit for hit in rest if known.isdisjoint((hit.id, *hit.also))]
    kept = max(limit - min(_ROOM, len(others)), 1)
    return (*there[:kept], *others)[:limit]


def with_neighbours(store: Store, hit: Hit, found: Found, count: int) -> Hit:
    """The hit with what happened around it; of a memory, around nothing: its sources tell more."""
    if not found.stretch:
        return hit
    rows = store.passages.around(found.row, found.session_id, count)
    return replace(
        hit,
        before=_told([each for each in rows if each.row < found.row]),
        after=_told([each for each in rows if each.row > found.row]),
    )


def _told(rows: Sequence[Found]) -> tuple[Near, ...]:
    return tuple(Near(each.owner, each.kind, each.text, each.at) for each in rows)


def _why(one: Ranked, fits: float, score: float, standing: str) -> Why:
    marks = {name: _rounded(mark, 3) for name, mark in one.marks.items()}
    parts = {_MARKS.get(name, name): _rounded(share) for name, share in shares(one).items()}
    parts["session"] = _rounded(parts["session"] + score - sum(parts.values()))  # what rounding has lost
    return Why(
        words=marks.get("words", 0.0),
        meaning=marks.get("near", 0.0),
        alike=marks.get("alike", 0.0),
        around=marks.get("around", 0.0),
        together=marks.get("together", 0.0),
        often=marks.get("often", 0.0),
        session=_rounded(one.session, 3),
        priors=_rounded(one.priors, 3),
        relevance=_rounded(fits, 3),
        found_by=f"{one.found_by} ({standing})" if standing else one.found_by,
        parts=parts,
    )


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
    score, why = max(first.score, second.score), keep.why
    if why is not None and score > keep.score:
        more = why.parts.get(_SAME, 0.0) + score - keep.score
        why = replace(why, parts=why.parts | {_SAME: _rounded(more)})
    return replace(keep, score=score, why=why, also=(*keep.also, drop.id, *drop.also))


def _worth(hit: Hit) -> tuple[bool, bool, int]:
    """A decision says more than the turn or the open step that has its words among others."""
    return hit.id.startswith("m"), not retells(hit.kind), len(hit.text)
