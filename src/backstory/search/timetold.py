"""A time, told to people: "Saturday 2026-11-14", "March 2019", "2026-11-03 to 2026-11-05"."""

from datetime import date, datetime, timedelta, tzinfo

from backstory import clock

_MIDNIGHT = "00:00"


def told(since: int, until: int, now: int, zone: tzinfo | None) -> str:
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
    return f"{moment:%H:%M}" == _MIDNIGHT


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
