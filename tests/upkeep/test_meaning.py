"""What search by meaning keeps of a text (passages, their words, vectors, signs) goes where the text goes."""

import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from backstory.app import App
from backstory.capture.importer import ImportOptions
from backstory.hook.redact import Redactor
from backstory.model import Act
from backstory.paths import Home
from backstory.store import row_export
from tests.story import House

from .conftest import lived
from .test_export_file import exported
from .test_retention_policy import later, prunes
from .test_scrub import SECRET

pytest.importorskip("numpy")

WORDS = "blue whale"


def asked(house: House, query: str, *values: object) -> list[tuple[Any, ...]]:
    house.close()
    with closing(sqlite3.connect(house.home.database)) as db:
        return db.execute(query, values).fetchall()


def derived(house: House, words: str) -> dict[str, set[bytes]]:
    """The bytes that are kept of texts with these words without being these words."""
    rows = asked(
        house,
        "SELECT v.vector FROM passages p JOIN vectors v ON v.row = p.row WHERE instr(p.text, ?)",
        words,
    )
    payloads = asked(house, "SELECT body FROM payloads")
    return {
        "vectors": {row[0] for row in rows},
        "payloads": {body for (body,) in payloads if words.encode() in zlib.decompress(body)},
    }


def left(house: House, gone: set[bytes]) -> list[str]:
    """Files of the home that still have one of these bytes; backups are named when something is forgotten."""
    files = [path for path in house.home.root.rglob("*") if path.is_file()]
    return [
        str(path.relative_to(house.home.root))
        for path in files
        if path.parent != house.home.backups and any(each in path.read_bytes() for each in gone)
    ]


