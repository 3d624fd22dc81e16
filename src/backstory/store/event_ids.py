"""Which event is which: ids made of what an event is, so that whoever tells of it again meets the same row.

What has no id of its own is told apart by its text and its ordinal among equals, counted per origin: live
capture and a later import of the same session count the same things.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import count

from backstory.model import Event, Kind

# What was said has no id of its own; within its prompt, whose id it carries, its words tell it apart.
_KNOWN_BY_WORDS = (Kind.SAID, Kind.REASONED)


class EventIds:
    """Makes the ids of one database's events, with its key."""

    def __init__(self, connection: sqlite3.Connection, key: bytes) -> None:
        self._db = connection
        self._key = key

    def use_key(self, key: bytes) -> None:
        """Make ids with another key from now on; for a database that has no events yet."""
        self._key = key

    def key(self, event: Event) -> str:
        """A keyed hash of what the event is; one that ends in + stands for several equal things.

        Who counts those itself writes the number behind the +; otherwise they are counted here, by origin.
        """
        who = (event.agent, event.session, event.subagent, event.kind)
        if event.kind in _KNOWN_BY_WORDS and event.native_id:
            return _hash(self._key, (*who, event.native_id, event.text), 16)
        if event.native_id:
            return _hash(self._key, (*who, event.native_id), 16)
        words = " ".join((event.target or event.text).split())
        return _hash(self._key, (*who, event.reason, event.tool, words), 16) + "+"

    def next_id(self, key: str, origin: str, ahead: bool = False) -> str:
        """The id of the next event with this key; `ahead` only looks which it would be."""
        base, several, counted = key.partition("+")
        if not several:
            return own_id(key)
        base += "+"
        if counted or ahead:
            n = int(counted or 0) or self._equals(base, origin) + 1
            if not ahead:
                self._db.execute(
                    """
                    INSERT INTO ordinals (base, origin, n) VALUES (?, ?, ?)
                    ON CONFLICT (base, origin) DO UPDATE SET n = max(n, excluded.n)
                    """,
                    (base, origin, n),
                )
        else:
            n = self._db.execute(
                """
                INSERT INTO ordinals (base, origin, n) VALUES (?, ?, 1)
                ON CONFLICT (base, origin) DO UPDATE SET n = n + 1
                RETURNING n
                """,
                (base, origin),
            ).fetchone()[0]
        return counted_id(self._key, base, n)

    def equals(self, key: str, origin: str) -> Iterator[str]:
        """The ids of the equal events that were counted; where the count was lost, of all that are stored."""
        for n in count(1):
            event_id = counted_id(self._key, key, n)
            stored = self._db.execute("SELECT 1 FROM events WHERE id = ?", (event_id,)).fetchone()
            if stored is None and n > self._equals(key, origin):
                return
            yield event_id

    def _equals(self, base: str, origin: str) -> int:
        row = self._db.execute(
            "SELECT n FROM ordinals WHERE base = ? AND origin = ?", (base, origin)
        ).fetchone()
        return 0 if row is None else int(row[0])


def counted_id(key: bytes, base: str, n: int) -> str:
    """The id of the n-th of several equal events."""
    return "e" + _hash(key, (base, str(n)), 10)


def _hash(key: bytes, parts: Iterable[str], size: int) -> str:
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(joined, digest_size=size, key=key).hexdigest()


def own_id(key: str) -> str:
    """The id of an event that its key tells apart from all others."""
    return "e" + key[:20]
