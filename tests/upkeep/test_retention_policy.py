"""What has grown old leaves for the archive; off by default, archive first, memories stay."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backstory import settings, worker_loop
from backstory.app import App
from backstory.hook.redact import Redactor
from backstory.model import MemoryKind
from backstory.store.records import DatabaseSize
from backstory.upkeep import disk_usage, event_archive, retention_policy
from tests.story import House, Story

from .conftest import lived

DAY_NS = 86_400 * 10**9


def later(monkeypatch: pytest.MonkeyPatch, days: float) -> None:
    """From now on it is so many days later."""
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() + int(days * DAY_NS))


def prunes(house: House, interrupted: bool = False) -> retention_policy.Pruned:
    chosen, problems = settings.load_settings(house.home)
    assert not problems
    return retention_policy.prune_expired(house.home, chosen, house.store, lambda: interrupted)


def payloads(house: House, story: Story) -> list[str | None]:
    return [house.store.events.payload(stored.id) for stored in house.stored(story)]


def archived(house: House) -> list[dict[str, object]]:
    return [
        json.loads(line)
        for path in event_archive.list_archives(house.home)
        for line in event_archive.archive_lines(path)
    ]


def test_by_default_nothing_ever_leaves(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """CCE-67, CCE-68: off by default."""
    story = lived(house)
    before = payloads(house, story)
    later(monkeypatch, 4_000)
    assert prunes(house).rows == 0
    assert payloads(house, story) == before
    assert event_archive.list_archives(house.home) == []


def test_cce_67_payloads_leave_and_what_they_said_is_still_found(
    house: House, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CCE-67: raw payloads older than the setting are emptied while everything stays searchable."""
    old = lived(house)
    before = [body for body in payloads(house, old) if body]
    assert before
    house.sets("retention.payload_days", "30")
    assert prunes(house).rows == 0, "nothing is old yet"
    later(monkeypatch, 31)
    fresh = lived(house, "red panda")
    assert prunes(house) == retention_policy.Pruned(len(before), whole=True)
    assert not any(payloads(house, old))
    assert any(payloads(house, fresh))
    kept = [row["payload"] for row in archived(house) if row.get("table") == "events"]
    assert sorted(kept) == sorted(before)  # type: ignore[type-var]
    assert app.search("blue whale", None).hits
    assert {m.kind for m in house.store.memories.of_session(old.id)} >= {
        MemoryKind.SUMMARY,
        MemoryKind.DECISION,
    }


