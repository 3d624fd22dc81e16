"""Rows read page by page are the rows that SQL gives: every table, no row more, no row less."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from backstory.app import App
from backstory.model import Event, Kind
from backstory.store import backup_copy, key_escrow, page_reader, salvage, schema
from backstory.store.records import Arrival, Injection, Receipt
from tests.story import House


def read(house: House) -> tuple[dict[str, list[tuple[object, ...]]], dict[str, list[tuple[object, ...]]]]:
    """By SQL, and page by page."""
    house.store.checkpoint()
    house.close()
    with closing(sqlite3.connect(house.home.database)) as db:
        tables = [table for table in salvage._tables(db) if table not in salvage._ONLY_BY_SQL]
        shapes = page_reader.table_shapes(db, tables)
        names = {shape.table: ", ".join(shape.columns) for shape in shapes}
        by_sql = {t: sorted(db.execute(f"SELECT {names[t]} FROM {t}"), key=repr) for t in tables}
    by_page: dict[str, list[tuple[object, ...]]] = {table: [] for table in tables}
    head = house.home.database.read_bytes()[:100]
    with closing(page_reader.Pages(house.home.database, backup_copy.PAGE, head[20])) as every:
        for shape, row in every.rows(shapes):
            whole = [
                float(v) if isinstance(v, int) and kind == "REAL" else v
                for v, kind in zip(row, shape.types, strict=True)
            ]
            by_page[shape.table].append(tuple(whole))
    return by_sql, {table: sorted(rows, key=repr) for table, rows in by_page.items()}


def test_every_table_is_told_by_what_its_rows_look_like(house: House) -> None:
    for number in range(25):
        story = house.told()
        story.starts().prompts(
            f"Let us use postgres instead of mysql, because {number}" + " animal" * number * 90
        )
        story.runs("pytest", fails="x").edits("a.py").runs("pytest", "1 passed" + "z" * number * 900)
        story.stops("Done.").ends()
    house.works()
    with App(house.home) as app:
        app.remember("We deploy on Fridays", house.project)
        app.forget(app.wanted([], text="because 7"), really=True)
    with house.store.transaction():
        house.store.briefs.add(
            Injection(story.id, 1, "startup", 10, 3, ("m0123456789abcd", "e0123456789abcdef0123"))
        )
        names = ("claude-code.Stop.12.34", "claude-code.Stop.12.34.9", "interpreter.fail")
        house.store.spool_receipts.add([Receipt(name, 12_345, 2**60) for name in names])
    by_sql, by_page = read(house)
    assert by_page == by_sql
    empty = {table for table, rows in by_sql.items() if not rows}
    assert empty == {"model_calls", "model_answers"}, "the others are proved by having rows"


def test_numbers_of_every_size_and_texts_of_every_length_are_read(house: House) -> None:
    """As long as a page has room for, one byte more, and far more."""
    story = house.session()
    house.works()
    sizes = [*range(40), *range(3_990, 4_070), 8_000, 50_000, 400_000]
    with App(house.home) as app:
        project = app.project_at(house.project)
    with house.store.transaction():
        for number, size in enumerate(sizes):
            at = [0, 1, -1, 127, 128, 40_000, 2**23, 2**31, 2**47, 2**55][number % 10]
            event = Event(
                "claude-code", story.session, Kind.PROMPT, at, text="ü" * (size // 2), native_id=f"n{number}"
            )
            house.store.events.add([Arrival(event, project, house.store.events.key(event))])
    by_sql, by_page = read(house)
    assert by_page == by_sql
    assert len(by_sql["events"]) == len(sizes)


def test_pages_of_noise_give_nothing_and_break_nothing(tmp_path: Path) -> None:
    noise = random.Random(3)
    data = bytearray(noise.randbytes(400 * backup_copy.PAGE))
    for page in range(400):
        data[page * backup_copy.PAGE] = (0x0D, 0x0A, 0x02)[page % 3]
    path = tmp_path / "noise"
    path.write_bytes(data)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        schema.apply_migrations(db, schema.migrations())
        shapes = page_reader.table_shapes(
            db, ["events", "payloads", "sessions", "tombstones", "memory_sources"]
        )
    with closing(page_reader.Pages(path, backup_copy.PAGE, 0)) as every:
        assert list(every.rows(shapes)) == []


@pytest.mark.parametrize("broken", [b"", b"\xff\xfe", b"[]\n", b'["zz", 1, 2]\nno json\n', b'"x"\n[1]\n'])
def test_a_spare_file_that_is_broken_is_none(tmp_path: Path, broken: bytes) -> None:
    (tmp_path / key_escrow.NAME).write_bytes(broken)
    assert key_escrow.escrowed_key(tmp_path / "backstory.db") == ""
    assert key_escrow.escrowed_tombstones(tmp_path / "backstory.db") == []


def test_key_and_tombstones_lie_a_second_time_beside_the_database(house: House) -> None:
    story = house.session()
    story.starts().prompts("The merger is called Bluebird").stops("Noted.")
    house.works()
    key = house.store.meta.get("key")
    house.close()
    assert key_escrow.escrowed_key(house.home.database) == key
    assert key_escrow.escrowed_tombstones(house.home.database) == []
    with App(house.home) as app:
        app.forget(app.wanted([], text="Bluebird"), really=True)
    path = house.home.database.with_name(key_escrow.NAME)
    assert path.stat().st_mode & 0o777 == 0o600
    assert b"Bluebird" not in path.read_bytes()
    buried = {grave[0] for grave in key_escrow.escrowed_tombstones(house.home.database)}
    assert buried == house.store.tombstones.of_kind("event") | {f"{story.id}/title"}
