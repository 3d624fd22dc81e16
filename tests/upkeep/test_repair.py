"""A damaged database is never worked on; a new one takes its place."""

import json
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import backstory
from backstory.app import App
from backstory.capture.schedule_units import EVERY, KINDS, build_schedule, run_here
from backstory.errors import Failed, NewerSchema
from backstory.paths import Home
from backstory.store import backup_copy, salvage
from tests.story import House

from .conftest import continues, lived

PAGE = 4096


def damage(house: House, needle: bytes, bytes_: bytes = b"\xff" * PAGE) -> None:
    """Overwrite the pages that hold some words."""
    path = house.home.database
    data = bytearray(path.read_bytes())
    at = data.find(needle)
    hit = 0
    while at >= 0:
        page = at // PAGE * PAGE
        data[page : page + PAGE] = bytes_
        hit += 1
        at = data.find(needle, page + PAGE)
    assert hit
    path.write_bytes(data)


def words_of(house: House) -> set[str]:
    """What was said by either side; starts and ends of sessions are in no transcript."""
    return {
        s.event.text for s in house.store.events.latest(None, 0, 10_000) if s.event.kind in ("prompt", "said")
    }


def folded(house: House, app: App) -> None:
    house.store.checkpoint()
    house.close()
    app.close()


def test_mp_28_a_broken_page_costs_what_was_on_it_and_transcripts_give_that_back(
    house: House, app: App
) -> None:
    """MP-28: built beside, swapped in, the old files kept."""
    for number in range(40):
        story = house.told()
        story.starts().prompts(f"Question {number}" + "?" * 120 + f" animal-{number:03}" * 60)
        story.stops(f"Answer {number}.").ends()
    house.works()
    said = words_of(house)
    folded(house, app)
    before = house.home.database.read_bytes()
    damage(house, b"animal-020")
    broken = house.home.database.read_bytes()
    assert broken != before
    assert backup_copy.copy_contents(house.home.database).damage
    done = app.repair()
    assert backup_copy.copy_contents(house.home.database).damage == ""
    assert (done.kept / "backstory.db").read_bytes() == broken
    assert done.rescued["events"].unreadable
    assert words_of(house) == said
    assert app.search("animal-020", None).hits
    assert "Answer 39" in house.brief().text


def test_a_whole_database_stays_the_same_memory(house: House, app: App) -> None:
    lived(house)
    before = app.status()
    brief = house.brief().text
    house.close()
    done = app.repair()
    after = app.status()
    assert (after.events, after.sessions, after.memories) == (before.events, before.sessions, before.memories)
    assert house.brief().text == brief
    assert all(table.unreadable == 0 for table in done.rescued.values())


def test_what_is_captured_again_after_a_repair_is_still_known(house: House, app: App) -> None:
    """The key that ids are hashed with survives, from a backup if its page is gone."""
    story = house.told()
    story.starts().prompts("Hello", prompt_id="p1").stops("Hi.")
    house.works()
    app.back_up()
    folded(house, app)
    key = house.store.meta.get("key").encode()
    house.close()
    damage(house, key)
    app.repair()
    assert house.store.meta.get("key").encode() == key


def test_a_file_that_is_no_database_is_left_and_the_way_back_is_named(house: House, app: App) -> None:
    lived(house)
    folded(house, app)
    house.home.database.write_bytes(b"\0garbage" * 5000)
    with pytest.raises(Failed, match="backstory restore"):
        app.repair()
    assert house.home.database.read_bytes() == b"\0garbage" * 5000


def test_who_is_just_closing_it_is_waited_for(house: House, app: App) -> None:
    """Another command that ends at the same time is no reason to refuse."""
    lived(house)
    house.close()
    reader = sqlite3.connect(house.home.database, check_same_thread=False)
    reader.execute("SELECT count(*) FROM events").fetchone()
    closing_soon = threading.Timer(0.5, reader.close)
    closing_soon.start()
    try:
        assert app.repair().now.events > 0
    finally:
        closing_soon.join()


@pytest.mark.parametrize("head", ["whole", "lost"])
def test_mp_28_it_refuses_while_another_process_has_it_open_and_changes_nothing(
    house: House, app: App, monkeypatch: pytest.MonkeyPatch, head: str
) -> None:
    """MP-28. A log of the other one that is not folded in stays so; a header that is lost hides nobody."""
    monkeypatch.setattr(backup_copy, "PATIENCE_SECONDS", 0.2)
    lived(house)
    folded(house, app)
    code = (
        "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "db.execute(sys.argv[2]).fetchall(); print('open', flush=True); sys.stdin.read()"
    )
    does = "SELECT count(*) FROM meta" if head == "lost" else "INSERT INTO meta VALUES ('x', 'y')"
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(house.home.database), does],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert other.stdout is not None
        other.stdout.readline()
        if head == "lost":
            with house.home.database.open("r+b") as file:
                file.write(bytes(PAGE))
        before = files_of(house)
        assert before["backstory.db-wal"] or head == "lost"
        with pytest.raises(Failed, match="open elsewhere"):
            app.repair()
        assert files_of(house) == before
    finally:
        other.communicate()


