"""What happens to the database: locked, damaged, pinned, of another version. Capture goes on all the same."""

import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from backstory.app import App
from backstory.store import backup_copy, open_store, schema
from tests.story import House

from .world import command, fires, settled, steps, told_by_doctor, worker

pytestmark = pytest.mark.faults
LOCKED_SECONDS = 30
ROOT = Path(__file__).parents[2]


@pytest.fixture
def house(house: House) -> House:
    return settled(house)


def test_a_database_that_another_process_locks_for_long(house: House) -> None:
    story = house.session()
    fires(house, story, 1)
    house.works()
    house.close()
    code = (
        "import sqlite3, sys, time; db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "db.execute('BEGIN EXCLUSIVE'); print('locked', flush=True); time.sleep(float(sys.argv[2]))"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(house.home.database), str(LOCKED_SECONDS)], stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    began = time.monotonic()
    fires(house, story, 2)
    house.fires("UserPromptSubmit", story.payload("UserPromptSubmit", prompt="Count the blue whales"))
    start = house.fires("SessionStart", house.session().payload("SessionStart", source="startup"))
    assert "blue whales" in start.stdout.decode(), "the brief does not need the database"
    said = command(house, "remember", "We deploy on Fridays")
    assert said.returncode == 0, "it does not need the database either"
    while time.monotonic() - began < LOCKED_SECONDS - 6:
        worker(house)
        fires(house, story, 3)
    holder.communicate()
    assert worker(house) == 0
    assert set(steps(house, story)) >= {"step 1", "step 2", "step 3"}
    assert not house.home.trouble.exists()
    assert "We deploy on Fridays" in command(house, "search", "when do we deploy").stdout


def test_a_log_left_by_a_crash_is_read(house: House) -> None:
    story = house.session()
    fires(house, story, 1, 2, 3)
    code = (
        "import os, signal, backstory.store.sqlite as s\n"
        "s.Store.checkpoint = lambda self: None\n"
        "s.Store.close = lambda self: os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert worker(house, code) == -signal.SIGKILL
    assert house.home.database.with_name("backstory.db-wal").stat().st_size > 0
    assert steps(house, story) == ["step 1", "step 2", "step 3"]
    assert "fail" not in told_by_doctor(house, "integrity")


def test_a_corrupt_page_is_reported_captured_past_and_mended_by_one_command(house: House) -> None:
    story = house.session()
    fires(house, story, *range(200))
    house.works()
    house.store.checkpoint()
    house.close()
    data = bytearray(house.home.database.read_bytes())
    at = data.find(b"step 120") // 4096 * 4096
    data[at : at + 4096] = os.urandom(4096)
    house.home.database.write_bytes(data)
    assert "backstory repair" in command(house, "doctor").stdout
    fires(house, story, 900)
    assert house.fires("SessionStart", story.payload("SessionStart", source="clear")).returncode == 0
    worker(house)
    done = command(house, "repair", "--yes", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rescued"]["events"]["rows"] >= 150
    assert worker(house) == 0
    assert "step 900" in steps(house, story)
    assert "no damage" in told_by_doctor(house, "integrity")


def test_an_older_backstory_beside_a_newer_one_refuses_politely_and_loses_nothing(house: House) -> None:
    """Two versions installed at once: a downgrade is refused, the hooks go on, the newer one takes it all in."""
    story = house.session()
    fires(house, story, 1)
    assert worker(house) == 0
    older = "import backstory.store.schema as s; every = s.migrations()\ns.migrations = lambda: every[:-1]"
    before = house.home.database.read_bytes()
    fires(house, story, 2)
    assert worker(house, older) == 4
    assert house.home.database.read_bytes() == before
    assert len(house.spooled()) == 1
    assert worker(house) == 0
    assert steps(house, story) == ["step 1", "step 2"]


def test_ten_stale_readers_and_a_writer_never_meet_a_locked_database(house: House) -> None:
    """A lesson; also a reader that pins the log while much is stored."""
    story = house.session()
    fires(house, story, 1)
    house.works()
    readers = []
    for _ in range(10):
        reader = sqlite3.connect(house.home.database, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchone()
        readers.append(reader)
    for number in range(2, 600):
        payload = story.payload(
            "PostToolUse",
            tool_name="Bash",
            tool_input={"command": f"step {number}"},
            tool_use_id=f"t{number}",
        )
        house.leaves(json.dumps({**payload, "tool_response": "y" * 4_000}).encode())
    assert worker(house) == 0
    assert len(house.events(story)) == 599
    assert command(house, "search", "step").returncode == 0
    log = (house.home.logs / "worker.log").read_text()
    assert "locked" not in log
    for reader in readers:
        assert reader.execute("SELECT count(*) FROM events").fetchone() == (1,), "its view was not cut off"
        reader.close()


def test_a_reader_that_pins_the_log_while_much_is_imported(house: House, tmp_path: Path) -> None:
    fires(house, house.session(), 1)
    house.works()
    house.close()
    elsewhere = House(tmp_path / "elsewhere", house.project)
    stories = [elsewhere.told() for _ in range(12)]
    for story in stories:
        story.prompts("Look at everything")
        for number in range(60):
            story.runs(f"step {number}", "z" * 4_000)
        story.says("Looked.")
    wal = house.home.database.with_name("backstory.db-wal")
    with closing(sqlite3.connect(house.home.database, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchone()
        assert stories[0].transcript is not None
        folder = str(stories[0].transcript.parent)
        done = command(house, "import", "claude-code", "--path", folder, "--json")
        assert done.returncode == 0, done.stderr
        brought = json.loads(done.stdout)
        assert (brought["new"], brought["errors"]) == (12, 0)
        assert wal.stat().st_size > 1_000_000, "it could not be folded in"
        start = house.fires("SessionStart", house.session().payload("SessionStart", source="startup"))
        assert b"Look at everything" in start.stdout, "the next session is told all the same"
        assert reader.execute("SELECT count(*) FROM events").fetchone() == (1,), "its view was not cut off"
    for story in stories:
        assert len([step for step in steps(house, story) if step]) == 60
    deadline = time.monotonic() + 30
    while worker(house) == 0 and house.works() and time.monotonic() < deadline:
        house.close()
    house.store.checkpoint()
    house.close()
    assert not wal.exists() or wal.stat().st_size == 0, "without a reader it is folded in"


def test_every_schema_that_was_ever_on_main_is_upgraded(tmp_path: Path) -> None:
    """Databases made by each version lie in `tests/store/schemas/`; each migration adds one."""
    fixtures = sorted((ROOT / "tests" / "store" / "schemas").glob("*.db.gz"))
    assert len(fixtures) == len(schema.migrations()), "a migration needs a database made by its version"
    for number, fixture in enumerate(fixtures, 1):
        house = House(tmp_path / str(number), tmp_path)
        house.home.root.mkdir()
        house.home.database.write_bytes(gzip.decompress(fixture.read_bytes()))
        with closing(sqlite3.connect(house.home.database, isolation_level=None)) as db:
            assert schema.schema_version(db) == number
            before = db.execute("SELECT count(*), min(text), max(text) FROM events").fetchone()
        with closing(open_store(house.home)) as store:
            assert store.schema_version() == len(schema.migrations())
        with closing(sqlite3.connect(house.home.database)) as db:
            assert db.execute("SELECT count(*), min(text), max(text) FROM events").fetchone() == before
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        made = backup_copy.list_copies(house.home)
        assert len(made) == (0 if number == len(fixtures) else 1)
        with App(house.home) as app:
            assert app.search("blue whale", None).hits, f"schema {number}"
