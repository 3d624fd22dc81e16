"""What could not be read is kept for a while, for its owner alone."""

import logging
import os
import time

import pytest

from backstory.capture import quarantine
from backstory.capture.privacy import Privacy
from backstory.hook import spool
from backstory.paths import Home
from backstory.settings import Settings
from tests.story import House

DAY = 86_400


def put(house: House, data: bytes, reason: str = "not json") -> spool.Entry:
    house.leaves(data)
    entry = spool.spool_entries(str(house.home.spool))[-1]
    assert quarantine.quarantine_file(house.home, entry, reason, Privacy(Settings()))
    return entry


def aged(home: Home, days: float) -> None:
    for path in home.quarantine.iterdir():
        os.utime(path, (time.time() - days * DAY,) * 2)


def test_it_lies_inside_the_spool_for_its_owner_alone_with_its_reason(house: House) -> None:
    put(house, b"garbage", "not json")
    assert house.home.quarantine.parent == house.home.spool
    assert house.home.quarantine.stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in house.home.quarantine.iterdir())
    ((name, reason),) = quarantine.quarantined_files(house.home)
    assert reason == "not json"
    assert (house.home.quarantine / name).read_bytes() == b"garbage\x1e"


def test_putting_it_there_again_after_a_crash_leaves_one_copy(house: House) -> None:
    entry = put(house, b"garbage")
    assert quarantine.quarantine_file(house.home, entry, "not json", Privacy(Settings()))
    assert len(quarantine.quarantined_files(house.home)) == 1


def test_what_is_gone_cannot_be_put(house: House) -> None:
    entry = put(house, b"garbage")
    os.unlink(entry.path)
    assert not quarantine.quarantine_file(house.home, entry, "not json", Privacy(Settings()))


def test_after_fourteen_days_it_goes_with_a_line_in_the_log(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    put(house, b"old garbage")
    aged(house.home, 13.9)
    assert quarantine.age_out(house.home) == 0
    aged(house.home, 14.1)
    put(house, b"new garbage")
    with caplog.at_level(logging.WARNING):
        assert quarantine.age_out(house.home) == 1
    assert "after 14 days (not json)" in caplog.text
    assert len(quarantine.quarantined_files(house.home)) == 1
    assert len(list(house.home.quarantine.iterdir())) == 2


def test_a_home_without_any_has_none(house: House) -> None:
    assert quarantine.quarantined_files(house.home) == []
    assert quarantine.age_out(house.home) == 0
