"""What is shared with the team's server, and how far: feeds, what of ours is there, what of it is here.

A feed is one project in one lane. Nothing here holds a text: rows are known by their ids and hashes on the
wire, and by the memories that they stand for.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from backstory.team_wire import Proof

SENT, REFUSED, BURY = "sent", "refused", "bury"
_COLUMNS = """
    feed, project_id, level, cursor, round, there, pushed_at, pulled_at, proved_at, restarted_at, tries,
    due_at, trouble, trouble_since
"""
_HALF, _WHOLE = 2**63, 2**64  # SQLite's integers have a sign, marks have none


class Feed(NamedTuple):
    """A project as it is shared; `there` is how many rows and graves the server has, when last asked."""

    name: str
    project_id: str
    level: str
    cursor: int = 0
    round: int = 0
    there: int = 0
    pushed_at: int = 0
    pulled_at: int = 0
    proved_at: int = 0
    restarted_at: int = 0
    tries: int = 0
    due_at: int = 0
    trouble: str = ""
    trouble_since: int = 0


class SentRow(NamedTuple):
    """A row of ours that the server has, refused, or is to forget."""

    id: str
    memory_id: str
    kind: str
    at: int
    hash: str
    state: str
    reason: str = ""


class ReceivedRow(NamedTuple):
    """A row that was read: its place there, its mark, and what it became here."""

    id: str
    seq: int
    mark: int
    own: bool
    memory_id: str


class Feeds:
    """What one database knows of sharing."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    # --- feeds --------------------------------------------------------------------------------------------

    def all(self) -> list[Feed]:
        """All feeds that are, or were, shared."""
        rows = self._db.execute(f"SELECT {_COLUMNS} FROM feeds ORDER BY feed")  # noqa: S608
        return [Feed(*row) for row in rows]

    def get(self, name: str) -> Feed | None:
        """One feed."""
        row = self._db.execute(f"SELECT {_COLUMNS} FROM feeds WHERE feed = ?", (name,)).fetchone()  # noqa: S608
        return Feed(*row) if row else None

    def set_level(self, name: str, project_id: str, level: str) -> None:
        """What leaves of a project from now on; it is due at once. Inside a transaction."""
        self._db.execute(
            """
            INSERT INTO feeds (feed, project_id, level) VALUES (?, ?, ?)
            ON CONFLICT (feed) DO UPDATE SET project_id = excluded.project_id, level = excluded.level,
                due_at = 0, tries = 0
            """,
            (name, project_id, level),
        )

    def next_due(self, now: int, pull_after: int) -> Feed | None:
        """The feed that is to be seen to now: it was not for so long, or something of it waits."""
        row = self._db.execute(
            f"""
            SELECT {_COLUMNS} FROM feeds
            WHERE due_at <= :now AND (pulled_at = 0 OR pulled_at <= :now - :after OR pulled_at > :now)
            ORDER BY pulled_at, feed LIMIT 1
            """,  # noqa: S608 - constants
            {"now": now, "after": pull_after},
        ).fetchone()
        return Feed(*row) if row else None

    def done(self, name: str, now: int, there: int, pushed: bool) -> None:
        """A feed was seen to; inside a transaction."""
        self._db.execute(
            """
            UPDATE feeds SET pulled_at = :now, there = :there, tries = 0, due_at = 0, trouble = '',
                trouble_since = 0, pushed_at = CASE WHEN :pushed THEN :now ELSE pushed_at END
            WHERE feed = :name
            """,
            {"name": name, "now": now, "there": there, "pushed": pushed},
        )

    def pushed(self, name: str, now: int) -> None:
        """Something of it reached the server; inside a transaction."""
        self._db.execute("UPDATE feeds SET pushed_at = ? WHERE feed = ?", (now, name))

    def failed(self, name: str, now: int, why: str, due_at: int) -> None:
        """What went wrong, and when it is tried again; inside a transaction."""
        self._db.execute(
            """
            UPDATE feeds SET tries = tries + 1, due_at = :due, trouble = :why,
                trouble_since = CASE WHEN trouble = '' THEN :now ELSE trouble_since END
            WHERE feed = :name
            """,
            {"name": name, "now": now, "why": why[:300], "due": due_at},
        )

    def hasten(self) -> None:
        """Everything is due now; inside a transaction."""
        self._db.execute("UPDATE feeds SET due_at = 0, pulled_at = min(pulled_at, 1)")

    def proved(self, name: str, now: int) -> None:
        """Both sides have the same; inside a transaction."""
        self._db.execute("UPDATE feeds SET proved_at = ? WHERE feed = ?", (now, name))

    def restart(self, name: str, now: int) -> None:
        """Read a feed from its beginning: what it has is not what is here. Inside a transaction.

        What was read counts again once it is read again; graves stay: a buried id is never taken in again.
        """
        self._db.execute("UPDATE received SET seq = -1 - seq WHERE feed = ? AND seq >= 0", (name,))
        self._db.execute(
            "UPDATE feeds SET cursor = 0, round = round + 1, restarted_at = ? WHERE feed = ?", (now, name)
        )

    def advance(self, asked: Feed, cursor: int) -> bool:
        """Note how far a feed was read; False if the answer is to an older question. In a transaction."""
        changed = self._db.execute(
            "UPDATE feeds SET cursor = ?, round = round + 1 WHERE feed = ? AND cursor = ? AND round = ?",
            (cursor, asked.name, asked.cursor, asked.round),
        )
        return changed.rowcount == 1

    def remove(self, name: str) -> None:
        """Forget that a feed was ever shared, and what was read of it; inside a transaction."""
        self._db.execute("DELETE FROM sent WHERE feed = ?", (name,))
        self._db.execute("DELETE FROM received WHERE feed = ?", (name,))
        self._db.execute("DELETE FROM feeds WHERE feed = ?", (name,))

    # --- what of ours is there ----------------------------------------------------------------------------

    def sent(self, name: str) -> dict[str, SentRow]:
        """What the server has of ours, has refused, or is to forget; by the id there."""
        rows = self._db.execute(
            "SELECT id, memory_id, kind, at, hash, state, reason FROM sent WHERE feed = ?", (name,)
        )
        return {row[0]: SentRow(*row) for row in rows}

    def note_sent(self, name: str, rows: Iterable[SentRow]) -> None:
        """What became of rows that were pushed; one that is to be buried stays so. Inside a transaction."""
        self._db.executemany(
            """
            INSERT INTO sent (feed, id, memory_id, kind, at, hash, state, reason)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (feed, id) DO UPDATE SET kind = excluded.kind, at = excluded.at,
                hash = excluded.hash, state = excluded.state, reason = excluded.reason
            WHERE sent.state NOT IN ('bury', 'buried') OR excluded.state = 'buried'
            """,
            [(name, *row) for row in rows],
        )

    def bury(self, memory_ids: Iterable[str]) -> int:
        """Have these memories forgotten on the server, too; gives how many. Inside a transaction.

        Of our own that is what was sent from here and from our other machines; what others wrote only they,
        or an owner, can bury.
        """
        count = 0
        for mid in memory_ids:
            count += self._db.execute(
                "UPDATE sent SET state = 'bury' WHERE memory_id = ? AND state <> 'buried'", (mid,)
            ).rowcount
            count += self._db.execute(
                """
                INSERT INTO sent (feed, id, memory_id, kind, at, hash, state)
                SELECT feed, id, memory_id, '', 0, '', 'bury' FROM received
                WHERE memory_id = ? AND NOT buried
                ON CONFLICT (feed, id) DO UPDATE SET state = 'bury' WHERE sent.state <> 'buried'
                """,
                (mid,),
            ).rowcount
        return count

    def bury_again(self, name: str, row_id: str) -> None:
        """The server has a row that was buried, such as after its backup was restored; in a transaction."""
        self._db.execute(
            "UPDATE sent SET state = 'bury' WHERE feed = ? AND id = ? AND state = 'buried'", (name, row_id)
        )

    def give_up_burying(self, name: str, refused: Mapping[str, str]) -> None:
        """The server does not bury these for us, for these reasons; inside a transaction."""
        self._db.executemany(
            "UPDATE sent SET state = 'refused', reason = ? WHERE feed = ? AND id = ? AND state = 'bury'",
            [(reason, name, row_id) for row_id, reason in refused.items()],
        )

    def to_be_forgotten(self, lane: str) -> list[str]:
        """Memories that are buried and still here: what others shared, and our own in a feed of a lane."""
        rows = self._db.execute(
            """
            SELECT r.memory_id FROM received r JOIN memories m ON m.id = r.memory_id
            WHERE r.buried AND m.author <> ''
            UNION
            SELECT s.memory_id FROM sent s JOIN memories m ON m.id = s.memory_id
            WHERE s.state = 'buried' AND substr(s.feed, 1, ?) = ?
            """,
            (len(lane), lane),
        )
        return [mid for (mid,) in rows]

    def bury_all_sent(self) -> int:
        """Have everything that was sent from here forgotten on the server; in a transaction."""
        return self._db.execute("UPDATE sent SET state = 'bury' WHERE state = 'sent'").rowcount

    def not_buried(self) -> tuple[str, ...]:
        """Why rows that were to be buried were not."""
        rows = self._db.execute("SELECT DISTINCT reason FROM sent WHERE state = 'refused' AND kind = ''")
        return tuple(str(reason) for (reason,) in rows)

    def waits_to_be_buried(self) -> int:
        """How many rows the server is still to forget."""
        return int(self._db.execute("SELECT count(*) FROM sent WHERE state = 'bury'").fetchone()[0])

    def is_sent(self, row_id: str) -> bool:
        """Whether a row was sent from this home, in whichever lane."""
        row = self._db.execute("SELECT 1 FROM sent WHERE id = ? AND hash <> '' LIMIT 1", (row_id,)).fetchone()
        return row is not None

    def sent_memories(self, memory_ids: Sequence[str]) -> int:
        """How many of these memories the server has of us."""
        query = "SELECT count(*) FROM sent WHERE memory_id = ? AND state = 'sent'"
        return sum(min(1, int(self._db.execute(query, (mid,)).fetchone()[0])) for mid in memory_ids)

    # --- what was read ------------------------------------------------------------------------------------

    def buried(self, row_ids: Iterable[str]) -> set[str]:
        """Which of these ids were buried, in whichever lane."""
        query = """
            SELECT 1 FROM received WHERE id = :id AND buried
            UNION ALL SELECT 1 FROM sent WHERE id = :id AND state IN ('bury', 'buried') LIMIT 1
        """
        return {each for each in row_ids if self._db.execute(query, {"id": each}).fetchone() is not None}

    def note_received(self, name: str, rows: Iterable[ReceivedRow]) -> None:
        """Rows that were read; a grave stays one. Inside a transaction."""
        self._db.executemany(
            """
            INSERT INTO received (feed, id, seq, mark, own, memory_id) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (feed, id) DO UPDATE SET seq = excluded.seq, mark = excluded.mark, own = excluded.own,
                memory_id = excluded.memory_id
            WHERE NOT received.buried
            """,
            [(name, row.id, row.seq, _signed(row.mark), row.own, row.memory_id) for row in rows],
        )

    def note_graves(self, name: str, graves: Iterable[tuple[str, int]]) -> list[str]:
        """Ids that are buried there, each with its place; gives the memories that they were here."""
        from backstory.team_wire import BURIED, mark

        gone: list[str] = []
        for row_id, seq in graves:
            found = self._db.execute(
                "SELECT memory_id FROM received WHERE id = ? AND memory_id <> ''", (row_id,)
            )
            gone += [str(mid) for (mid,) in found]
            self._db.execute(
                """
                INSERT INTO received (feed, id, seq, mark, buried) VALUES (?, ?, ?, ?, 1)
                ON CONFLICT (feed, id) DO UPDATE SET seq = excluded.seq, mark = excluded.mark, buried = 1
                """,
                (name, row_id, seq, _signed(mark(row_id, BURIED))),
            )
            self._db.execute("UPDATE sent SET state = 'buried' WHERE feed = ? AND id = ?", (name, row_id))
        return gone

    def forget_unread(self, name: str) -> list[str]:
        """After a feed was read from its beginning to its end: what was not read again is not there any more.

        Gives the memories that it was here; graves stay. Inside a transaction.
        """
        rows = self._db.execute(
            "DELETE FROM received WHERE feed = ? AND seq < 0 AND NOT buried RETURNING memory_id", (name,)
        ).fetchall()
        return [mid for (mid,) in rows if mid]

    def elsewhere(self, memory_id: str, name: str) -> bool:
        """Whether another feed shares the same memory."""
        row = self._db.execute(
            "SELECT 1 FROM received WHERE memory_id = ? AND feed <> ? AND NOT buried", (memory_id, name)
        ).fetchone()
        return row is not None

    def memories_of(self, name: str) -> list[str]:
        """The memories that a feed's rows became here."""
        rows = self._db.execute("SELECT memory_id FROM received WHERE feed = ? AND memory_id <> ''", (name,))
        return [mid for (mid,) in rows]

    def row_of(self, name: str, row_id: str) -> str:
        """The memory that a row became here, or ""."""
        row = self._db.execute(
            "SELECT memory_id FROM received WHERE feed = ? AND id = ?", (name, row_id)
        ).fetchone()
        return str(row[0]) if row else ""

    def proof(self, name: str) -> "Proof":
        """How many rows and graves were read, and the sum of their marks."""
        from backstory.team_wire import Proof  # without a team nothing loads it

        marks = [
            m for (m,) in self._db.execute("SELECT mark FROM received WHERE feed = ? AND seq >= 0", (name,))
        ]
        return Proof(len(marks), sum(value % _WHOLE for value in marks) % _WHOLE)

    # --- one by one ---------------------------------------------------------------------------------------

    def share_by_hand(self, memory_ids: Iterable[str]) -> None:
        """These leave whatever the level says; inside a transaction."""
        rows = [(mid,) for mid in memory_ids]
        self._db.executemany("INSERT OR IGNORE INTO shared_by_hand (memory_id) VALUES (?)", rows)

    def by_hand(self) -> set[str]:
        """What a person shares one by one."""
        return {mid for (mid,) in self._db.execute("SELECT memory_id FROM shared_by_hand")}


def _signed(value: int) -> int:
    return value - _WHOLE if value >= _HALF else value
