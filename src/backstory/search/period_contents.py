"""What a period holds: for questions that name a time and no subject ("what did we do yesterday").

There is nothing to compare such a question with: the time itself chooses. The kind of thing that is asked for
comes first; else what sums up or was learned, then what was done turn by turn, then what was asked; of each
the latest first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from typing import NamedTuple

from backstory import clock
from backstory.hook.brief_text import HANDLE, shorten
from backstory.model import Kind, MemoryKind, MemoryStatus
from backstory.search.requested_kinds import Asked, Wish
from backstory.store import Store
from backstory.store.records import Filters, Found, Sort
from backstory.store.tokenizer import query_phrases

_LEARNED = (
    MemoryKind.SUMMARY,
    MemoryKind.DECISION,
    MemoryKind.LESSON,
    MemoryKind.ATTEMPT,
    MemoryKind.FACT,
    MemoryKind.PREFERENCE,
)
_DONE = (MemoryKind.TURN, MemoryKind.NEXT_STEP, MemoryKind.COMMAND)
_ASKED = (Kind.PROMPT, Kind.NOTED, Kind.DOCUMENT)
_SAID = (Kind.SAID, Kind.TOOL, Kind.COMPACTED)
_TIERS = (Sort(_LEARNED), Sort(_DONE), Sort(_ASKED), Sort(_SAID))
_TELLING = Sort((*_LEARNED, *_DONE, *_ASKED))
_ALL = Sort((*_TELLING.kinds, *_SAID))
_NEAR_CHARS = 80
_NAMES = {"branch": "branch", "project_id": "project", "agent": "agent"}
# How much is read to find each file, branch or session once.
_MANY = 1_000


@dataclass(frozen=True, slots=True)
class Then:
    """A time that is asked for, and where and when it is."""

    store: Store
    project_id: str | None
    filters: Filters | None
    since: int
    until: int
    now: int
    zone: tzinfo | None

    def __str__(self) -> str:
        return describe_period(self.since, self.until, self.now, self.zone)

    @property
    def where(self) -> str:
        given = self.filters or Filters()
        agents = f", of {' or '.join(given.agents)}" if given.agents else ""
        narrowed = ", so narrowed" if replace(given, agents=()) else ""
        return f"{' in this project' if self.project_id else ''}{agents}{narrowed}"

    def holds(self, sort: Sort, limit: int, latest: bool = True) -> list[Found]:
        return self.store.passages.of_time(
            self.project_id, self.since, self.until, sort, limit, latest, self.filters
        )


class Held(NamedTuple):
    """What a time holds, each with how much it says; what is to be said of it; whether no two are alike."""

    found: list[tuple[Found, float]]
    note: str = ""
    each: bool = False


def held(then: Then, wish: Wish, limit: int) -> Held:
    """What a time holds: what is asked for first, then the rest, unless all there is of it is known."""
    sorts = [each.sort for each in wish.asked]
    if any(each.each for each in wish.asked):
        if found := _each(then, wish.asked[0]):
            return Held(found, _names(wish.asked[0], found), each=True)
    elif any(each.exact for each in wish.asked):
        found = _tiers(then, sorts, limit)
    else:
        found = _tiers(then, [*sorts, *_TIERS], limit, _with(then, wish.verbs))
    if found and (not sorts or any(found[0][0].kind in sort.kinds for sort in sorts)):
        return Held(found)
    rest = _tiers(then, _TIERS, limit)
    names = " or ".join(each.name for each in wish.asked)
    note = f"No {names} of {then} is remembered{then.where}; this is what else there is."
    return Held(rest, note if rest else "")


def still_open(then: Then, limit: int) -> Held:
    """The steps that are still to be done, of whatever time, the latest first."""
    given = then.filters or Filters()
    filters = replace(given, statuses=given.statuses or (MemoryStatus.CANDIDATE, MemoryStatus.CONFIRMED))
    ever = replace(then, filters=filters, since=0, until=then.now + 1)
    return Held(_tiers(ever, [Sort((MemoryKind.NEXT_STEP,))], limit))


def none_open(then: Then) -> str:
    return f"No open step is remembered{then.where}."


def _each(then: Then, asked: Asked) -> list[tuple[Found, float]]:
    """Each file, command, branch, … of a time once, the latest first."""
    once: dict[str, tuple[Found, float]] = {}
    sorts = [asked.sort] if asked.sort.actions else _TIERS
    for found, score in _tiers(then, sorts, _MANY):
        if value := _value(found, asked.each):
            once.setdefault(value, (found, score))
    return list(once.values())


def _names(asked: Asked, found: Sequence[tuple[Found, float]]) -> str:
    """Which branches, projects or agents they are, which no text says."""
    if asked.each not in _NAMES:
        return ""
    named = dict.fromkeys(str(getattr(each, _NAMES[asked.each])) for each, _ in found)
    return f"The {asked.name}{'es' if asked.name.endswith('ch') else 's'}: {', '.join(named)}."


def _value(found: Found, each: str) -> str:
    return found.text.partition("\n")[0] if each == "target" else str(getattr(found, each))


def _with(then: Then, verbs: Sequence[str]) -> list[Found]:
    """What has one of the words, of the time, best first."""
    terms = [phrase for verb in verbs for phrase in query_phrases(verb)]
    given = then.filters or Filters()
    within = replace(
        given, since=max(given.since, then.since), until=min(given.until or then.until, then.until)
    )
    return then.store.passages.search(terms, then.project_id, _MANY // 10, within) if terms else []


def nothing(then: Then) -> str:
    """What to say of a time that holds nothing: so, and what lies nearest to it."""
    sides = []
    before, after = (
        replace(then, since=0, until=then.since),
        replace(then, since=then.until, until=then.now + 1),
    )
    for side, near in (
        ("before", before.holds(_TELLING, 1)),
        ("after", after.holds(_TELLING, 1, latest=False)),
    ):
        for each in near:
            text = shorten(" ".join(each.text.split()), _NEAR_CHARS)
            sides.append(f"{side}: {clock.day_of(each.at, then.zone)}, “{text}” ({each.owner[:HANDLE]})")
    nearest = f" The nearest {'; the nearest '.join(sides)}." if sides else ""
    return f"Nothing of {then} is remembered{then.where}.{nearest}"


def elsewhere(then: Then, hits: bool) -> str:
    """What to say when none of the hits is of the time that was asked for."""
    if then.holds(_ALL, 1):
        return f"None of these is of {then}." if hits else ""
    return (
        f"Nothing of {then} is remembered{then.where}: these are of other times." if hits else nothing(then)
    )


def _tiers(
    then: Then, tiers: Iterable[Sort], limit: int, first: Sequence[Found] = ()
) -> list[tuple[Found, float]]:
    """What a time holds, sort by sort; of each sort what is among `first` before the rest."""
    found: list[tuple[Found, float]] = []
    seen: set[str] = set()
    for tier, sort in enumerate(tiers):
        if len(found) >= limit:
            break
        rows = [each for each in first if each.kind in sort.kinds]
        for row in (*rows, *then.holds(sort, limit)):
            if row.owner not in seen:
                found.append((row, round(max(0.9 - 0.2 * tier, 0.1), 2)))
                seen.add(row.owner)
    return found


def describe_period(since: int, until: int, now: int, zone: tzinfo | None) -> str:
    """A time as one speaks of it: its days, with hours only if it begins or ends within one."""
    if not since:
        return f"the time before {_moment(clock.in_zone(until, zone))}"
    first, after = clock.in_zone(since, zone), clock.in_zone(until, zone)
    if since <= now < until:
        return f"the time since {_moment(first)}"
    if _begins(first) and _begins(after):
        return _days(first.date(), after.date() - timedelta(days=1))
    if first.date() == clock.in_zone(until - 1, zone).date():
        return f"{first:%A %Y-%m-%d}, {first:%H:%M} to {'24:00' if _begins(after) else f'{after:%H:%M}'}"
    return f"{_moment(first)} to {_moment(after)}"


def _begins(moment: datetime) -> bool:
    return f"{moment:%H:%M}" == "00:00"


def _moment(moment: datetime) -> str:
    return f"{moment:%A %Y-%m-%d}" if _begins(moment) else f"{moment:%Y-%m-%d %H:%M}"


def _days(first: date, last: date) -> str:
    following = last + timedelta(days=1)
    if first == last:
        return f"{first:%A %Y-%m-%d}"
    if (first.day, following.day) == (1, 1):
        if (first.year, first.month) == (last.year, last.month):
            return f"{first:%B %Y}"
        if (first.month, following.month, first.year) == (1, 1, last.year):
            return f"{first:%Y}"
    return f"{first} to {last}"
