"""Taking in an export brings nothing back that was forgotten, however it is cut or ended, and says what it does."""

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest

from backstory.app import App
from backstory.capture.privacy import Privacy
from backstory.errors import Failed
from backstory.paths import Home
from backstory.upkeep import export_file
from tests.story import House, Story

from .conftest import lived

FOREVER = 2**62
WORDS = "zebrafish"


def told(app: App) -> list[str]:
    return list(app.export_lines(None, 0, FOREVER))


def as_once(lines: list[str]) -> list[str]:
    """The same export as the first format had it: the sources of memories as rows of their own, behind them."""
    rows = [json.loads(line) for line in lines]
    rows[0]["backstory"] = 1
    behind = [
        {"table": "memory_sources", "memory_id": row["id"], "event_id": source}
        for row in rows
        for source in row.pop("sources", ())
    ]
    last = max(i for i, row in enumerate(rows) if row.get("table") == "memories") + 1
    return [json.dumps(row) for row in [*rows[:last], *behind, *rows[last:]]]


def written(lines: list[str], path: Path) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def partly(house: House) -> Story:
    """A session only some of which is about the words."""
    story = house.session()
    story.starts().prompts("Let us use postgres instead of mysql, because it has ranges")
    story.runs("pytest", fails="AssertionError: no table").edits("db.py").runs("pytest", "1 passed")
    story.stops("The table is there. Next: index the table.")
    story.prompts(f"Let us call it the {WORDS} table from now on, because everybody does")
    story.runs(f"make {WORDS}", fails=f"no rule for {WORDS}").edits("Makefile")
    story.runs(f"make {WORDS}", "made").stops(f"The {WORDS} is made. Next: ship the {WORDS}.").ends()
    house.works()
    return story


def asked(house: House, query: str) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(house.home.database)) as db:
        return db.execute(query).fetchall()


def told_of(house: House) -> list[object]:
    """Everything stored that has the words in it, or that rests on what was forgotten."""
    return [
        *asked(house, f"SELECT id, text FROM events WHERE text LIKE '%{WORDS}%' OR target LIKE '%{WORDS}%'"),
        *asked(house, f"SELECT id, text FROM memories WHERE text || detail || reason LIKE '%{WORDS}%'"),
        *asked(house, f"SELECT id, title FROM sessions WHERE title LIKE '%{WORDS}%'"),
        *asked(house, f"SELECT owner FROM passages WHERE text LIKE '%{WORDS}%'"),
        *asked(house, "SELECT * FROM memory_sources WHERE event_id IN (SELECT id FROM tombstones)"),
    ]


