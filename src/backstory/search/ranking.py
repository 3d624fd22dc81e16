"""From candidates to an order: how well words and meaning fit, weighed and summed, and small priors.

Three marks, each from 0 to 1 within a question: BM25 of the passage, BM25 of the passage together with what
its turn was asked, and the cosine of its vector. A fixed convex sum of these beats adding up ranks and
learned rankers on projects that nobody tuned for (docs/lab/recall.md). Priors decide between equals.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from backstory.model import MemoryStatus
from backstory.search.marks import FORMS, KINDS, Marks
from backstory.search.question import Question
from backstory.store.records import Found

# What the best of its session, and of what stands beside it, counts for a passage: answers rarely come alone.
_SESSION, _BESIDE = 0.3, 0.1
# Where nothing was done, people talk to each other: what they ask says as much as how they close.
_WORK = frozenset(("step", "commit"))
_FOUND_BY = {
    (True, True): "words and meaning", (True, False): "words", (False, True): "meaning", (False, False): "",
}  # fmt: skip
_DAY_MS = 86_400_000
_RECENT = 0.02
# A time that is asked for says much if it is a day or a month; what happened then may be told days later.
_THEN, _THEN_ROUGHLY, _LONG_DAYS, _BESIDE_DAYS = 0.30, 0.15, 31, 4


def retells(kind: str) -> bool:
    """Whether memories of this kind tell again what others say, as a summary does."""
    return KINDS.get(kind, 0.0) < 0


@dataclass(frozen=True, slots=True)
class Here:
    """Where the question is asked: what lies close to it counts a little more."""

    project_id: str = ""
    branch: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with what its marks and priors add to its score; its cosine, None if there is none."""

    found: Found
    shares: Mapping[str, float]
    cosine: float | None
    score: float

    @property
    def found_by(self) -> str:
        """By what it was found: words, meaning or both."""
        words = self.shares["words"] > 0 or self.shares["context"] > 0
        return _FOUND_BY[words, self.cosine is not None]


def ranked(
    question: Question, candidates: Sequence[Found], marked: Marks, here: Here, now: int
) -> list[Ranked]:
    """The candidates, best first."""
    found = []
    own = {each.row: sum(marked.shares[each.row].values()) for each in candidates}
    session = _best_of({each.row: each.session_id for each in candidates}, own)
    beside = _beside(candidates, own)
    forms = FORMS if any(each.form in _WORK for each in candidates) else {}
    for each in candidates:
        shares = {
            **marked.shares[each.row],
            "session": _SESSION * session[each.session_id],
            "beside": _BESIDE * beside[each.row],
            "priors": _priors(each, question, here, now, forms),
        }
        found.append(Ranked(each, shares, marked.cosines.get(each.row), sum(shares.values())))
    return sorted(found, key=lambda one: (-one.score, -one.found.at))


def _best_of(groups: Mapping[int, str], scores: Mapping[int, float]) -> dict[str, float]:
    best: dict[str, float] = {}
    for row, group in groups.items():
        best[group] = max(best.get(group, 0.0), scores[row])
    return best


def _beside(candidates: Sequence[Found], scores: Mapping[int, float]) -> dict[int, float]:
    """The better of the candidates just before and after each in its session, in this or the next turn."""
    found = dict.fromkeys(scores, 0.0)
    for one, other in pairwise(sorted(candidates, key=lambda each: (each.session_id, each.at, each.row))):
        if one.session_id == other.session_id and one.turn and 0 <= other.turn - one.turn <= 1:
            found[one.row] = max(found[one.row], scores[other.row])
            found[other.row] = max(found[other.row], scores[one.row])
    return found


def _priors(
    found: Found, question: Question, here: Here, now: int, forms: Mapping[str, float] = FORMS
) -> float:
    """What speaks for a candidate before its words are looked at."""
    prior = _RECENT * math.exp(-max(now - found.at, 0) / (30 * _DAY_MS))
    prior += forms.get(found.form, 0.0) if found.form else KINDS.get(found.kind, 0.0)
    if found.pinned:
        prior += 0.04
    if found.said_by == "user":
        prior += 0.01
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
    long = question.until - question.since > _LONG_DAYS * _DAY_MS
    return (_THEN_ROUGHLY if long else _THEN) * math.exp(-beside / _BESIDE_DAYS)
