"""A kill at each named step, one by one: the next run finishes what was begun, once."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from backstory.app import App
from backstory.steps import STEPS
from backstory.store import copies, schema
from tests.story import House, Story

pytestmark = pytest.mark.faults

WORKER = ("drain", "transcript", "distil", "brief", "index")


def of(*parts: str) -> list[str]:
    return [name for name in STEPS if name.split(".")[0] in parts]


def runs(house: House, *words: str, strike: str = "") -> int:
    """A command or, without words, a worker, struck at a step; its exit code."""
    command = ["-m", "backstory", *words] if words else ["-I", "-m", "backstory.worker", str(house.home.root)]
    environment = {**os.environ, "BACKSTORY_HOME": str(house.home.root), "BACKSTORY_TZ": "UTC"}
    if strike:
        environment["BACKSTORY_STRIKE"] = f"{strike}=KILL"
    done = subprocess.run(
        [sys.executable, *command], env=environment, cwd=house.project, capture_output=True, timeout=60
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done.returncode


def lived(house: House) -> Story:
    story = house.told()
    story.starts().prompts("Count the blue whales", prompt_id="p1")
    story.runs("wc -l whales", fails="wc: whales: No such file", tool_use_id="t1")
    story.writes("whales", "12").runs("wc -l whales", "12", tool_use_id="t2").stops(
        "Twelve blue whales."
    ).ends()
    return story


def told(house: House, story: Story) -> list[tuple[str, str]]:
    """What is stored of a session, whatever the order."""
    return sorted((str(event.kind), event.text or event.target) for event in house.events(story))


@pytest.fixture
def house(house: House) -> House:
    house.installs()
    house.sets("worker.linger_seconds", "0")
    return house


@pytest.fixture
def expected(tmp_path: Path, house: House) -> list[tuple[str, str]]:
    """What an undisturbed house stores of the same session."""
    calm = House(tmp_path / "calm", house.project)
    story = lived(calm)
    calm.works()
    found = told(calm, story)
    calm.close()
    return found


@pytest.mark.parametrize("name", of(*WORKER))
def test_a_worker_killed_at_a_step_is_finished_by_the_next(
    house: House, expected: list[tuple[str, str]], name: str
) -> None:
    story = lived(house)
    assert runs(house, strike=name) == -signal.SIGKILL, f"{name} was never reached"
    assert "whales" in house.brief().text, "even now the next session knows"
    assert runs(house) == 0
    assert told(house, story) == expected
    assert house.spooled() == []
    assert house.works() == 0
    assert house.left() == {"done"}
    assert "whales" in house.brief().text


@pytest.mark.parametrize("name", of("migrate"))
def test_an_upgrade_killed_at_a_step_is_finished_by_the_next_start(house: House, name: str) -> None:
    lived(house)
    house.works()
    with closing(sqlite3.connect(house.home.database)) as db:
        before = db.execute("SELECT count(*) FROM events").fetchone()
    house.close()
    old = house.home.root / "old.db"
    with closing(sqlite3.connect(old, isolation_level=None)) as db:
        schema.apply(db, schema.migrations()[:1])
        db.execute("ATTACH ? AS new", (str(house.home.database),))
        for table in ("meta", "projects", "places", "sessions", "turns", "events", "memories", "tombstones"):
            names = ", ".join(row[1] for row in db.execute(f"PRAGMA table_info({table})"))
            db.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM new.{table}")
    for path in house.home.root.glob("backstory.db*"):
        path.unlink()
    old.rename(house.home.database)
    assert runs(house, "status", strike=name) == -signal.SIGKILL, f"{name} was never reached"
    assert copies.listed(house.home), "a copy was made before"
    assert runs(house, "status") == 0
    with closing(sqlite3.connect(house.home.database)) as db:
        assert schema.version(db) == len(schema.migrations())
        assert db.execute("SELECT count(*) FROM events").fetchone() == before
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("name", of("backup"))
def test_a_backup_killed_at_a_step_is_a_whole_backup_or_none(house: House, name: str) -> None:
    lived(house)
    house.works()
    house.close()
    assert runs(house, "backup", strike=name) == -signal.SIGKILL
    assert all(copies.look(path).damage == "" for path in copies.listed(house.home))
    assert runs(house, "backup") == 0
    assert copies.look(copies.listed(house.home)[-1]).events > 0


@pytest.mark.parametrize("words", [("restore", "--yes"), ("repair", "--yes")])
def test_going_back_or_mending_killed_before_the_swap_leaves_the_database(
    house: House, words: tuple[str, ...]
) -> None:
    story = lived(house)
    house.works()
    with App(house.home) as app:
        app.back_up()
    house.close()
    assert runs(house, *words, strike="replace.ready") == -signal.SIGKILL
    assert house.events(story)
    house.close()
    assert runs(house, *words) == 0
    assert house.events(story)
    assert not list(house.home.root.glob("re*ing.db"))


def test_forgetting_killed_before_its_traces_are_erased_is_finished_by_the_worker(house: House) -> None:
    lived(house)
    house.works()
    house.close()
    with closing(
        sqlite3.connect(house.home.database, isolation_level=None)
    ) as db:  # a page left by earlier work
        db.execute("PRAGMA secure_delete = OFF")
        db.execute("INSERT INTO meta VALUES ('once', ?)", ("the first blue whales " * 2_000,))
        db.execute("DELETE FROM meta WHERE key = 'once'")
    words = ("forget", "--text", "blue whales", "--yes")
    assert runs(house, *words, strike="forget.removed") == -signal.SIGKILL
    assert "blue whales" not in house.brief().text
    assert house.found_in_home("first blue whales"), "or the worker has nothing to erase"
    assert runs(house) == 0
    assert house.found_in_home("blue whales") == []


def test_an_export_killed_in_between_leaves_no_file_that_looks_whole(house: House, tmp_path: Path) -> None:
    lived(house)
    house.works()
    house.close()
    file = tmp_path / "all.jsonl"
    assert runs(house, "export", str(file), strike="export.line") == -signal.SIGKILL
    assert not file.exists()
    assert runs(house, "export", str(file)) == 0
    assert file.stat().st_size > 0
