"""Opening, upgrading and refusing the one SQLite file."""

import gc
import logging
import os
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest

from backstory.errors import NewerSchema, StoreUnusable
from backstory.model import Kind
from backstory.paths import Home
from backstory.store import Store, backup_copy, open_store, schema, sqlite
from backstory.store.records import Receipt
from tests.store.conftest import event, put

SECOND = "ALTER TABLE projects ADD COLUMN colour TEXT NOT NULL DEFAULT '';\nCREATE TABLE extra (a);\n"


def pragma(store: Store, name: str) -> object:
    connection: sqlite3.Connection = store._connection
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def test_every_connection_has_foreign_keys_wal_and_patience(store: Store, home: Home) -> None:
    """CCE-35."""
    with closing(open_store(home)) as another:
        for one in (store, another):
            assert pragma(one, "foreign_keys") == 1
            assert pragma(one, "journal_mode") == "wal"
            assert int(str(pragma(one, "busy_timeout"))) >= 5_000


def test_a_connection_that_nobody_closes_is_a_warning_on_every_python() -> None:
    """And a warning is a failure of the test; before 3.13 `tests/conftest.py` sees to it."""

    def leak() -> None:
        sqlite3.connect(":memory:")
        gc.collect()

    with pytest.warns(ResourceWarning, match="unclosed database"):
        leak()


def test_the_database_is_for_its_owner_alone(store: Store, home: Home) -> None:
    put(store, event())
    for path in home.root.glob("backstory.db*"):
        assert path.stat().st_mode & 0o077 == 0
    assert home.root.stat().st_mode & 0o777 == 0o700


def test_what_fails_in_the_middle_of_a_transaction_leaves_nothing(store: Store) -> None:
    def fails_halfway() -> None:
        with store.transaction():
            store.meta.set("a", "1")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails_halfway()
    assert store.meta.get("a") == ""
    with store.transaction():  # and the next one is free to begin
        store.meta.set("a", "2")
    assert store.meta.get("a") == "2"


