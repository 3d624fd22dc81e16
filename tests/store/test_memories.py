"""Memories, what they rest on, and the text index that follows them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.model import Draft, Kind, MemoryKind, MemoryStatus, Session, Tier
from backstory.passage_indexing import index_events
from backstory.store import Store
from backstory.store.passages import PASSAGE_CHARS, passage_bounds, split_passages
from tests.store.conftest import SHOP, event, put, tool


@pytest.fixture
def session(store: Store) -> Session:
    (added,) = put(store, event(text="fix the login"))
    found = store.events.session(added.session_id)
    assert found is not None
    return found


def draft(kind: MemoryKind, text: str, subject: str = "", **fields: object) -> Draft:
    return Draft(kind, subject or text, text, 1_000, ("e1",), **fields)  # type: ignore[arg-type]


def replaced(store: Store, session: Session, *drafts: Draft, tier: Tier = Tier.RULES) -> None:
    with store.transaction():
        store.memories.replace(session, drafts, tier, "t1")


def owners(store: Store, *terms: str, project: str | None = SHOP.id) -> list[str]:
    return [found.owner for found in store.passages.search([f'"{t}"' for t in terms], project, 50)]


class TestMemories:
    def test_distilling_again_gives_the_same_ids_and_removes_what_is_gone(
        self, store: Store, session: Session
    ) -> None:
        replaced(store, session, draft(MemoryKind.DECISION, "use redis"), draft(MemoryKind.LESSON, "pin it"))
        before = {m.text: m.id for m in store.memories.of_session(session.id)}
        replaced(store, session, draft(MemoryKind.DECISION, "use Redis 7", "use redis"))
        (after,) = store.memories.of_session(session.id)
        assert after.id == before["use redis"]
        assert after.text == "use Redis 7"
        assert owners(store, "pin") == []
        assert owners(store, "redis") == [after.id]

    def test_a_memory_names_the_events_it_rests_on(self, store: Store, session: Session) -> None:
        replaced(store, session, replace(draft(MemoryKind.LESSON, "pin it"), sources=("e2", "e1", "e2")))
        (memory,) = store.memories.of_session(session.id)
        assert set(memory.sources) == {"e1", "e2"}
        replaced(store, session, replace(draft(MemoryKind.LESSON, "pin it"), sources=("e3",)))
        assert store.memories.memory(memory.id).sources == ("e3",)  # type: ignore[union-attr]

    def test_tiers_do_not_remove_each_other(self, store: Store, session: Session) -> None:
        with store.transaction():
            mid = store.memories.add(
                session, draft(MemoryKind.FACT, "by hand", auto=False), Tier.VERBATIM, "user"
            )
        replaced(store, session)
        memory = store.memories.memory(mid)
        assert memory is not None
        assert (memory.tier, memory.status) == (Tier.VERBATIM, MemoryStatus.CONFIRMED)

    def test_what_is_derived_says_that_it_is_and_by_what(self, store: Store, session: Session) -> None:
        """CCE-49: what was recorded by rules is marked."""
        replaced(store, session, draft(MemoryKind.DECISION, "use redis", reason="it is fast"))
        (memory,) = store.memories.of_session(session.id)
        assert (memory.status, memory.made_by, memory.tier) == (MemoryStatus.CANDIDATE, "t1", Tier.RULES)

    @pytest.mark.parametrize("forgotten", ["memory", "session"])
    def test_what_was_forgotten_is_not_shown_on_any_road(
        self, store: Store, session: Session, forgotten: str
    ) -> None:
        replaced(store, session, draft(MemoryKind.DECISION, "use redis"))
        (memory,) = store.memories.of_session(session.id)
        with store.transaction():
            store.tombstones.add("memory", [memory.id if forgotten == "memory" else session.id], "asked", 1)
        assert store.memories.memory(memory.id) is None
        assert store.memories.of_session(session.id) == []
        assert store.memories.of_project(SHOP.id, [MemoryKind.DECISION], 9) == []
        assert owners(store, "redis") == []

    def test_rejected_and_superseded_ones_are_not_in_force(self, store: Store, session: Session) -> None:
        replaced(store, session, draft(MemoryKind.DECISION, "use redis"))
        for status in ("rejected", "superseded", "expired"):
            store._connection.execute("UPDATE memories SET status = ?", (status,))
            assert store.memories.of_project(SHOP.id, [MemoryKind.DECISION], 9) == []
            assert bool(owners(store, "redis")) is (status == "superseded"), "history is found, with a label"

    def test_a_projects_memories_come_newest_first_and_pinned_ones_before_all(
        self, store: Store, session: Session
    ) -> None:
        drafts = [replace(draft(MemoryKind.DECISION, f"d{n}"), at=n) for n in range(5)]
        replaced(store, session, *drafts, draft(MemoryKind.LESSON, "other"))
        kinds = [MemoryKind.DECISION]
        assert [m.text for m in store.memories.of_project(SHOP.id, kinds, 3)] == ["d4", "d3", "d2"]
        assert [m.text for m in store.memories.of_project(SHOP.id, kinds, 9, since=3)] == ["d4", "d3"]
        store._connection.execute("UPDATE memories SET pinned = 1 WHERE text = 'd0'")
        assert [m.text for m in store.memories.of_project(SHOP.id, kinds, 2)] == ["d0", "d4"]

    def test_a_sub_agents_memories_stay_out_of_the_projects(self, store: Store) -> None:
        (added,) = put(store, tool("t1", subagent="a1", subagent_type="explorer"))
        child = store.events.session(added.session_id)
        assert child is not None
        replaced(store, child, draft(MemoryKind.DECISION, "hidden"))
        assert store.memories.of_project(SHOP.id, [MemoryKind.DECISION], 9) == []
        assert len(store.memories.of_session(child.id)) == 1


class TestTextIndex:
    def index(self, store: Store) -> int:
        done = 0
        while True:
            with store.transaction():
                step = index_events(store, limit=2)
            if not step:
                return done
            done += step

    def test_events_are_indexed_afterwards_from_where_it_stopped(self, store: Store) -> None:
        put(store, *(tool(f"t{n}", target=f"make target word{n}") for n in range(5)))
        assert store.passages.unindexed() == 5
        assert owners(store, "word3") == []
        assert self.index(store) == 5
        assert store.passages.unindexed() == 0
        assert len(owners(store, "word3")) == 1
        assert self.index(store) == 0

    def test_our_own_words_and_reasoning_are_not_searched(self, store: Store) -> None:
        put(
            store,
            tool("t1", target="echo the brief again", recalled=True),
            event(Kind.REASONED, text="echo the brief again", native_id="r"),
        )
        self.index(store)
        assert owners(store, "echo") == []

    def test_a_search_in_one_project_sees_no_other(self, store: Store) -> None:
        put(store, tool("t1", target="make shared word"))
        other = replace(SHOP, id="p-barn", identity="/barn", name="barn")
        put(store, tool("t2", target="make shared word", session="s2"), project=other)
        self.index(store)
        assert len(owners(store, "shared")) == 1
        assert len(owners(store, "shared", project=None)) == 2

    def test_cleared_it_is_built_again_the_same(self, store: Store, session: Session) -> None:
        replaced(store, session, draft(MemoryKind.DECISION, "use redis"))
        put(store, tool("t1", target="redis-cli flushall"))
        self.index(store)
        before = sorted(owners(store, "redis"))
        with store.transaction():
            store.passages.clear()
        assert owners(store, "redis") == []
        replaced(store, session, draft(MemoryKind.DECISION, "use redis"))
        self.index(store)
        assert sorted(owners(store, "redis")) == before

    @given(st.text(max_size=4_000), st.integers(10, 1_200))
    def test_passages_drop_nothing_but_space_and_keep_to_their_size(self, text: str, size: int) -> None:
        end = 0
        for start, following in passage_bounds(text, size):
            assert start <= end < following <= start + size
            end = following
        assert end == len(text)
        found = list(split_passages(text, size))
        assert found == [
            part for start, end in passage_bounds(text, size) if (part := text[start:end].strip())
        ]
        assert all(0 < len(piece) <= size for piece in found)
        assert len(found) <= 4 * len(text) / size + 1, "overlaps are small"

    def test_they_are_cut_between_words_where_there_are_any(self) -> None:
        text = "alpha beta gamma delta " * 200
        words = set(text.split())
        assert all(set(piece.split()) <= words for piece in split_passages(text))
        assert max(map(len, split_passages(text))) <= PASSAGE_CHARS
