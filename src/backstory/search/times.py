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
from backstory.search.timeforms import FORMS, ISO, JOINS, NUMBER, Calendar, Form, Span, number_of, shifted
from backstory.search.timewords import DAYS, plain

_LEADS = re.compile(r"(?<!\S)(?:in|during|on|of|by|last|this|from|am|early|late) $")
_BEFORE_IT = re.compile(r"(?<!\S)(?:(?:in|during|on|of|by|last|this|from|am|the|dem|den|der) )+$")
_DIRECTIONS: tuple[tuple[re.Pattern[str], Callable[[Span, Calendar], Span]], ...] = (
    (
        re.compile(r"(?<!\S)(?:since|starting|beginning|newer than) $"),
        lambda span, here: Span(span.since, max(here.now + 1, span.until)),
    ),
    (
        re.compile(r"(?<!\S)(?:before|prior to|earlier than|older than|vor) $"),
        lambda span, here: Span(0, span.since),
    ),
    (
        re.compile(r"(?<!\S)(?:until|till|up to|up until|through) $"),
        lambda span, here: Span(0, span.until),
    ),
    (
        re.compile(r"(?<!\S)(?:after|later than) $"),
        lambda span, here: Span(span.until, max(here.now, span.until) + 1),
    ),
)
_BESIDE = re.compile(
    rf"(?<!\S)(?:on )?(?:the )?(?:(?:{NUMBER} )?(day|night|weekend|week|month|year)s?|({'|'.join(DAYS)})) "
    r"(before|prior to|after) $"
)
_ARTICLES = frozenset({"the", "dem", "den", "in", "on"})
_OPENING = re.compile(r"(?<!\S)(?:between|from)(?: the| dem| den)? $")
_FROM = re.compile(r"(?<!\S)from (?:the )?$")
_ON = re.compile(r" (?:onwards?(?!\S)|on$)")


class Time(NamedTuple):
    """A time, from `since` on and before `until`, both 0 if there is none.

    `rest` is the text without its words; `other` also without a date as programs write it.
    """

    since: int
    until: int
    rest: str
    other: str


def time_of(text: str, now: int, zone: tzinfo | None = None) -> Time:
    """The time that a text speaks of, asked now."""
    said = plain(text)
    here = Calendar(now, zone)
    named = _named(said.words, here)
    found = _joined(named, said.words, here) or _hull(named) or _first(named, said.words, here)
    if found is None or not 0 <= found.span.since < found.span.until:
        return Time(0, 0, text, text)
    gone = [said.place(start, end) for start, end in found.taken]
    kept = [each for each in gone if not ISO.fullmatch(text[each[0] : each[1]])]
    return Time(*found.span, _without(text, kept), _without(text, gone))


def _without(text: str, places: list[tuple[int, int]]) -> str:
    for start, end in sorted(places, reverse=True):
        text = f"{text[:start]} {text[end:]}"
    return text


class _Named(NamedTuple):
    """A time that is named in the words, and where."""

    form: Form
    match: re.Match[str]
    span: Span
    led: bool


class _Read(NamedTuple):
    """The time that is meant, and the stretches of the words that say it."""

    span: Span
    taken: list[tuple[int, int]]


def _named(words: str, here: Calendar) -> list[_Named]:
    """The times that are named, in their order; of two that overlap, the one that begins first."""
    every = [(match, form) for form in FORMS for match in form.pattern.finditer(words)]
    found: list[_Named] = []
    end = 0
    for match, form in sorted(every, key=lambda each: (each[0].start(), -each[0].end())):
        if match.start() < end:
            continue
        span = form.span(match, here, 0)
        if span is not None:
            found.append(_Named(form, match, span, not form.led or _is_led(match, words)))
            end = match.end()
    return found


def _is_led(match: re.Match[str], words: str) -> bool:
    """Whether "march" or "friday" is a time here: a year, a part of the day or a small word says so."""
    before = words[: match.start()]
    return bool(
        (match.lastindex or 0) > 1
        or _LEADS.search(before)
        or any(each.search(before) for each, _ in _DIRECTIONS)
    )


def _joined(named: list[_Named], words: str, here: Calendar) -> _Read | None:
    """From the one to the other, where two times are joined: between … and …, from … to …, … until …"""
    for one, other in pairwise(named):
        between = words[one.match.end() : other.match.start()].split()
        if not between or between[0] not in JOINS.split("|") or not set(between[1:]) <= _ARTICLES:
            continue
        opening = _OPENING.search(words[: one.match.start()])
        if opening or (between[0] != "and" and (one.led or other.led)):
            first, last = _same_year(one, other, here)
            span = Span(min(first.since, last.since), max(first.until, last.until))
            start = opening.start() if opening else one.match.start()
            return _Read(span, _stretches(start, one.match.span(), other.match.span()))
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
        return one.form.span(one.match, here, years[1]) or one.span, other.span
    if years[0] and not years[1]:
        return one.span, other.form.span(other.match, here, years[0]) or other.span
    if one.span.since > other.span.since:  # "from Monday to Wednesday": the Monday before that Wednesday
        then = replace(here, now=other.span.since)
        return one.form.span(one.match, then, 0) or one.span, other.span
    return one.span, other.span


def _year_in(match: re.Match[str]) -> int:
    found = re.search(r"(?<!\S)(\d{4})(?!\S)", match[0])
    return int(found[1]) if found else 0


def _hull(named: list[_Named]) -> _Read | None:
    """From the first of several dates to the last."""
    dated = [each for each in named if each.form.dated]
    if len(dated) < 2:
        return None
    spans = [each.span for each in dated]
    return _Read(
        Span(min(span.since for span in spans), max(span.until for span in spans)),
        [each.match.span() for each in dated],
    )


def _first(named: list[_Named], words: str, here: Calendar) -> _Read | None:
    """The time that is named most exactly, with its direction."""
    usable = [each for each in named if each.led]
    if not usable:
        return None
    one = min(usable, key=lambda each: FORMS.index(each.form))
    start, end = one.match.span()
    lead = _BEFORE_IT.search(words[:start])
    before = words[: lead.start() if lead else start]
    span, said = one.span, len(before)
    if beside := _BESIDE.search(before):
        span, said = _beside(span, beside, here), beside.start()
    for pattern, turned in _DIRECTIONS if not beside else ():
        if direction := pattern.search(before):
            span, said = turned(span, here), direction.start()
            break
    taken = _stretches(said, (start, end))
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