class TestMigrations:
    def upgraded(self, monkeypatch: pytest.MonkeyPatch, second: str = SECOND) -> None:
        known = schema.migrations()
        monkeypatch.setattr(schema, "migrations", lambda: [*known, (len(known) + 1, second)])

    def test_an_older_database_is_upgraded_in_place_and_its_rows_stay(
        self, home: Home, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """CCE-36."""
        with closing(open_store(home)) as store:
            put(store, event(text="kept"))
            before = store.schema_version()
        self.upgraded(monkeypatch)
        for _ in range(2):  # idempotent
            with closing(open_store(home)) as store:
                assert store.schema_version() == before + 1
                assert store.events.latest(None, 0, 9)[0].event.text == "kept"

    def test_a_copy_is_made_before_the_first_change_and_never_for_a_fresh_one(
        self, home: Home, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with closing(open_store(home)) as store:
            put(store, event(text="kept"))
            version = store.schema_version()
        assert not home.backups.exists()
        self.upgraded(monkeypatch)
        open_store(home).close()
        open_store(home).close()
        (copy,) = home.backups.iterdir()
        assert copy.name.endswith(f"-schema-{version}.db")
        assert copy.stat().st_mode & 0o077 == 0
        with closing(sqlite3.connect(copy)) as old:
            assert old.execute("PRAGMA user_version").fetchone() == (version,)
            assert old.execute("SELECT text FROM events").fetchall() == [("kept",)]
            assert old.execute("PRAGMA integrity_check").fetchone() == ("ok",)

    def test_a_migration_that_fails_changes_nothing(
        self, home: Home, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with closing(open_store(home)) as store:
            version = store.schema_version()
        with monkeypatch.context() as patch:
            self.upgraded(patch, SECOND + "INSERT INTO nowhere VALUES (1);\n")
            with pytest.raises(StoreUnusable, match="nowhere"):
                open_store(home)
        with closing(open_store(home)) as store:
            assert store.schema_version() == version
        with closing(sqlite3.connect(home.database)) as raw, pytest.raises(sqlite3.OperationalError):
            raw.execute("SELECT * FROM extra")

    def test_a_newer_database_is_refused_politely_and_not_touched(self, home: Home) -> None:
        open_store(home).close()
        with closing(sqlite3.connect(home.database)) as raw:
            raw.execute("PRAGMA journal_mode = DELETE")  # whatever the newer one chose
            raw.execute("PRAGMA user_version = 99")
        before = home.database.read_bytes(), home.database.stat().st_mtime_ns
        files = set(home.root.iterdir())
        with pytest.raises(NewerSchema, match="upgrade Backstory"):
            open_store(home)
        assert (home.database.read_bytes(), home.database.stat().st_mtime_ns) == before
        assert set(home.root.iterdir()) == files

    def test_only_five_copies_are_kept(self, home: Home, store: Store) -> None:
        home.backups.mkdir()
        for n in range(1, 8):
            (home.backups / f"2020010{n}T000000Z-schema-0.db").write_bytes(b"")
        connection: sqlite3.Connection = store._connection
        newest = backup_copy.make_copy(connection, home, "schema-1")
        left = sorted(home.backups.iterdir())
        assert len(left) == backup_copy.KEPT
        assert left[-1] == newest

    def test_they_are_numbered_without_gaps_and_each_ends_in_a_whole_statement(self) -> None:
        assert [number for number, _ in schema.migrations()] == list(range(1, len(schema.migrations()) + 1))
        with pytest.raises(StoreUnusable, match="incomplete"):
            list(schema._statements("CREATE TABLE a (b);\nCREATE TABLE c"))

    def test_many_processes_may_open_a_fresh_home_at_once(self, home: Home) -> None:
        code = """
            import sys
            from pathlib import Path
            from backstory.paths import Home
            from backstory.store import open_store
            store = open_store(Home(Path(sys.argv[1])))
            with store.transaction():
                store.counters.add("2026-01-01", {("a", "b", "opened"): 1})
            store.close()
        """
        run = [sys.executable, "-c", textwrap.dedent(code), str(home.root)]
        processes = [subprocess.Popen(run, stderr=subprocess.PIPE) for _ in range(6)]
        for process in processes:
            _, errors = process.communicate(timeout=60)
            assert process.returncode == 0, errors.decode()
        with closing(open_store(home)) as store:
            assert store.counters.total("opened") == 6


class TestUnusable:
    def test_a_file_that_is_no_database_is_named(self, home: Home) -> None:
        home.root.mkdir()
        home.database.write_bytes(b"this is no database, " * 100)
        with pytest.raises(StoreUnusable, match=r"backstory\.db.*doctor"):
            open_store(home)
        assert home.database.read_bytes().startswith(b"this is no database")

    def test_a_home_that_is_a_file_is_named(self, home: Home) -> None:
        home.root.write_text("")
        with pytest.raises(StoreUnusable, match="home"):
            open_store(home)

    def test_a_locked_database_says_so_and_nothing_is_stored(self, store: Store, home: Home) -> None:
        connection: sqlite3.Connection = store._connection
        connection.execute("PRAGMA busy_timeout = 50")
        with closing(sqlite3.connect(home.database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreUnusable, match="locked"):
                put(store, event())
            with pytest.raises(StoreUnusable, match="locked"):
                store.writable()
            other.execute("ROLLBACK")
        put(store, event())
        assert store.listings.table_counts()["events"] == 1

    def test_a_full_disk_says_so_and_what_was_stored_stays(self, store: Store) -> None:
        put(store, event(text="first"))
        connection: sqlite3.Connection = store._connection
        connection.execute(f"PRAGMA max_page_count = {pragma(store, 'page_count')}")
        big = event(Kind.TOOL, text="x", body=os.urandom(300_000).hex(), native_id="t1")
        with pytest.raises(StoreUnusable, match="full"):
            put(store, big)
        connection.execute("PRAGMA max_page_count = 1000000")
        put(store, big)
        assert store.listings.table_counts()["events"] == 2


def test_a_write_ahead_log_that_grew_huge_is_folded_in_for_good(
    store: Store, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.transaction():
        store.spool_receipts.add(Receipt(f"f{n}" * 50, n, n) for n in range(20_000))
    wal = Path(f"{home.database}-wal")
    assert wal.stat().st_size > 1_000_000
    store.checkpoint()
    assert wal.stat().st_size > 1_000_000  # its space is reused
    monkeypatch.setattr(sqlite, "WAL_LIMIT", 1_000_000)
    store.checkpoint()
    assert wal.stat().st_size == 0


def test_the_key_of_the_hashes_is_made_once_and_kept(home: Home) -> None:
    with closing(open_store(home)) as one:
        first = one.events.key(event(text="a"))
    with closing(open_store(home)) as two:
        assert two.events.key(event(text="a")) == first
    with closing(open_store(Home(home.root.with_name("other")))) as three:
        assert three.events.key(event(text="a")) != first


def test_a_backup_is_told_in_the_log(home: Home, store: Store, caplog: pytest.LogCaptureFixture) -> None:
    connection: sqlite3.Connection = store._connection
    with caplog.at_level(logging.INFO):
        path = backup_copy.make_copy(connection, home, "by-hand")
    assert str(path) in caplog.text
    assert not list(home.backups.glob("*.part"))