def in_order(house: House) -> None:
    """Passages, index, vectors and blocks agree, and none of them is of something that is not there."""
    house.close()
    with closing(sqlite3.connect(house.home.database)) as db:
        db.execute("INSERT INTO passage_fts (passage_fts) VALUES ('integrity-check')")
        passages = {row for (row,) in db.execute("SELECT row FROM passages")}
        owners = {owner for (owner,) in db.execute("SELECT DISTINCT owner FROM passages")}
        known = {
            each for t in ("events", "memories", "sessions") for (each,) in db.execute(f"SELECT id FROM {t}")
        }
        vectors = {row for (row,) in db.execute("SELECT row FROM vectors")}
        numbers = b"".join(part for (part,) in db.execute("SELECT numbers FROM blocks"))
        codes = sum(len(part) for (part,) in db.execute("SELECT codes FROM blocks"))
        [(length,)] = db.execute("SELECT max(length(vector)) FROM vectors").fetchall()
        [(filled,)] = db.execute("SELECT coalesce(sum(filled), 0) FROM blocks").fetchall()
    in_blocks = [int.from_bytes(numbers[at : at + 8], "little") for at in range(0, len(numbers), 8)]
    assert owners <= known
    assert vectors == passages, "everything that is found by words is found by meaning"
    assert sorted(in_blocks) == sorted(vectors)
    assert filled == len(vectors)
    assert codes == len(vectors) * ((length or 0) // 8)


def test_no_vector_of_a_forgotten_text_is_left(house: House, app: App) -> None:
    """Nor its signs, nor its compressed payload: from these bytes the text could be guessed."""
    lived(house, WORDS)
    lived(house, "red panda")
    before = derived(house, WORDS)
    assert all(before.values()), "there was something to forget"
    assert all(left(house, {each}) for each in before["vectors"])
    app.forget(app.wanted([], text=WORDS), really=True)
    app.close()
    assert left(house, before["vectors"] | before["payloads"]) == []
    in_order(house)
    with App(house.home) as again:
        assert again.search("red panda table", None).hits


def test_a_title_that_was_forgotten_finds_no_session(house: House, app: App, tmp_path: Path) -> None:
    """An imported session is found as a whole by its title, which is a passage of its own."""
    story = House(tmp_path / "elsewhere", house.project).told()
    story.starts().prompts(f"The {WORDS} in the tank").stops("Yes.").prompts("And the red panda").stops("No.")
    assert story.transcript is not None
    app.import_history(["claude-code"], ImportOptions(min_messages=1, user="me"), story.transcript.parent)
    house.works()
    heads = asked(house, "SELECT text FROM passages WHERE kind = 'session'")
    assert any(WORDS in text for (text,) in heads), "it was found by its title"
    app.forget(app.wanted([], text=WORDS), really=True)
    app.close()
    assert [place for place in house.found_in_home(WORDS) if not place.startswith("backups/")] == []
    in_order(house)
    [(head,)] = asked(house, "SELECT text FROM passages WHERE kind = 'session'")
    assert "red panda" in head
    app.forget(app.wanted([story.id]), really=True)
    app.close()
    assert asked(house, "SELECT text FROM passages WHERE kind = 'session'") == []


def test_a_memory_that_a_person_reworded_is_forgotten_with_its_wording(house: House, app: App) -> None:
    memory = app.remember("We deploy on Fridays", house.project)
    app.judge(memory.id, Act.EDIT, f"We deploy the {WORDS} on Mondays")
    house.works()
    app.forget(app.wanted([], text=WORDS), really=True)
    app.close()
    assert [place for place in house.found_in_home(WORDS) if not place.startswith("backups/")] == []


def test_a_scrubbed_text_gets_a_new_vector(
    house: House, app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The vector of a text with a secret is not the vector of that text without it."""
    with monkeypatch.context() as patched:
        patched.setattr(Redactor, "redact", lambda self, text: text)
        story = House(tmp_path / "elsewhere", house.project).told()
        story.starts().prompts(f"Push with {SECRET} to the tank").stops("Yes.")
        assert story.transcript is not None
        app.import_history(["claude-code"], ImportOptions(min_messages=1, user="me"), story.transcript.parent)
        house.works()
    before = derived(house, SECRET)
    assert before["vectors"]
    turns = asked(house, "SELECT count(*) FROM passages WHERE turn > 0")
    app.scrub(really=True)
    app.close()
    assert left(house, before["vectors"] | before["payloads"]) == []
    assert house.found_in_home(SECRET) == []
    in_order(house)
    assert asked(house, "SELECT count(*) FROM passages WHERE turn > 0") == turns


def test_what_an_error_quoted_is_forgotten_and_scrubbed(house: House, app: App) -> None:
    lived(house, WORDS)
    for said in (f"KeyError('{WORDS}')", f"KeyError('{SECRET}')"):
        with app.store.transaction():
            app.store.jobs.ask("distil", "sx", 1)
            job = app.store.jobs.lease(2**60, "distil", newest=True)
            assert job is not None
            app.store.jobs.failed(job, said, 1, 1)
        if SECRET in said:
            app.scrub(really=True)
        else:
            app.forget(app.wanted([], text=WORDS), really=True)
        app.close()
        assert [p for p in house.found_in_home(said[10:-2]) if not p.startswith("backups/")] == []


def test_an_export_is_found_by_meaning_where_it_is_taken_in(house: House, app: App, tmp_path: Path) -> None:
    lived(house, WORDS)
    file = exported(app, tmp_path / "all.jsonl")
    other = House(tmp_path / "other", house.project)
    with App(other.home) as opened:
        opened.import_export(file)
    in_order(other)
    assert asked(other, "SELECT count(*) FROM vectors") == asked(house, "SELECT count(*) FROM vectors")


def test_nothing_that_is_kept_is_left_out_of_an_export(house: House, app: App) -> None:
    """Every table goes out, or can be made again from those that do, or means nothing elsewhere."""
    lived(house)
    tables = {
        name
        for (name,) in asked(house, "SELECT name FROM sqlite_master WHERE type = 'table'")
        if not name.startswith(("sqlite_", "passage_fts"))
    }
    made_again = {"passages", "shelves", "vectors", "blocks", "jobs", "successions"}
    of_this_machine = {"receipts", "transcripts", "meta"}
    # what this machine has with its team, and is made again when it joins again
    of_this_machine |= {"feeds", "sent", "received", "muted", "contradictions", "shared_by_hand"}
    inside_events = {"payloads"}
    app.remember("We deploy on Fridays", house.project)
    told = {json.loads(line).get("table") for line in app.export_lines(None, 0, 2**62)} - {None}
    assert tables == set(row_export.TABLES) | made_again | of_this_machine | inside_events
    assert {"events", "memories", "projects", "sessions"} <= told


@pytest.mark.parametrize("how", ["repair", "restore"])
def test_a_database_that_was_replaced_is_searched_by_meaning(house: House, app: App, how: str) -> None:
    lived(house, WORDS)
    app.back_up()
    lived(house, "red panda")
    house.close()
    if how == "repair":
        app.repair()
    else:
        app.restore("latest", really=True)
    app.close()
    house.works()
    in_order(house)
    with App(house.home) as again:
        assert again.search(f"{WORDS} table", None).hits


def test_what_was_forgotten_since_a_backup_has_no_vector_when_that_comes_back(house: House, app: App) -> None:
    lived(house, WORDS)
    lived(house, "red panda")
    before = derived(house, WORDS)
    app.back_up()
    app.forget(app.wanted([], text=WORDS), really=True)
    app.restore("latest", really=True)
    app.close()
    assert left(house, before["vectors"] | before["payloads"]) == []
    in_order(house)


def test_events_that_grew_old_take_their_vectors_along(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    lived(house, WORDS)
    house.sets("retention.event_days", "30")
    later(monkeypatch, 40)
    assert prunes(house).rows
    in_order(house)
    assert asked(house, "SELECT count(*) FROM passages WHERE owner LIKE 'e%'") == [(0,)]
    with App(Home(house.home.root)) as app:
        assert app.search(f"{WORDS} table postgres", None, floor=False).hits, "what was learned stays"