def files_of(house: House) -> dict[str, bytes]:
    """Every file and folder of the home; but what is no more than a lock, and the log's index in memory."""
    paths = (
        path for path in house.home.root.rglob("*") if path.name not in ("worker.lock", "backstory.db-shm")
    )
    return {path.name: path.read_bytes() if path.is_file() else b"" for path in paths}


def test_who_comes_while_it_is_repaired_waits(
    house: House, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody writes into a database that is about to be replaced."""
    lived(house)
    folded(house, app)
    rebuild = salvage.rebuild_database
    code = (
        "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)\n"
        "db.execute(\"INSERT INTO meta VALUES ('x', 'y')\")"
    )

    def meanwhile(*given: Any, **rest: Any) -> dict[str, salvage.Rescued]:
        done = subprocess.run(
            [sys.executable, "-c", code, str(house.home.database)], capture_output=True, text=True
        )
        assert "locked" in done.stderr
        return rebuild(*given, **rest)

    monkeypatch.setattr(salvage, "rebuild_database", meanwhile)
    assert app.repair().now.events > 0


def test_the_kept_files_stay_as_they_were_log_and_all(house: House, app: App) -> None:
    lived(house)
    folded(house, app)
    code = (
        "import os, sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "db.execute(\"INSERT INTO meta VALUES ('x', 'y')\"); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(house.home.database)], check=True)
    wal = house.home.database.with_name("backstory.db-wal")
    before = house.home.database.read_bytes(), wal.read_bytes()
    assert before[1]
    kept = app.repair().kept
    assert ((kept / "backstory.db").read_bytes(), (kept / "backstory.db-wal").read_bytes()) == before
    assert house.store.meta.get("x") == "y", "what lay in the log is there"
    assert not list(house.home.root.glob("damaged.db*"))


def test_a_rescue_that_lost_something_on_the_way_is_not_put_in_place(
    house: House, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MP-28: counts are verified before the swap."""
    lived(house)
    folded(house, app)
    before = backup_copy.copy_contents(house.home.database)
    rebuild = salvage.rebuild_database

    def careless(source: Path, target: Path, **rest: Any) -> dict[str, salvage.Rescued]:
        told = rebuild(source, target, **rest)
        with closing(sqlite3.connect(target)) as db, db:
            db.execute("DELETE FROM events WHERE row = (SELECT max(row) FROM events)")
        return told

    monkeypatch.setattr(salvage, "rebuild_database", careless)
    with pytest.raises(Failed, match="the old one was left as it is"):
        app.repair()
    assert backup_copy.copy_contents(house.home.database) == before
    assert not list(house.home.root.glob("repairing*"))


def test_rows_between_two_broken_pages_are_rescued(house: House, app: App) -> None:
    """Neither forwards nor backwards gets there: they are read one by one."""
    for number in range(60):
        house.session().starts().prompts(f"Question {number}" + "?" * 120 + f" animal-{number:03}" * 60)
    house.works()
    folded(house, app)
    for needle in (b"animal-010", b"animal-050"):
        damage(house, needle)
    done = app.repair()
    assert done.rescued["events"].unreadable
    asked = " ".join(words_of(house))
    assert all(f"Question {number}?" in asked for number in range(25, 40))


def test_what_was_forgotten_does_not_come_back_from_a_transcript_though_its_tombstone_is_lost(
    house: House, app: App
) -> None:
    story = house.told()
    story.starts().prompts("Hello").stops("Hi.").prompts("The merger is called Bluebird").stops("Noted.")
    house.works()
    house.close()
    app.forget(app.wanted([], text="Bluebird"), really=True)
    app.back_up()
    folded(house, app)
    with closing(sqlite3.connect(house.home.database)) as db, db:  # as if their page were broken
        db.execute("DELETE FROM tombstones")
    app.repair()
    house.works()
    assert "Hello" in words_of(house)
    assert not [said for said in words_of(house) if "Bluebird" in said]


def test_what_lost_its_session_is_not_left_hanging(house: House, app: App) -> None:
    story = lived(house)
    events = len(house.events(story))
    folded(house, app)
    with closing(sqlite3.connect(house.home.database)) as db, db:
        db.execute("DELETE FROM sessions")
        db.execute("DELETE FROM projects")
    app.repair()
    app.close()
    assert len(house.events(story)) == events
    with closing(sqlite3.connect(house.home.database)) as db:
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []


def test_nothing_new_is_taken_for_old_when_the_count_of_equal_things_was_lost(house: House, app: App) -> None:
    story = house.session()
    story.starts()
    continues(house, story, 3)
    folded(house, app)
    with closing(sqlite3.connect(house.home.database)) as db, db:  # as if their page were broken
        db.execute("DELETE FROM ordinals")
    app.repair()
    app.close()
    continues(house, story, 3)
    continues(house, story, 1)
    assert [event.text for event in house.events(story)].count("continue") == 7


STORED_NOT_RELEASED = """
import sys
from backstory.capture.drain import Drain
Drain.release = lambda self, batch: sys.exit(9)
from backstory.worker import main
main([sys.argv[1]])
"""


@pytest.mark.parametrize("lost", ["nothing", "receipts", "both"])
def test_what_is_stored_and_still_waits_in_the_spool_is_not_stored_twice(
    house: House, app: App, lost: str
) -> None:
    """A worker was killed between storing and removing files, as at the step `drain.stored`."""
    story = house.session()
    story.starts()
    for _ in range(10):  # no ids of their own: only receipts, or the moment, tell them apart
        for event, said in (
            ("UserPromptSubmit", {"prompt": "continue"}),
            ("PreCompact", {"trigger": "auto"}),
        ):
            payload = story.payload(event, **said)
            payload.pop("prompt_id", None)
            house.leaves(json.dumps(payload).encode(), event)
    house.close()
    subprocess.run([sys.executable, "-c", STORED_NOT_RELEASED, str(house.home.root)], check=False)
    assert len(house.spooled()) == 21
    assert len(house.events(story)) == 21
    later = story.payload("UserPromptSubmit", prompt="continue")
    later.pop("prompt_id", None)
    house.leaves(json.dumps(later).encode(), "UserPromptSubmit")
    folded(house, app)
    if lost != "nothing":
        with closing(sqlite3.connect(house.home.database)) as db, db:
            names = ("receipts", "ordinals") if lost == "both" else ("receipts",)
            pages = [
                db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0]
                for name in names
            ]
        data = bytearray(house.home.database.read_bytes())
        for page in pages:
            data[(page - 1) * PAGE : page * PAGE] = b"\xff" * PAGE
        house.home.database.write_bytes(data)
    app.repair()
    app.close()
    house.works()
    kinds = Counter(str(event.kind) for event in house.events(story))
    assert (kinds["prompt"], kinds["compacting"], kinds["session_started"]) == (11, 10, 1)
    assert house.spooled() == []
    assert house.store.meta.get("receipts_lost") == ""


