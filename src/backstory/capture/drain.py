"""The drain: from the spool into the store, each file exactly once.

One holder of the worker's lock runs it. A batch of files is read, redacted and committed together with the
receipts of its files; only then are the files released. A kill in between leaves files whose receipts are
there already: they are recognised and not stored again.
"""

import contextlib
import fnmatch
import logging
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from backstory import clock
from backstory.agents import AGENTS, Agent
from backstory.agents.agent import Unreadable
from backstory.capture import quarantine
from backstory.capture.places import Places
from backstory.capture.privacy import Privacy
from backstory.hook import spool
from backstory.hook.identity import session_id
from backstory.hook.payload import BadPayload, parse
from backstory.model import Event, Kind
from backstory.paths import Home
from backstory.settings import Settings
from backstory.store import Store
from backstory.store.protocol import Added, Arrival, Injection, Receipt

log = logging.getLogger(__name__)

BATCH_FILES = 1_000
BATCH_BYTES = 4 * 1024 * 1024
# A file without its trailer may still be being written for as long as an agent lets a hook run.
UNFINISHED_SECONDS = 60
# An old file says nothing about what the work tree looks like now.
_DIFFSTAT_SECONDS = 60
_ENDS_TURN = (Kind.TURN_ENDED, Kind.TURN_FAILED, Kind.SESSION_ENDED, Kind.COMPACTING)
_TRANSCRIPT_GREW = (*_ENDS_TURN, Kind.SUBAGENT_ENDED)


@dataclass(slots=True)
class Batch:
    """What one pass has stored; `release` it when its memories are made."""

    receipts: list[Receipt] = field(default_factory=list)
    sessions: set[str] = field(default_factory=set)
    stored: int = 0


