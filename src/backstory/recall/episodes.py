"""Which episode of the past a question is about: the one in which most was said of it.

An answer rarely stands alone: a decision is made piece by piece, and often a recap ends it. So what is chosen
is no passage but an episode: passages of one session that stand together, so many at most, and the words that
closed it. It is about the question if several of its passages are near in meaning: that one is near, or has
the same words, is often chance. Pure; hooks use it, so it imports little.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from backstory.store.passage_reader import Place, Told

#: So many passages at most are one episode; so many sessions are looked at, those that fit best.
PASSAGES, SESSIONS = 40, 8
#: An episode is about a question if its nearest passages are as near as this, in the mean.
NEAR = 0.32
_BEST = 4
_ANY = 0.1  # how near any two passages are: stands for those that a short episode lacks


class Fit(NamedTuple):
    """A passage, how well it fits, and its cosine, if there is one."""

    score: float
    cosine: float | None
    told: Told


class Episode(NamedTuple):
    """Passages of a session that stand together, by their rows, and those that were found, best first."""

    session: str
    rows: tuple[int, ...]
    fits: tuple[Fit, ...]
    is_whole: bool  # all that the session has


def fitness(episode: Episode, cosines: Collection[float]) -> float:
    """How well an episode fits; `cosines` are those of its passages."""
    return sum_of_best(episode.fits) / _BEST + nearness(cosines)


def nearness(cosines: Collection[float]) -> float:
    """How near the nearest passages of an episode are."""
    return sum(sorted([*cosines, *[_ANY] * _BEST], reverse=True)[:_BEST]) / _BEST


def by_session(fits: Sequence[Fit]) -> dict[str, list[Fit]]:
    """What was found in each of the sessions that fit best, best first."""
    found: dict[str, list[Fit]] = defaultdict(list)
    for each in sorted(fits, key=lambda fit: -fit.score):
        if each.told.turn:
            found[each.told.session_id].append(each)
    best = sorted(found, key=lambda session: -sum_of_best(found[session]))[:SESSIONS]
    return {session: found[session] for session in best}


def sum_of_best(fits: Sequence[Fit]) -> float:
    """How well the best of these fit together; they come best first."""
    return sum(each.score for each in fits[:_BEST])


def episode_of(session: str, fits: Sequence[Fit], passages: Sequence[Place]) -> Episode:
    """The stretch of a session in which what was found fits best, with the words that closed its turn."""
    at = {each.row: number for number, each in enumerate(passages)}
    fits = [each for each in fits if each.told.row in at]
    if len(passages) <= PASSAGES or not fits:
        return Episode(session, tuple(at), tuple(fits), is_whole=True)
    start = max((at[each.told.row] for each in fits), key=lambda first: sum_of_best(_within(fits, at, first)))
    own = _within(fits, at, start)
    last = max(at[each.told.row] for each in own)
    start = max(0, (start + last + 1 - PASSAGES) // 2)  # as many around it before as behind
    inside = passages[start : start + PASSAGES]
    turns = {each.told.turn for each in own}
    closing = [each for each in passages[start + PASSAGES :] if each.form == "closing" and each.turn in turns]
    rows = tuple(each.row for each in (*inside, *closing))
    return Episode(session, rows, tuple(each for each in fits if each.told.row in rows), is_whole=False)


def _within(fits: Sequence[Fit], at: Mapping[int, int], first: int) -> list[Fit]:
    return [each for each in fits if first <= at[each.told.row] < first + PASSAGES]
