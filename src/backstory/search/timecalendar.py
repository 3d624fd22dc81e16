"""The calendar that times are read in: days of the user's zone, and the weeks, months and years they are in.

Days begin at midnight of the zone, whatever the clocks do in that night.
"""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from backstory import clock

FIRST, LAST = date(1971, 1, 1), date(9990, 1, 1)
UNIT_DAYS = {
    "day": 1, "night": 1, "weekend": 7, "week": 7, "fortnight": 14, "month": 30, "quarter": 91, "year": 365,
}  # fmt: skip


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
        day = min(max(day, FIRST), LAST) + timedelta(days=hour // 24)
        return int(datetime.combine(day, time(hour % 24), self.zone).timestamp() * 1000)

    def days(self, first: date, after: date) -> Span:
        return Span(self.at(first), self.at(after))

    def so_far(self, span: Span) -> Span:
        """What is over of a time, or all of it if it is yet to come."""
        return span._replace(until=min(span.until, self.now + 1)) if span.since <= self.now else span


def day_of(year: int, month: int, number: int) -> date | None:
    """A day, if there is such a day."""
    try:
        day = date(year, month, number)
    except ValueError:
        return None
    return day if FIRST <= day < LAST else None


def day_after(day: date) -> date:
    return day + timedelta(days=1)


def begin_of(day: date, unit: str) -> date:
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
        year = min(max(months // 12, FIRST.year), LAST.year)
        last = (date(year + months % 12 // 11, (months + 1) % 12 + 1, 1) - timedelta(days=1)).day
        return date(year, months % 12 + 1, min(day.day, last))
    try:
        return day + timedelta(days=number * UNIT_DAYS[unit])
    except OverflowError:
        return FIRST if number < 0 else LAST
