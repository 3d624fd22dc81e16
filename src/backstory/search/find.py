"""From a question to an answer: candidates by words and by meaning, ranked, repeats collapsed, or nothing."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import tzinfo
from functools import partial
from typing import NamedTuple

from backstory import clock
from backstory.embed.provider import Means
from backstory.errors import Failed
from backstory.model import Kind
from backstory.search import floor as relevance
from backstory.search import spelling
from backstory.search.answer import DEFAULT_LIMIT, Answer, Hit, Near, Why
from backstory.search.history import in_order
from backstory.search.question import Question, question
from backstory.search.ranking import Here, Ranked, ranked, retells, shares, worth_reading
from backstory.search.repeats import collapse
from backstory.search.short import in_short
from backstory.search.then import Then, beside, elsewhere, held, nothing
from backstory.store import Store
from backstory.store.values import Filters, Found

BY_WORDS = Means(why="by words only", off=True)
BY_BOTH = "by words and meaning"
_BY_TIME = "by time"
_UNSHELVED = "not all older words yet: the worker indexes them anew"
_MARKS = {"near": "meaning"}
_SAME = "says the same"
_POOL = 200
# Of how many of these the texts are read.
_READ = 125
_EVENTS = Filters(kinds=(Kind.PROMPT, Kind.SAID, Kind.TOOL))


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
    then = Then(store, project_id, filters, asked.since, asked.until, now, zone)
    if asked.whole:
        answer = _by_time(then, asked, limit, means, but, explain, neighbours)
        if answer is not None:
            return answer
    said = asked
    if asked.landmark:
        asked = _dated(store, asked, project_id, now)
    pool = max(_POOL, 4 * limit)
    matches = store.passages.matches(asked.phrases, project_id, pool, filters)
    read = spelling.read_as(store, spelling.mistyped(asked.words, matches.absent), project_id)
    if read:
        asked = replace(
            question(spelling.mended(text, read), now, zone), since=asked.since, until=asked.until
        )
        matches = store.passages.matches(asked.phrases, project_id, pool, filters)
    ranks = dict(matches.ranks)
    meant = _near(store, asked, project_id, means, pool, filters)
    mode, near = meant.mode, meant.near
    lacking = "" if means.off or near or mode.startswith(BY_BOTH) else mode
    if store.passages.unshelved():
        mode = lacking = f"{mode}; {_UNSHELVED}"
    rows = list(ranks | near) if filters else worth_reading(ranks, near, max(_READ, 4 * limit))
    near = near | meant.others([row for row in rows if row not in near])
    candidates = [
        each._replace(rank=ranks.get(each.row, 0.0))
        for each in store.passages.read(rows, filters)
        if each.owner not in but
    ]
    likeness = None
    if means.table is not None:
        from backstory.search.meaning import Likeness

        likeness = Likeness(means.table, asked)
    order = ranked(store, asked, candidates, near, likeness, here or Here(), now)
    best: dict[str, Ranked] = {}
    for one in order:
        best.setdefault(one.found.owner, one)
    sure = partial(relevance.of, question=asked, among=meant.among)
    hits = collapse(
        (_hit(one, sure if explain else None) for one in best.values()),
        lambda hit: hit.text,
        _richer,
        limit,
        lambda hit: not floor or sure(best[hit.id]) >= relevance.FLOOR,
    )
    hits = in_order(hits, (one.found for one in best.values()))
    if neighbours:
        hits = [_with_neighbours(store, hit, best[hit.id].found, neighbours) for hit in hits]
    note = ""
    if said.until and not any(
        said.since <= best[each].found.at < said.until for hit in hits for each in (hit.id, *hit.also)
    ):
        note = elsewhere(then, bool(hits))
    note = _sentences(said.how, note)
    short = in_short(hits, asked)
    return Answer(tuple(hits), bool(best) and not hits, mode, short, lacking, note, tuple(read))


def _sentences(*each: str) -> str:
    return " ".join(filter(None, each))


def _by_time(
    then: Then,
    asked: Question,
    limit: int,
    means: Means,
    but: Collection[str],
    explain: bool,
    neighbours: int,
) -> Answer | None:
    """What the time holds that is asked for, or what lies beside its landmark; None if that is not known."""
    if asked.wish is not None:
        found, note, each_once = held(then, asked.wish, 4 * limit)
    else:
        landmark = search(
            then.store, asked.anchor, then.project_id, 1, means=means, filters=_EVENTS, but=but
        ).hits
        if not landmark:
            return None
        found, note, each_once = beside(then, landmark[0].id, asked.earlier, 4 * limit)
    found = [(each, score) for each, score in found if each.owner not in but]
    if not found:
        if asked.wish is None:
            return None
        return Answer((), abstained=False, mode=_BY_TIME, time_note=_sentences(asked.how, nothing(then)))
    hits = [_told_of(each, score, _why_then(score) if explain else None) for each, score in found]
    if each_once:
        more = f"{limit} of {len(hits)} are shown." if len(hits) > limit else ""
        hits, note = hits[:limit], _sentences(note, more)
    else:
        hits = in_order(collapse(hits, lambda hit: hit.text, _richer, limit), (each for each, _ in found))
    if neighbours:
        by_id = {each.owner: each for each, _ in found}
        hits = [_with_neighbours(then.store, hit, by_id[hit.id], neighbours) for hit in hits]
    short, note = in_short(hits, asked), _sentences(asked.how, note)
    return Answer(tuple(hits), abstained=False, mode=_BY_TIME, short=short, time_note=note)


def _why_then(score: float) -> Why:
    return Why(0, 0, 0, 0, 0, 0, 0, 0, 1.0, "time", {"time and kind": score})


def _dated(store: Store, asked: Question, project_id: str | None, now: int) -> Question:
    """The question with the time that its landmark ("before the migration") stands for, if it is known."""
    found = store.passages.search(asked.landmark, project_id, 1)
    if not found:
        return asked
    since, until = (0, found[0].at) if asked.earlier else (found[0].at + 1, now)
    return replace(asked, since=since, until=until)


class _Meant(NamedTuple):
    """How it was searched by meaning: the nearest passages with their cosines, and among how many they are.

    `others` tells the cosines of the rest.
    """

    mode: str
    near: dict[int, float] = {}  # noqa: RUF012 - nobody writes to it
    among: int = 0
    others: Callable[[Sequence[int]], dict[int, float]] = lambda rows: {}


def _near(
    store: Store,
    asked: Question,
    project_id: str | None,
    means: Means,
    limit: int,
    filters: Filters | None,
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
    near, among = meaning.nearest(store, model, vector, project_id, limit, filters)
    return _Meant(f"{BY_BOTH} ({model})", near, among, partial(meaning.cosines, store, model, vector))


def _hit(one: Ranked, sure: Callable[[Ranked], float] | None) -> Hit:
    score = _rounded(one.score)
    why = _why(one, sure(one), score) if sure else None
    return _told_of(one.found, score, why)


def _why(one: Ranked, fits: float, score: float) -> Why:
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
        found_by=one.found_by,
        parts=parts,
    )


def _rounded(number: float, digits: int = 4) -> float:
    return round(number, digits) + 0.0  # no -0.0


def _told_of(found: Found, score: float, why: Why | None) -> Hit:
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
        why=why,
    )


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
