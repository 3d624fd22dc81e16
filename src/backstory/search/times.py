"""The time that a question speaks of: "last week", "since March", "between 3 and 8 June", "vorgestern".

The text is read as plain English words (timewords.py), in which times are named (timeforms.py). What stands
before one gives it a direction ("since", "until", "the week before"), and two that are joined ("from … to …")
are one time. A time is never empty, and never ends before it begins.

It is a wish for what happened then. Words that only say the time are taken out of the question; a date as
programs write it (2026-02-03) stays, it may be what is looked for.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta, tzinfo
from itertools import pairwise
from typing import NamedTuple

from backstory import clock
from backstory.search.timecalendar import Calendar, Span, shifted
from backstory.search.timeforms import (
    FORMS,
    JOINS,
    NUMBER,
    WRITTEN,
    Form,
    how_read,
    is_date,
    is_day_name,
    number_of,
)
from backstory.search.timeled import AFTER, BEFORE, SINCE, UNTIL
from backstory.search.timeparts import Part, day_beside, part_after, part_before
from backstory.search.timewords import DAYS, Plain, plain

_BEFORE_IT = re.compile(
    r"(?<!\S)(?:(?:in|during|on|of|by|last|this|from|am|at|over|around|the|dem|den|der) ){1,12}$"
)
_DIRECTIONS: tuple[tuple[re.Pattern[str], Callable[[Span, Calendar], Span]], ...] = (
    (
        re.compile(rf"(?<!\S)(?:{SINCE}) $"),
        lambda span, here: Span(span.since, max(here.now + 1, span.until)),
    ),
    (
        re.compile(rf"(?<!\S)(?:{BEFORE}) $"),
        lambda span, here: Span(0, span.since),
    ),
    (
        re.compile(rf"(?<!\S)(?:{UNTIL}) $"),
        lambda span, here: Span(0, span.until),
    ),
    (
        re.compile(rf"(?<!\S)(?:{AFTER}) $"),
        lambda span, here: Span(span.until, max(here.now, span.until) + 1),
    ),
)
_BESIDE = re.compile(
    rf"(?<!\S)(?:on )?(?:the )?(?:(?:{NUMBER} )?(day|night|weekend|week|month|year)s?|({'|'.join(DAYS)})) "
    r"(before|prior to|after) $"
)
_NEAR = 80  # characters within which a word belongs to a time
_YEARS = 2  # how far back a date is looked for that is such a weekday
_ARTICLES = frozenset({"the", "dem", "den", "in", "on"})
_OPENING = re.compile(r"(?<!\S)(?:between|from)(?: the| dem| den)? $")
_FROM = re.compile(r"(?<!\S)from (?:the )?$")
_ON = re.compile(r" (?:onwards?(?!\S)|on$)")


class Time(NamedTuple):
    """A time, from `since` on and before `until`, both 0 if there is none.

    `rest` is the text without its words; `other` also without a date as programs write it. `how` is a
    sentence on how it was read, if it might be read otherwise.
    """

    since: int
    until: int
    rest: str
    other: str
    how: str = ""


def time_of(text: str, now: int, zone: tzinfo | None = None) -> Time:
    """The time that a text speaks of, asked now."""
    said = plain(text)
    here = Calendar(now, zone)
    named = _named(said, here)
    found = _joined(named, said.words, here) or _hull(named, said.words) or _first(named, said.words, here)
    if found is None or not 0 <= found.span.since < found.span.until:
        return Time(0, 0, text, text)
    gone = [said.place(start, end) for start, end in found.taken]
    kept = [each for each in gone if not WRITTEN.match(text, *each)]
    how = " ".join(filter(None, (each.how for each in named if each.named in found.taken)))
    return Time(*found.span, _without(text, kept), _without(text, gone), how)


def _without(text: str, places: list[tuple[int, int]]) -> str:
    for start, end in sorted(places, reverse=True):
        text = f"{text[:start]} {text[end:]}"
    return text


class _Named(NamedTuple):
    """A time that is named in the words, and where; `part` is what is chosen of it, `how` how it was read."""

    form: Form
    match: re.Match[str]
    start: int
    end: int
    part: Part | None
    span: Span
    led: bool
    how: str = ""

    @property
    def named(self) -> tuple[int, int]:
        """Where it stands, without what is before it."""
        return self.match.start(), self.end

    def again(self, here: Calendar, year: int = 0) -> Span:
        """The same words in another year, or seen from another day."""
        return _spanned(self.form, self.match, self.part, here, year) or self.span


class _Read(NamedTuple):
    """The time that is meant, and the stretches of the words that say it."""

    span: Span
    taken: list[tuple[int, int]]


def _named(said: Plain, here: Calendar) -> list[_Named]:
    """The times that are named, in their order; of two that overlap, the one that begins first."""
    every = [(match, form) for form in FORMS for match in form.pattern.finditer(said.words)]
    found: list[_Named] = []
    end = 0
    for match, form in sorted(every, key=lambda each: (each[0].start(), -each[0].end())):
        if match.start() < end:
            continue
        one = _one_named(form, match, said, here)
        if one is not None:
            while found and found[-1].end > one.start:  # "Friday" of "Friday of last week"
                found.pop()
            found.append(one)
            end = one.end
    return found


def _one_named(form: Form, match: re.Match[str], said: Plain, here: Calendar) -> _Named | None:
    """A time with what is chosen of it; without, if it cannot be chosen."""
    words, (start, end), how = said.words, match.span(), how_read(form, match)
    beside = day_beside(words, start, end) if is_date(form) else None
    if beside:
        start, end = beside.start, beside.end
        there = _seen_from(form, match, beside.number, here)
        how, here = (
            " ".join(filter(None, (how, "" if there else _other_day(form, match, here)))),
            there or here,
        )
    near = max(0, start - _NEAR)
    if chosen := part_before(words[near:start]):
        span = _spanned(form, match, chosen[1], here)
        if span is not None:
            return _Named(form, match, near + chosen[0], end, chosen[1], span, led=True, how=how)
    if chosen := part_after(words[end:]):
        span = _spanned(form, match, chosen[1], here)
        if span is not None:
            return _Named(form, match, start, end + chosen[0], chosen[1], span, led=True, how=how)
    span = _spanned(form, match, None, here) if form.alone else None
    if span is None:
        return None
    return _Named(form, match, start, end, None, span, beside is not None or form.told(match, said), how)


def _seen_from(form: Form, match: re.Match[str], weekday: int, here: Calendar) -> Calendar | None:
    """The latest day of asking from which a date is such a weekday: "Friday the 13th"; not years ago."""
    least, seen = here.at(shifted(here.today, "year", -_YEARS)), here
    last = here.now + 1
    while (span := form.span(match, seen, 0)) and (seen is here or least < span.since < last):
        if clock.in_zone(span.since, here.zone).weekday() == weekday:
            return seen
        last, seen = span.since, replace(here, now=span.since - 1)
    return None


def _other_day(form: Form, match: re.Match[str], here: Calendar) -> str:
    """What weekday a date is, if it is another than was said."""
    span = form.span(match, here, 0)
    if span is None:
        return ""
    day = clock.in_zone(span.since, here.zone)
    return f"{day.day} {day:%B %Y} is a {DAYS[day.weekday()].title()}."


def _spanned(
    form: Form, match: re.Match[str], part: Part | None, here: Calendar, year: int = 0
) -> Span | None:
    whole = form.span(match, here, year)
    span = part(whole, here) if whole and part else whole
    if whole and span and span.since > here.now and not form.alone:  # the end of the year, asked in March
        return _spanned(form, match, part, replace(here, now=whole.since - 1), year)
    return here.so_far(span) if span and form.so_far else span


def _joined(named: list[_Named], words: str, here: Calendar) -> _Read | None:
    """From the one to the other, where two times are joined: between … and …, from … to …, … until …"""
    for one, other in pairwise(named):
        between = words[one.end : other.start].split()
        if not between or between[0] not in JOINS.split("|") or not set(between[1:]) <= _ARTICLES:
            continue
        opening = _OPENING.search(words[: one.start])
        if opening or (between[0] != "and" and (one.led or other.led)):
            first, last = _same_year(one, other, here)
            span = Span(min(first.since, last.since), max(first.until, last.until))
            start = opening.start() if opening else one.start
            return _Read(span, _stretches(start, one.named, other.named))
    return None


def _stretches(start: int, *named: tuple[int, int]) -> list[tuple[int, int]]:
    """What is said from `start` on, each time that is named by itself."""
    found = []
    for begin, end in named:
        if start < begin:
            found.append((start, begin - 1))
        found.append((begin, end))
        start = end + 1
    return found


def _same_year(one: _Named, other: _Named, here: Calendar) -> tuple[Span, Span]:
    """Two times of which one may owe its year to the other: "August 11 and August 15 2023"."""
    years = [_year_in(each.match) for each in (one, other)]
    if years[1] and not years[0]:
        return one.again(here, years[1]), other.span
    if years[0] and not years[1]:
        return one.span, other.again(here, years[0])
    if one.span.since > other.span.since:  # "from Monday to Wednesday": the Monday before that Wednesday
        return one.again(replace(here, now=other.span.since)), other.span
    return one.span, other.span


def _year_in(match: re.Match[str]) -> int:
    found = re.search(r"(?<!\S)(\d{4})(?!\S)", match[0])
    return int(found[1]) if found else 0


def _hull(named: list[_Named], words: str) -> _Read | None:
    """From the first of several dates, or of several weekdays, to the last."""
    dated = [each for each in named if each.form.dated] or _weekdays(named, words)
    if len(dated) < 2:
        return None
    spans = [each.span for each in dated]
    return _Read(
        Span(min(span.since for span in spans), max(span.until for span in spans)),
        [stretch for each in dated for stretch in _stretches(each.start, each.named)],
    )


def _weekdays(named: list[_Named], words: str) -> list[_Named]:
    """Weekdays that are told one after another, if no other time is: "Saturday and Sunday"."""
    told = [each for each in named if each.led]
    gaps = (words[one.end : other.start].split() for one, other in pairwise(told))
    beside = all(gap and set(gap) <= _ARTICLES | {"and", "or"} for gap in gaps)
    return told if beside and all(is_day_name(each.form) for each in told) else []


def _first(named: list[_Named], words: str, here: Calendar) -> _Read | None:
    """The time that is named most exactly, with its direction."""
    usable = [each for each in named if each.led]
    if not usable:
        return None
    one = min(usable, key=lambda each: FORMS.index(each.form))
    start, end = one.start, one.end
    lead = _BEFORE_IT.search(words[:start])
    before = words[: lead.start() if lead else start]
    span, said = one.span, len(before)
    if beside := _BESIDE.search(before):
        span, said = _beside(span, beside, here), beside.start()
    for pattern, turned in _DIRECTIONS if not beside else ():
        if direction := pattern.search(before):
            span, said = turned(span, here), direction.start()
            break
    taken = _stretches(said, one.named)
    if _FROM.search(words[:start]) and (on := _ON.match(words, end)):
        span = Span(span.since, max(here.now + 1, span.until))
        taken.append((end + 1, on.end()))
    return _Read(span, taken)


def _beside(span: Span, said: re.Match[str], here: Calendar) -> Span:
    """A time with so much before or after it, or up to such a day."""
    after = said[4] == "after"
    edge = clock.in_zone(span.until - 1 if after else span.since, here.zone).date()
    if said[3]:
        way = 1 if after else -1
        days = (way * (DAYS.index(said[3]) - edge.weekday())) % 7 or 7
        edge += timedelta(days=way * days)
    else:
        number = number_of(said[1] or "1")
        edge = shifted(edge, said[2], number if after else -number)
    if after:
        return Span(span.since, max(here.at(edge + timedelta(days=1)), span.until))
    return Span(min(here.at(edge), span.since), span.until)
