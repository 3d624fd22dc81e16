"""Nothing is lost and nothing is stored twice, whatever is struck, whenever."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.faults.storm import Weather, rages
from tests.story import House

SEED = int(os.environ.get("BACKSTORY_SEED", "20261116"))  # replays the decisions of a run that failed

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes through /proc"),
]


def test_every_event_whose_hook_returned_is_stored_exactly_once(house: House) -> None:
    """CMEM-15, MEMORIA-31, CM-14: 2,000 events while 200 hooks, workers, commands and servers are killed."""
    weather = Weather(SEED, agents=4, turns=108, kills=200)
    after = rages(house, weather)
    told = f"seed {SEED}: {after.tally}"
    assert after.events >= 2_000, told
    assert after.tally.kills >= 200, told
    assert all(after.tally.killed_of(whom) >= 5 for whom in ("hook", "worker", "command", "at")), told
    assert (after.lost, after.doubled) == ({}, {}), told

    assert house.spooled() == []
    assert house.works() == 0, "nothing was left undone"
    assert house.left() == {"done"}
    assert house.store.passages.unindexed() == 0
    house.close()
    with closing(sqlite3.connect(house.home.database)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
        raw.execute("INSERT INTO passage_fts (passage_fts) VALUES ('integrity-check')")
    briefs = [json.loads(path.read_text()) for path in house.home.briefs.glob("p*.json")]
    assert any(f"ask {weather.turns - 1}" in json.dumps(value) for value in briefs)