class Drain:
    """Empties the spool of one home into its store."""

    def __init__(self, home: Home, settings: Settings, store: Store, places: Places) -> None:
        self._home = home
        self._store = store
        self._places = places
        self._privacy = Privacy(settings)
        self._skipped_tools = settings.capture_skip_tools

    def batches(self) -> Iterator[Batch]:
        """Store what lies in the spool now, batch by batch; the caller releases each."""
        self._drop_old_receipts()
        entries = spool.entries(str(self._home.spool))
        start = 0
        while start < len(entries):
            end, size = start, 0
            while end < len(entries) and end - start < BATCH_FILES and (size < BATCH_BYTES or end == start):
                size += entries[end].size
                end += 1
            batch = self._store_batch(entries[start:end])
            start = end
            yield batch
        if marks := self._fail_marks():
            yield marks

    def release(self, batch: Batch) -> None:
        """Remove the files of a batch: all that they held is stored."""
        for receipt in batch.receipts:
            with contextlib.suppress(FileNotFoundError):
                (self._home.spool / receipt.name).unlink()

    def _drop_old_receipts(self) -> None:
        gone = [r for r in self._store.books.receipts() if not (self._home.spool / r.name).exists()]
        if gone:
            with self._store.transaction():
                self._store.books.drop_receipts(gone)

    def _store_batch(self, entries: list[spool.Entry]) -> Batch:
        batch = Batch()
        counts: Counter[tuple[str, str, str]] = Counter()
        arrivals: list[tuple[str, Arrival]] = []
        injections: list[Injection] = []
        for entry in entries:
            receipt = Receipt(os.path.basename(entry.path), entry.inode, entry.mtime_ns)
            key = (entry.name.agent, entry.name.event)
            if self._store.books.has_receipt(receipt):
                batch.receipts.append(receipt)
                continue
            try:
                data = spool.read(entry.path)
                if data is None:
                    if not self._given_up(entry):
                        continue
                    raise BadPayload("unfinished: the hook was killed before it had written everything")
                events, injection = self._read(entry, data, counts)
            except (BadPayload, Unreadable) as error:
                self._quarantine(entry, str(error))
                counts[*key, "quarantined"] += 1
            else:
                arrivals += [(entry.name.event, arrival) for arrival in events]
                if injection is not None:
                    injections.append(injection)
                counts[*key, "spooled"] += 1
            batch.receipts.append(receipt)
        self._commit(batch, arrivals, injections, counts)
        return batch

    def _given_up(self, entry: spool.Entry) -> bool:
        return Path(entry.path).exists() and time.time() - entry.mtime_ns / 1e9 > UNFINISHED_SECONDS

    def _quarantine(self, entry: spool.Entry, reason: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            path = Path(entry.path)
            quarantine.put(self._home, path, path.read_bytes(), reason, self._privacy)

    def _read(
        self, entry: spool.Entry, data: bytes, counts: Counter[tuple[str, str, str]]
    ) -> tuple[list[Arrival], Injection | None]:
        name = entry.name
        agent = AGENTS.get(name.agent)
        if agent is None:
            raise BadPayload(f"unknown agent {name.agent}")
        payload = parse(data)
        at = entry.mtime_ns // 1_000_000
        if name.event == spool.RECEIPT:
            return [], _injection(agent, payload, at)
        raw = data.decode("utf-8", "replace")
        arrivals = []
        for event in agent.read_hook(name.event, payload, at):
            if self._privacy.ignores_folder(event.where.cwd):
                counts[name.agent, name.event, "ignored"] += 1
            elif self._skips(agent, event):
                counts[name.agent, name.event, "skipped"] += 1
            else:
                key = self._store.events.key(event)
                clean = self._privacy.cleaned(event, payload, raw)
                arrivals.append(Arrival(self._placed(clean), self._places.project(clean.where.cwd, at), key))
                raw, payload = ("", {}) if len(arrivals) == 1 else (raw, payload)
        return arrivals, None

    def _skips(self, agent: Agent, event: Event) -> bool:
        return bool(event.tool) and any(
            fnmatch.fnmatch(event.tool, glob) for glob in (*agent.our_tools, *self._skipped_tools)
        )

    def _placed(self, event: Event) -> Event:
        where = self._places.where(event.where.cwd)
        if event.kind in _ENDS_TURN and time.time() - event.at / 1000 < _DIFFSTAT_SECONDS:
            diffstat = self._places.diffstat(event.where.cwd)
            where = replace(where, dirty=None if diffstat is None else bool(diffstat))
            return replace(event, where=where, target=event.target or diffstat or "")
        return replace(event, where=where)

    def _commit(
        self,
        batch: Batch,
        arrivals: list[tuple[str, Arrival]],
        injections: list[Injection],
        counts: Counter[tuple[str, str, str]],
    ) -> None:
        if not batch.receipts:
            return
        now = clock.now_ms()
        with self._store.transaction():
            added = self._store.events.add([arrival for _, arrival in arrivals])
            for (name, arrival), result in zip(arrivals, added, strict=True):
                counts[arrival.event.agent, name, "stored" if result.new else "duplicate"] += 1
                if result.new:
                    batch.stored += 1
                    self._ask_for_work(arrival, result, now)
                    batch.sessions.add(result.session_id)
            self._note_places(arrivals, now)
            for injection in injections:
                if self._store.events.session(injection.session_id) is not None:
                    self._store.briefs.add(injection)
                    batch.sessions.add(injection.session_id)
            self._store.books.add_receipts(batch.receipts)
            self._store.books.count(clock.day_of(now), counts)

    def _note_places(self, arrivals: list[tuple[str, Arrival]], now: int) -> None:
        seen = {arrival.event.where.cwd: arrival.project for _, arrival in arrivals if arrival.event.where.cwd}
        for cwd, project in seen.items():
            self._store.events.note_project(replace(project, seen_at=now))
            self._store.events.note_place(cwd, project.id, now)

    def _ask_for_work(self, arrival: Arrival, added: Added, now: int) -> None:
        self._store.jobs.ask("distil", added.session_id, now)
        if arrival.event.kind in _TRANSCRIPT_GREW:
            self._store.jobs.ask("transcript", added.session_id, now)

    def _fail_marks(self) -> Batch | None:
        """Count what hooks could not do; the marks are removed once they are counted."""
        counts: Counter[tuple[str, str, str]] = Counter()
        batch = Batch()
        try:
            files = sorted(self._home.spool.glob("*.fail"))
        except OSError:
            return None
        for path in files:
            parsed = spool.parse_fail(path.name)
            with contextlib.suppress(FileNotFoundError):
                stat = path.lstat()
                receipt = Receipt(path.name, stat.st_ino, stat.st_mtime_ns)
                if parsed is not None and not self._store.books.has_receipt(receipt):
                    agent, event, reason = parsed
                    counts[agent, event, "failed"] += 1
                    log.warning("a hook failed: %s %s (%s)", agent or "-", event or "-", reason)
                batch.receipts.append(receipt)
        self._commit(batch, [], [], counts)
        return batch if batch.receipts else None


def _injection(agent: Agent, payload: dict[str, object], at: int) -> Injection:
    def number(key: str, default: int = 0) -> int:
        value = payload.get(key)
        return value if isinstance(value, int) else default

    native, shown = payload.get("session_id"), payload.get("shown")
    if not isinstance(native, str):
        raise BadPayload("a receipt without a session")
    ids = tuple(item for item in shown if isinstance(item, str)) if isinstance(shown, list) else ()
    return Injection(
        session_id(agent.name, native),
        number("at", at),
        str(payload.get("source", "")),
        number("chars"),
        number("tokens"),
        ids,
    )
