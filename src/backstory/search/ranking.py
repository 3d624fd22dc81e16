"""From candidates to an order: the marks of each, weighed and summed.

Marks are scaled within a question, so that the best candidate has 1 and the worst 0 (BM25 has no scale of its
own), and summed with fixed weights; measured, this beats adding up ranks. A session's best marks count for
each of its passages too: two half answers in one session are more than two in two. Priors are small: they
decide between equals.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backstory.model import Kind, MemoryStatus
from backstory.search.question import Question
from backstory.store import Store
from backstory.store.records import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.search.meaning import Likeness

# How many candidates are looked at closely.
CLOSELY = 100
# Tuned on the development halves of the benchmarks only (docs/recall.md).
_WEIGHTS = {
    "words": 0.25,  # BM25
    "near": 0.20,  # the cosine of the passage's vector
    "alike": 0.20,  # each word of the question with the one most like it in the stretch that it stands in
    "around": 0.20,  # the cosine of the stretch's vector
    "together": 0.20,  # as alike, for all that was found of its session
    "often": 0.05,  # the BM25 of all that was found of its session
}
_AGAIN, _MOST_AGAIN = 0.8, 10  # what the next passage of a session counts for, and how many do
_SCALED = ("words", "often")  # from 0 to 1 as they come
_SESSION = 1.0
# The worst of many candidates is bad, the worst of few need not be; and what differs by less than the span is
# as good as each other: there priors decide.
_MANY, _SPAN = 50, 0.1
# Digests repeat what events say, and say it shorter; what was learned says more than both.
_KINDS = {
    "turn": -0.05, "summary": -0.05, "next_step": -0.05, "session": -0.05,
    "decision": 0.01, "lesson": 0.02, "attempt": 0.02, "command": 0.01, "preference": 0.02, "fact": 0.03,
}  # fmt: skip
_FOUND_BY = {
    (True, True): "words and meaning", (True, False): "words", (False, True): "meaning", (False, False): "",
}  # fmt: skip
_DAY_MS = 86_400_000
# A time that is asked for says much if it is a day or a month; what happened then may be told days later.
_THEN, _THEN_ROUGHLY, _LANDMARK, _LONG_DAYS, _BESIDE_DAYS = 0.30, 0.15, 0.04, 31, 4


def retells(kind: str) -> bool:
    """Whether memories of this kind tell again what others say, as a summary does."""
    return _KINDS.get(kind, 0.0) < 0


@dataclass(frozen=True, slots=True)
class Here:
    """Where the question is asked: what lies close to it counts a little more."""

    project_id: str = ""
    branch: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its marks. `raw` are those that are the same for every question: for the floor."""

    found: Found
    found_by: str
    marks: Mapping[str, float]
    raw: Mapping[str, float]
    session: float
    priors: float
    score: float


def worth_reading(ranks: Mapping[int, float], near: Mapping[int, float], most: int) -> list[int]:
    """The passages that are best by words and meaning together, so many: the others' texts are not read."""
    every = dict.fromkeys((*ranks, *near))
    if len(every) <= most:
        return list(every)
    words = -min(ranks.values(), default=0.0) or 1.0
    close = dict(zip(near, _scaled(list(near.values())), strict=True))
    return sorted(every, key=lambda row: ranks.get(row, 0.0) / words - close.get(row, 0.0))[:most]


def ranked(
    store: Store,
    question: Question,
    candidates: Sequence[Found],
    near: Mapping[int, float],
    likeness: "Likeness | None",
    here: Here,
    now: int,
) -> list[Ranked]:
    """The candidates, best first; `near` are cosines by passage, `likeness` measures texts."""
    most = max((-found.rank for found in candidates), default=0.0) or 1.0
    words = {found.row: -found.rank / most for found in candidates}
    chosen = _closely(candidates, words, near) if likeness else list(candidates)
    raw: dict[str, list[float]] = {"words": [words[found.row] for found in chosen]}
    raw["often"] = _often(chosen, words)
    if likeness:
        raw |= _measured(store, chosen, near, likeness)
    marks = {name: values if name in _SCALED else _scaled(values) for name, values in raw.items()}
    total = sum(_WEIGHTS[name] for name in marks)
    weighed = [(_WEIGHTS[name] / total, values) for name, values in marks.items()]
    of_session: dict[str, list[int]] = {}
    for n, each in enumerate(chosen):
        of_session.setdefault(each.session_id, []).append(n)
    own = [sum([weight * values[n] for weight, values in weighed]) for n in range(len(chosen))]
    session = {
        sid: own[numbers[0]]
        if len(numbers) == 1
        else sum([weight * max([values[n] for n in numbers]) for weight, values in weighed])
        for sid, numbers in of_session.items()
    }
    found = []
    for n, each in enumerate(chosen):
        together, priors = session[each.session_id], _priors(each, question, here, now)
        found.append(
            Ranked(
                each,
                _FOUND_BY[words[each.row] > 0, each.row in near],
                {name: values[n] for name, values in marks.items()},
                {name: values[n] for name, values in raw.items()},
                together,
                priors,
                (own[n] + _SESSION * together) / (1 + _SESSION) + priors,
            )
        )
    return sorted(found, key=lambda one: (-one.score, -one.found.at))


