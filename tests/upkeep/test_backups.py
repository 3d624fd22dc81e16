"""Copies of the database, and going back to one."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from backstory.app import App
from backstory.errors import Failed, NewerSchema, SourceMissing
from backstory.store import backup_copy
from tests.story import House

from .conftest import lived


def test_a_backup_holds_what_the_database_held_and_is_its_owners_alone(house: House, app: App) -> None:
    lived(house)
    made = app.back_up()
    live = app.status()
    assert (made.events, made.memories, made.damage) == (live.events, live.memories, "")
    assert made.path.stat().st_mode & 0o077 == 0


def test_without_a_database_there_is_nothing_to_back_up(app: App) -> None:
    with pytest.raises(SourceMissing, match="nothing to back up"):
        app.back_up()
    assert not app.home.root.exists() or not app.home.backups.exists()


def test_two_backups_in_one_second_are_two(house: House, app: App) -> None:
    lived(house)
    assert app.back_up().path != app.back_up().path


def test_a_restore_brings_back_what_was_and_keeps_what_is(house: House, app: App) -> None:
    first = lived(house)
    app.back_up()
    second = lived(house, "red panda")
    house.close()
    done = app.restore("latest", really=True)
    assert house.events(first)
    assert not house.store.events.session(second.id)
    assert "whale" in house.brief().text
    assert "panda" not in house.brief().text
    assert done.kept is not None
    kept = backup_copy.copy_contents(done.kept)
    assert (kept.damage, kept.sessions) == ("", 2)


def test_a_dry_run_tells_both_sides_and_changes_nothing(house: House, app: App) -> None:
    lived(house)
    app.back_up()
    lived(house, "red panda")
    before = house.home.database.read_bytes()
    plan = app.restore("latest", really=False)
    assert plan.before is not None
    assert (plan.backup.sessions, plan.before.sessions) == (1, 2)
    assert house.home.database.read_bytes() == before


def test_the_backup_that_is_restored_survives_the_copy_that_is_made_first(house: House, app: App) -> None:
    lived(house)
    oldest = app.back_up().path
    while len(backup_copy.list_copies(app.home)) < backup_copy.KEPT:
        app.back_up()
    house.close()
    assert app.restore(oldest.name, really=True).backup.events > 0
    assert app.status().events > 0


def test_a_damaged_backup_is_refused_and_the_database_stays(house: House, app: App) -> None:
    lived(house)
    path = app.back_up().path
    data = bytearray(path.read_bytes())
    data[4096 * 3 : 4096 * 6] = b"\xff" * 4096 * 3
    path.write_bytes(data)
    before = house.home.database.read_bytes()
    with pytest.raises(Failed, match="damaged"):
        app.restore("latest", really=True)
    assert house.home.database.read_bytes() == before


def test_a_backup_of_a_newer_backstory_is_refused(house: House, app: App) -> None:
    lived(house)
    path = app.back_up().path
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(NewerSchema, match="upgrade Backstory"):
        app.restore("latest", really=True)


def test_an_unknown_backup_is_named(app: App) -> None:
    with pytest.raises(SourceMissing, match="--list"):
        app.restore("20200101", really=True)


def test_a_restore_refuses_while_another_process_has_the_database_open(
    house: House, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup_copy, "PATIENCE_SECONDS", 0.2)
    lived(house)
    app.back_up()
    house.close()
    code = (
        "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('SELECT count(*) FROM events').fetchone()\n"
        "print('open', flush=True); sys.stdin.read()"
    )
    reader = subprocess.Popen(
        [sys.executable, "-c", code, str(house.home.database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert reader.stdout is not None
        assert reader.stdout.readline() == b"open\n"
        with pytest.raises(Failed, match="open elsewhere"):
            app.restore("latest", really=True)
    finally:
        reader.communicate()
    assert app.status().events > 0


@pytest.mark.parametrize("damaged", [False, True])
def test_a_log_left_behind_never_gets_into_the_restored_database(
    house: House, app: App, damaged: bool
) -> None:
    """A stale write-ahead log would be replayed over the new file."""
    lived(house)
    app.back_up()
    lived(house, "red panda")
    app.close()
    house.close()
    wal = house.home.database.with_name("backstory.db-wal")
    with closing(sqlite3.connect(house.home.database)) as crashed:
        crashed.execute("CREATE TABLE junk (x)")
        assert wal.stat().st_size > 0
        left = wal.read_bytes()
    wal.write_bytes(left)
    if damaged:  # too much to be folded in before
        house.home.database.write_bytes(b"garbage" * 5_000)
    app.restore("latest", really=True)
    with closing(sqlite3.connect(house.home.database)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT 1 FROM sqlite_master WHERE name = 'junk'").fetchone() is None


def test_a_database_beyond_opening_is_set_aside_whole(house: House, app: App) -> None:
    lived(house)
    app.back_up()
    app.close()
    house.close()
    house.home.database.write_bytes(b"not a database" * 1000)
    done = app.restore("latest", really=True)
    assert done.kept is not None
    assert (done.kept / "backstory.db").read_bytes() == b"not a database" * 1000
    assert app.status().events > 0


def test_what_was_forgotten_stays_so_though_the_database_that_knew_it_is_lost(house: House, app: App) -> None:
    """Another backup, made after the forgetting, still knows it."""
    lived(house)
    lived(house, "red panda")
    old = app.back_up().path
    house.close()
    app.forget(app.wanted([], text="red panda"), really=True)
    app.back_up()
    app.close()
    house.home.database.write_bytes(b"not a database" * 1000)
    app.restore(old.name, really=True)
    assert "whale" in house.brief().text
    app.close()
    assert [place for place in house.found_in_home("red panda") if not place.startswith("backups/")] == []


def test_what_was_forgotten_since_stays_forgotten(house: House, app: App) -> None:
    lived(house)
    lived(house, "red panda")
    app.back_up()
    house.close()
    app.forget(app.wanted([], text="red panda"), really=True)
    app.restore("latest", really=True)
    assert app.status().events > 0
    backups = {str(path) for path in house.home.backups.rglob("*")}
    assert not [
        place
        for place in house.found_in_home("red panda")
        if os.path.join(house.home.root, place) not in backups
    ]
    assert "whale" in house.brief().text


def dated(app: App, name: str, ago: float = 0.0) -> Path:
    """The latest backup once more under another name, as if it had been written so many seconds ago."""
    path = app.home.backups / name
    shutil.copyfile(backup_copy.list_copies(app.home)[-1], path)
    os.utime(path, (time.time() - ago,) * 2)
    return path


@pytest.mark.parametrize("jumped", [False, True], ids=["named by hand", "the clock was wrong"])
def test_a_restore_keeps_what_is_there_though_all_backups_have_future_stamps(
    house: House, app: App, jumped: bool
) -> None:
    lived(house)
    lived(house, "red panda")
    first = app.back_up().path
    for day in range(1, 6):
        dated(app, f"2099122{day}T000000Z-by-hand.db", -4e8 if jumped else 60)
    first.unlink()
    house.close()
    app.forget(app.wanted([], text="red panda"), really=True)
    before = app.status().events
    lived(house, "grey heron")
    house.close()
    done = app.restore("latest", really=True)
    assert done.kept is not None
    assert backup_copy.copy_contents(done.kept).events > before
    assert app.store.tombstones.of_kind("event")
    assert "panda" not in house.brief().text
    assert not app.store.row_erasure.holding(lambda text: "red panda" in text)
    made = [app.back_up().path for _ in range(backup_copy.KEPT + 2)]
    assert backup_copy.list_copies(app.home) == made[-backup_copy.KEPT :]


def test_a_restore_that_cannot_keep_what_is_there_replaces_nothing(
    house: House, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived(house)
    app.back_up()
    lived(house, "red panda")
    house.close()
    events = app.status().events
    real = backup_copy.make_copy

    def lost(*given: object, **more: object) -> Path:
        path = real(*given, **more)  # type: ignore[arg-type]
        path.unlink()
        return path

    monkeypatch.setattr(backup_copy, "make_copy", lost)
    with pytest.raises(Failed, match="nothing was replaced"):
        app.restore("latest", really=True)
    assert app.status().events == events


def test_the_backup_that_is_gone_back_to_is_not_rotated_away(house: House, app: App) -> None:
    """Should anything fail afterwards, it is still there to be gone back to."""
    lived(house)
    oldest = app.back_up().path
    while len(backup_copy.list_copies(app.home)) < backup_copy.KEPT:
        app.back_up()
    house.close()
    app.restore(oldest.name, really=True)
    assert oldest.exists()
    assert len(backup_copy.list_copies(app.home)) == backup_copy.KEPT


@pytest.mark.parametrize(
    "name",
    [
        "before-my-holiday.db",
        "0-first.db",
        "20200101T000000Z.db",
        "20200101T000000Z-my-holiday.db",
        "20200101T000000Z-by-hand-copy.db",
        "20201399T000000Z-by-hand.db",
    ],
)
def test_what_backstory_has_not_named_is_never_rotated_nor_the_latest(
    house: House, app: App, name: str
) -> None:
    lived(house)
    app.back_up()
    theirs = dated(app, name, ago=-1)
    for _ in range(backup_copy.KEPT + 1):
        newest = app.back_up().path
    assert theirs.exists()
    assert len(backup_copy.list_copies(app.home)) == backup_copy.KEPT + 1
    assert app.restore("latest", really=False).backup.path == newest
    assert app.restore(name, really=False).backup.path == theirs


def test_without_any_of_our_own_the_latest_is_the_one_written_last(house: House, app: App) -> None:
    lived(house)
    made = app.back_up().path
    dated(app, "b.db", ago=20)
    newer = dated(app, "a.db", ago=10)
    made.unlink()
    assert app.restore("latest", really=False).backup.path == newer


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes that are files")
@pytest.mark.parametrize("name", ["20300101T000000Z-by-hand.db", "pipe.db"])
def test_what_is_no_file_is_no_backup(house: House, app: App, name: str) -> None:
    """A pipe would be waited for without end."""
    lived(house)
    made = app.back_up().path
    os.mkfifo(house.home.backups / name)
    (house.home.backups / "folder.db").mkdir()
    assert [each.path for each in app.kept_backups()] == [made]
    assert app.restore("latest", really=False).backup.path == made


def test_a_title_that_was_forgotten_since_stays_forgotten(house: House, app: App) -> None:
    story = lived(house)
    with app.store.transaction():
        app.store.events.note_title(story.id, "The quokka plan")
    app.back_up()
    house.close()
    app.forget(app.wanted([], text="quokka"), really=True)
    app.restore("latest", really=True)
    app.close()
    assert [place for place in house.found_in_home("quokka") if not place.startswith("backups/")] == []
    session = house.store.events.session(story.id)
    assert session is not None
    assert session.title.startswith("Which database")


def test_a_restore_tells_what_is_there_afterwards(house: House, app: App) -> None:
    lived(house)
    lived(house, "red panda")
    backup = app.back_up()
    house.close()
    app.forget(app.wanted([], text="red panda"), really=True)
    done = app.restore("latest", really=True)
    assert done.now is not None
    assert 0 < done.now.events < backup.events
    assert done.now.events == app.status().events


def test_what_was_forgotten_is_known_though_the_database_was_deleted_and_began_anew(
    house: House, app: App
) -> None:
    """No backup was made after the forgetting, and a new database has no tombstones."""
    lived(house)
    lived(house, "red panda")
    app.back_up()
    house.close()
    app.forget(app.wanted([], text="red panda"), really=True)
    app.close()
    for path in house.home.root.glob("backstory.db*"):
        path.unlink()
    lived(house, "grey heron")
    house.close()
    app.restore("latest", really=True)
    assert "whale" in house.brief().text
    app.close()
    assert [place for place in house.found_in_home("red panda") if not place.startswith("backups/")] == []


def test_what_was_scrubbed_since_is_scrubbed_again(house: House, app: App) -> None:
    house.sets("privacy.redact_off", "email")
    story = house.session()
    story.starts().prompts("Write to jane.roe@whalecorp.io about the whale table")
    story.runs("mail jane.roe@whalecorp.io", "sent to jane.roe@whalecorp.io")
    story.stops("Wrote to jane.roe@whalecorp.io.")
    house.works()
    app.back_up()
    house.close()
    assert house.found_in_home("jane.roe")
    app.change_setting("privacy.redact_off", None)
    app.scrub(really=True)
    done = app.restore("latest", really=True)
    assert done.cleaned.events
    assert "whale" in house.brief().text
    app.close()
    assert [place for place in house.found_in_home("jane.roe") if not place.startswith("backups/")] == []


def test_a_restore_of_what_has_no_secrets_changes_none_of_it(house: House, app: App) -> None:
    story = lived(house)
    before = [event.text for event in house.events(story)]
    app.back_up()
    house.close()
    done = app.restore("latest", really=True)
    assert not done.cleaned
    assert [event.text for event in house.events(story)] == before


def copied_with_its_log(house: House, folder: Path) -> Path:
    """A copy of the database's files as they lie there, of which the log has the last session."""
    folder.mkdir()
    with closing(sqlite3.connect(house.home.database)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchone()  # keeps the log from being taken in
        house.session().starts().prompts("what only the log has").stops("Done.")
        house.works()
        for file in house.home.root.glob("backstory.db*"):
            shutil.copy(file, folder / file.name)
    assert (folder / "backstory.db-wal").stat().st_size > 0
    return folder / "backstory.db"


def test_a_copied_home_is_restored_with_what_its_log_has(house: House, app: App, tmp_path: Path) -> None:
    house.session().starts().prompts("the first session").stops("Done.")
    house.works()
    copy = copied_with_its_log(house, tmp_path / "copy")
    house.close()
    before = {file.name: file.read_bytes() for file in copy.parent.iterdir()}
    app.restore(str(copy), really=True)
    with closing(sqlite3.connect(house.home.database)) as db:
        texts = {text for (text,) in db.execute("SELECT text FROM events WHERE kind = 'prompt'")}
    assert {"the first session", "what only the log has"} <= texts
    assert {file.name: file.read_bytes() for file in copy.parent.iterdir()} == before
    assert not list(house.home.root.glob("building-*"))


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER boom AFTER INSERT ON events BEGIN DELETE FROM events WHERE row < new.row; END",
        "CREATE VIEW harmless AS SELECT 1",
    ],
)
def test_a_backup_that_brings_statements_of_its_own_is_refused(
    house: House, app: App, tmp_path: Path, statement: str
) -> None:
    house.session().starts().prompts("the first session").stops("Done.")
    house.works()
    strange = tmp_path / "strange.db"
    shutil.copy(app.back_up().path, strange)
    with closing(sqlite3.connect(strange)) as db:
        db.execute(statement)
        db.execute("PRAGMA journal_mode = DELETE")
    house.close()
    kept = house.home.database.read_bytes()
    with pytest.raises(Failed, match="which Backstory does not make"):
        app.restore(str(strange), really=True)
    assert house.home.database.read_bytes() == kept
