"""What several sessions showed is one thing that the project knows, and what people did to it stays."""

import gzip
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backstory.model import Act, Draft, Kind, Memory, MemoryKind, MemoryStatus, Session, Tier
from backstory.paths import Home
from backstory.store import Store, open_store
from backstory.store.memories import memory_id
from tests.store.conftest import SHOP, event, put

SCHEMAS = Path(__file__).parent / "schemas"


def session(store: Store, name: str, at: int = 1_000) -> Session:
    (added,) = put(store, event(session=name, at=at, text=f"work in {name}"))
    found = store.events.session(added.session_id)
    assert found is not None
    return found


def lesson(text: str, at: int, **fields: Any) -> Draft:
    return Draft(MemoryKind.LESSON, text, text, at, (f"e{at}",), signature="push", **fields)


def learns(store: Store, where: Session, *drafts: Draft) -> None:
    with store.transaction():
        store.memories.replace(where, drafts, Tier.RULES, "t1")
        store.memories.consolidate(SHOP.id)


def known(store: Store, kind: MemoryKind = MemoryKind.LESSON) -> list[Memory]:
    return store.memories.of_project(SHOP.id, [kind], 10)


def test_one_thing_that_two_sessions_showed_is_one_memory_with_both_counted(store: Store) -> None:
    one, two = session(store, "s1"), session(store, "s2")
    learns(store, one, lesson("push fails on a", 1, times=2))
    learns(store, two, lesson("push fails on b", 2))
    (memory,) = known(store)
    assert (memory.session_id, memory.seen, memory.times) == (two.id, 2, 3)
    assert memory.text == "push fails on b (in 2 sessions)"
    assert [m.session_id for m in store.memories.of_session(one.id)] == [one.id], (
        "each session keeps what it showed"
    )
    found = store.passages.search(['"fails"'], SHOP.id, 10)
    assert [hit.owner for hit in found] == [memory.id]


def test_a_command_tells_how_often_it_passed(store: Store) -> None:
    for number, times in enumerate((3, 4), 1):
        draft = Draft(MemoryKind.COMMAND, "mix test", f"test: `mix test`: ok ×{times}", number, ("e",))
        learns(store, session(store, f"s{number}"), replace(draft, signature="mix test", times=times))
    (memory,) = known(store, MemoryKind.COMMAND)
    assert memory.text == "test: `mix test`: passed 7 times in 2 sessions"


def test_own_work_is_told_once_another_session_shows_the_same(store: Store) -> None:
    one, two = session(store, "s1"), session(store, "s2")
    learns(store, one, lesson("lint: wrapcheck", 1, own_work=True))
    assert known(store) == []
    assert store.memories.of_session(one.id) == []
    assert store.passages.search(['"wrapcheck"'], SHOP.id, 10) == []
    learns(store, two, lesson("lint: wrapcheck again", 2, own_work=True))
    assert [memory.seen for memory in known(store)] == [2]
    learns(store, two)
    assert known(store) == [], "it was shown by one session only after all"


def test_with_a_session_goes_what_it_showed_and_with_the_last_the_memory(store: Store) -> None:
    one, two = session(store, "s1"), session(store, "s2")
    learns(store, one, lesson("push fails on a", 1))
    learns(store, two, lesson("push fails on b", 2))
    for gone, left in ((two, [(one.id, 1)]), (one, [])):
        with store.transaction():
            store.tombstones.add("session", [gone.id], "asked", 1)
            store.memories.consolidate(SHOP.id)
        assert [(memory.session_id, memory.seen) for memory in known(store)] == left


def test_what_a_sub_agent_and_its_session_both_show_was_seen_once(store: Store) -> None:
    one = session(store, "s1")
    (added,) = put(store, event(session="s1", at=2, kind=Kind.TOOL, subagent="a1", text="x"))
    child = store.events.session(added.session_id)
    assert child is not None
    assert child.parent_id == one.id
    learns(store, one, lesson("push fails", 1))
    learns(store, child, lesson("push fails here", 2))
    assert {memory.seen for memory in store.memories.of_session(one.id)} == {1}


def judged(store: Store, memory: str, act: Act, at: int, text: str = "") -> None:
    """As the app does: the act is an event of the user's own session in the project."""
    act_event = replace(
        event(Kind.JUDGED, at, session="judgements", text=text), agent="user", target=memory, reason=act
    )
    (added,) = put(store, act_event)
    with store.transaction():
        store.memories.judge(memory, act, text, added.event_id)
        store.memories.consolidate(SHOP.id)


def test_what_a_person_rejected_does_not_come_back_with_the_next_session(store: Store) -> None:
    one = session(store, "s1")
    learns(store, one, lesson("push fails on a", 1))
    judged(store, known(store)[0].id, Act.REJECT, 5)
    learns(store, session(store, "s2"), lesson("push fails on b", 9))
    assert known(store) == []