def shares(one: Ranked) -> dict[str, float]:
    """What each mark, the session and the priors add to the score of a candidate."""
    total = sum(_WEIGHTS[name] for name in one.marks) * (1 + _SESSION)
    own = {name: _WEIGHTS[name] / total * mark for name, mark in one.marks.items()}
    return own | {"session": one.session * _SESSION / (1 + _SESSION), "priors": one.priors}


def _closely(
    candidates: Sequence[Found], words: Mapping[int, float], near: Mapping[int, float]
) -> list[Found]:
    """The candidates that are worth a closer look."""
    if len(candidates) <= CLOSELY:
        return list(candidates)
    close = dict(zip(near, _scaled(list(near.values())), strict=True))
    return sorted(
        candidates, key=lambda f: -(words[f.row] + close.get(f.row, 0.0) + 2 * _KINDS.get(f.kind, 0.0))
    )[:CLOSELY]


def _measured(
    store: Store, chosen: Sequence[Found], near: Mapping[int, float], likeness: "Likeness"
) -> dict[str, list[float]]:
    """What the texts themselves, and the stretches that they stand in, have in common with the question."""
    keys = [(f.session_id, f.stretch) if f.stretch else (f.owner, f.row) for f in chosen]
    wide = store.passages.stretches(list({key: 0 for key, f in zip(keys, chosen, strict=True) if f.stretch}))
    wide |= {key: [f.row] for key, f in zip(keys, chosen, strict=True) if key not in wide}
    place = {key: n for n, key in enumerate(wide)}
    around = [place[key] for key in keys]
    sessions = {sid: n for n, sid in enumerate({f.session_id: None for f in chosen})}
    session_of = {key: sessions[f.session_id] for key, f in zip(keys, chosen, strict=True)}
    pieces = likeness.pieces(store, list(dict.fromkeys(row for rows in wide.values() for row in rows)))
    found = likeness.measure(pieces, list(wide.values()), [session_of[key] for key in wide])
    return {
        "near": [near.get(f.row, 0.0) for f in chosen],
        "alike": [found.stretches[n] for n in around],
        "around": [found.near[n] for n in around],
        "together": [found.sessions[sessions[f.session_id]] for f in chosen],
    }


def _often(chosen: Sequence[Found], words: Mapping[int, float]) -> list[float]:
    """How much was found of each candidate's session by words: two half answers are more than one."""
    sums: dict[str, float] = {}
    seen: Counter[str] = Counter()
    for found in sorted(chosen, key=lambda found: -words[found.row]):
        sid = found.session_id
        if seen[sid] < _MOST_AGAIN:
            sums[sid] = sums.get(sid, 0.0) + words[found.row] * _AGAIN ** seen[sid]
            seen[sid] += 1
    most = max(sums.values(), default=0.0) or 1.0
    return [sums[found.session_id] / most for found in chosen]


def _scaled(values: Sequence[float]) -> list[float]:
    low = min(values, default=0.0) * min(1.0, len(values) / _MANY)
    high = max(values, default=0.0)
    return [(value - low) / max(high - low, _SPAN) for value in values]


def _priors(found: Found, question: Question, here: Here, now: int) -> float:
    """What speaks for a candidate before its words are looked at."""
    prior = 0.02 * math.exp(-max(now - found.at, 0) / (30 * _DAY_MS))
    prior += _KINDS.get(found.kind, 0.0)
    if found.pinned:
        prior += 0.04
    if found.said_by == "user":
        prior += 0.01
    if found.kind == Kind.PROMPT:  # what was asked for was done, more often than what was only spoken of
        prior += 0.03
    if found.status == MemoryStatus.CONFIRMED:
        prior += 0.01
    if here.project_id and found.project_id == here.project_id:
        prior += 0.05
    if here.branch and found.branch == here.branch:
        prior += 0.01
    if any(name in found.text for name in here.files):
        prior += 0.05
    if question.until:
        prior += _then(found.at, question)
    return prior


def _then(at: int, question: Question) -> float:
    """What speaks for a candidate of the time that is asked about, or of soon before or after it."""
    beside = max(question.since - at, at - question.until, 0) / _DAY_MS
    if question.landmark:
        return 0.0 if beside else _LANDMARK
    long = question.until - question.since > _LONG_DAYS * _DAY_MS
    return (_THEN_ROUGHLY if long else _THEN) * math.exp(-beside / _BESIDE_DAYS)