@pytest.mark.parametrize("form", ["now", "once"])
def test_no_cut_of_an_export_brings_back_what_was_forgotten(
    house: House, app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """A memory has no tombstone of its own if what it was made of has one."""
    monkeypatch.setattr(export_file, "_BATCH", 7)
    partly(house)
    lived(house, f"other {WORDS}")
    lines = told(app) if form == "now" else as_once(told(app))
    app.forget(app.wanted([], text=WORDS), really=True)
    house.works()
    kept = asked(house, "SELECT id FROM memories ORDER BY id")
    assert told_of(house) == []
    for end in range(1, len(lines) + 1):
        export_file.load_export(
            app.store, written(lines[:end], tmp_path / "cut.jsonl"), Privacy(app.settings)
        )
        assert told_of(house) == [], lines[end - 1]
    app.import_export(tmp_path / "cut.jsonl")
    house.works()
    assert told_of(house) == []
    assert asked(house, "SELECT id FROM memories ORDER BY id") == kept


def test_no_end_between_two_batches_brings_back_what_was_forgotten(
    house: House, app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the session itself is not: its title, and what models said about it, stay away."""
    partly(house)
    file = written(told(app), tmp_path / "all.jsonl")
    app.forget(app.wanted([], text=WORDS), really=True)
    graves = [line for line in told(app) if '"tombstones"' in line]
    monkeypatch.setattr(export_file, "_BATCH", 5)
    other = House(tmp_path / "other", house.project)
    head = file.read_text().splitlines()[0]
    with App(other.home) as opened:
        opened.import_export(written([head, *graves], tmp_path / "graves.jsonl"))
    for batch in range(0, len(file.read_text().splitlines()) // 5, 2):
        steps = [*[False] * batch, True]
        with App(other.home) as opened, monkeypatch.context() as patch:
            patch.setattr(export_file, "step", lambda _, left=steps: interrupt(left.pop(0)))
            with pytest.raises(KeyboardInterrupt):
                export_file.load_export(opened.store, file, Privacy(opened.settings))
        assert told_of(other) == []
    with App(other.home) as opened:
        opened.import_export(file)
    other.works()
    assert told_of(other) == []
    assert asked(other, "SELECT id FROM events ORDER BY 1") == asked(
        house, "SELECT id FROM events ORDER BY 1"
    )
    house.works()
    query = "SELECT id, text FROM memories ORDER BY 1"
    assert asked(other, query) == asked(house, query), "made again from what is left"
    other.close()


def interrupt(really: bool) -> None:
    if really:
        raise KeyboardInterrupt


def test_a_dry_run_of_many_batches_tells_what_the_import_then_does(
    house: House, app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_file, "_BATCH", 4)
    lived(house)
    app.forget(app.wanted([], text="Either would do"), really=True)
    file = written(told(app), tmp_path / "all.jsonl")
    with App(Home(tmp_path / "other")) as other:
        dry = other.import_export(file, dry=True)
        assert dry[0]["events"] > 4
        assert dry[0]["tombstones"]
        assert not other.home.database.exists()
        assert other.import_export(file) == dry
        assert other.import_export(file, dry=True) == other.import_export(file) == ({}, True)


def test_an_older_export_comes_in_after_a_session_was_forgotten(
    house: House, app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its project has no session any more, and is not told of either."""
    monkeypatch.setattr(export_file, "_BATCH", 4)
    story = lived(house)
    file = written(told(app), tmp_path / "all.jsonl")
    before = told(app)
    app.forget(app.wanted([story.id]), really=True)
    left = told(app)
    assert app.import_export(file, dry=True) == ({}, True)
    assert app.import_export(file) == ({}, True)
    assert [line for line in told(app)[1:] if line not in left] == []
    assert len(left) < len(before)


def test_an_older_export_takes_nothing_away(house: House, app: App, tmp_path: Path) -> None:
    """Memories that were made again from what is left do not rest on what was forgotten."""
    partly(house)
    file = written(told(app), tmp_path / "all.jsonl")
    app.forget(app.wanted([], text=WORDS), really=True)
    house.works()
    query = "SELECT * FROM memories ORDER BY id"
    before = asked(house, query)
    assert before
    for _ in range(2):
        assert app.import_export(file) == ({}, True)
        house.works()
        assert asked(house, query) == before


def test_what_the_other_home_has_forgotten_is_forgotten_here_and_counts(
    house: House, app: App, tmp_path: Path
) -> None:
    partly(house)
    other = House(tmp_path / "other", house.project)
    with App(other.home) as opened:
        opened.import_export(written(told(app), tmp_path / "all.jsonl"))
        app.forget(app.wanted([], text=WORDS), really=True)
        house.works()
        new, _ = opened.import_export(written(told(app), tmp_path / "later.jsonl"))
    assert new["tombstones"]
    other.works()
    assert told_of(other) == []
    query = "SELECT id, text FROM memories ORDER BY 1"
    assert asked(other, query) == asked(house, query)
    other.close()


def test_secrets_that_were_let_through_elsewhere_are_redacted_where_they_arrive(
    house: House, app: App, tmp_path: Path
) -> None:
    """By the rules of this home: in texts, payloads, titles, memories, names of files and of branches."""
    address = "jane.roe@quarry.io"
    house.sets("privacy.redact_off", "email")
    story = house.session()
    story.starts().prompts(f"Write to {address}, because she decides").runs(f"mail {address}", address)
    story.edits(f"{address}.py").stops(f"I wrote to {address}. Next: wait for {address}.").ends()
    house.works()
    file = written(told(app), tmp_path / "all.jsonl")
    assert address in file.read_text()
    other = House(tmp_path / "other", house.project)
    with App(other.home) as opened:
        opened.import_export(file)
    other.works()
    other.close()
    assert other.found_in_home(address) == []
    assert len(other.events(story)) == len(house.events(story))
    other.close()


@pytest.mark.parametrize("line", [b"\xff\xfe\xfd", b"[" * 200_000, b"[]", b'{"table": "events"'])
def test_a_line_that_is_none_is_named_and_what_stood_before_it_is_taken_in(
    house: House, app: App, tmp_path: Path, line: bytes
) -> None:
    lived(house)
    lines = told(app)
    file = written(lines, tmp_path / "all.jsonl")
    file.write_bytes(file.read_bytes() + line)
    with App(Home(tmp_path / "other")) as other:
        with pytest.raises(Failed, match=rf"all.jsonl:{len(lines) + 1}: this line is no JSON object"):
            other.import_export(file)
        assert other.status().events == app.status().events
        assert other.search("postgres mysql", None).hits
    file.write_bytes(line)
    with App(Home(tmp_path / "third")) as other, pytest.raises(Failed, match="is no export"):
        other.import_export(file)


def test_an_export_that_lacks_what_it_refers_to_leaves_nothing_behind(
    house: House, app: App, tmp_path: Path
) -> None:
    lived(house)
    lines = [line for line in told(app) if '"table": "sessions"' not in line]
    with App(Home(tmp_path / "other")) as other:
        with pytest.raises(Failed, match="refers to something that this export does not have"):
            other.import_export(written(lines, tmp_path / "cut.jsonl"))
        assert [json.loads(line).get("table") for line in told(other)] == [None]


def test_what_was_replaced_is_kept_and_stays_out_of_sight(house: House, app: App, tmp_path: Path) -> None:
    """It may be said again: then it must be there."""
    story = lived(house)
    event = house.stored(story)[1]
    with house.store.transaction():
        house.store.tombstones.add("event", [event.id], "replaced", 1)
    with App(Home(tmp_path / "other")) as other:
        file = written(told(app), tmp_path / "all.jsonl")
        other.import_export(file)
        assert [line for line in told(other)[1:] if event.id in line]
        assert told(other)[1:] == told(app)[1:]
