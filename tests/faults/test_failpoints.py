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
from backstory.failpoints import STEPS
from backstory.store import backup_copy, schema
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
        schema.apply_migrations(db, schema.migrations()[:1])
        db.execute("ATTACH ? AS new", (str(house.home.database),))
        for table in ("meta", "projects", "places", "sessions", "turns", "events", "memories", "tombstones"):
            names = ", ".join(row[1] for row in db.execute(f"PRAGMA table_info({table})"))
            db.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM new.{table}")
    for path in house.home.root.glob("backstory.db*"):
        path.unlink()
    old.rename(house.home.database)
    assert runs(house, "status", strike=name) == -signal.SIGKILL, f"{name} was never reached"
    assert backup_copy.list_copies(house.home), "a copy was made before"
    assert runs(house, "status") == 0
    with closing(sqlite3.connect(house.home.database)) as db:
        assert schema.schema_version(db) == len(schema.migrations())
        assert db.execute("SELECT count(*) FROM events").fetchone() == before
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("name", of("backup"))
def test_a_backup_killed_at_a_step_is_a_whole_backup_or_none(house: House, name: str) -> None:
    lived(house)
    house.works()
    house.close()
    assert runs(house, "backup", strike=name) == -signal.SIGKILL
    assert all(backup_copy.copy_contents(path).damage == "" for path in backup_copy.list_copies(house.home))
    assert runs(house, "backup") == 0
    assert backup_copy.copy_contents(backup_copy.list_copies(house.home)[-1]).events > 0


@pytest.mark.parametrize("name", of("build", "replace"))
@pytest.mark.parametrize("words", [("restore", "--yes"), ("repair", "--yes")])
def test_going_back_or_mending_killed_at_a_step_leaves_the_old_database_or_the_new(
    house: House, words: tuple[str, ...], name: str
) -> None:
    story = lived(house)
    house.works()
    expected = told(house, story)
    with App(house.home) as app:
        app.back_up()
    house.close()
    assert runs(house, *words, strike=name) == -signal.SIGKILL, f"{name} was never reached"
    assert backup_copy.copy_contents(house.home.database).damage == ""
    assert told(house, story) == expected
    house.close()
    assert runs(house, *words) == 0
    assert told(house, story) == expected
    house.close()
    assert not list(house.home.root.glob("building-*"))


@pytest.mark.parametrize("old_schema", [False, True])
def test_a_restore_killed_while_it_builds_never_gets_into_the_next(house: House, old_schema: bool) -> None:
    """B's words, in a log that a kill left, were replayed into what was restored from A."""
    first = lived(house)
    house.works()
    with App(house.home) as app:
        a = app.back_up().path.rename(house.home.backups / "a.db")
    second = house.session().starts().prompts("The secret panda").stops("Pandas.")
    house.works()
    with App(house.home) as app:
        b = app.back_up().path.rename(house.home.backups / "b.db")
    house.close()
    if old_schema:
        with closing(sqlite3.connect(a, isolation_level=None)) as db:
            db.execute("DROP TABLE shelves")
            db.execute("DROP TABLE passage_fts")
            db.execute(
                "CREATE VIRTUAL TABLE passage_fts USING fts5 (text, extra, scope, content = 'passages')"
            )
            for change in (
                "DROP COLUMN form",
                "DROP COLUMN context",
                "RENAME COLUMN turn TO stretch",
            ):
                db.execute(f"ALTER TABLE passages {change}")
            db.execute("DROP INDEX memories_by_signature")
            for column in ("signature", "times", "own_work", "told_by", "seen", "total", "formerly"):
                db.execute(f"ALTER TABLE memories DROP COLUMN {column}")
            db.execute("DROP INDEX memories_of_others")
            for table, column in (("memories", "author"), ("memories", "origin"), ("sessions", "author")):
                db.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
            for table in ("sent", "received", "feeds", "muted", "shared_by_hand", "contradictions"):
                db.execute(f"DROP TABLE {table}")
            db.execute("CREATE TABLE pieces (row INTEGER PRIMARY KEY)")
            db.execute("PRAGMA user_version = 9")
    for step in ("build.begun", "build.filled", "migrate.statement" if old_schema else "build.checked"):
        assert (
            runs(house, "restore", str(b if "m" not in step else a), "--yes", strike=step) == -signal.SIGKILL
        )
    code = (
        "import os, sys, sqlite3, backstory.store.row_erasure as f\n"
        "real = f.erase_traces\n"
        "def struck(db):\n"
        "    db.execute('VACUUM'); os.kill(os.getpid(), 9)\n"
        "f.erase_traces = struck\n"
        "from backstory.cli import cli; cli(['restore', sys.argv[1], '--yes'])"
    )
    environment = {**os.environ, "BACKSTORY_HOME": str(house.home.root)}
    run = [sys.executable, "-c", code, str(b)]
    assert subprocess.run(run, env=environment, capture_output=True).returncode == -signal.SIGKILL
    assert any(path.stat().st_size for path in house.home.root.glob("building-*/*")), "it has left something"
    assert runs(house, "restore", str(a), "--yes") == 0
    assert house.events(first)
    assert house.store.events.session(second.id) is None
    house.close()


def test_after_a_killed_restore_forgetting_leaves_no_byte_of_the_words(house: House) -> None:
    lived(house)
    house.works()
    with App(house.home) as app:
        backup = app.back_up().path
    house.close()
    assert runs(house, "restore", str(backup), "--yes", strike="build.filled") == -signal.SIGKILL
    assert [name for name in house.found_in_home("blue whales") if name.startswith("building-")]
    for path in house.home.backups.iterdir():
        path.unlink()
    assert runs(house, "forget", "--text", "blue whales", "--yes") == 0
    assert house.found_in_home("blue whales") == []


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
