"""The worker's part of sharing: every feed that is due is brought up to date, without the worker's lock.

The network is slow and fails: nobody waits for it. One process of a home shares at a time (`share.lock`),
what goes wrong with a feed puts it off for ever longer, and the others go on. `status` says since when.
"""

import contextlib
import logging
from collections.abc import Iterator

from backstory import clock
from backstory.atomic import lock
from backstory.errors import Failed, SourceMissing
from backstory.paths import Home
from backstory.settings import Settings
from backstory.share import shared_files
from backstory.share.feed_sync import FeedSync, Synced
from backstory.share.team_client import TeamClient, TeamTrouble
from backstory.store import Store
from backstory.store.feeds import Feed
from backstory.team_membership import Membership, read_membership
from backstory.team_wire import OWN_LANE
from backstory.upkeep import erasure

log = logging.getLogger(__name__)
_PULL_AFTER_MS = 60_000
_FIRST_DELAY_MS, _LONGEST_DELAY_MS = 10_000, 3_600_000
_LOCK_SECONDS = 0.1
_WORKER_SECONDS = 10.0
# What only a person can mend is not tried every few seconds.
_FOR_A_PERSON = ("unknown_token", "other_server", "newer_wire", "not_allowed", "unknown_project")
_FILE = "share.lock"
_PATIENCE_SECONDS = 60.0


def run_share_pass(home: Home, settings: Settings, store: Store) -> int:
    """See to what is due; gives how much changed here, so that briefs are prepared anew."""
    with lock(home.root / _FILE, wait=_LOCK_SECONDS) as held:
        if not held:
            return 0
        changed = shared_files.read_confirmed(home, settings, store)
        membership = membership_of(home)
        if membership is not None:
            changed += _sync_due(store, settings, membership)
            changed += forget_what_was_buried(home, store)
        return changed


@contextlib.contextmanager
def share_lock(home: Home) -> Iterator[None]:
    """Be the only one who shares; for a command, which waits for the worker."""
    with lock(home.root / _FILE, wait=_PATIENCE_SECONDS) as held:
        if not held:
            raise Failed("the worker has been sharing for a minute: try again in a moment")
        yield


def _sync_due(store: Store, settings: Settings, membership: Membership) -> int:
    changed = 0
    for _ in range(len(store.feeds.all())):  # each once
        feed = store.feeds.next_due(clock.now_ms(), _PULL_AFTER_MS)
        if feed is None:
            break
        changed += sync_feed(store, settings, membership, feed).applied
    return changed


def sync_feed(
    store: Store, settings: Settings, membership: Membership, feed: Feed, raises: bool = False
) -> Synced:
    """Bring one feed up to date; what goes wrong is noted with it, and raised only if asked for."""
    client = TeamClient(membership.address, membership.token, membership.server)
    try:
        return FeedSync(store, settings, membership, client).run(feed.name)
    except TeamTrouble as trouble:
        log.warning("%s is not shared now: %s", feed.name, trouble)
        note_trouble(store, feed, trouble)
        if raises:
            raise
    except Failed:
        raise
    except Exception as error:  # whatever a server says must not end the worker
        log.exception("sharing %s failed", feed.name)
        note_trouble(store, feed, TeamTrouble(f"unexpected {type(error).__name__}: {error}"))
        if raises:
            raise
    return Synced()


def note_trouble(store: Store, feed: Feed, trouble: TeamTrouble) -> None:
    """Put a feed off, for longer each time."""
    now = clock.now_ms()
    delay = min(_FIRST_DELAY_MS * 4 ** min(feed.tries, 10), _LONGEST_DELAY_MS)
    if trouble.code in _FOR_A_PERSON:
        delay = _LONGEST_DELAY_MS
    delay = max(delay, int(trouble.retry_after * 1000))
    with store.transaction():
        store.feeds.failed(feed.name, now, str(trouble), now + delay)


def membership_of(home: Home) -> Membership | None:
    """The team that this home belongs to; a damaged file counts as none for the worker, and is logged."""
    try:
        return read_membership(home)
    except SourceMissing as error:
        log.error("%s", error)
        return None


def forget_what_was_buried(home: Home, store: Store) -> int:
    """What was buried is forgotten here: what others shared, and what was told of it to sessions.

    Of what was learned here only what the user buried on another machine of theirs, with what it was made
    from: no server, and nobody else, can take away what a home has learned itself.
    """
    ids = store.feeds.to_be_forgotten(OWN_LANE)
    if not ids:
        return 0
    with lock(home.worker_lock, wait=_WORKER_SECONDS) as held:
        if not held:
            return 0  # the next pass finds them again
        plan = erasure.plan_erasure(home, store, erasure.ErasureRequest(ids=tuple(ids)))
        erasure.carry_out(home, store, plan)
        store.row_erasure.erase_traces()
    return len(ids)