def test_an_event_that_was_lost_and_still_waits_in_the_spool_is_stored_though_it_has_a_receipt(
    house: House, app: App
) -> None:
    story = house.session()
    story.starts()
    for number in range(60):
        story.prompts(f"Question {number}" + "?" * 120 + f" animal-{number:03}" * 60)
    house.close()
    subprocess.run([sys.executable, "-c", STORED_NOT_RELEASED, str(house.home.root)], check=False)
    assert len(house.spooled()) == 61
    said = words_of(house)
    folded(house, app)
    damage(house, b"animal-030")
    app.repair()
    assert words_of(house) == said


@pytest.mark.parametrize("how", ["repair", "restore"])
def test_a_database_of_a_newer_backstory_is_neither_mended_nor_replaced(
    house: House, app: App, how: str
) -> None:
    """What this one does not know it would lose: an older Backstory beside a newer one must refuse."""
    lived(house)
    app.back_up()
    folded(house, app)
    with closing(sqlite3.connect(house.home.database, isolation_level=None)) as db:
        db.execute("CREATE TABLE of_tomorrow (what TEXT)")
        db.execute("PRAGMA user_version = 99")
    before = house.home.database.read_bytes()
    with pytest.raises(NewerSchema, match="upgrade Backstory"):
        app.repair() if how == "repair" else app.restore("latest", really=True)
    assert house.home.database.read_bytes() == before
    assert [path.suffix for path in house.home.backups.iterdir()] == [".db"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("every", EVERY)
def test_mp_27_no_schedule_mends_anything(kind: str, every: str) -> None:
    """MP-27: nor does anything that runs by itself: worker, hooks, plugins."""
    made = build_schedule(kind, every, run_here(Home(Path("/home/dev/.backstory"))))
    assert "repair" not in repr(made)
    package = Path(backstory.__file__).parent
    alone = [
        package / name
        for name in ("worker.py", "worker_loop.py", "pipeline.py", "cli/scheduled_import.py", "hook/hook.sh")
    ]
    alone += [path for path in (package.parents[1] / "plugins").rglob("*") if path.is_file()]
    for path in alone:
        assert "repair" not in path.read_text("utf-8", "replace"), path
