"""Server and database are killed while several write: what was acknowledged is there, once."""

import pytest

from tests.team.kill_storm import weather

NOTHING = ("lost", "doubled", "unknown", "numbers_twice", "reader_differs", "proof_differs", "wrong_answers")


@pytest.mark.faults
def test_nothing_acknowledged_is_lost_or_doubled_when_everything_is_killed() -> None:
    found = weather(seed=19, kills=25)
    assert {name: found[name] for name in NOTHING} == dict.fromkeys(NOTHING, 0), found
    assert sum(found["kills"].values()) == 25
    assert len(found["kills"]) == 3, "server, postmaster and backends"
    assert found["acknowledged"] > 100
