"""The one way to make a database: nothing stale beside it, nothing put in place that is not whole."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from backstory.atomic import lock
from backstory.errors import Failed
from backstory.paths import Home
from backstory.store import schema
from backstory.store.compression import pack
from backstory.store.new_database import clear_leftovers, leftover_files, new_database, put_in_place


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def fill(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        schema.apply_migrations(db, schema.migrations())
        db.execute("INSERT INTO projects VALUES ('p1', '/x', 'x', '/x', 0, 0)")
        db.execute(
            "INSERT INTO sessions (id, agent, native_id, project_id, started_at, last_at) "
            "VALUES ('s1', 'codex', 'one', 'p1', 0, 0)"
        )
        values = (
            "'e1', 's1', 0, 1, 0, 'prompt', '', '', '', '', '', 'hi', '', '', '', '', '', 0, 0, 'live', 2"
        )
        db.execute(f"INSERT INTO events VALUES (1, {values})")
        db.execute("INSERT INTO payloads VALUES (1, ?)", (pack("hi"),))


def test_it_is_made_in_a_folder_of_its_own_that_is_its_owners_alone_and_goes(home: Home) -> None:
    with new_database(home) as first, new_database(home) as second:
        assert first.parent != second.parent
        assert list(first.parent.iterdir()) != []
        assert first.parent.stat().st_mode & 0o077 == 0
        assert first.stat().st_mode & 0o077 == 0
        assert leftover_files(home) == [], "a maker that lives has left nothing"
    assert list(home.root.iterdir()) == []


def test_what_a_killed_maker_left_is_removed_by_the_next(home: Home) -> None:
    code = (
        "import os, sys; from pathlib import Path; from backstory.paths import Home\n"
        "from backstory.store.new_database import new_database\n"
        "with new_database(Home(Path(sys.argv[1]))) as path:\n"
        "    path.with_name('backstory.db-wal').write_bytes(b'words'); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(home.root)], check=False)
    for name in ("restoring.db", "restoring.db-wal"):  # as it used to be
        (home.root / name).write_bytes(b"words")
    assert [path.name for path in leftover_files(home)] == [
        "backstory.db", "backstory.db-wal", "restoring.db", "restoring.db-wal",
    ]  # fmt: skip
    with new_database(home) as path:
        assert [each.name for each in home.root.iterdir()] == [path.parent.name]
        assert not path.with_name("backstory.db-wal").exists()


def test_the_folder_of_a_maker_that_lives_is_left_alone(home: Home) -> None:
    with new_database(home) as path:
        assert clear_leftovers(home) == 0
        assert path.exists()
        with lock(path.with_name("lock")) as free:
            assert not free


def spoil_page(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096 * 8 : 4096 * 9] = b"\xff" * 4096
    path.write_bytes(data)


def run(statement: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as db, db:
            db.execute(statement)

    return change


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (run("DELETE FROM payloads; "), "0 of 1 rows of payloads"),
        (run("UPDATE payloads SET body = x'789c00'"), "1 payloads cannot be read"),
        (run("DELETE FROM sessions"), "refers to"),
        (run("DROP INDEX events_by_time"), "schema lacks"),
        (run("ALTER TABLE jobs DROP COLUMN done_at"), "schema lacks"),
        (spoil_page, "Page 9"),
    ],
)
def test_what_is_not_whole_is_not_put_in_place(home: Home, spoil: Callable[[Path], None], told: str) -> None:
    home.database.write_bytes(b"the old one")
    with new_database(home) as path:
        fill(path)
        spoil(path)
        with pytest.raises(Failed, match=f"not whole.*{told}.*left as it is"):
            put_in_place(path, home, {"events": 1, "payloads": 1}, None)
    assert home.database.read_bytes() == b"the old one"
    assert [path.name for path in home.root.iterdir()] == ["backstory.db"]


def test_a_log_of_the_old_one_is_never_replayed_into_the_new(home: Home) -> None:
    fill(home.database)
    with closing(sqlite3.connect(home.database, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("INSERT INTO meta VALUES ('old', 'words')")
        log = home.database.with_name("backstory.db-wal").read_bytes()
    home.database.with_name("backstory.db-wal").write_bytes(log)
    with new_database(home) as path:
        fill(path)
        put_in_place(path, home, {"events": 1}, None)
    with closing(sqlite3.connect(home.database)) as db:
        assert db.execute("SELECT value FROM meta WHERE key = 'old'").fetchone() is None
