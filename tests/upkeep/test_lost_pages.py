"""A database that has lost its first pages, its schema with them: rows are found on the pages that are left."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from backstory.app import App
from backstory.store import backup_copy
from tests.story import House

from .conftest import lived
from .test_repair import PAGE, files_of, folded, words_of

SESSIONS = 16


def filled(house: House, first: int = 0) -> None:
    """Sessions with long and short texts, so that rows lie on many pages and go over from one to the next."""
    for number in range(first, first + SESSIONS):
        story = house.session()
        story.starts().prompts(f"Question {number}:" + f" animal-{number:03}" * number * 15)
        story.runs("pytest", fails="1 failed").edits("a.py").runs("pytest", f"{number} passed")
        story.stops(f"Answer {number}.").ends()
    house.works()


def lose(house: House, pages: int, bytes_: bytes = b"") -> None:
    with house.home.database.open("r+b") as file:
        file.write(bytes_ * (pages * PAGE) if bytes_ else os.urandom(pages * PAGE))


@pytest.mark.parametrize("how", ["noise", "zeros"])
def test_without_its_first_page_all_of_it_comes_back(house: House, app: App, how: str) -> None:
    """MP-28: header and schema are gone; nothing else is."""
    filled(house)
    said, before = words_of(house), app.status()
    folded(house, app)
    lose(house, 1, b"\0" if how == "zeros" else b"")
    done = app.repair()
    after = app.status()
    assert words_of(house) == said
    assert (after.events, after.sessions) == (before.events, before.sessions)
    assert after.memories >= before.memories
    assert done.rescued["events"].unreadable is None, "nobody can say what lay on the lost page"
    assert done.rescued["events"].loose == before.events
    assert "animal-015" in app.search("animal-015", None).hits[0].text
    assert "Answer 15" in house.brief().text


def test_what_lay_on_lost_pages_is_missing_and_the_rest_is_in_order(house: House, app: App) -> None:
    filled(house)
    said = words_of(house)
    folded(house, app)
    lose(house, 40)
    app.repair()
    found = words_of(house)
    assert len(found) > len(said) // 2
    assert found <= said
    assert backup_copy.copy_contents(house.home.database).damage == ""
    with closing(sqlite3.connect(house.home.database)) as db:
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        assert db.execute("SELECT count(*) FROM sessions WHERE agent = 'unknown'").fetchone() == (0,)
    assert "Answer 15" in house.brief().text, "the project is known by its id, though its name is lost"
    story = house.session()
    story.starts().prompts("And now?")
    house.works()
    assert [project.name for project in house.store.projects.all()] == [house.project.name]


def test_what_the_lost_pages_held_comes_from_the_newest_backup(house: House, app: App) -> None:
    filled(house)
    app.back_up()
    filled(house, SESSIONS)
    said = words_of(house)
    folded(house, app)
    lose(house, 60)
    done = app.repair()
    assert sum(each.older for each in done.rescued.values()) > 0
    assert {f"Answer {number}." for number in range(SESSIONS)} <= words_of(house) <= said


def test_a_database_of_which_nothing_is_left_comes_from_the_newest_backup(house: House, app: App) -> None:
    filled(house)
    app.back_up()
    said = words_of(house)
    folded(house, app)
    house.home.database.write_bytes(os.urandom(house.home.database.stat().st_size))
    app.repair()
    assert words_of(house) == said


def test_what_a_log_holds_counts_though_the_header_is_lost(house: House, app: App) -> None:
    filled(house)
    said = words_of(house)
    folded(house, app)
    code = (
        "import os, sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "db.execute(\"UPDATE events SET text = 'Changed in the log' WHERE text = 'Answer 3.'\"); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(house.home.database)], check=True)
    lose(house, 1)
    app.repair()
    assert words_of(house) == said - {"Answer 3."} | {"Changed in the log"}


def test_what_was_deleted_does_not_come_back_from_free_pages(house: House, app: App) -> None:
    filled(house)
    folded(house, app)
    with closing(sqlite3.connect(house.home.database, isolation_level=None)) as db:
        db.execute("PRAGMA secure_delete = OFF")
        db.execute("DELETE FROM events WHERE session_id IN (SELECT id FROM sessions ORDER BY id LIMIT 10)")
        left = {text for (text,) in db.execute("SELECT text FROM events WHERE kind = 'said'")}
        assert db.execute("PRAGMA freelist_count").fetchone()[0] > 5
    lose(house, 1)
    app.repair()
    assert {words for words in words_of(house) if words.startswith("Answer")} == left


def test_what_was_forgotten_stays_so_though_its_tombstone_and_every_backup_are_lost(
    house: House, app: App
) -> None:
    """The tombstones lie a second time beside the database, and so does the key: nothing is stored twice."""
    story = house.told()
    story.starts().prompts("Hello").stops("Hi.").prompts("The merger is called Bluebird").stops("Noted.")
    house.works()
    app.back_up()
    house.close()
    app.forget(app.wanted([], text="Bluebird"), really=True)
    folded(house, app)
    data = bytearray(house.home.database.read_bytes())
    with closing(sqlite3.connect(house.home.database)) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'tombstones'").fetchone()
        (events,) = db.execute("SELECT count(*) FROM events").fetchone()
    for lost in (1, 2, page):
        data[(lost - 1) * PAGE : lost * PAGE] = os.urandom(PAGE)
    house.home.database.write_bytes(data)
    app.repair()
    house.works()
    app.close()
    assert "Hello" in words_of(house)
    assert not [words for words in words_of(house) if "Bluebird" in words]
    with closing(sqlite3.connect(house.home.database)) as db:
        assert db.execute("SELECT count(*) FROM events").fetchone() == (events,)


def test_a_broken_node_costs_nothing_that_lies_beneath_it(house: House, app: App) -> None:
    """The leaves that it led to are whole: no transcript is needed to get them back."""
    for number in range(4):
        filled(house, number * SESSIONS)
    said = words_of(house)
    folded(house, app)
    with closing(sqlite3.connect(house.home.database)) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'events'").fetchone()
    data = bytearray(house.home.database.read_bytes())
    assert data[(page - 1) * PAGE] == 5, "it is a node"
    data[(page - 1) * PAGE : page * PAGE] = os.urandom(PAGE)
    house.home.database.write_bytes(data)
    done = app.repair()
    assert words_of(house) == said
    assert done.rescued["events"].loose > 0


def test_a_failed_repair_leaves_the_damaged_file_as_it_is(house: House, app: App) -> None:
    lived(house)
    folded(house, app)
    house.home.database.write_bytes(os.urandom(300_000))
    before = files_of(house)
    with pytest.raises(Exception, match="backstory restore"):
        app.repair()
    after = files_of(house)
    assert {name: after[name] for name in before} == before


def test_going_back_brings_nothing_back_that_was_forgotten_though_the_database_is_past_reading(
    house: House, app: App
) -> None:
    story = house.session()
    story.starts().prompts("Hello").stops("Hi.").prompts("The merger is called Bluebird").stops("Noted.")
    house.works()
    app.back_up()
    house.close()
    app.forget(app.wanted([], text="Bluebird"), really=True)
    folded(house, app)
    house.home.database.write_bytes(os.urandom(200_000))
    app.restore("latest", really=True)
    assert "Hello" in words_of(house)
    assert not [words for words in words_of(house) if "Bluebird" in words]