def test_what_a_person_pinned_stands_for_what_later_sessions_show(store: Store) -> None:
    one = session(store, "s1")
    learns(store, one, lesson("push fails on a", 1))
    judged(store, known(store)[0].id, Act.PIN, 5)
    learns(store, session(store, "s2"), lesson("push fails on b", 9))
    assert [(memory.session_id, memory.pinned, memory.seen) for memory in known(store)] == [(one.id, True, 2)]


def test_newer_rules_that_call_it_otherwise_do_to_it_what_a_person_did(store: Store) -> None:
    one = session(store, "s1")
    rests = tuple(stored.id for stored in store.events.of_session(one.id))
    old = replace(lesson("[lint] ERROR task failed", 1), sources=rests, signature="")
    learns(store, one, old)
    judged(store, memory_id(one.id, old.kind, old.subject), Act.REJECT, 5)
    for _ in range(2):  # also when it is distilled once more
        learns(store, one, replace(lesson("a.go:1: unwrapped (wrapcheck)", 1), sources=rests))
        assert known(store) == []
    learns(store, one, replace(lesson("yet another wording", 1), sources=rests))
    assert known(store) == []


def test_what_a_person_stands_for_outlives_the_rules_that_made_it(store: Store) -> None:
    one = session(store, "s1")
    learns(store, one, lesson("push fails on a", 1))
    (memory,) = known(store)
    judged(store, memory.id, Act.EDIT, 5, "always push with -u")
    learns(store, one)
    assert [(kept.id, kept.text) for kept in known(store)] == [(memory.id, "always push with -u")]


@pytest.fixture
def upgraded(tmp_path: Path) -> Iterator[Store]:
    """A home of schema 11 in which a person had rejected a summary, pinned a turn, confirmed a checkpoint."""
    home = Home(tmp_path / "old")
    home.root.mkdir()
    home.database.write_bytes(gzip.decompress((SCHEMAS / "0011.db.gz").read_bytes()))
    with closing(sqlite3.connect(home.database, isolation_level=None)) as db:
        db.row_factory = sqlite3.Row
        copy = dict(db.execute("SELECT * FROM sessions LIMIT 1").fetchone())
        _insert(db, "sessions", copy | {"id": "s-user", "agent": "user", "native_id": "user"})
        acts = {"summary": "reject", "turn": "pin", "checkpoint": "confirm"}
        for number, (kind, act) in enumerate(acts.items(), 900):
            (mid,) = db.execute("SELECT id FROM memories WHERE kind = ?", (kind,)).fetchone()
            row = dict(db.execute("SELECT * FROM events LIMIT 1").fetchone())
            changes = {"row": None, "id": f"e-{act}", "session_id": "s-user", "seq": number, "kind": "judged"}
            _insert(db, "events", row | changes | {"target": mid, "reason": act, "text": ""})
            db.execute("INSERT INTO memory_sources VALUES (?, ?)", (mid, f"e-{act}"))
        db.execute("UPDATE memories SET status = 'rejected' WHERE kind = 'summary'")
        db.execute("UPDATE memories SET pinned = 1 WHERE kind = 'turn'")
        db.execute("UPDATE memories SET status = 'confirmed' WHERE kind = 'checkpoint'")
    with closing(open_store(home)) as store:
        yield store


def _insert(db: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    marks = ", ".join("?" * len(row))
    db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))


def test_an_upgrade_keeps_what_people_did_under_old_ids_and_under_new_ones(upgraded: Store) -> None:
    def states() -> dict[MemoryKind, tuple[MemoryStatus, bool]]:
        found = upgraded.memories.listed(kinds, list(MemoryStatus), None, None, 10)
        return {memory.kind: (memory.status, memory.pinned) for memory in found}

    kinds = [MemoryKind.SUMMARY, MemoryKind.TURN, MemoryKind.CHECKPOINT]
    before = states()
    assert before == {
        MemoryKind.SUMMARY: (MemoryStatus.REJECTED, False),
        MemoryKind.TURN: (MemoryStatus.CANDIDATE, True),
        MemoryKind.CHECKPOINT: (MemoryStatus.CONFIRMED, False),
    }
    old = upgraded.memories.listed(kinds, list(MemoryStatus), None, None, 10)
    where = upgraded.events.session(old[0].session_id)
    assert where is not None
    renamed = [
        Draft(memory.kind, f"called otherwise: {memory.kind}", memory.text, memory.at, memory.sources)
        for memory in old
    ]
    with upgraded.transaction():
        upgraded.memories.replace(where, renamed, Tier.RULES, "t1.new")
    assert states() == before
    assert {m.id for m in upgraded.memories.listed(kinds, list(MemoryStatus), None, None, 10)}.isdisjoint(
        memory.id for memory in old
    )
