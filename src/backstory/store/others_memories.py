"""Memories that others share, kept beside the home's own: whose they are stands in `author` and `origin`.

They hang on one session for each project and author, which nobody distils and no list shows. A memory's id is
made of its id on the wire, so applying a row twice changes nothing.
"""

import json
import sqlite3
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from backstory.attribution import PERSON, TEAM, told_by_other
from backstory.hook.project_identity import session_id
from backstory.model import Memory, MemoryKind, Tier
from backstory.store.memories import ONCE, VISIBLE, Memories
from backstory.store.passages import Passages


class SharedMemory(NamedTuple):
    """A memory as somebody else shares it; `said_by` is PERSON where the author said it themselves."""

    id: str
    kind: MemoryKind
    text: str
    reason: str
    files: tuple[str, ...]
    said_by: str
    tier: Tier
    at: int
    author: str
    origin: str
    seen: int = 1
    times: int = 1
    signature: str = ""
    superseded: bool = False


def shared_id(wire_id: str) -> str:
    """The id that a memory has here which has this one on the wire."""
    return "m" + blake2b(f"{TEAM}\0{wire_id}".encode(), digest_size=7).hexdigest()


class OthersMemories:
    """Writes and reads what others share in one database."""

    def __init__(self, connection: sqlite3.Connection, passages: Passages, memories: Memories) -> None:
        self._db = connection
        self._passages = passages
        self._memories = memories

    def put(self, project_id: str, row: SharedMemory) -> bool:
        """Keep a memory, or what it says now; False if it was forgotten here. Inside a transaction."""
        if self._db.execute("SELECT 1 FROM tombstones WHERE id = ?", (row.id,)).fetchone() is not None:
            return False
        sid = self._session(project_id, row)
        self._db.execute(
            """
            INSERT INTO memories (id, project_id, session_id, agent, kind, tier, status, scope, text, detail,
                                  reason, files, said_by, at, weight, turn, auto, made_by, signature, times,
                                  seen, total, author, origin)
            VALUES (?, ?, ?, ?, ?, ?, ?, 'project', ?, '', ?, ?, ?, ?, ?, 0, 1, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET
                project_id = excluded.project_id, session_id = excluded.session_id, kind = excluded.kind,
                tier = excluded.tier, status = excluded.status, text = excluded.text,
                reason = excluded.reason, files = excluded.files, said_by = excluded.said_by,
                at = excluded.at, signature = excluded.signature, times = excluded.times,
                seen = excluded.seen, total = excluded.total, author = excluded.author,
                origin = excluded.origin
            """,
            (
                row.id, project_id, sid, TEAM, row.kind, row.tier,
                "superseded" if row.superseded else "candidate",
                row.text, row.reason, json.dumps(row.files, ensure_ascii=False), row.said_by, row.at,
                1.0 if row.said_by == PERSON else 0.5, TEAM, row.signature, row.times, row.seen, row.times,
                row.author, row.origin,
            ),
        )  # fmt: skip
        self._judge_again(project_id, row.id)
        unsaid = " ".join(file for file in row.files if file not in row.text)
        told = told_by_other(row.kind, row.text, row.author, row.origin, row.said_by)
        self._passages.put(
            row.id, project_id, sid, row.kind, row.at, "\n".join(filter(None, (told, row.reason, unsaid)))
        )
        return True

    def _judge_again(self, project_id: str, mid: str) -> None:
        """What the user of this home did to it (confirmed, rejected, pinned) holds after it has changed."""
        for (act,) in self._db.execute(
            """
            SELECT e.reason FROM sessions u JOIN events e ON e.session_id = u.id
            WHERE u.agent = 'user' AND u.project_id = ? AND e.kind = 'judged' AND e.target = ?
            ORDER BY e.at, e.seq
            """,
            (project_id, mid),
        ).fetchall():
            self._memories.judge_anew(mid, act)

    def _session(self, project_id: str, row: SharedMemory) -> str:
        """The session that an author's memories of a project hang on."""
        native = f"{row.origin}-{project_id}-{blake2b(row.author.encode(), digest_size=8).hexdigest()}"
        sid = session_id(TEAM, native)
        self._db.execute(
            """
            INSERT INTO sessions (id, agent, native_id, project_id, started_at, last_at, ended_at, status,
                                  author)
            VALUES (?, ?, ?, ?, ?, ?, ?, 'ended', ?) ON CONFLICT (id) DO NOTHING
            """,
            (sid, TEAM, native, project_id, row.at, row.at, row.at, row.author),
        )
        return sid

    def remove(self, ids: Sequence[str]) -> None:
        """Take memories away that are not shared any more; inside a transaction.

        What they said is overwritten, and the pages that held it are cleared when the worker comes to it.
        """
        found = [mid for mid in ids if self.known(mid)]
        if not found:
            return
        self._db.execute("PRAGMA secure_delete = ON")
        self._db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('erase_traces', '1')")
        self._passages.remove(*found)
        for mid in found:
            self._db.execute("DELETE FROM contradictions WHERE other = ?", (mid,))
            self._db.execute("DELETE FROM injected WHERE memory_id = ?", (mid,))
            self._db.execute("DELETE FROM memories WHERE id = ? AND author <> ''", (mid,))

    def hide(self, ids: Sequence[str]) -> None:
        """Show these to nobody from now on: they are forgotten as soon as that can be done completely."""
        self._db.executemany(
            "UPDATE memories SET status = 'expired' WHERE id = ? AND author <> ''", [(mid,) for mid in ids]
        )

    def ids_of(self, project_id: str, origin: str) -> list[str]:
        """What came to a project from somewhere."""
        rows = self._db.execute(
            "SELECT id FROM memories WHERE project_id = ? AND author <> '' AND origin = ?",
            (project_id, origin),
        )
        return [mid for (mid,) in rows]

    def has(self, project_id: str) -> bool:
        """Whether anybody else shares something of a project with this home."""
        query = "SELECT 1 FROM memories WHERE project_id = ? AND author <> '' LIMIT 1"
        return self._db.execute(query, (project_id,)).fetchone() is not None

    def known(self, mid: str) -> bool:
        """Whether such a memory of somebody else is kept."""
        row = self._db.execute("SELECT 1 FROM memories WHERE id = ? AND author <> ''", (mid,)).fetchone()
        return row is not None

    def of_project(self, project_id: str, kinds: Sequence[MemoryKind], limit: int) -> list[Memory]:
        """What others share of a project, pinned first, then the newest; not of who is muted."""
        return self._memories.of_others(project_id, kinds, limit)

    def witnesses(self, project_id: str, kind: MemoryKind) -> dict[str, dict[str, int]]:
        """By the signature of what several people showed: its authors and in how many sessions of each."""
        rows = self._db.execute(
            f"""
            SELECT m.signature, m.author, max(m.seen) FROM memories m
            WHERE m.project_id = ? AND m.kind = ? AND m.author <> '' AND m.signature <> '' AND {VISIBLE}
            GROUP BY m.signature, m.author
            """,  # noqa: S608 - a constant
            (project_id, kind),
        )
        found: dict[str, dict[str, int]] = {}
        for signature, author, seen in rows:
            found.setdefault(signature, {})[author] = int(seen)
        return found

    def signatures(self, ids: Sequence[str]) -> dict[str, str]:
        """What makes each of these memories the same thing elsewhere."""
        found = {}
        for mid in ids:
            row = self._db.execute("SELECT signature FROM memories WHERE id = ?", (mid,)).fetchone()
            if row is not None and row[0]:
                found[mid] = str(row[0])
        return found

    def authors(self) -> list[tuple[str, str, int]]:
        """Who shares with this home: name, origin, how many memories."""
        return self._db.execute(
            """
            SELECT author, origin, count(*) FROM memories WHERE author <> '' GROUP BY author, origin
            ORDER BY author, origin
            """
        ).fetchall()

    # --- who is not to be heard ---------------------------------------------------------------------------

    def mute(self, author: str) -> None:
        """Tell nothing of somebody any more; inside a transaction."""
        self._db.execute("INSERT OR IGNORE INTO muted (author) VALUES (?)", (author,))

    def unmute(self, author: str) -> bool:
        """Tell it again; False if nobody of that name was muted. Inside a transaction."""
        return self._db.execute("DELETE FROM muted WHERE author = ?", (author,)).rowcount == 1

    def muted(self) -> list[str]:
        """Who is muted."""
        return [author for (author,) in self._db.execute("SELECT author FROM muted ORDER BY author")]

    # --- who says otherwise -------------------------------------------------------------------------------

    def decisions(self, project_id: str) -> list[tuple[str, str, str, int, str]]:
        """Decisions in force, own and others': id, text, reason, time, author ("" of one's own)."""
        return self._db.execute(
            f"""
            SELECT m.id, m.text, m.reason, m.at, m.author FROM memories m
            WHERE m.project_id = ? AND m.kind = 'decision' AND {VISIBLE} AND {ONCE}
            ORDER BY m.at DESC, m.id LIMIT 300
            """,  # noqa: S608 - constants
            (project_id,),
        ).fetchall()

    def contradict(self, project_id: str, pairs: Sequence[tuple[str, str]]) -> None:
        """Make these, own and other, the contradictions of a project; inside a transaction."""
        self._db.execute(
            """
            DELETE FROM contradictions WHERE other NOT IN (SELECT id FROM memories)
                OR other IN (SELECT id FROM memories WHERE project_id = ?)
            """,
            (project_id,),
        )
        self._db.executemany("INSERT OR IGNORE INTO contradictions (own, other) VALUES (?, ?)", pairs)

    def contradicting(self, mid: str) -> list[str]:
        """The memories of others that say otherwise than this one, or that it says otherwise than."""
        rows = self._db.execute(
            "SELECT other FROM contradictions WHERE own = :id UNION SELECT own FROM contradictions "
            "WHERE other = :id ORDER BY 1",
            {"id": mid},
        )
        return [other for (other,) in rows]
