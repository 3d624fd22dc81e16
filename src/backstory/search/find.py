"""From a question to an answer: candidates by words and by meaning, ranked, repeats collapsed, or nothing."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import tzinfo
from functools import partial
from typing import NamedTuple

from backstory import clock
from backstory.embed.provider import Means
from backstory.errors import Failed
from backstory.model import Kind, MemoryStatus
from backstory.search import floor as relevance
from backstory.search import then
from backstory.search.answer import DEFAULT_LIMIT, Answer, Hit, Near, Why
from backstory.search.question import Question, question
from backstory.search.ranking import Here, Ranked, ranked, retells, worth_reading
from backstory.search.repeats import collapse
from backstory.search.short import in_short
from backstory.store import Store
from backstory.store.protocol import Filters, Found

BY_WORDS = Means(why="by words only", off=True)
BY_BOTH = "by words and meaning"
_UNSHELVED = "not all older words yet: the worker indexes them anew"
_POOL = 200
# Of how many of these the texts are read.
_READ = 125
_EVENTS = Filters(kinds=(Kind.PROMPT, Kind.SAID, Kind.TOOL))
# Filters take away most of what lies near: then more of it is looked at.
_POOL_FILTERED = 500


def search(
    store: Store,
    text: str,
    project_id: str | None,
    limit: int = DEFAULT_LIMIT,
    floor: bool = True,
    *,
    means: Means = BY_WORDS,
    filters: Filters | None = None,
    here: Here | None = None,
    explain: bool = False,
    neighbours: int = 0,
    zone: tzinfo | None = None,
    but: Collection[str] = (),
) -> Answer:
    """The best hits for a question, in one project or in all; `but` are the ids of what is no answer."""
    now = clock.now_ms()
    asked = question(text, now, zone)
    if not asked.words or limit < 1:
        return Answer((), abstained=False, mode=means.why)
    if asked.whole:
        whole = _whole(store, asked, project_id, limit, means, filters, but, now)
        if whole:
            hits = collapse(whole, lambda hit: hit.text, _richer, limit)
            return Answer(tuple(hits), abstained=False, mode="by time", short=in_short(hits, asked))
    if asked.landmark:
        asked = _dated(store, asked, project_id, now)
    pool = max(_POOL, 4 * limit)
    ranks = dict(store.passages.matches(asked.phrases, project_id, pool, filters))
    meant = _near(store, asked, project_id, means, _POOL_FILTERED if filters else pool)
    mode, near = meant.mode, meant.near
    lacking = "" if means.off or near or mode.startswith(BY_BOTH) else mode
    if store.passages.unshelved():
        mode = lacking = f"{mode}; {_UNSHELVED}"
    rows = list(ranks | near) if filters else worth_reading(ranks, near, max(_READ, 4 * limit))
    near = near | meant.others([row for row in rows if row not in near])
    read = store.passages.read(rows, filters)
    candidates = [each._replace(rank=ranks.get(each.row, 0.0)) for each in read if each.owner not in but]
    likeness = None
    if means.table is not None:
        from backstory.search.meaning import Likeness

        likeness = Likeness(means.table, asked)
    order = ranked(store, asked, candidates, near, likeness, here or Here(), now)
    best: dict[str, Ranked] = {}
    for one in order:
        best.setdefault(one.found.owner, one)
    judged = ((one, relevance.of(one, asked)) for one in best.values())
    kept = (_hit(one, fits, explain) for one, fits in judged if not floor or fits >= relevance.FLOOR)
    hits = collapse(kept, lambda hit: hit.text, _richer, limit)  # no more is judged than it takes
    hits.sort(key=lambda hit: hit.status == MemoryStatus.SUPERSEDED)  # history comes last
    if neighbours:
        hits = [_with_neighbours(store, hit, best[hit.id].found, neighbours) for hit in hits]
    return Answer(tuple(hits), bool(best) and not hits, mode, in_short(hits, asked), lacking)


def _whole(
    store: Store,
    asked: Question,
    project_id: str | None,
    limit: int,
    means: Means,
    filters: Filters | None,
    but: Collection[str],
    now: int,
) -> list[Hit]:
    """What the time holds that is asked for, or what lies beside its landmark."""
    if asked.until:
        found = then.held(store, project_id, asked.since, asked.until, asked.kinds, filters, 4 * limit)
    else:
        landmark = search(store, asked.anchor, project_id, 1, means=means, filters=_EVENTS, but=but).hits
        if not landmark:
            return []
        found = then.beside(store, project_id, landmark[0].id, asked.earlier, now, filters, 4 * limit)
    return [_then_hit(each, score) for each, score in found if each.owner not in but]


def _dated(store: Store, asked: Question, project_id: str | None, now: int) -> Question:
    """The question with the time that its landmark ("before the migration") stands for, if it is known."""
    found = store.passages.search(asked.landmark, project_id, 1)
    if not found:
        return asked
    since, until = (0, found[0].at) if asked.earlier else (found[0].at + 1, now)
    return replace(asked, since=since, until=until)


class _Meant(NamedTuple):
    """How it was searched by meaning: the nearest passages with their cosines; `others` tells the rest's."""

    mode: str
    near: dict[int, float] = {}  # noqa: RUF012 - nobody writes to it
    others: Callable[[Sequence[int]], dict[int, float]] = lambda rows: {}


