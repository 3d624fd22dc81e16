"""Time: UTC epoch milliseconds inside, the user's zone at the edges, one parser for all commands."""

import logging
import os
import re
import time
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from backstory.errors import UsageError

log = logging.getLogger(__name__)
_SPAN = re.compile(r"(\d{1,6})([mhdw])")
# Midnights that every zone has, whatever else calendars know.
_FIRST_DAY, _LAST_DAY = date(1900, 1, 1), date(9990, 1, 1)
_MILLISECONDS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}


def now_ms() -> int:
    """The time now."""
    return time.time_ns() // 1_000_000


def zone(configured: str = "") -> tzinfo | None:
    """The zone for days and shown times; None means the system's local time."""
    name = os.environ.get("BACKSTORY_TZ") or configured
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        log.warning("time zone %r is unknown; using the system's local time", name)
        return None


def known_zone(name: str) -> bool:
    """Whether this machine knows a zone by that name; no name is the system's own."""
    try:
        return not name or bool(ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False


def in_zone(at: int, tz: tzinfo | None = None) -> datetime:
    """`at` as a local date and time; 0 is 1970, not now."""
    return datetime.fromtimestamp(at / 1000, UTC).astimezone(tz)


def day_of(at: int, tz: tzinfo | None = None) -> str:
    """The day `at` falls on, as YYYY-MM-DD in the zone."""
    return f"{in_zone(at, tz):%Y-%m-%d}"


def day_start(day: date, tz: tzinfo | None = None) -> int:
    """When a day of the zone begins."""
    return int(datetime.combine(day, datetime.min.time(), tz).timestamp() * 1000)


def stamp(at: int, tz: tzinfo | None = None) -> str:
    """`at` as people read it: YYYY-MM-DD HH:MM."""
    return f"{in_zone(at, tz):%Y-%m-%d %H:%M}"


def parse_when(text: str, tz: tzinfo | None, *, end: bool = False, now: int | None = None) -> int:
    """When a day of the zone, YYYY-MM-DD, begins (`end`: is over); or so long ago: 2w, 3d, 12h, 30m."""
    if match := _SPAN.fullmatch(text.strip()):
        return (now_ms() if now is None else now) - int(match[1]) * _MILLISECONDS[match[2]]
    try:
        day = datetime.strptime(text.strip(), "%Y-%m-%d").date()
    except ValueError:
        raise UsageError(f"{text!r} is not a time: write YYYY-MM-DD, or 2w, 3d, 12h, 30m ago") from None
    day = min(max(day, _FIRST_DAY), _LAST_DAY)
    return day_start(day + timedelta(days=1) if end else day, tz)
