"""The ways to name a time: `FORMS`, each with how long it is; "yesterday", "3 June", "the last two weeks".

Days begin at midnight of the user's zone, whatever the clocks do in that night.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from backstory import clock
from backstory.search.timewords import DAYS, MONTHS, NUMBERS

_HOUR_MS = 3_600_000
_FIRST, _LAST = date(1971, 1, 1), date(9990, 1, 1)
_UNITS = "hour|day|week|month|year"
_UNIT_DAYS = {"day": 1, "night": 1, "weekend": 7, "week": 7, "month": 30, "quarter": 91, "year": 365}
_PARTS = {"morning": (4, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30), "noon": (11, 14)}
_NTH = {"first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3, "4th": 3}
_VAGUE = ("couple", "couple of", "few", "several")
_THIRDS = {"early": 0, "beginning of": 0, "start of": 0, "mid": 1, "middle of": 1, "late": 2, "end of": 2}


class Span(NamedTuple):
    """From `since` on and before `until`."""

    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Calendar:
    """The moment of asking, and the calendar that it is asked in."""

    now: int
    zone: tzinfo | None

    @property
    def today(self) -> date:
        return clock.in_zone(self.now, self.zone).date()

    def at(self, day: date, hour: int = 0) -> int:
        """An hour of a day; days before any memory are the first one."""
        day = min(max(day, _FIRST), _LAST) + timedelta(days=hour // 24)
        return int(datetime.combine(day, time(hour % 24), self.zone).timestamp() * 1000)

    def days(self, first: date, after: date) -> Span:
        return Span(self.at(first), self.at(after))

    def so_far(self, span: Span) -> Span:
        """What is over of a time, or all of it if it is yet to come."""
        return span._replace(until=min(span.until, self.now + 1)) if span.since <= self.now else span


NUMBER = rf"(\d{{1,3}}|(?:a )?(?:{'|'.join(sorted(NUMBERS, key=len, reverse=True))}))"
_MONTH = rf"({'|'.join(MONTHS)})"
_SHORT = r"(" + "|".join((*MONTHS, *(f"{month[:3]}" for month in MONTHS if month != "may"), "sept")) + ")"
_YEAR = r"(?: (\d{4}))?"
_NTH_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_PART = rf"(?: ({'|'.join(_PARTS)}))?"
ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


def _iso(m: re.Match[str], here: Calendar, year: int) -> Span | None:
    day = _day(int(m[1]), int(m[2]), int(m[3]))
    return here.days(day, _next(day)) if day else None


def _day_month(m: re.Match[str], here: Calendar, year: int) -> Span | None:
    return _date(m[3], m[1] or m[2], m[2], m[4], m[5], here, year)


def _month_day(m: re.Match[str], here: Calendar, year: int) -> Span | None:
    return _date(m[1], m[2], m[3] or m[2], m[4], m[5], here, year)


def _date(
    month: str, first: str, last: str, given: str | None, part: str | None, here: Calendar, year: int
) -> Span | None:
    """One or several days of a month; without a year, the latest that is not to come."""
    number = _month_number(month)
    chosen = int(given) if given else year or here.today.year
    begin, end = _day(chosen, number, int(first)), _day(chosen, number, int(last))
    if begin and not given and not year and begin > here.today:
        begin, end = _day(chosen - 1, number, int(first)), _day(chosen - 1, number, int(last))
    if begin is None or end is None or end < begin:
        return None
    return _part_of(begin, part, here) if part else here.days(begin, _next(end))


def _week_of(m: re.Match[str], here: Calendar, year: int) -> Span | None:
    first = _month_begin(m[2], m[3], here, year)
    if first is None:
        return None
    begin = (
        shifted(first, "month", 1) - timedelta(days=7)
        if m[1] == "last"
        else first + timedelta(7 * _NTH[m[1]])
    )
    return here.days(begin, begin + timedelta(days=7))


def _third_of(m: re.Match[str], here: Calendar, year: int) -> Span | None:
    first = _month_begin(m[2], m[3], here, year)
    if first is None:
        return None
    third = _THIRDS[m[1]]
    begin = first + timedelta(days=10 * third)
    return here.days(begin, shifted(first, "month", 1) if third == 2 else begin + timedelta(days=10))


def _ago(m: re.Match[str], here: Calendar, year: int) -> Span:
    """So long ago, give or take a quarter; so many days of a week ago is that day."""
    said, unit = m[1] or m[3], m[2] or m[4]
    number = number_of(said)
    if unit == "hour":
        slack = max(number // 4, 1) * _HOUR_MS
        middle = here.now - number * _HOUR_MS
        return here.so_far(Span(middle - slack, middle + slack))
    day = shifted(here.today, unit, -number)
    roughly = said.endswith(_VAGUE) or unit != "day" or number > 7
    slack = max(number * _UNIT_DAYS[unit] // 4, 1) if roughly else 0
    return here.so_far(here.days(day - timedelta(days=slack), _next(day) + timedelta(days=slack)))


def _near_day(m: re.Match[str], here: Calendar, year: int) -> Span:
    """Today and the days before it, or a part of one."""
    back = {"today": 0, "yesterday": 1, "day before yesterday": 2}[m[1]]
    day = here.today - timedelta(days=back)
    return here.so_far(_part_of(day, m[2], here) if m[2] else here.days(day, _next(day)))


def _this_part(m: re.Match[str], here: Calendar, year: int) -> Span:
    return here.so_far(_part_of(here.today, "evening" if m[1] == "tonight" else m[2], here))


def _last_night(m: re.Match[str], here: Calendar, year: int) -> Span:
    return here.so_far(_part_of(here.today - timedelta(days=1), "night", here))


def _rolling(m: re.Match[str], here: Calendar, year: int) -> Span:
    """The last so many units, up to now: whole days, but hours as they are."""
    number, unit = number_of(m[1] or "1"), m[2]
    since = here.now - number * _HOUR_MS if unit == "hour" else here.at(shifted(here.today, unit, -number))
    return Span(min(since, here.now), here.now + 1)


def _calendar(m: re.Match[str], here: Calendar, year: int) -> Span:
    """This one or the one before it, as calendars count."""
    begin = _begin(here.today, m[2])
    over = m[2] == "weekend" and begin < here.today - timedelta(days=1)
    if m[1] in ("last", "previous") and not over:
        begin = shifted(begin, m[2], -1)
    end = begin + timedelta(days=2) if m[2] == "weekend" else shifted(begin, m[2], 1)
    return here.so_far(here.days(begin, end))


def _recently(m: re.Match[str], here: Calendar, year: int) -> Span:
    return Span(here.at(here.today - timedelta(days=14)), here.now + 1)


def _weekday(m: re.Match[str], here: Calendar, year: int) -> Span:
    """The latest such day before today."""
    day = here.today - timedelta(days=(here.today.weekday() - DAYS.index(m[1])) % 7 or 7)
    return _part_of(day, m[2], here) if m[2] else here.days(day, _next(day))


def _month(m: re.Match[str], here: Calendar, year: int) -> Span | None:
    first = _month_begin(m[1], m[2], here, year)
    return here.days(first, shifted(first, "month", 1)) if first else None


def _year(m: re.Match[str], here: Calendar, year: int) -> Span | None:
    first = _day(int(m[1]), 1, 1)
    return here.days(first, shifted(first, "year", 1)) if first and first <= here.today else None


@dataclass(frozen=True, slots=True)
class Form:
    """A way to name a time. `dated`: a day of the calendar; `led`: only after a word such as "in"."""

    pattern: re.Pattern[str]
    span: Callable[[re.Match[str], Calendar, int], Span | None]
    dated: bool = False
    led: bool = False


def _form(pattern: str, span: Callable[..., Span | None], dated: bool = False, led: bool = False) -> Form:
    return Form(re.compile(rf"(?<!\S){pattern}(?!\S)"), span, dated, led)


JOINS = "and|to|until|till|through"
# What is named more exactly comes first.
FORMS = (
    _form(ISO.pattern, _iso, dated=True),
    _form(rf"(?:{_NTH_DAY} (?:{JOINS}) )?{_NTH_DAY}(?: of)? {_SHORT}{_YEAR}{_PART}", _day_month, dated=True),
    _form(rf"{_SHORT} {_NTH_DAY}(?: (?:{JOINS}) {_NTH_DAY})?{_YEAR}{_PART}", _month_day, dated=True),
    _form(rf"(?:the )?({'|'.join(_NTH)}|last) week (?:of|in) {_MONTH}{_YEAR}", _week_of),
    _form(rf"(?:the )?({'|'.join(_THIRDS)}) {_MONTH}{_YEAR}", _third_of),
    _form(rf"(?:{NUMBER} ({_UNITS})s? ago|(?:vor|hace) {NUMBER} ({_UNITS})s?)", _ago),
    _form(rf"(?:the |earlier |late |early |just )?(day before yesterday|yesterday|today){_PART}", _near_day),
    _form(rf"(?:(tonight)|(?:earlier )?this ({'|'.join(_PARTS)}))", _this_part),
    _form(r"(?:late )?last night", _last_night),
    _form(rf"(?:the )?(?:last|past|previous) {NUMBER} ({_UNITS})s?", _rolling),
    _form(r"(?:in|over|within|during|for) the last ()(hour|day|week|month|year)", _rolling),
    _form(r"(?:the )?(?:past|last(?= (?:hour|day))) ()(hour|day|week|month|year)", _rolling),
    _form(
        r"(?:the |earlier |later )?(this|last|previous|current|the(?= weekend)) "
        r"(day|weekend|week|month|quarter|year)",
        _calendar,
    ),
    _form(rf"({'|'.join(DAYS)}){_PART}", _weekday, led=True),
    _form(rf"{_MONTH}{_YEAR}", _month, led=True),
    _form(r"(19[7-9]\d|20\d\d)", _year, led=True),
    _form(r"(?:recently|lately|these days|kürzlich|neulich)", _recently),
)


# --- days, months, years ----------------------------------------------------------------------------------


def _day(year: int, month: int, number: int) -> date | None:
    """A day, if there is such a day."""
    try:
        day = date(year, month, number)
    except ValueError:
        return None
    return day if _FIRST <= day < _LAST else None


def _next(day: date) -> date:
    return day + timedelta(days=1)


def _begin(day: date, unit: str) -> date:
    """The first day of the unit that a day is in; of a weekend, of the latest one."""
    if unit in ("week", "weekend"):
        back = day.weekday() if unit == "week" else (day.weekday() - 5) % 7
        return day - timedelta(days=back)
    month = {"month": day.month, "quarter": (day.month - 1) // 3 * 3 + 1, "year": 1}.get(unit)
    return day.replace(day=1, month=month) if month else day


def shifted(day: date, unit: str, number: int) -> date:
    """So many units later, or earlier; the last day of a month if it is shorter."""
    if unit in ("month", "quarter", "year"):
        months = day.year * 12 + day.month - 1 + number * {"month": 1, "quarter": 3, "year": 12}[unit]
        year = min(max(months // 12, _FIRST.year), _LAST.year)
        last = (date(year + months % 12 // 11, (months + 1) % 12 + 1, 1) - timedelta(days=1)).day
        return date(year, months % 12 + 1, min(day.day, last))
    try:
        return day + timedelta(days=number * _UNIT_DAYS[unit])
    except OverflowError:
        return _FIRST if number < 0 else _LAST


def _month_number(name: str) -> int:
    return next(n for n, month in enumerate(MONTHS, 1) if month.startswith(name[:3]))


def _month_begin(name: str, given: str | None, here: Calendar, year: int) -> date | None:
    number = _month_number(name)
    return _day(int(given) if given else year or here.today.year - (number > here.today.month), number, 1)


def _part_of(day: date, part: str, here: Calendar) -> Span:
    first, last = _PARTS[part]
    return Span(here.at(day, first), here.at(day, last))


def number_of(words: str) -> int:
    return int(words) if words.isdecimal() else NUMBERS[words.removeprefix("a ") or "a"]
