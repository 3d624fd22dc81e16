"""Parts of a time that words before its name choose: "the end of March", "the first week of 2026".

"The week of 5 October" chooses what it is a part of.
"""

import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from typing import NamedTuple

from backstory import clock
from backstory.search.timecalendar import Calendar, Span, begin_of, shifted
from backstory.search.timeforms import NTH, NUMBER, nth, number_of, weekday_number
from backstory.search.timewords import DAYS

_THIRDS = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}
_HALVES = {"first": 0, "second": 1, "last": 1, "latter": 1, "other": 1}
_LEAST_DAYS = 5
_NEAR = 20  # characters: the longest weekday and what may stand behind it

Days = tuple[date, date]  # the first one, and the one after the last


def _third(m: re.Match[str], days: Days) -> Days | None:
    first, after = days
    number, third = (after - first).days, _THIRDS[m[1] or m[2]]
    if number < _LEAST_DAYS:
        return None
    if 28 <= number <= 31:
        edges = (0, 10, 20, number)
        return first + timedelta(days=edges[third]), first + timedelta(days=edges[third + 1])
    long = -(-number // 3)
    start = first + timedelta(days=(number - long) * third // 2)
    return start, start + timedelta(days=long)


def _half(m: re.Match[str], days: Days) -> Days | None:
    first, after = days
    middle = first + timedelta(days=(after - first).days // 2)
    return (middle, after) if _HALVES[m[1]] else (first, middle)


def _nth(m: re.Match[str], days: Days) -> Days | None:
    """Weeks are counted from the first day, or back from the last; all others as calendars have them."""
    (first, after), unit = days, m[2]
    if unit == "week":
        start = after - timedelta(days=7) if m[1] == "last" else first + timedelta(days=7 * (nth(m[1]) - 1))
    else:
        start = begin_of(after - timedelta(days=1), unit) if m[1] == "last" else begin_of(first, unit)
        if m[1] != "last":
            start = shifted(start, unit, nth(m[1]) - 1 + (start < first))
    end = start + timedelta(days=2) if unit == "weekend" else shifted(start, unit, 1)
    return (start, end) if first <= start < after else None


def _several(m: re.Match[str], days: Days) -> Days | None:
    first, after = days
    number = number_of(m[2])
    if m[1] == "last":
        return max(first, shifted(after, m[3], -number)), after
    return first, min(after, shifted(first, m[3], number))


def _nth_weekday(m: re.Match[str], days: Days) -> Days | None:
    first, after = days
    edge = after - timedelta(days=7) if m[1] == "last" else first
    day = edge + timedelta(days=(weekday_number(m[2]) - edge.weekday()) % 7)
    day = shifted(day, "week", 0 if m[1] == "last" else nth(m[1]) - 1)
    return (day, day + timedelta(days=1)) if first <= day < after else None


def _around(m: re.Match[str], days: Days) -> Days | None:
    """The week that a day is in; its weekend is the one at the end of that week."""
    first, after = days
    if m[1] == "weekend":
        saturday = begin_of(first, "week") + timedelta(days=5)
        return saturday, saturday + timedelta(days=2)
    start = begin_of(first, m[1])
    end = shifted(start, m[1], 1)
    return (start, end) if after <= end else None


def _weekday(m: re.Match[str], days: Days) -> Days | None:
    first, after = days
    day = first + timedelta(days=(weekday_number(m[1]) - first.weekday()) % 7)
    return (day, day + timedelta(days=1)) if (after - first).days == 7 else None


_PARTS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], Days], Days | None]], ...] = tuple(
    (re.compile(rf"(?<!\S)(?:the )?(?:very )?{pattern} $"), part)
    for pattern, part in (
        (r"(?:(early|mid|late)(?: in)?|(beginning|start|middle|end) (?:of|in))", _third),
        (r"(first|second|last|latter|other) half of", _half),
        (rf"({NTH[1:-1]}|last) (day|week|weekend|month|quarter) (?:of|in)", _nth),
        (rf"(first|last) {NUMBER} (day|week|month|quarter)s (?:of|in)", _several),
        (rf"({NTH[1:-1]}|last) ({'|'.join(DAYS)}) (?:of|in)", _nth_weekday),
        (r"(week|weekend|month) (?:of|around|containing)(?: the)?", _around),
        (rf"({'|'.join(DAYS)})(?: of| in)?(?: the)?", _weekday),
    )
)
_ANY_DAY = rf"({'|'.join(DAYS)}|mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)"
_BEFORE_DATE = re.compile(rf"(?<!\S){_ANY_DAY}(?: the)? $")
_AFTER_DATE = re.compile(rf" {_ANY_DAY}(?!\S)")
_DAY_AFTER = re.compile(rf" (?:on |am )?({'|'.join(DAYS)})(?!\S)")
Part = Callable[[Span, Calendar], Span | None]


def part_before(words: str) -> tuple[int, Part] | None:
    """Where words that choose a part of the time after them begin, and that part."""
    for pattern, part in _PARTS:
        if m := pattern.search(words):
            return m.start(), partial(_of, said=m, part=part)
    return None


def part_after(words: str) -> tuple[int, Part] | None:
    """Where a weekday ends that is chosen of the time before it ("last week on Tuesday"), and that part."""
    m = _DAY_AFTER.match(words)
    return (m.end(), partial(_of, said=m, part=_weekday)) if m else None


class DayBeside(NamedTuple):
    """A weekday that stands beside a date; where they begin and end together."""

    number: int
    start: int
    end: int


def day_beside(words: str, start: int, end: int) -> DayBeside | None:
    """The weekday that is said with a date: "Friday, 13 November", "2026-11-13 (Fri)"."""
    near = max(0, start - _NEAR)
    if m := _BEFORE_DATE.search(words[near:start]):
        return DayBeside(weekday_number(m[1]), near + m.start(), end)
    m = _AFTER_DATE.match(words[end:])
    return DayBeside(weekday_number(m[1]), start, end + m.end()) if m else None


def _of(
    span: Span, here: Calendar, said: re.Match[str], part: Callable[[re.Match[str], Days], Days | None]
) -> Span | None:
    first = clock.in_zone(span.since, here.zone).date()
    after = clock.in_zone(span.until - 1, here.zone).date() + timedelta(days=1)
    days = part(said, (first, after))
    return here.days(*days) if days else None