def test_cce_68_events_leave_and_memories_stay(
    house: House, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CCE-68: rows go into a JSON file before they are deleted; memories survive, also a rebuild."""
    old = lived(house)
    events = house.stored(old)
    house.sets("retention.event_days", "180")
    later(monkeypatch, 181)
    fresh = lived(house, "red panda")
    memories = house.store.memories.of_session(old.id)
    assert prunes(house).rows == len(events)
    assert house.stored(old) == []
    assert house.stored(fresh)
    assert {row["id"] for row in archived(house) if row.get("table") == "events"} == {e.id for e in events}
    assert house.store.memories.of_session(old.id) == memories
    house.rebuilds()
    assert house.store.memories.of_session(old.id) == memories
    assert any("blue whale" in hit.text for hit in app.search("blue whale", None).hits)
    [path] = event_archive.list_archives(house.home)
    house.close()
    new, same_key = app.import_export(path)
    assert (new["events"], same_key) == (len(events), True)
    assert [e.id for e in house.stored(old)] == [e.id for e in events]


def test_a_session_that_is_resumed_after_its_events_left_keeps_its_memories(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = lived(house)
    turns = [m for m in house.store.memories.of_session(story.id) if m.kind is MemoryKind.TURN]
    house.sets("retention.event_days", "180")
    later(monkeypatch, 181)
    prunes(house)
    story.starts("resume").prompts("And the grey seal?").stops("It is grey.")
    house.works()
    after = [m for m in house.store.memories.of_session(story.id) if m.kind is MemoryKind.TURN]
    assert [m.text for m in turns] == [m.text for m in after[: len(turns)]]
    assert len(after) == len(turns) + 1


@pytest.mark.parametrize(
    ("key", "kind"),
    [("retention.digest_days", MemoryKind.TURN), ("retention.decision_days", MemoryKind.DECISION)],
)
def test_cce_68_digests_and_decisions_leave_only_if_asked_to(
    house: House, monkeypatch: pytest.MonkeyPatch, key: str, kind: MemoryKind
) -> None:
    """CCE-68: each kind has its own time to live; the others stay."""
    story = lived(house)
    before = {m.id: m.kind for m in house.store.memories.of_session(story.id)}
    house.sets(key, "365")
    later(monkeypatch, 366)
    assert prunes(house).rows == sum(found is kind for found in before.values()) > 0
    left = {m.id: m.kind for m in house.store.memories.of_session(story.id)}
    assert left == {mid: found for mid, found in before.items() if found is not kind}
    assert {row["id"] for row in archived(house) if row.get("table") == "memories"} == before.keys() - left


def test_what_a_person_said_to_remember_never_leaves(
    house: House, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = app.remember("The blue whale is in tank 4", house.project)
    for name in ("payload", "event", "digest", "decision"):
        house.sets(f"retention.{name}_days", "1")
    later(monkeypatch, 400)
    assert prunes(house).rows == 0
    assert house.store.memories.memory(note.id) == note
    assert house.store.events.event(note.sources[0])


def test_cce_69_nothing_is_deleted_if_the_archive_cannot_be_written(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CCE-69."""
    story = lived(house)
    before = payloads(house, story)
    house.sets("retention.payload_days", "30")
    house.sets("retention.event_days", "30")
    later(monkeypatch, 31)
    house.home.archive.write_text("in the way")
    with pytest.raises(OSError, match="archive"):
        prunes(house)
    assert payloads(house, story) == before


def test_cce_69_the_archive_is_on_the_disk_first(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """CCE-69: what deletes finds it there already, written and synced."""
    lived(house)
    house.sets("retention.payload_days", "30")
    later(monkeypatch, 31)
    synced: list[int] = []
    real = os.fsync

    def watched_sync(fd: int) -> None:
        real(fd)
        synced.append(os.fstat(fd).st_ino)

    monkeypatch.setattr(os, "fsync", watched_sync)
    drop = type(house.store.retention).drop_payloads

    def watched(self: object, rows: tuple[int, ...]) -> None:
        [path] = event_archive.list_archives(house.home)
        assert path.stat().st_ino in synced
        assert len([row for row in archived(house) if row.get("table") == "events"]) == len(rows)
        drop(self, rows)  # type: ignore[arg-type]

    monkeypatch.setattr(type(house.store.retention), "drop_payloads", watched)
    assert prunes(house).rows > 0


@pytest.mark.parametrize("struck", ["retention.archived", "retention.dropped"])
def test_cce_69_a_worker_killed_at_a_step_loses_nothing(house: House, app: App, struck: str) -> None:
    """CCE-69: the next one finishes; a torn last piece is no loss, its rows are still in the database."""
    story = lived(house)
    events = {stored.id for stored in house.stored(story)}
    bodies = {stored.id: house.store.events.payload(stored.id) for stored in house.stored(story)}
    house.sets("retention.payload_days", "30")
    house.sets("worker.linger_seconds", "0")
    house.close()

    def works(**more: str) -> int:
        """A worker 40 days from now: for it, everything is older."""
        code = (
            "import time; real = time.time_ns; time.time_ns = lambda: real() + 40 * 86400 * 10**9\n"
            f"from backstory.worker import main; main([{str(house.home.root)!r}])"
        )
        return subprocess.run([sys.executable, "-c", code], env={**os.environ, **more}).returncode

    assert works(BACKSTORY_STRIKE=f"{struck}=KILL") == -signal.SIGKILL
    if struck == "retention.archived":
        [path] = event_archive.list_archives(house.home)
        whole = path.read_bytes()
        path.write_bytes(whole[:-9])
    assert works() == 0
    found = {row["id"]: row["payload"] for row in archived(house) if row.get("table") == "events"}
    assert found == {eid: body for eid, body in bodies.items() if body}
    assert {stored.id for stored in house.stored(story)} == events
    assert not any(payloads(house, story))


def test_cce_70_it_makes_way_when_something_waits_and_goes_on_later(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CCE-70: cancellable, in small steps."""
    monkeypatch.setattr(retention_policy, "_STEP", 2)
    story = lived(house)
    all_of_them = sum(body is not None for body in payloads(house, story))
    house.sets("retention.payload_days", "30")
    later(monkeypatch, 31)
    assert prunes(house, interrupted=True) == retention_policy.Pruned(2, whole=False)
    assert prunes(house) == retention_policy.Pruned(all_of_them - 2, whole=True)


def test_cce_70_it_runs_in_the_worker_once_a_day(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """CCE-70: daily; changed settings count at once."""
    passes: list[int] = []
    real = retention_policy._steps

    def counted(*rest: Any) -> Iterator[Any]:
        passes.append(1)
        yield from real(*rest)

    monkeypatch.setattr(retention_policy, "_steps", counted)
    lived(house)
    house.close()
    for _ in range(3):
        worker_loop.run_rounds(house.home, linger=0)
    assert len(passes) == 1
    house.sets("retention.payload_days", "30")
    worker_loop.run_rounds(house.home, linger=0)
    assert len(passes) == 2
    later(monkeypatch, 1.5)
    worker_loop.run_rounds(house.home, linger=0)
    assert len(passes) == 3


def test_cce_70_capture_goes_on_while_old_things_leave(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """CCE-70: what hooks leave in the middle of a pass is stored before the pass goes on."""
    monkeypatch.setattr(retention_policy, "_STEP", 1)
    lived(house)
    house.sets("retention.payload_days", "30")
    later(monkeypatch, 31)
    late = house.session()
    real = event_archive.Archive.add

    def add(self: event_archive.Archive, rows: object) -> None:
        real(self, rows)  # type: ignore[arg-type]
        if not house.spooled() and len(event_archive.list_archives(house.home)) == 1:
            late.prompts("What about the grey seal?")

    monkeypatch.setattr(event_archive.Archive, "add", add)
    house.close()
    worker_loop.run_rounds(house.home, linger=0)
    assert house.events(late)
    assert not house.spooled()


def test_a_size_limit_lets_the_oldest_payloads_go_first(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = lived(house), lived(house, "red panda")
    house.sets("retention.max_mb", "1")
    monkeypatch.setattr(retention_policy, "_STEP", 3)
    rooms = iter(
        [
            DatabaseSize(2_000_000, 0),
            DatabaseSize(2_000_000, 999_999),
            DatabaseSize(2_000_000, 1_500_000),
            DatabaseSize(1, 0),
        ]
    )
    monkeypatch.setattr(type(house.store.retention), "room", lambda self: next(rooms))
    assert prunes(house).rows == 6
    assert payloads(house, first)[:6] == [None] * 6
    assert any(payloads(house, second))


@pytest.mark.parametrize(
    ("size", "free", "worth"),
    [(1_000, 900, False), (10**9, 60_000_000, False), (10**8, 60_000_000, True), (10**8, 20_000_000, False)],
)
def test_the_file_is_rewritten_only_when_much_of_it_is_free(size: int, free: int, worth: bool) -> None:
    assert retention_policy.worth_compacting(DatabaseSize(size, free)) is worth


def test_free_pages_go_back_to_the_disk(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention_policy, "WORTH_BYTES", 100_000)
    story = house.session().starts()
    for number in range(40):
        story.runs(f"hexdump {number}", os.urandom(8_000).hex())
    house.works()
    house.sets("retention.event_days", "30")
    later(monkeypatch, 31)
    before = house.store.retention.room().size
    prunes(house)
    after = house.store.retention.room()
    assert after.size < before / 2
    assert after.free < after.size / 4


def test_an_archive_is_its_owners_alone(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    lived(house)
    house.sets("retention.payload_days", "1")
    later(monkeypatch, 2)
    prunes(house)
    [path] = event_archive.list_archives(house.home)
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def words_in_archives(house: House, words: str) -> list[Path]:
    return [
        p
        for p in event_archive.list_archives(house.home)
        if words.encode() in gzip.decompress(p.read_bytes())
    ]


@pytest.mark.parametrize("key", ["retention.payload_days", "retention.event_days"])
@pytest.mark.parametrize("by", ["text", "session", "since", "project"])
def test_forgetting_reaches_into_the_archive(
    house: House, app: App, monkeypatch: pytest.MonkeyPatch, key: str, by: str
) -> None:
    story, other = lived(house), lived(house, "red panda")
    project_id = house.row(story).project_id
    house.sets(key, "1")
    later(monkeypatch, 2)
    prunes(house)
    assert words_in_archives(house, "blue whale")
    house.close()
    wanted = {
        "text": app.wanted([], text="blue whale"),
        "session": app.wanted([story.id]),
        "since": app.wanted([], since=0),
        "project": app.wanted([], project_id=project_id),
    }[by]
    plan = app.forget(wanted, really=False)
    assert plan.archives == tuple(event_archive.list_archives(house.home))
    app.forget(wanted, really=True)
    app.close()
    assert words_in_archives(house, "blue whale") == []
    assert house.found_in_home("blue whale") == []
    left = bool(words_in_archives(house, "red panda"))
    assert left is (by in ("text", "session")), "the rest stays where it is"
    if left:
        assert house.store.memories.of_session(other.id)
    path = next(iter(event_archive.list_archives(house.home)), None)
    if path:
        house.close()
        app.import_export(path)
        assert house.found_in_home("blue whale") == []


def test_a_memory_that_is_forgotten_takes_its_archived_events_along(
    house: House, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = lived(house)
    [decision] = [m for m in house.store.memories.of_session(story.id) if m.kind is MemoryKind.DECISION]
    house.sets("retention.event_days", "1")
    later(monkeypatch, 2)
    prunes(house)
    house.close()
    app.forget(app.wanted([decision.id]), really=True)
    kept = {row["id"] for row in archived(house) if row.get("table") == "events"}
    assert kept
    assert not kept & set(decision.sources)


def test_scrubbing_reaches_into_the_archive(house: House, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    with monkeypatch.context() as before_the_rule:
        before_the_rule.setattr(Redactor, "redact", lambda self, text: text)
        lived(house, secret)
    house.sets("retention.event_days", "1")
    later(monkeypatch, 2)
    prunes(house)
    house.close()
    head = archived(house)[0]
    assert words_in_archives(house, secret)
    assert app.scrub(really=False).files
    assert words_in_archives(house, secret)
    app.scrub(really=True)
    assert words_in_archives(house, secret) == []
    assert archived(house)[0] == head, "what its ids were made with is no secret of a session"


def test_new_events_are_indexed_after_the_newest_were_deleted(house: House, app: App) -> None:
    """The database gives the numbers of deleted rows again; the index must not take them for its own."""
    story = lived(house)
    house.close()
    app.forget(app.wanted([story.id]), really=True)
    fresh = house.session().starts().prompts("Weigh the grey seal")
    house.works()
    assert house.store.passages.unindexed() == 0
    [prompt] = [stored.id for stored in house.stored(fresh) if stored.event.text]
    assert prompt in [hit.id for hit in app.search("grey seal", None).hits]


def test_a_payload_that_left_is_told_from_one_that_never_was(
    house: House, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived(house)
    house.sets("retention.payload_days", "1")
    later(monkeypatch, 2)
    prunes(house)
    sizes = app.status().sizes
    assert sizes["payloads"] == 0
    assert (
        sizes["archive"] == sum(path.stat().st_size for path in event_archive.list_archives(house.home)) > 0
    )


def test_status_says_what_could_be_freed(house: House, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    lived(house)
    later(monkeypatch, 31)
    status = app.status()
    assert status.sizes["database"] == house.home.database.stat().st_size
    assert status.freeable["payloads older than 30 days"] == status.sizes["payloads"] > 0


def test_of_a_large_database_status_tells_what_the_worker_summed_up(
    house: House, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Summing up reads every payload: not while somebody waits for `status`."""
    monkeypatch.setattr(disk_usage, "_LARGE", 0)
    lived(house)
    assert app.status().sizes["payloads"] == 0, "nothing is known yet"
    prunes(house)
    noted = app.status().sizes["payloads"]
    assert noted == house.store.retention.payload_bytes(0)[0] > 0
    lived(house, "red panda")
    assert app.status().sizes["payloads"] == noted
