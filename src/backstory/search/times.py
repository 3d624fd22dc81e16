"""The time that a question speaks of: "last week", "on 3 June 2023", "the week before May 8", "in March".

It is a wish for what happened then. Words that only say the time are taken out of the question; a date as
programs write it (2026-02-03) stays, it may be what is looked for.
"""

import re
from datetime import datetime, timedelta
from typing import NamedTuple

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "couple of": 2, "few": 3}
_UNIT_DAYS = {"hour": 1 / 24, "day": 1, "night": 1, "weekend": 7, "week": 7, "month": 30, "year": 365}
_AGO = re.compile(
    r"\b(\d{1,3}|a|one|two|three|four|five|six|a couple of|a few) (hour|day|week|month|year)s? ago\b"
)
_SPAN = re.compile(r"\b(today|yesterday|(?:this|last|past) (?:hour|day|night|week|month|year))\b")
_WEEKDAY = re.compile(rf"\b(?:on|last) ({'|'.join(_DAYS)})\b")
_NAMED = rf"({'|'.join(_MONTHS)})"
_MONTH = re.compile(rf"\b(?:in|during|since|last|of|by) {_NAMED}(?:,? (\d{{4}}))?\b|\b{_NAMED},? (\d{{4}})\b")
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_ORDINAL = r"(\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:,? (\d{4}))?\b"
_DATE = re.compile(rf"\b(?:{_ORDINAL}(?: of)? {_NAMED}{_YEAR}|{_NAMED} {_ORDINAL}\b{_YEAR})")
_EARLIER = re.compile(r"\b(day|night|weekend|week|month)s? (?:before|prior to) (?:the )?$")


class Time(NamedTuple):
    """A time, from `since` on and before `until`, both 0 if there is none; and the text without its words."""

    since: int
    until: int
    rest: str


def time_of(text: str, now: datetime) -> Time:
    """The time that a text speaks of."""
    low = text.lower()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if match := _ISO.search(low):
        day = _day(match[1], match[2], match[3], midnight)
        return _time(day, day + timedelta(days=1), text) if day else Time(0, 0, text)
    if dates := list(_DATE.finditer(low)):
        return _dates(dates, text, midnight)
    if match := _AGO.search(low):
        number = match[1].removeprefix("a ") if match[1] in ("a couple of", "a few") else match[1]
        days = _UNIT_DAYS[match[2]] * (int(number) if number.isdecimal() else _NUMBERS[number])
        middle = now - timedelta(days=days)
        slack = timedelta(days=max(days / 4, 0.6))
        return _time(middle - slack, middle + slack, _without(text, match))
    if match := _SPAN.search(low):
        return _time(*_span(match[1], now, midnight), _without(text, match))
    if match := _WEEKDAY.search(low):
        back = (now.weekday() - _DAYS.index(match[1])) % 7 or 7
        day = midnight - timedelta(days=back)
        return _time(day, day + timedelta(days=1), _without(text, match))
    if match := _MONTH.search(low):
        month, year = _MONTHS.index(match[1] or match[3]) + 1, match[2] or match[4]
        first = _day(year or now.year - (month > now.month), month, 1, midnight)
        if first:
            return _time(first, (first + timedelta(days=32)).replace(day=1), _without(text, match))
    return Time(0, 0, text)


def _dates(found: list[re.Match[str]], text: str, midnight: datetime) -> Time:
    """From the first of the dates to the last; without a year, that of the other one, or the latest."""
    parts = [(m[3] or m[6], _MONTHS.index(m[2] or m[4]) + 1, m[1] or m[5]) for m in found]
    given = next((year for year, _, _ in parts if year), None)
    days = []
    for year, month, number in parts:
        day = _day(year or given or midnight.year, month, number, midnight)
        if day and not (year or given) and day > midnight:
            day = _day(midnight.year - 1, month, number, midnight)
        if day:
            days.append(day)
    if not days:
        return Time(0, 0, text)
    since, until = min(days), max(days) + timedelta(days=1)
    if earlier := _EARLIER.search(text.lower()[: found[0].start()]):
        since -= timedelta(days=_UNIT_DAYS[earlier[1]])
    for match in reversed(found):
        text = _without(text, match)
    return _time(since, until, text)


def _day(year: str | int, month: str | int, number: str | int, midnight: datetime) -> datetime | None:
    """The beginning of a day, if there is such a day."""
    if not 1970 < int(year) < 9999:
        return None
    try:
        return midnight.replace(year=int(year), month=int(month), day=int(number))
    except ValueError:
        return None


def _span(words: str, now: datetime, midnight: datetime) -> tuple[datetime, datetime]:
    if words == "today":
        return midnight, now
    if words in ("yesterday", "last night", "last day"):
        return midnight - timedelta(days=1), midnight
    which, unit = words.split()
    days = _UNIT_DAYS[unit]
    if which == "last" and unit == "week":  # up to the day: people count from where they are
        return midnight - timedelta(days=7 + now.weekday()), now - timedelta(days=now.weekday())
    if which == "last" and unit in ("month", "year"):
        return now - timedelta(days=2 * days), now - timedelta(days=days / 2)
    return now - timedelta(days=days), now


def _without(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()]} {text[match.end() :]}"


def _time(since: datetime, until: datetime, rest: str) -> Time:
    return Time(int(since.timestamp() * 1000), int(until.timestamp() * 1000), rest)
