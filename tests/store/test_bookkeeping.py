"""Counters, receipts of spool files and of briefs, transcript marks, tombstones."""

from backstory.store import Store
from backstory.store.records import Injection, Mark, Receipt


def test_counters_add_up_by_day_agent_event_and_name(store: Store) -> None:
    with store.transaction():
        store.counters.add(
            "2026-01-01", {("claude-code", "Stop", "stored"): 2, ("codex", "Stop", "failed"): 1}
        )
        store.counters.add("2026-01-01", {("claude-code", "Stop", "stored"): 3})
        store.counters.add("2026-01-02", {("claude-code", "Stop", "stored"): 1})
    assert store.counters.total("stored") == 6
    assert store.counters.since("2026-01-02") == [("2026-01-02", "claude-code", "Stop", "stored", 1)]
    assert ("2026-01-01", "codex", "Stop", "failed", 1) in store.counters.since()


def test_receipts_are_kept_until_they_are_dropped(store: Store) -> None:
    one, two = Receipt("a", 1, 1), Receipt("a", 1, 2)
    with store.transaction():
        store.spool_receipts.add([one, two, one])
    assert sorted(store.spool_receipts.all(), key=lambda r: r.mtime_ns) == [one, two]
    with store.transaction():
        store.spool_receipts.drop([one])
    assert store.spool_receipts.all() == [two]


def test_a_transcript_is_marked_where_it_was_left(store: Store) -> None:
    assert store.transcript_marks.get("/t.jsonl") is None
    with store.transaction():
        store.transcript_marks.set("/t.jsonl", Mark("s1", 10, 20), 1)
        store.transcript_marks.set("/t.jsonl", Mark("s1", 30, 40, stamp=7, messages=3), 2)
    assert store.transcript_marks.get("/t.jsonl") == Mark("s1", 30, 40, stamp=7, messages=3)
    assert store.transcript_marks.all() == {"/t.jsonl": Mark("s1", 30, 40, stamp=7, messages=3)}


def test_tombstones_stay(store: Store) -> None:
    with store.transaction():
        store.tombstones.add("memory", ["m1", "m2"], "asked", 1)
        store.tombstones.add("memory", ["m1"], "again", 2)
    assert store.tombstones.among(["m1", "m3"]) == {"m1"}


def test_small_values_are_kept(store: Store) -> None:
    assert store.meta.get("x") == ""
    with store.transaction():
        store.meta.set("x", "1")
        store.meta.set("x", "2")
    assert store.meta.get("x") == "2"


class TestBriefs:
    def given(self, store: Store, at: int, source: str, *shown: str) -> None:
        with store.transaction():
            store.briefs.add(Injection("s1", at, source, 100, 25, shown))

    def test_a_receipt_is_kept_once_with_what_was_shown(self, store: Store) -> None:
        for _ in range(2):
            self.given(store, 5, "startup", "m1", "m2")
        assert store.briefs.of_session("s1") == [Injection("s1", 5, "startup", 100, 25, ("m1", "m2"))]
        assert store.briefs.totals() == (1, 25)

    def test_a_compaction_empties_what_the_context_holds(self, store: Store) -> None:
        self.given(store, 1, "startup", "m1")
        self.given(store, 2, "resume", "m2")
        assert set(store.briefs.held_by("s1")) == {"m1", "m2"}
        self.given(store, 3, "compact", "m3")
        assert store.briefs.held_by("s1") == ("m3",)

    def test_a_receipt_of_a_session_that_nobody_knows_yet_is_kept(self, store: Store) -> None:
        self.given(store, 1, "startup", "m1")
        assert store.events.session("s1") is None
        assert store.briefs.held_by("s1") == ("m1",)
