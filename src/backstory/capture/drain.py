"""The drain: from the spool into the store, each file exactly once.

One holder of the worker's lock runs it. A batch of files is read, redacted and committed together with the
receipts of its files; only then are the files released. A kill in between leaves files whose receipts are
there already: they are recognised and not stored again. A file that nobody can make sense of goes to
quarantine, whatever the reason: it never blocks the others. That holds for one that ends the worker, too:
what is at hand is noted before, so that the next worker takes the files of that batch one by one, those that
were at hand alone last, and after three times such a file is put into quarantine unread.
"""
# At thousands of files a second, a Path costs more than reading what it names.
# ruff: noqa: PTH108, PTH116, PTH118, PTH119

import contextlib
import logging
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from backstory import clock, job_limits
from backstory.agents import AGENTS, Agent
from backstory.agents.agent import Unreadable
from backstory.agents.payload_fields import ident
from backstory.capture import note_payload, quarantine
from backstory.capture.privacy import Privacy
from backstory.capture.project_lookup import ProjectLookup
from backstory.capture.spool_state import failure_marks, given_up
from backstory.errors import StoreUnusable
from backstory.failpoints import step
from backstory.hook import spool
from backstory.hook.payload import BadPayload, parse_payload
from backstory.hook.project_identity import session_id
from backstory.hook.regular_file import mtime_ns
from backstory.model import Event, Kind
from backstory.paths import Home
from backstory.settings import Settings
from backstory.store import Store
from backstory.store.job_queue import BRIEF, DISTIL, DRAIN, ENDED, ENDED_MOST, TRANSCRIPT
from backstory.store.records import Arrival, Injection, Receipt
from backstory.store.spool_receipts import RECEIPTS_LOST

log = logging.getLogger(__name__)

BATCH_FILES = 1_000
BATCH_BYTES = 4 * 1024 * 1024
# Who waits longer than this for a worker should hear about it.
LATE_SECONDS = 3_600
# An old file says nothing about what the work tree looks like now.
_DIFFSTAT_SECONDS = 60
_ENDS_TURN = (Kind.TURN_ENDED, Kind.TURN_FAILED, Kind.SESSION_ENDED, Kind.COMPACTING)
# What is noted while several files are at hand.
_SEVERAL = "*"
# Counters that a brief tells the user about, in every project.
_NOTICED = ("failed", "quarantined")

Counts = Counter[tuple[str, str, str]]


@dataclass(slots=True)
class Batch:
    """What one pass has stored; `release` it when its memories are made."""

    receipts: list[Receipt] = field(default_factory=list)
    stored: int = 0


@dataclass(slots=True)
class _Load:
    """A batch on its way into the store."""

    receipts: list[Receipt] = field(default_factory=list)
    arrivals: list[tuple[str, Arrival]] = field(default_factory=list)
    injections: list[Injection] = field(default_factory=list)
    counts: Counts = field(default_factory=Counter)
    at_hand: str = ""

    def add(self, held: "_Load") -> None:
        """Take over what one file held: all of it, after nothing of it has failed."""
        self.arrivals += held.arrivals
        self.injections += held.injections
        self.counts += held.counts


