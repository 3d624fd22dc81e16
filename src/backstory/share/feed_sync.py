"""One feed brought up to date: what is to be forgotten buried, the difference pushed, the rest pulled.

State, not log: what is pushed is the difference between what may leave now and what the server has
acknowledged, so a kill at any point costs only a repetition. What is pulled is applied together with the
cursor in one transaction, and an answer to an older question is dropped. A buried id is never applied,
whoever sends it. When a feed is read to its end, both sides compare how many rows and graves there are and
the sum of their marks; if that differs, it is read from its beginning, at most once an hour.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard

from backstory import clock
from backstory.attribution import OWN_MACHINE
from backstory.capture.privacy import Privacy
from backstory.failpoints import step
from backstory.model import Project
from backstory.settings import Settings
from backstory.share.incoming_rows import TEAM, shared_memory
from backstory.share.outgoing_rows import Outgoing, Withdrawn, rows_to_share, wire_ids
from backstory.share.team_client import TeamClient, TeamTrouble
from backstory.store import Store
from backstory.store.feeds import BURY, REFUSED, SENT, Feed, ReceivedRow, SentRow
from backstory.store.job_queue import BRIEF, SUPERSEDE
from backstory.team_membership import Membership
from backstory.team_wire import (
    BURIED,
    MOST_BYTES,
    MOST_ROWS,
    OWN_LANE,
    Proof,
    Refused,
    Row,
    mark,
    read_id,
    read_row,
)

_HOUR_MS = 3_600_000
_MOST_PAGES = 2_000
_BATCH_BYTES = MOST_BYTES * 9 // 10  # what stands around the rows, too, must fit


class Synced(NamedTuple):
    """What one turn did: rows that were pushed, refused, applied; whether both sides have the same."""

    pushed: int = 0
    refused: int = 0
    applied: int = 0
    proved: bool = False


class FeedSync:
    """Brings the feeds of one home up to date, as the device that it is."""

    def __init__(self, store: Store, settings: Settings, membership: Membership, client: TeamClient) -> None:
        self._store = store
        self._settings = settings
        self._membership = membership
        self._client = client
        self._clean = Privacy(settings).text

    def run(self, name: str) -> Synced:
        """Push, then pull to the end, then compare; raises `TeamTrouble` with whatever stands in the way."""
        feed = self._feed(name)
        pushed, refused = self._push(feed)
        applied, proof, there = self._pull(name)
        proved = self._prove(name, proof)
        with self._store.transaction():
            self._store.feeds.done(name, clock.now_ms(), there, pushed > 0)
        return Synced(pushed, refused, applied, proved)

    def _feed(self, name: str) -> Feed:
        feed = self._store.feeds.get(name)
        if feed is None:
            raise TeamTrouble(f"{name} is not shared: `backstory team share` in its repository shares it")
        return feed

    # --- push ---------------------------------------------------------------------------------------------

    def _push(self, feed: Feed) -> tuple[int, int]:
        """Send what the server has not, or has otherwise; gives how many rows it took and refused."""
        pushed = refused = 0
        for rows, bury in _batches(self._difference(feed), self._to_bury(feed)):
            answer = self._client.push(feed.name, [each.row.as_json() for each in rows], bury)
            step("share.answered")
            took, left = self._note(feed, rows, bury, answer)
            step("share.noted")
            pushed, refused = pushed + took, refused + left
        return pushed, refused

    def _to_bury(self, feed: Feed) -> list[str]:
        return [row.id for row in self._store.feeds.sent(feed.name).values() if row.state == BURY]

    def _difference(self, feed: Feed) -> list[Outgoing | Withdrawn]:
        """What may leave now and is not there like this, and what is there and may not be said any more."""
        project = self._store.projects.get(feed.project_id)
        sent = self._store.feeds.sent(feed.name)
        wire = wire_ids(self._membership.share_key)
        chosen: tuple[Outgoing, ...] = ()
        if project is not None:
            mine = feed.name.startswith(OWN_LANE)
            chosen = rows_to_share(self._store, self._settings, project, feed.level, mine, wire).rows
        buried = self._store.feeds.buried(each.row.id for each in chosen)
        now = {each.row.id for each in chosen}
        new: list[Outgoing | Withdrawn] = [
            each
            for each in chosen
            if each.row.id not in buried
            and ((before := sent.get(each.row.id)) is None or before.hash != each.row.hash)
        ]
        gone = [
            Withdrawn(Row(row.id, row.kind, "withdrawn", row.at, {}), row.memory_id)
            for row in sent.values()
            if row.state == SENT and row.id not in now
        ]
        return new + [each for each in gone if sent[each.row.id].hash != each.row.hash]

    def _note(
        self, feed: Feed, rows: list[Outgoing | Withdrawn], bury: list[str], answer: Mapping[str, Any]
    ) -> tuple[int, int]:
        """Keep what the server says it has; only an equal hash counts as shared."""
        stored = {_get(each, "id"): _get(each, "hash") for each in _list(answer, "stored")}
        refused = {_get(each, "id"): _get(each, "reason") for each in _list(answer, "refused")}
        buried = {each for each in _list(answer, "buried") if isinstance(each, str)}
        notes: list[SentRow] = []
        for each in rows:
            row, mid = each.row, each.memory_id
            if row.id in buried:
                notes.append(SentRow(row.id, mid, row.kind, row.at, row.hash, BURIED))
            elif stored.get(row.id) == row.hash:
                notes.append(SentRow(row.id, mid, row.kind, row.at, row.hash, SENT))
            elif row.id in refused:
                notes.append(SentRow(row.id, mid, row.kind, row.at, row.hash, REFUSED, refused[row.id][:200]))
        notes += [SentRow(each, "", "", 0, "", BURIED) for each in bury if each in buried]
        with self._store.transaction():
            self._store.feeds.note_sent(feed.name, notes)
            self._store.feeds.give_up_burying(
                feed.name, {each: refused[each][:200] for each in bury if each in refused}
            )
            self._store.feeds.pushed(feed.name, clock.now_ms())
        if rows and not notes:
            raise TeamTrouble("the team server's answer to what was pushed names none of it")
        return sum(each.state == SENT for each in notes), sum(each.state == REFUSED for each in notes)

    # --- pull ---------------------------------------------------------------------------------------------

    def _pull(self, name: str) -> tuple[int, Proof, int]:
        """Read to the end; gives how many rows were applied, and what the server says that it has."""
        applied = 0
        for _ in range(_MOST_PAGES):
            asked = self._feed(name)
            answer = self._client.pull(name, asked.cursor, MOST_ROWS)
            step("share.pulled")
            page = _page(answer, asked.cursor)
            applied += self._apply(asked, page)
            step("share.applied")
            if page.cursor == asked.cursor and not page.more:
                return applied, page.proof, page.proof.count
            # once more after the last page: by what a device asks from, the server knows what it has taken in
            if page.cursor <= asked.cursor:
                raise TeamTrouble(
                    "the team server's answer leads nowhere: it says there is more, and is empty"
                )
        raise TeamTrouble("the team server's answers never come to an end")

    def _apply(self, asked: Feed, page: "Page") -> int:
        """A page's rows and graves, and the cursor, in one transaction; 0 if somebody was there before."""
        feeds, others = self._store.feeds, self._store.others
        project = self._store.projects.get(asked.project_id)
        if project is None:
            raise TeamTrouble(f"nothing is known here of the project of {asked.name} any more")
        own_here = self._own_ids(project, page)
        applied = 0
        with self._store.transaction():
            if not feeds.advance(asked, page.cursor):
                return 0
            gone = feeds.note_graves(asked.name, page.graves)
            removed = self._forget(gone)
            buried = feeds.buried(each.row.id for each in page.rows)
            for each in page.rows:
                if each.row.id in buried:
                    if each.author_id == self._membership.member.id:
                        feeds.bury_again(asked.name, each.row.id)
                    continue
                applied += self._apply_row(asked, project, each, own_here)
            if not page.more:
                for mid in feeds.forget_unread(asked.name):
                    if not feeds.elsewhere(mid, asked.name):
                        others.remove([mid])
                        removed += 1
            if applied or removed:
                self._store.jobs.ask(SUPERSEDE, project.id, clock.now_ms())
                self._store.jobs.ask(BRIEF, project.id, clock.now_ms())
            step("share.applying")
        return applied + removed

    def _forget(self, memory_ids: list[str]) -> int:
        """What was buried is shown to nobody; `share_pass.py` forgets it with all that hangs on it."""
        gone = [mid for mid in memory_ids if self._store.others.known(mid)]
        self._store.others.hide(gone)
        return len(gone)

    def _apply_row(self, asked: Feed, project: Project, each: "PulledRow", own_here: set[str]) -> int:
        feeds, others, row = self._store.feeds, self._store.others, each.row
        own = each.author_id == self._membership.member.id
        before, memory_id = feeds.row_of(asked.name, row.id), ""
        if row.id not in own_here and row.state != "withdrawn":
            found = shared_memory(row, each.author, OWN_MACHINE if own else TEAM, self._clean)
            if found is not None and others.put(project.id, found):
                memory_id = found.id
        if before and not memory_id and not feeds.elsewhere(before, asked.name):
            others.remove([before])
        feeds.note_received(
            asked.name, [ReceivedRow(row.id, each.seq, mark(row.id, row.hash), own, memory_id)]
        )
        return int(bool(memory_id or before))

    def _own_ids(self, project: Project, page: "Page") -> set[str]:
        """The rows of a page that are memories of this very home."""
        mine = [each.row.id for each in page.rows if each.author_id == self._membership.member.id]
        if not mine:
            return set()
        wire = wire_ids(self._membership.share_key)
        here = {wire(mid) for mid in self._store.memories.own_ids(project.id)}
        return {each for each in mine if each in here or self._store.feeds.is_sent(each)}

    # --- proof --------------------------------------------------------------------------------------------

    def _prove(self, name: str, there: Proof) -> bool:
        now = clock.now_ms()
        with self._store.transaction():
            if self._store.feeds.proof(name) == there:
                self._store.feeds.proved(name, now)
                return True
            feed = self._feed(name)
            if not 0 <= now - feed.restarted_at < _HOUR_MS:
                self._store.feeds.restart(name, now)
                again = True
            else:
                again = False
        if not again:
            return False
        _, there, _ = self._pull(name)
        with self._store.transaction():
            equal = self._store.feeds.proof(name) == there
            if equal:
                self._store.feeds.proved(name, now)
        return equal


