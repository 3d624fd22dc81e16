"""The ways to name a time: `FORMS`, each with how long it is; "yesterday", "3 June", "the last two weeks"."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from backstory.search.timecalendar import (
    LAST,
    UNIT_DAYS,
    Calendar,
    Span,
    begin_of,
    day_after,
    day_of,
    shifted,
)
from backstory.search.timeled import LEADS, always, ends, is_led, is_short_month, is_weekday
from backstory.search.timewords import DAYS, MONTHS, NUMBERS, ORDINALS, Plain

_CLOCK_MS = {"minute": 60_000, "hour": 3_600_000}
_UNITS = "minute|hour|day|week|fortnight|month|quarter|year"
_PARTS = {"morning": (4, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30), "noon": (11, 14)}
# So far apart 29 February may be, once in a century.
_LEAP_YEARS = 8
_VAGUE = ("couple", "couple of", "few", "several")
# What is said of numbers that are no years.
_COUNTED = (
    "bits|bytes|kb|mb|gb|ms|seconds|minutes|hours|days|lines|rows|items|files|tests|users|requests|records|"
    "tokens|words|characters|chars|px|pixels|times|errors|entries|percent|points"
)


NUMBER = rf"(\d{{1,3}}|(?:a )?(?:{'|'.join(sorted(NUMBERS, key=len, reverse=True))}))"
_MONTH = rf"({'|'.join(MONTHS)})"
_SHORT_ONLY = "|".join((*(month[:3] for month in MONTHS if month != "may"), "sept"))
_SHORT = rf"({'|'.join(MONTHS)}|{_SHORT_ONLY})"
_YEAR = r"(?: (\d{4}))?"
_NTH_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
NTH = rf"(\d{{1,2}}(?:st|nd|rd|th)|{'|'.join(sorted(ORDINALS, key=len, reverse=True))})"
_TH = r"(\d{1,2}(?:st|nd|rd|th))"
_OF_MONTH = "(?: of ((?:the )?(?:this|last|previous|current)|the) month)?"
_DAY = rf"({'|'.join((*DAYS, 'mon', 'tues?', 'wed', 'thu(?:rs?)?', 'fri'))})"
_PART = rf"(?: (?:at |in the )?({'|'.join(_PARTS)}))?"
_ISO = r"(\d{4})(?:-(\d{2})-|/(\d{2})/)(\d{2})"
_NUMERIC = r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})"
# A date as programs write it.
WRITTEN = re.compile(rf"{_ISO}|{_NUMERIC.replace(chr(92) + '2', '[./-]')}")


def _iso(m: re.Match[str], here: Calendar, year: int) -> Span | None:
    day = day_of(int(m[1]), int(m[2] or m[3]), int(m[4]))
    return here.days(day, day_after(day)) if day else None


def _numeric(m: re.Match[str], here: Calendar, year: int) -> Span | None:
    day = _numeric_day(m)
    return here.days(day, day_after(day)) if day else None


def _numeric_day(m: re.Match[str]) -> date | None:
    """The day comes first, unless there is no such month: 11/23/2026."""
    first, second, year = int(m[1]), int(m[3]), int(m[4])
    return day_of(year, second, first) or (day_of(year, first, second) if m[2] != "." else None)


def how_read(form: "Form", m: re.Match[str]) -> str:
    """A sentence on how a date was read that might be read otherwise, "" of others."""
    if form.span is not _numeric or m[2] == "." or m[1] == m[3] or max(int(m[1]), int(m[3])) > 12:
        return ""
    day = _numeric_day(m)
    return f"{m[0]} is read as {day.day} {day:%B %Y}, the day first." if day else ""


def _day_month(m: re.Match[str], here: Calendar, year: int) -> Span | None:
    alone = m[2].isdecimal() and m[0].endswith(" may") and m.end() < len(m.string)
    if alone and not LEADS.search(m.string[max(0, m.start() - 10) : m.start()]):  # "step 3 may fail"
        return None
    return _date(m[3], m[1] or m[2], m[2], m[4], m[5], here, year)


def _nth_of_month(m: re.Match[str], here: Calendar, year: int) -> Span | None:
    return _date(m[2], str(nth(m[1])), str(nth(m[1])), m[3], m[4], here, year)


def _month_day(m: re.Match[str], here: Calendar, year: int) -> Span | None:
    return _date(m[1], m[2], m[3] or m[2], m[4], m[5], here, year)


def _date(
    month: str, first: str, last: str, given: str | None, part: str | None, here: Calendar, year: int
) -> Span | None:
    """One or several days of a month; without a year, the latest that are not to come."""
    number = _month_number(month)
    this = here.today.year
    years = [int(given or year)] if given or year else range(this, this - _LEAP_YEARS - 1, -1)
    dated = ((day_of(each, number, int(first)), day_of(each, number, int(last))) for each in years)
    for begin, end in dated:
        if begin and end and begin <= end and (given or year or begin <= here.today):
            break
    else:
        return None
    return _part_of(begin, part, here) if part else here.days(begin, day_after(end))


def _day_of(m: re.Match[str], here: Calendar, year: int) -> Span | None:
    """A day that is named without its month: the latest that is not to come."""
    number = nth(m[1])
    which = (m[2] or "").split()
    month = begin_of(here.today, "month")
    if which and which[-1] in ("last", "previous"):
        month = shifted(month, "month", -1)
    day = _day_in(number, month, here.today if not which or which[-1] == "the" else LAST)
    if day is None or (not which and not _ends(m)):
        return None
    return _part_of(day, m[3], here) if m[3] else here.days(day, day_after(day))


def _days_of(m: re.Match[str], here: Calendar, year: int) -> Span | None:
    """From one such day to the next such other one."""
    first = _day_in(nth(m[1]), here.today, here.today)
    if first is None or not _ends(m):
        return None
    last = nth(m[2])
    ends = (day_of(month.year, month.month, last) for month in (first, shifted(first, "month", 1)))
    end = next((day for day in ends if day and day >= first), None)
    return here.days(first, day_after(end)) if end else None


def _day_in(number: int, month: date, latest: date) -> date | None:
    """The day with this number in a month, or in the latest one before it where it is not too late."""
    for back in range(12):
        begin = shifted(month, "month", -back)
        day = day_of(begin.year, begin.month, number)
        if day and day <= latest:
            return day
    return None


def _ends(m: re.Match[str]) -> bool:
    """Whether it is a day and not the 3rd of something else: no other noun follows."""
    return ends(m) and not _JOINED_DAY.match(m.string[m.end() + 1 :])


def _ago(m: re.Match[str], here: Calendar, year: int) -> Span:
    """So long ago, give or take a quarter; so many days of a week ago is that day."""
    said, unit = m[1] or m[3], m[2] or m[4]
    number = number_of(said)
    if unit in _CLOCK_MS:
        slack = max(number // 4, 1 if unit == "hour" else 5) * _CLOCK_MS[unit]
        middle = here.now - number * _CLOCK_MS[unit]
        return here.so_far(Span(middle - slack, middle + slack))
    day = shifted(here.today, unit, -number)
    roughly = said.endswith(_VAGUE) or unit != "day" or number > 7
    slack = max(number * UNIT_DAYS[unit] // 4, 1) if roughly else 0
    return here.so_far(here.days(day - timedelta(days=slack), day_after(day) + timedelta(days=slack)))


def _near_day(m: re.Match[str], here: Calendar, year: int) -> Span:
    """Today and the days before it, or a part of one."""
    back = {"today": 0, "yesterday": 1, "day before yesterday": 2}[m[1]]
    day = here.today - timedelta(days=back)
    return here.so_far(_part_of(day, m[2], here) if m[2] else here.days(day, day_after(day)))


def _this_part(m: re.Match[str], here: Calendar, year: int) -> Span:
    return here.so_far(_part_of(here.today, "evening" if m[1] == "tonight" else m[2], here))


def _last_night(m: re.Match[str], here: Calendar, year: int) -> Span:
    return here.so_far(_part_of(here.today - timedelta(days=1), "night", here))


def _rolling(m: re.Match[str], here: Calendar, year: int) -> Span:
    """The last so many units, up to now: whole days, but hours as they are."""
    number, unit = number_of(m[1] or "1"), m[2]
    since = (
        here.now - number * _CLOCK_MS[unit]
        if unit in _CLOCK_MS
        else here.at(shifted(here.today, unit, -number))
    )
    return Span(min(since, here.now), here.now + 1)


def _calendar(m: re.Match[str], here: Calendar, year: int) -> Span:
    """This one or the one before it, as calendars count."""
    return _unit(m[2], int(m[1] in ("last", "previous")), here)


def _this_unit(m: re.Match[str], here: Calendar, year: int) -> Span:
    return _unit(m[1], 0, here)


def _before_last(m: re.Match[str], here: Calendar, year: int) -> Span:
    unit = m[1] or m[2]
    if unit == "night":
        return _part_of(here.today - timedelta(days=2), unit, here)
    return _unit(unit, 2, here)


def _unit(unit: str, back: int, here: Calendar) -> Span:
    """A day, week, weekend, …; so many of them ago, the weekend that is over being the last one."""
    begin = begin_of(here.today, unit)
    over = unit == "weekend" and begin < here.today - timedelta(days=1)
    begin = shifted(begin, unit, min(over, back) - back)
    return here.days(begin, begin + timedelta(days=2) if unit == "weekend" else shifted(begin, unit, 1))


def _recently(m: re.Match[str], here: Calendar, year: int) -> Span:
    return Span(here.at(here.today - timedelta(days=14)), here.now + 1)


def _just_now(m: re.Match[str], here: Calendar, year: int) -> Span:
    return Span(here.now - _CLOCK_MS["hour"], here.now + 1)


def _the_other(m: re.Match[str], here: Calendar, year: int) -> Span:
    """The other day is one of the last ones, but not today."""
    days = {"week": 28, "month": 92}.get(m[1], 7)
    return here.days(here.today - timedelta(days=days), here.today)


def _weekday(m: re.Match[str], here: Calendar, year: int) -> Span:
    """The latest such day before today."""
    day = _latest(m[1], here)
    return _part_of(day, m[2], here) if m[2] else here.days(day, day_after(day))


def _weekdays_ago(m: re.Match[str], here: Calendar, year: int) -> Span:
    """Two Fridays ago is the one before last Friday."""
    back = number_of(m[1]) - 1 if m[1] else 1
    day = shifted(_latest(m[2] or m[3], here), "week", -back)
    return here.days(day, day_after(day))


def _latest(name: str, here: Calendar) -> date:
    return here.today - timedelta(days=(here.today.weekday() - weekday_number(name)) % 7 or 7)


def _month(m: re.Match[str], here: Calendar, year: int) -> Span | None:
    first = _monthbegin(m[1], m[2], here, year)
    return here.days(first, shifted(first, "month", 1)) if first else None


def _quarter(m: re.Match[str], here: Calendar, year: int) -> Span | None:
    return _quarters(nth(m[1] or m[3] or m[4] or m[7]), 1, m[2] or m[5] or m[6], here, year)


def _half_year(m: re.Match[str], here: Calendar, year: int) -> Span | None:
    return _quarters(2 * int(m[1]) - 1, 2, m[2], here, year)


def _quarters(first: int, number: int, given: str | None, here: Calendar, year: int) -> Span | None:
    """Quarters of a year; without one, the latest that are not to come."""
    if first > 4:
        return None
    begin = day_of(int(given) if given else year or here.today.year, 3 * first - 2, 1)
    if begin and not given and not year and begin > here.today:
        begin = shifted(begin, "year", -1)
    return here.days(begin, shifted(begin, "quarter", number)) if begin else None


def _written_month(m: re.Match[str], here: Calendar, year: int) -> Span | None:
    first = day_of(int(m[1]), int(m[2]), 1)
    return here.days(first, shifted(first, "month", 1)) if first else None


def _year(m: re.Match[str], here: Calendar, year: int) -> Span | None:
    first = day_of(int(m[1]), 1, 1)
    return here.days(first, shifted(first, "year", 1)) if first and first <= here.today else None


@dataclass(frozen=True, slots=True)
class Form:
    """A way to name a time.

    `dated`: a day of the calendar. `told`: whether it is a time here, by what stands beside it. `alone`: also
    without "the end of" or the like before it. `so_far`: what is over of it.
    """

    pattern: re.Pattern[str]
    span: Callable[[re.Match[str], Calendar, int], Span | None]
    dated: bool = False
    told: Callable[[re.Match[str], Plain], bool] = always
    alone: bool = True
    so_far: bool = False


def is_date(form: Form) -> bool:
    """Whether it names days by their numbers, so that a weekday beside it says the same."""
    return form.dated or form.span is _day_of


def is_day_name(form: Form) -> bool:
    return form.span is _weekday


def _form(pattern: str, span: Callable[..., Span | None], **how: Any) -> Form:
    return Form(re.compile(rf"(?<!\S){pattern}(?!\S)"), span, **how)


JOINS = "and|to|until|till|through"
_THE = "(?:the |dem |den |zum )?"
_TIMES = (
    rf"(?:{'|'.join((*DAYS, *MONTHS))}|night|day|weekend|week|month|quarter|year|"
    rf"{NUMBER.replace('(', '(?:', 1)})s?(?!\S)"
)
_JOINED_DAY = re.compile(rf"(?:{JOINS}) {_THE}{NTH}(?!\S)")
# What is named more exactly comes first.
FORMS = (
    _form(_ISO, _iso, dated=True),
    _form(rf"(?<!version )(?<!release )(?<!tag ){_NUMERIC}", _numeric, dated=True),
    _form(
        rf"(?:{_NTH_DAY}(?:-| (?:{JOINS}) {_THE}))?{_NTH_DAY}(?: of)? {_SHORT}{_YEAR}{_PART}",
        _day_month,
        dated=True,
    ),
    _form(
        rf"{_SHORT} {_NTH_DAY}(?:(?:-| (?:{JOINS}) {_THE}){_NTH_DAY})?{_YEAR}{_PART}", _month_day, dated=True
    ),
    _form(rf"{NTH} of {_MONTH}{_YEAR}{_PART}", _nth_of_month, dated=True),
    _form(
        rf"(?:(?:between|from) |(?<=on )){_THE}{_TH} (?:{JOINS}) {_THE}{_TH}(?! (?:of )?{_MONTH})", _days_of
    ),
    _form(rf"{_THE}{_TH}{_OF_MONTH}{_PART}", _day_of, told=is_led),
    _form(rf"(?<=on )the {NTH}{_OF_MONTH}{_PART}", _day_of),
    _form(r"(?<=am )(\d{1,2})()()", _day_of),
    _form(rf"(?:{NUMBER} {_DAY}s? ago|(?:the )?{_DAY} before last(?! {_TIMES}))", _weekdays_ago),
    _form(
        r"(?:the )?(?:(night|weekend|week|fortnight|month|quarter|year) before last"
        rf"(?! {_TIMES})|last-but-one (weekend|week|month|quarter|year))",
        _before_last,
    ),
    _form(rf"(?:{NUMBER} ({_UNITS})s? ago|(?:vor|hace) {NUMBER} ({_UNITS})s?)", _ago),
    _form(r"(?:just now|(?:a )?moments? ago)", _just_now),
    _form(rf"(?:the |earlier |late |early |just )?(day before yesterday|yesterday|today){_PART}", _near_day),
    _form(rf"(?:(tonight)|(?:earlier )?this ({'|'.join(_PARTS)}))", _this_part),
    _form(r"(?:late )?last night", _last_night),
    _form(rf"(?:the )?(?:last|past|previous) {NUMBER} ({_UNITS})s?(?! of )", _rolling),
    _form(rf"(?:in|over|within|during|for) the last ()({_UNITS.replace('quarter|', '')})", _rolling),
    _form(rf"(?:the )?(?:past|last(?= (?:minute|hour|day|fortnight))) ()({_UNITS})", _rolling),
    _form(
        r"(?:the |earlier |later )?(this|last|previous|current|(?:the|past|this past)(?= weekend)) "
        rf"(day|weekend|week|month|quarter|year)(?! of )(?! in {_TIMES})",
        _calendar,
        so_far=True,
    ),
    _form(r"(?:the|des|der) (week|month|quarter|year)", _this_unit, alone=False, so_far=True),
    _form(rf"{_DAY}{_PART}", _weekday, told=is_weekday),
    _form(
        rf"(?:q([1-4])(?:(?: of | |/)(\d{{4}}))?|(?:the )?(?:([1-4])|{NTH}) quarter(?:(?: of)? (\d{{4}}))?"
        r"|(\d{4})-?q([1-4]))",
        _quarter,
        told=is_led,
    ),
    _form(r"h([12])(?:(?: of | |/)(\d{4}))?", _half_year, told=is_led),
    _form(rf"{_MONTH}{_YEAR}", _month, told=is_led),
    _form(rf"({_SHORT_ONLY})(?: (19[7-9]\d|20\d\d))?", _month, told=is_short_month),
    _form(r"(19[7-9]\d|20\d\d)-(0[1-9]|1[0-2])", _written_month, told=is_led),
    _form(rf"(19[7-9]\d|20\d\d)(?! (?:{_COUNTED})(?!\S))", _year, told=is_led),
    _form(r"the other (day|night|evening|morning|week|month)", _the_other),
    _form(r"(?:recently|lately|these days|in recent (?:days|weeks))", _recently),
)


def _month_number(name: str) -> int:
    return next(n for n, month in enumerate(MONTHS, 1) if month.startswith(name[:3]))


def _monthbegin(name: str, given: str | None, here: Calendar, year: int) -> date | None:
    number = _month_number(name)
    return day_of(int(given) if given else year or here.today.year - (number > here.today.month), number, 1)


def _part_of(day: date, part: str, here: Calendar) -> Span:
    first, last = _PARTS[part]
    return Span(here.at(day, first), here.at(day, last))


def weekday_number(name: str) -> int:
    return next(n for n, day in enumerate(DAYS) if day.startswith(name[:3]))


def nth(words: str) -> int:
    """The number that "third", "3rd" or "3" says."""
    digits = words.rstrip("stndrh")
    return int(digits) if digits.isdecimal() else ORDINALS.index(words) + 1


def number_of(words: str) -> int:
    return int(words) if words.isdecimal() else NUMBERS[words.removeprefix("a ") or "a"]