class Drain:
    """Empties the spool of one home into its store."""

    def __init__(self, home: Home, settings: Settings, store: Store, places: ProjectLookup) -> None:
        self._home = home
        self._folder = str(home.spool)
        self._store = store
        self._places = places
        self._privacy = Privacy(settings)
        self._zone = clock.zone(settings.time_zone)
        self._known: set[Receipt] = set()
        self._released: list[Receipt] = []
        self._replays = False
        self._tries: dict[str, int] = {}

    def batches(self) -> Iterator[Batch]:
        """Store what lies in the spool now, batch by batch; the caller releases each."""
        entries = spool.spool_entries(self._folder)
        if known := self._store.spool_receipts.all():
            names = {os.path.basename(entry.path) for entry in entries} | set(failure_marks(self._folder))
            self._released += [receipt for receipt in known if receipt.name not in names]
        self._known = set(known)
        self._replays = bool(self._store.meta.get(RECEIPTS_LOST))
        self._tries = self._store.jobs.tries(DRAIN)
        suspects = [entry for entry in entries if _base(entry) in self._tries]
        others = [entry for entry in entries if _base(entry) not in self._tries] if suspects else entries
        alone = BATCH_FILES if _SEVERAL in self._tries else 0
        singly = [[entry] for entry in others[:alone]]
        for part in (*singly, *_parts(others[alone:]), *([entry] for entry in suspects)):
            yield self._store_batch(part)
        self._forget_tries()
        if failures := self._fail_marks():
            yield failures
        self._drop_receipts()
        if self._replays:  # from here on every file that waits has its receipt
            with self._store.transaction():
                self._store.meta.set(RECEIPTS_LOST, "")

    def release(self, batch: Batch) -> None:
        """Remove the files of a batch: all that they held is stored."""
        for receipt in batch.receipts:
            step("drain.released")
            try:
                os.unlink(f"{self._folder}/{receipt.name}")
            except FileNotFoundError:
                continue
        self._released += batch.receipts

    def _forget_tries(self) -> None:
        """All that ended a worker is through: files that were taken or are gone have no tries any more."""
        if left := self._store.jobs.tries(DRAIN):
            with self._store.transaction():
                self._store.jobs.finished(DRAIN, left)
        self._tries = {}

    def _drop_receipts(self) -> None:
        if self._released:
            with self._store.transaction():
                self._store.spool_receipts.drop(self._released)
            self._released = []

    def _store_batch(self, entries: list[spool.Entry]) -> Batch:
        at_hand = _base(entries[0]) if len(entries) == 1 else _SEVERAL
        with self._store.transaction():
            self._store.jobs.begin(DRAIN, at_hand, clock.now_ms())
        with job_limits.job_limit():
            return self._take_all(entries, at_hand)

    def _take_all(self, entries: list[spool.Entry], at_hand: str) -> Batch:
        load = _Load(at_hand=at_hand)
        for entry in entries:
            self._take(entry, load)
            job_limits.reset_usage()
        step("drain.read")
        try:
            return self._commit(load)
        except StoreUnusable:
            raise
        except Exception as error:
            if len(entries) > 1:  # find the one that cannot be stored
                batches = [self._store_batch([entry]) for entry in entries]
                receipts = [receipt for batch in batches for receipt in batch.receipts]
                return Batch(receipts, sum(batch.stored for batch in batches))
            log.exception("%s cannot be stored", entries[0].path)
            load = _Load(load.receipts, at_hand=at_hand)
            self._quarantine(entries[0], f"{type(error).__name__} when it was stored", load.counts)
            return self._commit(load)

    def _take(self, entry: spool.Entry, load: _Load) -> None:
        """Add what one file holds to the load; leave it where it is while it is still being written."""
        if self._known and (receipt := _receipt(entry)) in self._known:
            load.receipts.append(receipt)
            return
        agent, event = entry.name.agent, entry.name.event
        if (tries := self._tries.get(_base(entry), 0)) >= ENDED_MOST:
            self._quarantine(entry, f"{ENDED}, {tries} times", load.counts, tries == ENDED_MOST)
            load.receipts.append(_receipt(entry))
            return
        step("drain.begun", entry.path)
        data = spool.read_spooled(entry.path)
        if data is None and not given_up(entry):
            return
        try:
            if data is None:
                raise BadPayload("unfinished: the hook was killed before it had written everything")
            held = _Load()
            self._understand(entry, data, held)
        except (BadPayload, Unreadable) as error:
            self._quarantine(entry, error.reason, load.counts)
        except StoreUnusable:
            raise
        except Exception as error:  # one payload's trouble must not stop the others
            log.exception("%s cannot be read", entry.path)
            self._quarantine(entry, f"{type(error).__name__} when it was read", load.counts)
        else:
            load.add(held)
            load.counts[agent, event, "spooled"] += 1
            if time.time() - entry.mtime_ns / 1e9 > LATE_SECONDS:
                load.counts[agent, event, "late"] += 1
        load.receipts += _receipt_of_read(entry, data)

    def _quarantine(self, entry: spool.Entry, reason: str, counts: Counts, readable: bool = True) -> None:
        try:
            put = quarantine.quarantine_file(self._home, entry, reason, self._privacy, readable)
        except MemoryError:
            put = quarantine.quarantine_file(self._home, entry, reason, self._privacy, readable=False)
        if put:
            counts[entry.name.agent, entry.name.event, "quarantined"] += 1

    def _understand(self, entry: spool.Entry, data: bytes, load: _Load) -> None:
        """Parse, read and clean one payload into a load of its own."""
        name = entry.name
        if name.agent == note_payload.USER:
            note = note_payload.read_note(parse_payload(data))
            key = self._store.events.key(note.event)
            load.arrivals.append((name.event, Arrival(note.event, note.project, key)))
            return
        agent = AGENTS.get(name.agent)
        if agent is None:
            raise BadPayload(f"unknown agent {name.agent}")
        payload = parse_payload(data)
        at = min(entry.mtime_ns // 1_000_000, clock.now_ms())  # nothing has happened in the future
        if name.event == spool.RECEIPT:
            load.injections.append(_injection(agent, payload, at))
            return
        events = []
        found = agent.read_hook(name.event, payload, at)
        if not found:
            load.counts[name.agent, name.event, "meaningless"] += 1
            log.info("%s %s: nothing in it is worth an event", name.agent, name.event)
        for event in found:
            if refused := self._privacy.refuses(event, agent.our_tools):
                load.counts[name.agent, name.event, refused] += 1
            else:
                events.append(event)
        if not events:
            return
        keys = [self._store.events.key(event) for event in events]
        clean, body = self._privacy.cleaned(
            events, payload, _plain(data), lambda cleaned: agent.read_hook(name.event, cleaned, at)
        )
        for event, key in zip(clean, keys, strict=True):
            project = self._places.project(event.where.cwd, at)
            native = self._privacy.native(event)
            load.arrivals.append((name.event, Arrival(self._placed(event, body), project, key, native)))
            body = ""  # one copy is enough

    def _placed(self, event: Event, body: str) -> Event:
        where, target = self._places.where(event.where.cwd), event.target
        if event.kind in _ENDS_TURN and time.time() - event.at / 1000 < _DIFFSTAT_SECONDS:
            diffstat = self._places.diffstat(event.where.cwd)
            where = replace(where, dirty=None if diffstat is None else bool(diffstat))
            target = target or diffstat or ""
        return replace(event, where=where, target=target, body=body)

    def _commit(self, load: _Load) -> Batch:
        batch = Batch(load.receipts)
        if not load.receipts and not load.arrivals:
            with self._store.transaction():
                self._store.jobs.finished(DRAIN, [load.at_hand])
            return batch
        now = clock.now_ms()
        counts = load.counts.copy()
        changed: set[str] = set()
        grown: set[str] = set()
        with self._store.transaction():
            arrivals = list(self._without_empty_sessions(load.arrivals, counts))
            added = self._store.events.add([arrival for _, arrival in arrivals], self._replays)
            for (name, arrival), result in zip(arrivals, added, strict=True):
                counts[arrival.event.agent, name, "stored" if result.new else "duplicate"] += 1
                if result.new:
                    batch.stored += 1
                    changed.add(result.session_id)
                    if arrival.event.subagent:  # the parent's story tells what its sub-agents did
                        changed.add(session_id(arrival.event.agent, arrival.event.session))
                    if arrival.event.kind in (*_ENDS_TURN, Kind.SUBAGENT_ENDED):
                        grown.add(result.session_id)
            self._note_places(arrivals, now)
            for injection in load.injections:
                self._store.briefs.add(injection)
            self._ask(TRANSCRIPT, grown, now)
            self._ask(DISTIL, changed, now)
            self._ask(BRIEF, {injection.session_id for injection in load.injections}, now)
            if any(name in _NOTICED for _, _, name in counts):
                self._ask(BRIEF, (project.id for project in self._store.projects.all()), now)
            self._store.jobs.finished(DRAIN, [load.at_hand])
            self._store.spool_receipts.drop(self._released)
            self._store.spool_receipts.add(load.receipts)
            self._store.counters.add(clock.day_of(now, self._zone), counts)
        self._released = []
        step("drain.stored")
        return batch

    def _without_empty_sessions(
        self, arrivals: list[tuple[str, Arrival]], counts: Counts
    ) -> Iterator[tuple[str, Arrival]]:
        """All but ends of sessions that nobody has heard of and that left no transcript to be read."""
        heard: set[str] = set()
        for name, arrival in arrivals:
            event = arrival.event
            sid = session_id(event.agent, event.session)
            known = event.kind is not Kind.SESSION_ENDED or sid in heard or _has_content(event.transcript)
            if known or self._store.events.session(sid) is not None:
                heard.add(sid)
                yield name, arrival
            else:
                counts[event.agent, name, "meaningless"] += 1
                log.info("%s %s: the end of a session that nobody knows", event.agent, name)

    def _ask(self, kind: str, subjects: Iterable[str], now: int) -> None:
        for subject in subjects:
            self._store.jobs.ask(kind, subject, now)

    def _note_places(self, arrivals: list[tuple[str, Arrival]], now: int) -> None:
        seen = {arrival.event.where.cwd: arrival.project for _, arrival in arrivals}
        seen.pop("", None)
        for cwd, project in seen.items():
            self._store.projects.note(replace(project, seen_at=now))
            self._store.projects.note_place(cwd, project.id, now)

    def _fail_marks(self) -> Batch | None:
        """Count what hooks could not do; the marks are removed once they are counted."""
        load = _Load()
        for name in failure_marks(self._folder):
            parsed = spool.parse_fail(name)
            with contextlib.suppress(FileNotFoundError):
                stat = os.lstat(os.path.join(self._folder, name))
                receipt = Receipt(name, stat.st_ino, mtime_ns(stat))
                if parsed is not None and receipt not in self._known:
                    agent, event, reason = parsed
                    # without an interpreter the event itself was captured all the same
                    load.counts[agent, event, "failed" if agent else "not_woken"] += 1
                    log.warning("a hook failed: %s %s (%s)", agent or "-", event or "-", reason)
                load.receipts.append(receipt)
        return self._commit(load) if load.receipts else None


def _parts(entries: list[spool.Entry]) -> Iterator[list[spool.Entry]]:
    """The entries in batches that fit into memory and into one transaction."""
    part: list[spool.Entry] = []
    size = 0
    for entry in entries:
        if part and (len(part) >= BATCH_FILES or size + entry.size > BATCH_BYTES):
            yield part
            part, size = [], 0
        part.append(entry)
        size += entry.size
    if part:
        yield part


def _receipt_of_read(entry: spool.Entry, data: bytes | None) -> list[Receipt]:
    """The trailer may have been written after the folder was listed: the receipt is of what was read."""
    if data is not None and len(data) + len(spool.TRAILER) == entry.size:
        return [_receipt(entry)]
    try:
        stat = os.stat(entry.path)
    except FileNotFoundError:
        return []
    return [Receipt(os.path.basename(entry.path), stat.st_ino, mtime_ns(stat))]


def _base(entry: spool.Entry) -> str:
    return os.path.basename(entry.path)


def _receipt(entry: spool.Entry) -> Receipt:
    return Receipt(_base(entry), entry.inode, entry.mtime_ns)


def _has_content(path: str) -> bool:
    try:
        return bool(path) and os.stat(path).st_size > 0
    except (OSError, ValueError):
        return False


def _plain(data: bytes) -> str:
    """The payload's text, or "" if it is not plain UTF-8 and redaction could be fooled by it."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return ""
    return "" if "\0" in text else text


def _injection(agent: Agent, payload: dict[str, object], at: int) -> Injection:
    def number(key: str, default: int = 0) -> int:
        value = payload.get(key)
        return value if isinstance(value, int) and 0 <= value < 2**62 else default

    native, shown = ident(payload.get("session_id")), payload.get("shown")
    if not native:
        raise BadPayload("a receipt without a session")
    if subagent := ident(payload.get("agent_id")):
        native = f"{native}/{subagent}"  # a context of its own
    ids = tuple(item for item in shown if isinstance(item, str)) if isinstance(shown, list) else ()
    return Injection(
        session_id(agent.name, native),
        number("at", at),
        str(payload.get("source", "")),
        number("chars"),
        number("tokens"),
        ids,
    )