# --- what the server answers ------------------------------------------------------------------------------


class PulledRow(NamedTuple):
    """A row with its place and its author, as the server names them."""

    row: Row
    seq: int
    author_id: str
    author: str


class Page(NamedTuple):
    """An answer to `pull`; `poison` counts rows in it that nobody can read."""

    cursor: int
    more: bool
    rows: list[PulledRow]
    graves: list[tuple[str, int]]
    proof: Proof
    poison: int = 0


def _proof(value: object, more: bool) -> Proof:
    """What the server has; it comes with the last page only: nobody compares it before."""
    if more and value is None:
        return Proof()
    try:
        found = value if isinstance(value, dict) else {}
        return Proof(int(found["count"]), int(found["sum"]) % 2**64)
    except (KeyError, TypeError, ValueError):
        raise TeamTrouble("the team server's answer is cut, or of another protocol") from None


def _page(answer: Mapping[str, Any], asked: int) -> Page:
    cursor, more = answer.get("cursor"), answer.get("more")
    if not _is_number(cursor) or not isinstance(more, bool):
        raise TeamTrouble("the team server's answer is cut, or of another protocol")
    there = _proof(answer.get("proof"), more)
    if "rows" not in answer or "graves" not in answer or cursor < asked:
        raise TeamTrouble("the team server's answer is cut, or to another question")
    rows: list[PulledRow] = []
    poison = 0
    for value in _list(answer, "rows"):
        try:
            row, seq = read_row(value), value.get("seq")
            by = value.get("author")
            if not _is_number(seq) or not isinstance(by, dict):
                raise Refused("a row has a place and an author")
            rows.append(PulledRow(row, seq, str(by.get("id") or ""), str(by.get("name") or "")))
        except Refused:
            poison += 1
    graves: list[tuple[str, int]] = []
    for value in _list(answer, "graves"):
        try:
            if isinstance(value, dict) and _is_number(seq := value.get("seq")):
                graves.append((read_id(value.get("id")), seq))
        except Refused:
            poison += 1
    rows.sort(key=lambda each: each.seq)
    return Page(cursor, more, rows, graves, there, poison)


