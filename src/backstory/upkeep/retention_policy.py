"""What has grown old leaves the database: into an archive first, then for good. All of it is off by default.

Once a day, when the worker has nothing else to do, in steps of a few hundred rows; as soon as something waits
in the spool it makes way and goes on another time. Memories survive the events that they were made of. Free
pages go back to the disk when they are many.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from backstory import clock
from backstory.errors import StoreUnusable
from backstory.failpoints import step
from backstory.model import MemoryKind
from backstory.paths import Home
from backstory.settings import Settings
from backstory.store import Store
from backstory.store.records import DatabaseSize, OldRows
from backstory.upkeep import disk_usage
from backstory.upkeep.event_archive import Archive

log = logging.getLogger(__name__)
DAY_MS = 86_400_000
_STEP = 200
_SESSIONS = 50
_FOREVER = 2**62
# Worth rewriting the file for: a quarter of it, and as many bytes.
WORTH_PART, WORTH_BYTES = 0.25, 50_000_000
_DONE = "retention"

Drop = Callable[[tuple[object, ...]], None]


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many rows went into the archive, and whether the pass came to its end."""

    rows: int
    whole: bool


def prune_expired(home: Home, settings: Settings, store: Store, interrupted: Callable[[], bool]) -> Pruned:
    """Archive and delete what is older than the settings say, unless that was done today already."""
    now = clock.now_ms()
    today = f"{clock.day_of(now)} {_ages(settings)}"
    if store.meta.get(_DONE) == today:
        return Pruned(0, whole=True)
    archive = Archive(home, store.row_export.head())
    rows = 0
    for old, drop in _steps(store, settings, now):
        archive.add(old.rows)  # on the disk before anything is deleted
        with store.transaction():
            drop(old.numbers)
        step("retention.dropped")
        rows += len(old.numbers)
        if interrupted():
            return Pruned(rows, whole=False)
    if rows:
        log.info("archived %d rows that had grown old", rows)
    if worth_compacting(store.retention.room()):
        _compact(store)
    with store.transaction():
        store.meta.set(_DONE, today)
        disk_usage.record_payload_sizes(store)
    return Pruned(rows, whole=True)


def _ages(settings: Settings) -> str:
    """The settings that a pass was made with: changed, they count from now on, not from tomorrow."""
    return " ".join(
        str(days)
        for days in (
            settings.retention_payload_days,
            settings.retention_event_days,
            settings.retention_digest_days,
            settings.retention_decision_days,
            settings.retention_max_mb,
        )
    )


def _steps(store: Store, settings: Settings, now: int) -> Iterator[tuple[OldRows, Drop]]:
    """A few rows at a time, and what deletes them; each step is asked for when the last one is done."""
    old = store.retention
    if days := settings.retention_event_days:
        yield from _events(store, now - days * DAY_MS)
    for days, kind in (
        (settings.retention_digest_days, MemoryKind.TURN),
        (settings.retention_decision_days, MemoryKind.DECISION),
    ):
        while days and (found := old.memories(kind, now - days * DAY_MS, _STEP)).numbers:
            yield found, old.drop_memories
    if days := settings.retention_payload_days:
        yield from _payloads(store, now - days * DAY_MS, lambda: True)
    if settings.retention_max_mb:
        limit = settings.retention_max_mb * 1_000_000
        yield from _payloads(store, _FOREVER, lambda: _used(old.room()) > limit)


def _events(store: Store, before: int) -> Iterator[tuple[OldRows, Drop]]:
    old = store.retention
    while sids := old.sessions(before, _SESSIONS):
        for sid in sids:
            while (found := old.events(sid, _STEP)).numbers:
                yield found, old.drop_events


def _payloads(store: Store, before: int, more: Callable[[], bool]) -> Iterator[tuple[OldRows, Drop]]:
    old, after = store.retention, (0, 0)
    while more() and (found := old.payloads(before, after, _STEP)).numbers:
        yield found, old.drop_payloads
        after = found.last


def _used(file: DatabaseSize) -> int:
    return file.size - file.free


def worth_compacting(file: DatabaseSize) -> bool:
    """Whether so much of the file is free that rewriting it is worth the while."""
    return file.free > WORTH_BYTES and file.free > WORTH_PART * file.size


def _compact(store: Store) -> None:
    before = store.retention.room().size
    try:
        store.retention.compact()
    except StoreUnusable as error:  # no space for the copy, or somebody is writing: another day
        log.warning("the database was not made smaller: %s", error)
    else:
        log.info("the database went from %d to %d bytes", before, store.retention.room().size)
