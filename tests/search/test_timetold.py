"""A time is told as one speaks of it, so that a reader sees how his words were read."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from backstory.search.times import time_of
from backstory.search.timetold import told

BERLIN = ZoneInfo("Europe/Berlin")
NOW = int(datetime(2026, 11, 18, 15, 0, tzinfo=BERLIN).timestamp() * 1000)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("on Saturday", "Saturday 2026-11-14"),
        ("in March 2019", "March 2019"),
        ("in December 2025", "December 2025"),
        ("in 2019", "2019"),
        ("between the 3rd and the 5th", "2026-11-03 to 2026-11-05"),
        ("in Q3", "2026-07-01 to 2026-09-30"),
        ("before 2026-03-01", "the time before Sunday 2026-03-01"),
        ("since Friday", "the time since Friday 2026-11-13"),
        ("in the last 24 hours", "the time since 2026-11-17 15:00"),
        ("yesterday afternoon", "Tuesday 2026-11-17, 12:00 to 18:00"),
        ("yesterday evening", "Tuesday 2026-11-17, 17:00 to 24:00"),
        ("last night", "2026-11-17 18:00 to 2026-11-18 06:00"),
        ("on 2026-10-25", "Sunday 2026-10-25"),  # of 25 hours
        ("on the 20th of this month", "Friday 2026-11-20"),  # to come
    ],
)
def test_a_time_is_told_as_it_was_read(text: str, says: str) -> None:
    time = time_of(text, NOW, BERLIN)
    assert told(time.since, time.until, NOW, BERLIN) == says