def followers(
    store: Store, devices: list[dict[str, Any]], own: str
) -> tuple[tuple[str, ...], tuple[tuple[str, int], ...]]:
    """Which other devices have read everything that this one knows of, and which have not, and since when.

    A device tells how far it has read by asking for more.
    """
    heads = {feed.name: feed.cursor for feed in store.feeds.all()}
    confirmed: list[str] = []
    behind: list[tuple[str, int]] = []
    for device in devices:
        cursors = device.get("cursors")
        if device.get("id") == own or device.get("revoked_at") or not isinstance(cursors, dict):
            continue
        shared = {name: at for name, at in cursors.items() if name in heads and _is_number(at)}
        seen, name = device.get("seen_at"), str(device.get("name") or device.get("id") or "a device")
        if shared and all(at >= heads[feed] for feed, at in shared.items()):
            confirmed.append(name)
        elif shared:
            behind.append((name, seen if _is_number(seen) else 0))
    return tuple(confirmed), tuple(behind)


def _is_number(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _list(answer: Mapping[str, Any], name: str) -> list[Any]:
    found = answer.get(name)
    return found if isinstance(found, list) else []


def _get(value: object, name: str) -> str:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _batches(
    rows: list[Outgoing | Withdrawn], bury: list[str]
) -> Iterator[tuple[list[Outgoing | Withdrawn], list[str]]]:
    """What is sent at once: what is to be forgotten first; never more than the server takes."""
    for start in range(0, len(bury), MOST_ROWS):
        yield [], bury[start : start + MOST_ROWS]
    batch: list[Outgoing | Withdrawn] = []
    size = 0
    for each in rows:
        length = len(json.dumps(each.row.as_json(), ensure_ascii=False).encode()) + 2
        if batch and (len(batch) >= MOST_ROWS or size + length > _BATCH_BYTES):
            yield batch, []
            batch, size = [], 0
        batch.append(each)
        size += length
    if batch:
        yield batch, []
