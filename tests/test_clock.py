"""One clock: UTC inside, the user's zone at the edges."""

import contextlib
import logging
from datetime import UTC, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory import clock
from backstory.errors import UsageError

NEW_YEAR_UTC = 1_767_225_600_000  # 2026-01-01 00:00 UTC


def test_the_configured_zone_governs_day_and_time() -> None:
    """MEMORIA-13."""
    tokyo = clock.zone("Asia/Tokyo")
    assert clock.day_of(NEW_YEAR_UTC - 1, tokyo) == "2026-01-01"
    assert clock.stamp(NEW_YEAR_UTC, tokyo) == "2026-01-01 09:00"
    assert clock.day_of(NEW_YEAR_UTC - 1, clock.zone("UTC")) == "2025-12-31"


def test_the_environment_overrides_the_configured_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    """MEMORIA-13."""
    monkeypatch.setenv("BACKSTORY_TZ", "America/New_York")
    assert clock.stamp(NEW_YEAR_UTC, clock.zone("Asia/Tokyo")) == "2025-12-31 19:00"


@pytest.mark.parametrize("name", ["Mars/Olympus", "../etc/passwd", "Europe", "\0", "x" * 5_000])
def test_an_unknown_zone_warns_and_falls_back_to_local_time(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """MEMORIA-14."""
    with caplog.at_level(logging.WARNING):
        assert clock.zone(name) is None
    assert "unknown" in caplog.text


def test_no_zone_is_the_systems_own_and_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    assert clock.zone("") is None
    assert caplog.text == ""


def test_epoch_zero_is_1970_not_now() -> None:
    """CCE-15."""
    assert clock.day_of(0, clock.zone("UTC")) == "1970-01-01"
    assert clock.stamp(0, clock.zone("UTC")) == "1970-01-01 00:00"


@pytest.mark.parametrize(
    ("text", "ago"),
    [
        ("30m", 1_800_000),
        ("12h", 43_200_000),
        ("3d", 259_200_000),
        ("2w", 1_209_600_000),
        (" 1d ", 86_400_000),
    ],
)
def test_a_span_is_that_long_ago(text: str, ago: int) -> None:
    assert clock.parse_when(text, UTC, now=NEW_YEAR_UTC) == NEW_YEAR_UTC - ago


# MP-5
def test_mp_5_a_date_is_its_midnight_in_utc() -> None:
    assert clock.parse_when("2026-01-01", UTC) == NEW_YEAR_UTC


@pytest.mark.parametrize("hours", [-11, 0, 5, 14])
def test_a_date_is_a_day_of_the_zone_and_until_it_includes_it(hours: int) -> None:
    there = timezone(timedelta(hours=hours))
    begins = NEW_YEAR_UTC - hours * 3_600_000
    assert clock.parse_when("2026-01-01", there) == begins
    assert clock.parse_when("2026-01-01", there, end=True) == begins + 86_400_000
    assert clock.parse_when("2025-12-31", there, end=True) == begins


def test_the_day_of_a_change_of_clocks_is_as_long_as_it_is() -> None:
    berlin = clock.zone("Europe/Berlin")
    for day, hours in (("2026-03-29", 23), ("2026-10-25", 25)):
        ends, begins = (clock.parse_when(day, berlin, end=end) for end in (True, False))
        assert ends - begins == hours * 3_600_000


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
@pytest.mark.parametrize("zone", ["", "UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_the_ends_of_the_calendar_are_times_too(day: str, zone: str) -> None:
    for end in (False, True):
        assert isinstance(clock.parse_when(day, clock.zone(zone), end=end), int)


# MP-5
@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "2026-1-1x", "3x", "-3d", "1e9d", "3 d"])
def test_mp_5_anything_else_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(UsageError, match="YYYY-MM-DD"):
        clock.parse_when(text, UTC)


@given(st.text(max_size=20))
def test_no_text_at_all_makes_the_parser_fail_otherwise(text: str) -> None:
    with contextlib.suppress(UsageError):
        clock.parse_when(text, UTC)
