"""From a question to an answer: candidates by words and by meaning, ranked, repeats collapsed, or nothing."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import tzinfo

from backstory import clock
from backstory.embed.provider import Means
from backstory.errors import Failed
from backstory.search import floor as relevance
from backstory.search.answer import DEFAULT_LIMIT, Answer, Hit, Near, Why
from backstory.search.question import Question, question
from backstory.search.ranking import Here, Ranked, ranked, retells
from backstory.search.repeats import collapse
from backstory.search.short import in_short
from backstory.store import Store
from backstory.store.protocol import Filters, Found

BY_WORDS = Means(why="by words only", off=True)
BY_BOTH = "by words and meaning"
_POOL = 200
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
    if asked.landmark:
        asked = _dated(store, asked, project_id, now)
    pool = max(_POOL, 4 * limit)
    found = {each.row: each for each in store.passages.search(asked.phrases, project_id, pool, filters)}
    near, mode = _near(store, asked, project_id, means, _POOL_FILTERED if filters else pool, found)
    if missing := [row for row in near if row not in found]:
        found |= {each.row: each for each in store.passages.read(missing, filters)}
    lacking = "" if means.off or near or mode.startswith(BY_BOTH) else mode
    candidates = [each for each in found.values() if each.owner not in but]
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
    if neighbours:
        hits = [_with_neighbours(store, hit, best[hit.id].found, neighbours) for hit in hits]
    return Answer(tuple(hits), bool(best) and not hits, mode, in_short(hits, asked), lacking)


def _dated(store: Store, asked: Question, project_id: str | None, now: int) -> Question:
    """The question with the time that its landmark ("before the migration") stands for, if it is known."""
    found = store.passages.search(asked.landmark, project_id, 1)
    if not found:
        return asked
    since, until = (0, found[0].at) if asked.earlier else (found[0].at + 1, now)
    return replace(asked, since=since, until=until)


def _near(
    store: Store,
    asked: Question,
    project_id: str | None,
    means: Means,
    limit: int,
    found: dict[int, Found],
) -> tuple[dict[int, float], str]:
    """The cosines of passages near in meaning and of those found by words; and how it was searched."""
    if means.embedder is None:
        return {}, means.why
    model = store.vectors.model()
    if model != means.embedder.model:
        why = f"vectors are of {model}, to be made anew" if model else "no vectors yet"
        return {}, f"by words; {why}: the next worker makes those of {means.embedder.model}"
    from backstory.search import meaning

    try:
        vector = meaning.vector_of(means.embedder, asked.text)
    except Failed as error:
        return {}, f"by words; {error}"
    if store.vectors.dimensions() not in (0, len(vector)):
        return {}, f"by words; {model} gives other vectors than before: the next worker makes them anew"
    near = meaning.nearest(store, model, vector, project_id, limit)
    near |= meaning.cosines(store, model, vector, [row for row in found if row not in near])
    return near, f"{BY_BOTH} ({model})"


def _hit(one: Ranked, fits: float, explain: bool) -> Hit:
    found = one.found
    marks = {name: round(mark, 3) for name, mark in one.marks.items()}
    why = Why(
        words=marks.get("words", 0.0),
        meaning=marks.get("near", 0.0),
        alike=marks.get("alike", 0.0),
        around=round((marks.get("around", 0.0) + marks.get("around_near", 0.0)) / 2, 3),
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
