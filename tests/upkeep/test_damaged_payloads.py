"""A payload or an archive whose bytes have changed: it is found, told, and stops nothing else."""

import gzip
import json
import os
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from backstory.app import App
from backstory.cli import cli
from backstory.doctor import run_checks
from backstory.store.integrity import examine_database as examined
from backstory.upkeep import event_archive
from tests.story import House

from .conftest import lived


def flip(path: Path, of: str = "pytest") -> str:
    """Change one byte of a payload; which event's."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        eid, row, body = db.execute(
            "SELECT e.id, e.row, p.body FROM events e JOIN payloads p ON p.event_row = e.row "
            "WHERE e.target LIKE ? LIMIT 1",
            (f"%{of}%",),
        ).fetchone()
        changed = bytearray(body)
        changed[len(changed) // 2] ^= 0x10
        with pytest.raises(zlib.error):
            zlib.decompress(bytes(changed))
        db.execute("UPDATE payloads SET body = ? WHERE event_row = ?", (bytes(changed), row))
    return str(eid)


def test_the_doctor_finds_a_payload_with_a_flipped_byte(house: House, app: App) -> None:
    lived(house)
    house.close()
    flip(house.home.database)
    (check,) = [each for each in run_checks(app, house.project) if each.name == "integrity"]
    assert check.state == "warn"
    assert "cannot be unpacked" in check.found
    assert "backstory repair" in check.todo
    health = examined(house.home.database, deep=True)
    assert (health.payloads_damaged, health.payloads_read) == (1, health.payloads)


def test_everything_else_goes_on_beside_it(house: House, app: App) -> None:
    lived(house)
    lived(house, "red panda")
    house.close()
    eid = flip(house.home.database)
    looked = app.forget(app.wanted([], text="red panda"), really=False)
    assert looked.unreadable == 1
    app.forget(app.wanted([], text="red panda"), really=True)
    assert app.scrub(really=True).unreadable == 1
    rows = [json.loads(line) for line in app.export_lines(None, 0, 2**62)]
    (event,) = [row for row in rows if row.get("id") == eid]
    assert "payload" not in event
    assert event["payload_size"] == 0
    assert app.store.events.payload(eid) is None
    app.back_up()
    done = app.restore("latest", really=True)
    assert done.unreadable == 1
    assert app.store.events.event(eid) is not None
    assert examined(house.home.database, deep=True).payloads_damaged == 0


def test_an_event_that_is_to_be_forgotten_takes_its_damaged_payload_along(house: House, app: App) -> None:
    lived(house)
    house.close()
    eid = flip(house.home.database)
    done = app.forget(app.wanted([], text="blue whale"), really=True)
    assert eid in done.reach.events
    assert done.unreadable == 0
    assert app.store.events.event(eid) is None


def test_repair_leaves_out_just_that_payload_and_says_so(house: House, app: App) -> None:
    lived(house)
    house.close()
    eid = flip(house.home.database)
    done = app.repair()
    payloads = done.rescued["payloads"]
    assert payloads.expected is not None
    assert (payloads.lost, payloads.rows) == (1, payloads.expected - 1)
    assert {name for name, each in done.rescued.items() if each.lost} == {"payloads"}
    stored = app.store.events.event(eid)
    assert stored is not None
    assert stored.payload_size == 0


# --- archives ----------------------------------------------------------------------------------------------


def archived(house: House, app: App) -> Path:
    """An archive of three pieces: a session about whales, one about pandas, and a short one."""
    made = event_archive.Archive(house.home, app.store.row_export.head())
    for words in ("blue whale", "red panda", "grey seal"):
        story = lived(house, words)
        ids = [stored.id for stored in house.stored(story)]
        made.add((table, row) for table, row in app.store.row_export.rows([story.id]) if row.get("id") in ids)
    (path,) = event_archive.list_archives(house.home)
    return path


def in_the_middle(data: bytes) -> bytes:
    """One byte of the second piece is changed."""
    second = data.find(b"\x1f\x8b\x08", 1)
    changed = bytearray(data)
    changed[second + 40] ^= 0xFF
    return bytes(changed)


@pytest.mark.parametrize("spoil", [lambda data: b"", in_the_middle, lambda data: b"garbage" * 50])
@pytest.mark.parametrize("what", ["forget", "scrub"])
def test_a_damaged_archive_stops_neither_forgetting_nor_scrubbing_and_is_named(
    house: House, app: App, what: str, spoil: Callable[[bytes], bytes]
) -> None:
    path = archived(house, app)
    path.write_bytes(spoil(path.read_bytes()))
    middle = bool(path.stat().st_size > 1_000)
    wanted = app.wanted([], text="grey seal")
    looked = app.forget(wanted, really=False) if what == "forget" else app.scrub(really=False)
    assert looked.damaged == (path,)
    if what == "forget":
        app.forget(wanted, really=True)
    else:
        app.scrub(really=True)
    assert event_archive.damaged_archives(house.home) == []
    if not middle:
        assert not path.exists(), "nothing of it can be read"
        return
    kept = gzip.decompress(path.read_bytes()).decode()
    assert "blue whale" in kept, "what can be read stays"
    assert ("grey seal" in kept) == (what == "scrub"), "also behind the damage"
    assert json.loads(kept.splitlines()[0])["key"], "and can be imported"


def test_an_end_that_a_kill_has_torn_is_no_damage(house: House, app: App) -> None:
    path = archived(house, app)
    path.write_bytes(path.read_bytes()[:-30])
    assert event_archive.damaged_archives(house.home) == []
    assert any("red panda" in line for line in event_archive.archive_lines(path))


def damaged_copy(house: House, words: str) -> Path:
    """A kept transcript of two pieces, the first damaged, the second with these words."""
    house.told().starts().prompts("Fix the login").stops("Fixed.").ends()
    house.works()
    house.works()
    house.close()
    (path,) = house.home.transcripts.glob("*.gz")
    first = bytearray(gzip.compress(b'{"a":"old line"}\n' * 200))
    first[len(first) // 2] ^= 0x55
    path.write_bytes(bytes(first) + gzip.compress(f'{{"content":"{words}"}}\n'.encode()))
    return path


def test_words_behind_damage_in_a_kept_transcript_are_forgotten(house: House, app: App) -> None:
    path = damaged_copy(house, "blue whale")
    app.forget(app.wanted([], text="blue whale"), really=True)
    assert not path.exists()


def test_a_damaged_kept_transcript_is_named_and_never_passed_over(house: House) -> None:
    path = damaged_copy(house, "blue whale")
    env = {"BACKSTORY_HOME": str(house.home.root)}
    found = CliRunner().invoke(cli, ["forget", "--text", "red panda", "--yes"], env=env)
    assert found.exit_code == 4
    assert str(path) in found.stderr.replace("\n", "")
    assert "1 damaged file may" in found.stderr
    assert CliRunner().invoke(cli, ["scrub", "--yes"], env=env).exit_code == 0
    assert b"blue whale" in gzip.decompress(path.read_bytes())
    assert CliRunner().invoke(cli, ["forget", "--text", "red panda", "--yes"], env=env).exit_code == 0


@pytest.mark.parametrize("folder", ["archive", "transcripts"])
@pytest.mark.parametrize("odd", ["folder", "pipe", "dangling link", "empty"])
def test_what_is_no_file_among_archives_and_transcripts_stops_neither_forget_nor_scrub(
    house: House, app: App, folder: str, odd: str
) -> None:
    lived(house)
    house.close()
    path = house.home.root / folder / "20250101T000000Z.jsonl.gz"
    path.parent.mkdir(exist_ok=True)
    if odd == "folder":
        path.mkdir()
    elif odd == "pipe":
        os.mkfifo(path)
    elif odd == "dangling link":
        path.symlink_to("/nonexistent")
    else:
        path.write_bytes(b"")
    app.forget(app.wanted([], text="blue whale"), really=True)
    app.scrub(really=True)
    assert house.found_in_home("blue whale") == []


@pytest.mark.parametrize(
    "row",
    [
        '{"table":"events"}',
        '{"table":"memories","id":5,"at":"x","session_id":[]}',
        '{"table":"events","id":{},"at":1,"session_id":"s","text":"blue whale"}',
        '{"table":"sessions","id":[]}',
    ],
)
def test_a_row_of_the_wrong_shape_is_damage_and_stops_nothing(house: House, app: App, row: str) -> None:
    lived(house)
    house.close()
    path = house.home.archive / "20250101T000000Z.jsonl.gz"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(f'{{"format":1}}\n{row}\n'.encode()))
    assert app.forget(app.wanted([], text="blue whale"), really=False).damaged == (path,)
    app.forget(app.wanted([], since=1), really=True)
    app.scrub(really=True)
    assert event_archive.damaged_archives(house.home) == []