def _near(
    store: Store,
    asked: Question,
    project_id: str | None,
    means: Means,
    limit: int,
) -> _Meant:
    """The passages that are nearest in meaning, and how it was searched."""
    if means.embedder is None:
        return _Meant(means.why)
    model = store.vectors.model()
    if model != means.embedder.model:
        why = f"vectors are of {model}, to be made anew" if model else "no vectors yet"
        return _Meant(f"by words; {why}: the next worker makes those of {means.embedder.model}")
    from backstory.search import meaning

    try:
        vector = meaning.vector_of(means.embedder, asked.text)
    except Failed as error:
        return _Meant(f"by words; {error}")
    if store.vectors.dimensions() not in (0, len(vector)):
        return _Meant(f"by words; {model} gives other vectors than before: the next worker makes them anew")
    near = meaning.nearest(store, model, vector, project_id, limit)
    return _Meant(f"{BY_BOTH} ({model})", near, partial(meaning.cosines, store, model, vector))


def _then_hit(found: Found, score: float) -> Hit:
    return Hit(
        id=found.owner,
        kind=found.kind,
        text=found.text,
        score=score,
        session=found.session_id,
        agent=found.agent,
        project=found.project,
        when=found.at,
        branch=found.branch,
        status=found.status,
    )


def _hit(one: Ranked, fits: float, explain: bool) -> Hit:
    found = one.found
    marks = {name: round(mark, 3) for name, mark in one.marks.items()}
    why = Why(
        words=marks.get("words", 0.0),
        meaning=marks.get("near", 0.0),
        alike=marks.get("alike", 0.0),
        around=marks.get("around", 0.0),
        session=round(one.session, 3),
        priors=round(one.priors, 3),
        relevance=round(fits, 3),
        found_by=one.found_by,
    )
    return Hit(
        id=found.owner,
        kind=found.kind,
        text=found.text,
        score=round(one.score, 4),
        session=found.session_id,
        agent=found.agent,
        project=found.project,
        when=found.at,
        branch=found.branch,
        status=found.status,
        why=why if explain else None,
    )


def _richer(first: Hit, second: Hit) -> Hit:
    """Of two that say the same, the one to show: what was learned, then what retells it, then an event."""
    keep, drop = (second, first) if _worth(second) > _worth(first) else (first, second)
    return replace(keep, score=max(first.score, second.score), also=(*keep.also, drop.id, *drop.also))


def _worth(hit: Hit) -> tuple[bool, bool, int]:
    """A decision says more than the turn or the open step that has its words among others."""
    return hit.id.startswith("m"), not retells(hit.kind), len(hit.text)


def _with_neighbours(store: Store, hit: Hit, found: Found, count: int) -> Hit:
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
