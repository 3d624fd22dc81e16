"""Time expressions in a question: "yesterday", "last week", "3 days ago", "since March", "on 2026-03-04".

`_FORMS` lists the ways to name a time, the most exact first. Days begin at midnight of the user's zone. A day
or month without its year is the latest that is not to come. An ISO date stays in the question.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from itertools import pairwise
from typing import NamedTuple

from backstory import clock

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
_SHORT = [name[:3] for name in MONTHS]
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
_NUMBERS |= {"eight": 8, "nine": 9, "ten": 10, "couple of": 2, "few": 3, "several": 4}
_UNIT_DAYS = {"day": 1, "weekend": 7, "week": 7, "month": 30, "year": 365}
_CLOCK_MS = {"minute": 60_000, "hour": 3_600_000}
_FIRST, _LAST = date(1971, 1, 1), date(9990, 1, 1)
Span = tuple[int, int]  # from the first millisecond on, and before the second


class TimeExpression(NamedTuple):
    """The period that a text names, or 0 and 0, and the text without it; `other`: without ISO dates, too."""

    since: int
    until: int
    rest: str
    other: str


@dataclass(frozen=True, slots=True)
class Calendar:
    """The moment of asking, and the time zone of the user."""

    now: int
    zone: tzinfo | None

    @property
    def today(self) -> date:
        return clock.in_zone(self.now, self.zone).date()

    def at(self, day: date) -> int:
        return int(datetime.combine(min(max(day, _FIRST), _LAST), time(), self.zone).timestamp() * 1000)

    def days(self, first: date, number: int = 1, unit: str = "day") -> Span:
        """So many units from a day on; of what began, the part that is over."""
        since, until = self.at(first), self.at(_shifted(first, unit, number))
        return since, min(until, self.now + 1) if since <= self.now else until


def _day(year: int, month: int, number: int) -> date | None:
    try:
        day = date(year, month, number)
    except ValueError:
        return None
    return day if _FIRST <= day < _LAST else None


def _shifted(day: date, unit: str, number: int) -> date:
    """So many units later or earlier; the last day of a month if that is shorter."""
    try:
        if unit not in ("month", "year"):
            return day + timedelta(days=number * _UNIT_DAYS[unit])
        months = number * (12 if unit == "year" else 1)
        year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
        return next(found for back in range(4) if (found := _day(year, month + 1, day.day - back)))
    except (OverflowError, StopIteration):
        return _FIRST if number < 0 else _LAST


def _date(m: re.Match[str], here: Calendar) -> Span | None:
    """Some days of a month, or all: "3 June", "June 3rd, 2025", "3 to 8 June", "June 2025"."""
    if m["last"] and m["month"] == "may" and not m["year"] and not _NO_NOUN.match(m.string, m.end()):
        return None  # "step 3 may fail"; 29 February may be eight years ago
    month = int(m["month"]) if m["month"].isdecimal() else _SHORT.index(m["month"][:3]) + 1
    this, numbers = here.today.year, [int(each) for each in (m["first"], m["last"]) if each]
    for year in [int(m["year"])] if m["year"] else range(this, this - 9, -1):
        days = [day for number in numbers or [1] if (day := _day(year, month, number))]
        if days and len(days) >= len(numbers) and (m["year"] or max(days) <= here.today):
            first = min(days)
            return here.days(first, (max(days) - first).days + 1) if numbers else here.days(first, 1, "month")
    return None


def _ago(m: re.Match[str], here: Calendar) -> Span:
    """So long ago, give or take a quarter; up to a week of days, exactly that day."""
    number, unit = _NUMBERS.get(m[1]) or int(m[1]), m[2]
    if unit in _CLOCK_MS:
        slack, ms = max(number // 4, 1), _CLOCK_MS[unit]
        return max(here.now - (number + slack) * ms, 0), here.now - (number - slack) * ms + 1
    exact = unit == "day" and number <= 7 and not m[1].endswith(("few", "several"))
    slack = 0 if exact else max(number * _UNIT_DAYS[unit] // 4, 1)
    return here.days(_shifted(_shifted(here.today, unit, -number), "day", -slack), 2 * slack + 1)


def _near_day(m: re.Match[str], here: Calendar) -> Span:
    back = {"d": 2, "y": 1, "l": 1}.get(m[1][0], 0)
    return here.days(here.today - timedelta(days=back), 2 if m[1].startswith("l") else 1)


def _rolling(m: re.Match[str], here: Calendar) -> Span:
    number, unit = _NUMBERS.get(m[1]) or int(m[1] or "1"), m[2]
    ms = here.now - number * _CLOCK_MS.get(unit, 0)
    return max(ms if unit in _CLOCK_MS else here.at(_shifted(here.today, unit, -number)), 0), here.now + 1


def _unit(m: re.Match[str], here: Calendar) -> Span:
    """This week, month, …, or the one before it; the last weekend is the one that is over."""
    today, unit, back = here.today, m[2], int(m[1] in ("last", "previous"))
    if unit == "weekend":
        back = 7 if back and today.weekday() > 4 else 0
        return here.days(today - timedelta(days=(today.weekday() - 5) % 7 + back), 2)
    if unit in ("month", "year"):
        today = today.replace(day=1, month=1 if unit == "year" else today.month)
    begin = today - timedelta(days=today.weekday()) if unit == "week" else today
    return here.days(_shifted(begin, unit, -back), 1, unit)


def _weekday(m: re.Match[str], here: Calendar) -> Span:
    return here.days(here.today - timedelta(days=(here.today.weekday() - DAYS.index(m[1])) % 7 or 7))


def _year(m: re.Match[str], here: Calendar) -> Span | None:
    counts = not _NO_NOUN.match(m.string, m.end())  # "in 2019 rows"
    return None if counts or int(m[1]) > here.today.year else here.days(date(int(m[1]), 1, 1), 1, "year")


class _Form(NamedTuple):
    """A way to name a time; `led`: it is one only behind a word such as "in" or "since"."""

    pattern: re.Pattern[str]
    span: Callable[[re.Match[str], Calendar], Span | None]
    led: bool


def _form(pattern: str, span: Callable[[re.Match[str], Calendar], Span | None], led: bool = False) -> _Form:
    spaced = pattern.replace("couple of", r"couple\sof").replace(" ", r",?\s++")
    return _Form(re.compile(rf"(?<![\w./@-])(?:{spaced})(?:['’]s)?(?![\w/@-]|\.\w)"), span, led)


_NUMBER = rf"(?:a )?(\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_MONTH = rf"(?P<month>{'|'.join(MONTHS)}|sept|{'|'.join(_SHORT)})"
_TO = r"(?:\s?[-–]\s?| (?:and|to) )"
_DAY, _TO_DAY = (rf"(?P<{name}>\d{{1,2}})(?:st|nd|rd|th)?" for name in ("first", "last"))
_NAMES, _UNITS = "|".join(DAYS), "day|weekend|week|month|year"
_FORMS = (
    _form(r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<first>\d{2})(?P<last>)", _date),
    _form(rf"(?:{_DAY}{_TO})?{_TO_DAY}(?: of)? {_MONTH}(?: (?P<year>\d{{4}}))?", _date),
    _form(rf"{_MONTH} {_DAY}(?:{_TO}{_TO_DAY})?(?: (?P<year>\d{{4}}))?", _date),
    _form(rf"{_NUMBER} (minute|hour|{_UNITS})s? ago", _ago),
    _form(r"(day before yesterday|yesterday|today|this morning|this afternoon|last night)", _near_day),
    _form(rf"(?:last|past|previous) {_NUMBER} (minute|hour|{_UNITS})s?(?! of)", _rolling),
    _form(rf"(?:(?:in|over|within) the last|past)() (minute|hour|{_UNITS})(?! of)", _rolling),
    _form(rf"(this|last|previous|current) ({_UNITS})(?! of)", _unit),
    _form(rf"(?:(?<=do\s)|(?<=did\s)|(?<=happened\s))({_NAMES})", _weekday),
    _form(rf"({_NAMES})", _weekday, led=True),
    _form(rf"{_MONTH} (?P<year>(?:19|20)\d\d)(?P<first>)(?P<last>)", _date),
    _form(rf"(?P<month>{'|'.join(MONTHS)})(?P<year>)(?P<first>)(?P<last>)", _date, led=True),
    _form(r"(19[7-9]\d|20\d\d)", _year, led=True),
)  # fmt: skip
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
# What may follow a year or a day of May; other words may be what the number counts.
_NO_NOUN = re.compile(r"\s*+(?:$|[^\w\s]|(?:in|on|to|and|for|with|we|what|which|did|please|again)\b)")
_LEAD = re.compile(
    rf"(?<![\w-])(?:(?:the )?(?P<unit>{_UNITS}|{_NAMES}) (?P<beside>before|after) "
    r"|(?P<side>since|starting|from|between|before|prior to|older than|until|till|up to|after) )?"
    r"(?:(?:in|during|on|of|by|last|this|the|earlier|late) ){0,3}$"
)  # fmt: skip
_JOIN = re.compile(r" ?(and|to|until|till|through|-|–) (?:the |on |last ){0,2}")
_NEAR = 50  # characters within which words before a time belong to it


class _Named(NamedTuple):
    """A time that is named in a text, the words before it that belong to it, and where these begin."""

    form: _Form
    match: re.Match[str]
    lead: re.Match[str]
    start: int
    span: Span
    certain: bool


def read_time(text: str, now: int, zone: tzinfo | None = None) -> TimeExpression:
    here = Calendar(now, zone)
    small = (letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
    named = _all_named("".join(" " if letter.isspace() else letter for letter in small), here)
    (since, until), start, end = _joined(named, here) or _directed(named, here)
    if not 0 <= since < until:
        return TimeExpression(0, 0, text, text)
    dates = " ".join(_ISO.findall(text[start:end]))
    return TimeExpression(
        since, until, f"{text[:start]} {dates} {text[end:]}", f"{text[:start]} {text[end:]}"
    )


def _all_named(text: str, here: Calendar) -> list[_Named]:
    """The times that a text names, in their order; of two that overlap, the one that begins first."""
    every = [(match, form) for form in _FORMS for match in form.pattern.finditer(text)]
    found: list[_Named] = []
    for match, form in sorted(every, key=lambda each: (each[0].start(), -each[0].end())):
        near = max(0, match.start() - _NEAR)
        lead, span = _LEAD.search(text[near : match.start()]), form.span(match, here)
        if span and lead and (not found or found[-1].match.end() <= match.start()):
            certain = not form.led or lead[0].strip() not in ("", "the")
            found.append(_Named(form, match, lead, near + lead.start(), span, certain))
    return found


def _joined(named: list[_Named], here: Calendar) -> tuple[Span, int, int] | None:
    """Two times that are joined: between … and …, from … to …, … until …"""
    for one, other in pairwise(named):
        join = _JOIN.fullmatch(one.match.string[one.match.end() : other.match.start()])
        if join and (one.lead["side"] in ("between", "from") or (join[1] != "and" and one.certain)):
            first, last = one.span, other.span
            if first > last:  # "from Monday to Wednesday": the Monday before that Wednesday
                first = one.form.span(one.match, replace(here, now=last[1] - 1)) or first
            return (min(first[0], last[0]), max(first[1], last[1])), one.start, other.match.end()
    return None


def _directed(named: list[_Named], here: Calendar) -> tuple[Span, int, int]:
    """The time that is named most exactly, with its direction."""
    certain = [each for each in named if each.certain]
    if not certain:
        return (0, 0), 0, 0
    one = min(certain, key=lambda each: _FORMS.index(each.form))
    (since, until), end, side = one.span, one.match.end(), one.lead["side"]
    pad = _UNIT_DAYS.get(one.lead["unit"] or "", 7) * 86_400_000  # "the week before 8 May"
    if one.lead["beside"] == "before":
        since -= pad
    elif one.lead["beside"] == "after":
        until += pad
    elif side in ("since", "starting"):
        until = max(here.now + 1, until)
    elif side in ("before", "prior to", "older than"):
        since, until = 0, since
    elif side in ("until", "till", "up to"):
        since = 0
    elif side == "after":
        since, until = until, max(here.now, until) + 1
    return (since, until), one.start, end
