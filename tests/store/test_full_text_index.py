"""The index of words stands project by project, and a large memory gets it in the background."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from backstory.search.find import search
from backstory.store import schema
from backstory.store.passages import Passages
from tests.story import House

LARGE = 20_001


def old(count: int) -> sqlite3.Connection:
    """A database of schema 9 with so many passages, in two projects by turns."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    schema.apply_migrations(db, schema.migrations()[:9])
    for name in ("ants", "bees"):
        db.execute("INSERT INTO projects VALUES (?, ?, ?, '/x', 1, 1)", (name, name, name))
        db.execute(
            """
            INSERT INTO sessions (id, agent, native_id, project_id, started_at, last_at)
            VALUES (?, 'codex', ?, ?, 1, 1)
            """,
            (f"s{name}", f"s{name}", name),
        )
    db.executemany(
        """
        INSERT INTO passages (owner, part, project_id, session_id, kind, at, scope, text)
        VALUES (?, 0, ?, ?, 'prompt', 1, ?, ?)
        """,
        [(f"e{n}", p, f"s{p}", p, f"honey {n}") for n in range(count) for p in [("ants", "bees")[n % 2]]],
    )
    db.execute("INSERT INTO passage_fts (passage_fts) VALUES ('rebuild')")
    return db


@pytest.fixture
def large() -> Iterator[sqlite3.Connection]:
    """A large memory of schema 9, just migrated."""
    with closing(old(LARGE)) as db:
        schema.apply_migrations(db, schema.migrations()[9:])
        yield db


def owners(db: sqlite3.Connection, word: str, project_id: str | None = None) -> list[str]:
    return sorted(each.owner for each in Passages(db).search([f'"{word}"'], project_id, 9))


def changed(house: House, statement: str) -> None:
    with closing(sqlite3.connect(house.home.database)) as db, db:
        db.execute(statement)


def test_a_small_memory_is_found_at_once_after_an_upgrade() -> None:
    with closing(old(6)) as db:
        schema.apply_migrations(db, schema.migrations()[9:])
        assert not Passages(db).words_unindexed()
        assert Passages(db).is_consistent()
        assert owners(db, "honey", "bees") == ["e1", "e3", "e5"]
        assert len(owners(db, "honey")) == 6


def test_a_large_memory_is_indexed_after_an_upgrade_the_newest_first(large: sqlite3.Connection) -> None:
    passages = Passages(large)
    assert passages.words_unindexed()
    assert owners(large, "20000") == []
    assert passages.index_words(5_000) == 5_000
    assert owners(large, "20000", "ants") == ["e20000"]
    assert owners(large, "7") == []
    assert passages.is_consistent(), "what waits is no fault"
    while passages.index_words(5_000):
        pass
    assert not passages.words_unindexed()
    assert owners(large, "7", "bees") == ["e7"]
    assert owners(large, "7", "ants") == []
    assert passages.is_consistent()


def test_what_is_written_and_removed_meanwhile_is_right(large: sqlite3.Connection) -> None:
    passages = Passages(large)
    passages.remove("e7")
    for number in range(LARGE - 3, LARGE):
        passages.remove(f"e{number}")
    passages.put("m1", "bees", "sbees", "fact", 1, "nectar")
    assert owners(large, "nectar", "bees") == ["m1"]
    while passages.index_words(9_000):
        pass
    assert owners(large, "7") == []
    assert owners(large, "nectar") == ["m1"]
    passages.put("m1", "bees", "sbees", "fact", 1, "wax")
    assert owners(large, "nectar") == []
    assert passages.is_consistent()


def test_a_passage_that_the_words_lack_is_noticed(house: House) -> None:
    house.session().starts().prompts("The blue whale").stops("Yes.")
    house.works()
    passages = house.store.passages
    assert passages.is_consistent()
    changed(house, "UPDATE passages SET row = row + 1000 WHERE kind = 'prompt'")
    assert not passages.is_consistent()


def test_an_answer_says_that_older_words_are_still_to_come(house: House) -> None:
    house.session().starts().prompts("The blue whale").stops("Yes.")
    house.works()
    changed(house, "INSERT INTO meta (key, value) VALUES ('unshelved', '1')")
    assert "older words" in search(house.store, "blue whale", None).lacking
