"""A time is told as one speaks of it, so that a reader sees how his words were read."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from backstory.search.period_contents import describe_period
from backstory.search.time_expressions import read_time

BERLIN = ZoneInfo("Europe/Berlin")
NOW = int(datetime(2026, 11, 18, 15, 0, tzinfo=BERLIN).timestamp() * 1000)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("on Saturday", "Saturday 2026-11-14"),
        ("in March 2019", "March 2019"),
        ("in December 2025", "December 2025"),
        ("in 2019", "2019"),
        ("before 2026-03-01", "the time before Sunday 2026-03-01"),
        ("since Friday", "the time since Friday 2026-11-13"),
        ("in the last 24 hours", "the time since 2026-11-17 15:00"),
        ("on 2026-10-25", "Sunday 2026-10-25"),  # of 25 hours
    ],
)
def test_a_time_is_told_as_it_was_read(text: str, says: str) -> None:
    time = read_time(text, NOW, BERLIN)
    assert describe_period(time.since, time.until, NOW, BERLIN) == says
