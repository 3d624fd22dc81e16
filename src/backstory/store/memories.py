"""Memories and where they come from. Derived: a session's are replaced as a whole when it is distilled again.

A memory's id is a hash of session, kind and subject, so it survives a rebuild, and what a person said
about it (pinned, rejected) stays with it. Rows with one signature are one thing that several sessions showed:
`consolidate` says which of them stands for all, and how often it showed. With a session go its rows, with the
last of them the thing.
"""

import itertools
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

from backstory.attribution import told_by_other
from backstory.model import Act, Draft, Memory, MemoryKind, MemoryStatus, Scope, Session, Tier
from backstory.store.passages import Passages

SHOWN = (MemoryStatus.CANDIDATE, MemoryStatus.CONFIRMED)
# What rests on a session's own unfinished work, which no other session showed and nobody confirmed yet.
_UNTOLD = "(m.own_work AND m.seen <= 1 AND NOT m.pinned AND m.status <> 'confirmed')"
# The one visibility filter: what may be shown to anyone. Every read below goes through it.
VISIBLE = f"""
    m.status IN ({", ".join(f"'{status}'" for status in SHOWN)})
    AND NOT {_UNTOLD}
    AND (m.author = '' OR m.author NOT IN (SELECT author FROM muted))
    AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.id IN (m.id, m.session_id))
"""  # noqa: S608 - the states above
# Of what several sessions showed, the row that stands for all of them; also if that row is gone by now.
ONCE = "NOT EXISTS (SELECT 1 FROM memories r WHERE r.id = m.told_by)"
_NOT_REWORDED = """
    NOT EXISTS (SELECT 1 FROM memories r WHERE r.id = m.told_by AND r.session_id = m.session_id)
"""
# Memories that a model's word has set aside, with what is told in their place: its sentence, or, of what is
# over, what came of the session that showed that.
_GAVE_WAY = "memories m JOIN memories r ON r.id = m.told_by AND (r.tier = 'T2' OR r.kind = 'summary')"
# For the person who looks through what was set aside: everything but what was forgotten.
KEPT = "NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.id IN (m.id, m.session_id))"
_COLUMNS = f"""
    m.id, m.project_id, p.name, m.session_id, m.agent, m.kind, m.tier, m.status, m.scope, m.text, m.detail,
    m.reason, m.files, m.said_by, m.at, m.weight, m.pinned, m.turn, m.made_by, m.seen, m.total,
    m.author, m.origin, {_UNTOLD}
"""
_JUDGED: dict[Act, str] = {
    Act.CONFIRM: "status = 'confirmed'",
    Act.REJECT: "status = 'rejected'",
    Act.RESTORE: "status = 'candidate'",
    Act.PIN: "pinned = 1",
    Act.UNPIN: "pinned = 0",
    Act.EDIT: "text = :text, status = 'confirmed'",
    Act.SUPERSEDE: "status = 'superseded'",
}
# A project's memories, and the pinned ones of it: each is read off the end of an index (the plus keeps the
# second from being read off the first's).
_OF_PROJECT = ("m.project_id = ?", "+m.project_id = ? AND m.pinned = 1")
_OFTEN = 2  # sessions
# What was learned in this home: what others share neither stands for it nor hides it.
_OWN = "m.author = ''"
# Kinds that search does not look through: they repeat what others say.
_NOT_INDEXED = (MemoryKind.CHECKPOINT,)


def memory_id(session_id: str, kind: MemoryKind, subject: str) -> str:
    """The id of the memory that this session has on this subject."""
    return "m" + blake2b(f"{session_id}\0{kind}\0{subject}".encode(), digest_size=7).hexdigest()


class Memories:
    """Writes and reads the memories of one database."""

    def __init__(self, connection: sqlite3.Connection, passages: Passages) -> None:
        self._db = connection
        self._passages = passages

    def replace(self, session: Session, drafts: Sequence[Draft], tier: Tier, made_by: str) -> int:
        """Make `drafts` the session's memories of this tier; call it inside a transaction."""
        kept = {
            memory_id(session.id, draft.kind, draft.subject): draft
            for draft in drafts
            if not self._forgotten(session.id, draft)
        }
        old = self._db.execute(
            "SELECT id FROM memories WHERE session_id = ? AND tier = ?", (session.id, tier)
        ).fetchall()
        outlived = self._outlived(session.id)
        gone = [mid for (mid,) in old if mid not in kept and mid not in outlived]
        heirs = {mid: self._heir(mid, kept) for mid in gone}
        names = {mid: self._names(mid) for mid, heir in heirs.items() if heir}
        self._delete([mid for mid in gone if heirs[mid] or not self._is_vouched(mid)])
        for mid, draft in kept.items():
            self._put(mid, session, draft, tier, made_by)
        for mid, before in names.items():
            self._db.execute(
                "UPDATE memories SET formerly = trim(formerly || ' ' || ?) WHERE id = ?", (before, heirs[mid])
            )
        self._judge_again(session)
        return len(kept)

    def add(self, session: Session, draft: Draft, tier: Tier, made_by: str) -> str:
        """Store one memory beside the session's others; call it inside a transaction."""
        mid = memory_id(session.id, draft.kind, draft.subject)
        if not self._forgotten(session.id, draft):
            self._put(mid, session, draft, tier, made_by)
        return mid

    def judge(self, mid: str, act: Act, text: str, event_id: str) -> None:
        """Do to a memory what a person wants; it rests on that act from then on. Inside a transaction."""
        self._db.execute(
            f"UPDATE memories SET {_JUDGED[act]} WHERE id = :id",  # noqa: S608 - constants of this file
            {"id": mid, "text": text},
        )
        self._db.execute("INSERT OR IGNORE INTO memory_sources VALUES (?, ?)", (mid, event_id))
        if act is Act.EDIT and (memory := self.kept(mid)) is not None:
            self._index(mid, memory.project_id, memory.session_id, memory.kind, memory.at, memory)

    def judge_anew(self, mid: str, act: str) -> None:
        """Do again what a person did to what somebody else shared: all but its wording. In a transaction."""
        if act in list(Act) and act not in (Act.EDIT, Act.SUPERSEDE):
            self._db.execute(f"UPDATE memories SET {_JUDGED[Act(act)]} WHERE id = ?", (mid,))  # noqa: S608

    def _heir(self, mid: str, kept: Mapping[str, Draft]) -> str:
        """The memory that newer rules make of the events of one that a person judged, or ""."""
        rests = {
            event_id
            for (event_id,) in self._db.execute(
                """
                SELECT f.event_id FROM memory_sources f JOIN events e ON e.id = f.event_id
                WHERE f.memory_id = ? AND e.kind <> 'judged'
                    AND EXISTS (SELECT 1 FROM memory_sources j JOIN events a ON a.id = j.event_id
                                WHERE j.memory_id = f.memory_id AND a.kind = 'judged')
                """,
                (mid,),
            )
        }
        (kind,) = self._db.execute("SELECT kind FROM memories WHERE id = ?", (mid,)).fetchone()
        shared = {new: len(rests.intersection(d.sources)) for new, d in kept.items() if d.kind == kind}
        best = max(shared, key=lambda new: (shared[new], new), default="")
        return best if best and shared[best] else ""

    def _names(self, mid: str) -> str:
        """The ids under which people may have judged a memory."""
        (before,) = self._db.execute("SELECT formerly FROM memories WHERE id = ?", (mid,)).fetchone()
        return f"{before} {mid}".strip()

    def _is_vouched(self, mid: str) -> bool:
        """Whether a person stands for a memory, so that it outlives the rules that made it."""
        row = self._db.execute(
            """
            SELECT 1 FROM memories m WHERE m.id = ? AND (m.pinned OR m.status = 'confirmed') AND EXISTS (
                SELECT 1 FROM memory_sources f JOIN events e ON e.id = f.event_id
                WHERE f.memory_id = m.id AND e.kind = 'judged')
            """,
            (mid,),
        ).fetchone()
        return row is not None

    def _judge_again(self, session: Session) -> None:
        """Do again, in their order, what people did to this session's memories, also under former ids."""
        acts = self._db.execute(
            """
            SELECT m.id, e.reason, e.text, e.id
            FROM sessions u JOIN events e ON e.session_id = u.id
            JOIN memories m ON m.session_id = ? AND (m.id = e.target OR instr(m.formerly, e.target))
            WHERE u.agent = 'user' AND u.project_id = ? AND e.kind = 'judged' AND e.target <> ''
            ORDER BY e.at, e.seq
            """,
            (session.id, session.project_id),
        ).fetchall()
        for mid, act, text, event_id in acts:
            self.judge(mid, Act(act), text, event_id)

    def _outlived(self, sid: str) -> set[str]:
        """Memories of a session whose events have left for the archive: nothing can say them again."""
        stored, counted = self._db.execute(
            """
            SELECT (SELECT count(*) FROM events WHERE session_id = :sid), event_count
            FROM sessions WHERE id = :sid
            """,
            {"sid": sid},
        ).fetchone()
        if stored >= counted:
            return set()
        rows = self._db.execute(
            """
            SELECT m.id FROM memories m WHERE m.session_id = ? AND NOT EXISTS (
                SELECT 1 FROM memory_sources f JOIN events e ON e.id = f.event_id
                WHERE f.memory_id = m.id AND e.kind <> 'judged')
            """,
            (sid,),
        )
        return {mid for (mid,) in rows}

    def _forgotten(self, sid: str, draft: Draft) -> bool:
        """Whether it rests on something that was forgotten while it was being made, or was so itself."""
        if self._db.execute("SELECT 1 FROM tombstones LIMIT 1").fetchone() is None:
            return False
        ids = (memory_id(sid, draft.kind, draft.subject), sid, *draft.sources)
        query = "SELECT 1 FROM tombstones WHERE id = ?"
        return any(self._db.execute(query, (i,)).fetchone() is not None for i in ids)

    def _delete(self, ids: Sequence[str]) -> None:
        self._passages.remove(*ids)
        self._db.executemany("DELETE FROM memories WHERE id = ?", [(mid,) for mid in ids])

    def _put(self, mid: str, session: Session, draft: Draft, tier: Tier, made_by: str) -> None:
        status = MemoryStatus.CANDIDATE if draft.auto else MemoryStatus.CONFIRMED
        if draft.proposed:
            status = MemoryStatus.PROPOSED
        self._db.execute(
            """
            INSERT INTO memories (id, project_id, session_id, agent, kind, tier, status, scope, text, detail,
                                  reason, files, said_by, at, weight, turn, auto, made_by, signature, times,
                                  own_work)
            VALUES (?, ?, ?, ?, ?, ?, ?, 'project', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET
                text = excluded.text, detail = excluded.detail, reason = excluded.reason,
                files = excluded.files, said_by = excluded.said_by, at = excluded.at,
                weight = excluded.weight, turn = excluded.turn, made_by = excluded.made_by,
                signature = excluded.signature, times = excluded.times, own_work = excluded.own_work
            """,
            (
                mid,
                session.project_id,
                session.id,
                session.agent,
                draft.kind,
                tier,
                status,
                draft.text,
                draft.detail,
                draft.reason,
                json.dumps(draft.files, ensure_ascii=False),
                draft.said_by,
                draft.at,
                draft.weight,
                draft.turn,
                draft.auto,
                made_by,
                draft.signature,
                draft.times,
                draft.own_work,
            ),
        )
        self._db.execute("DELETE FROM memory_sources WHERE memory_id = ?", (mid,))
        self._db.executemany(
            "INSERT OR IGNORE INTO memory_sources (memory_id, event_id) VALUES (?, ?)",
            [(mid, event_id) for event_id in draft.sources],
        )
        self._index(mid, session.project_id, session.id, draft.kind, draft.at, draft)

    def _index(
        self, mid: str, project_id: str, sid: str, kind: MemoryKind, at: int, said: Draft | Memory
    ) -> None:
        if kind not in _NOT_INDEXED:
            unsaid = " ".join(file for file in said.files if file not in said.text)
            text = "\n".join(part for part in (said.text, said.reason, unsaid) if part)
            self._passages.put(mid, project_id, sid, kind, at, text)

    def index_missing(self) -> int:
        """Index memories that came from elsewhere, such as an export; call it inside a transaction."""
        rows = self._db.execute(
            f"""
            SELECT {_COLUMNS} FROM memories m JOIN projects p ON p.id = m.project_id
            WHERE m.status IN ({", ".join("?" * len(SHOWN))}) AND {KEPT}
                AND NOT EXISTS (SELECT 1 FROM passages f WHERE f.owner = m.id)
            """,  # noqa: S608 - constants of this file
            SHOWN,
        ).fetchall()
        found = [self._memory(row) for row in rows]
        for memory in found:
            self._index(memory.id, memory.project_id, memory.session_id, memory.kind, memory.at, memory)
        return len(found)

    def consolidate(self, project_id: str) -> None:
        """Find out which rows of a project are one thing; call it inside a transaction.

        What a person pinned, confirmed or rejected stands for the others, else the latest: what was rejected
        does not come back with the next session that shows it. What a sub-agent showed its session showed.
        """
        rows = self._db.execute(
            """
            WITH known AS (
                SELECT m.*, CASE WHEN s.parent_id = '' THEN s.id ELSE s.parent_id END AS shown_in
                FROM memories m JOIN sessions s ON s.id = m.session_id
                WHERE m.project_id = ? AND m.signature <> '' AND m.author = ''
                    AND m.status IN ('candidate', 'confirmed', 'rejected')
                    AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.id IN (m.id, m.session_id))
            ), things AS (
                SELECT kind, signature, count(DISTINCT shown_in) AS seen, sum(times) AS total
                FROM known GROUP BY kind, signature
            ), told AS (
                SELECT k.id, k.told_by, k.seen AS was_seen, k.total AS was_total, t.seen, t.total,
                    first_value(k.id) OVER (
                        PARTITION BY k.kind, k.signature
                        ORDER BY k.status = 'rejected' DESC, k.pinned DESC, k.status = 'confirmed' DESC,
                            k.own_work, k.at DESC, k.id
                    ) AS best
                FROM known k JOIN things t USING (kind, signature)
            )
            SELECT CASE WHEN best = id THEN '' ELSE best END, seen, total, id FROM told
            WHERE (was_seen, was_total, told_by) <> (seen, total, CASE WHEN best = id THEN '' ELSE best END)
            """,
            (project_id,),
        ).fetchall()
        self._db.executemany("UPDATE memories SET told_by = ?, seen = ?, total = ? WHERE id = ?", rows)

    def revise(self, project_id: str, told_by: Mapping[str, str], seen: Mapping[str, int]) -> None:
        """Which rows are told by which, and in how many more sessions some were seen, after `consolidate`.

        Call it inside a transaction. What holds of a row holds of all that show the same thing.
        """
        self._db.execute(
            """
            UPDATE memories SET told_by = '', seen = 1, total = 1
            WHERE project_id = ? AND signature = '' AND (told_by <> '' OR seen <> 1 OR total <> 1)
            """,
            (project_id,),
        )
        self._db.executemany(
            "UPDATE memories SET seen = seen + ?, total = total + ? WHERE id = ?",
            [(more, more, mid) for mid, more in seen.items()],
        )
        for mid, better in told_by.items():
            same = """
                id <> :better AND (id = :mid OR (project_id = :project AND (kind, signature) = (
                    SELECT kind, signature FROM memories WHERE id = :mid AND signature <> '')))
            """
            names = {"mid": mid, "better": better, "project": project_id}
            self._db.execute(
                f"""
                UPDATE memories SET seen = max(seen, (SELECT max(seen) FROM memories WHERE {same})),
                    total = max(total, (SELECT max(total) FROM memories WHERE {same}))
                WHERE id = :better AND kind = (SELECT kind FROM memories WHERE id = :mid)
                """,  # noqa: S608 - a constant of this method
                names,
            )
            self._db.execute(f"UPDATE memories SET told_by = :better WHERE {same}", names)  # noqa: S608

    def memory(self, mid: str) -> Memory | None:
        """One memory with its sources, if it may be shown."""
        found = self._read("m.id = ?", (mid,))
        return found[0] if found else None

    def kept(self, mid: str) -> Memory | None:
        """One memory in whatever state, for a person to look at; not if it was forgotten."""
        rows = self._db.execute(
            f"""
            SELECT {_COLUMNS} FROM memories m JOIN projects p ON p.id = m.project_id
            WHERE m.id = ? AND {KEPT}
            """,  # noqa: S608 - constants of this file
            (mid,),
        ).fetchall()
        return self._memory(rows[0]) if rows else None

    def wording(self, mid: str) -> str:
        """A memory's text as it is stored, without how often it showed; "" if there is none such."""
        row = self._db.execute("SELECT text FROM memories WHERE id = ?", (mid,)).fetchone()
        return str(row[0]) if row else ""

    def listed(
        self,
        kinds: Sequence[MemoryKind],
        statuses: Sequence[MemoryStatus],
        project_id: str | None,
        before: tuple[int, str] | None,
        limit: int,
        pinned: bool = False,
        once: bool = False,
    ) -> list[Memory]:
        """Memories of these kinds in these states, newest first, older than a cursor; for a person.

        `once`: of what several sessions showed, only the row that stands for all of them.
        """
        clauses, values = [KEPT], list[object]()
        if project_id:
            clauses.append("m.project_id = ?")
            values.append(project_id)
        if pinned:
            clauses.append("m.pinned = 1")
        if once:
            clauses.append(ONCE)
        if before is not None:
            clauses.append("(m.at, m.id) < (?, ?)")
            values += before
        rows: list[tuple[str, ...]] = []
        for kind, status in itertools.product(kinds, statuses):  # each is read off the end of an index
            rows += self._db.execute(
                f"""
                SELECT {_COLUMNS} FROM memories m JOIN projects p ON p.id = m.project_id
                WHERE m.kind = ? AND m.status = ? AND {" AND ".join(clauses)}
                ORDER BY m.at DESC, m.id DESC LIMIT ?
                """,  # noqa: S608 - the clauses above are constants
                (kind, status, *values, limit),
            ).fetchall()
        rows.sort(key=lambda row: (row[14], row[0]), reverse=True)
        return [self._memory(row) for row in rows[:limit]]

    def of_project(
        self, project_id: str, kinds: Sequence[MemoryKind], limit: int, since: int = 0
    ) -> list[Memory]:
        """The project's own latest memories of these kinds, newest first; not sub-agents', nor others'."""
        found: dict[str, Memory] = {}
        for kind, status, of_project in itertools.product(kinds, SHOWN, _OF_PROJECT):
            some = self._read(
                f"""
                {of_project} AND m.kind = ? AND m.status = ? AND m.at >= ? AND {_OWN}
                AND (SELECT s.parent_id FROM sessions s WHERE s.id = m.session_id) = '' AND {ONCE}
                """,  # noqa: S608 - one of two constants
                (project_id, kind, status, since, limit),
                "ORDER BY m.at DESC LIMIT ?",
            )
            found.update((memory.id, memory) for memory in some)
        return sorted(found.values(), key=lambda memory: (not memory.pinned, -memory.at))[:limit]

    def of_others(self, project_id: str, kinds: Sequence[MemoryKind], limit: int) -> list[Memory]:
        """What others share of a project, pinned first, then the newest."""
        marks = ",".join("?" * len(kinds))
        return self._read(
            f"m.project_id = ? AND m.author <> '' AND m.kind IN ({marks})",
            (project_id, *kinds, limit),
            "ORDER BY m.pinned DESC, m.at DESC, m.id LIMIT ?",
        )

    def shareable(self, project_id: str, kinds: Sequence[MemoryKind]) -> list[Memory]:
        """What a project itself knows of these kinds and may be shown: what may leave is chosen from it.

        Their texts are as they are stored: in how many sessions a thing showed goes along beside them.
        """
        marks = ",".join("?" * len(kinds))
        found = self._read(
            f"""
            m.project_id = ? AND {_OWN} AND m.kind IN ({marks}) AND {ONCE}
            AND (SELECT s.parent_id FROM sessions s WHERE s.id = m.session_id) = ''
            """,  # noqa: S608 - question marks and constants
            (project_id, *kinds),
            "ORDER BY m.at, m.id",
        )
        texts = dict(
            self._db.execute("SELECT id, text FROM memories WHERE project_id = ?", (project_id,)).fetchall()
        )
        return [replace(memory, text=texts[memory.id]) for memory in found]

    def own_ids(self, project_id: str) -> list[str]:
        """The ids of all that was learned of a project in this home, in whatever state."""
        rows = self._db.execute("SELECT id FROM memories WHERE project_id = ? AND author = ''", (project_id,))
        return [mid for (mid,) in rows]

    def hidden(self, project_id: str) -> list[str]:
        """The ids of a project's memories that may not be shown: rejected, superseded, forgotten …"""
        rows = self._db.execute(
            f"SELECT m.id FROM memories m WHERE m.project_id = ? AND {_OWN} AND NOT ({VISIBLE})",  # noqa: S608 - ours
            (project_id,),
        )
        return [mid for (mid,) in rows]

    def told_instead(self, mid: str) -> str:
        """The session whose memory took the place of this one, or ""."""
        row = self._db.execute(
            """
            SELECT r.session_id FROM memories m
            JOIN memories r ON r.id IN (m.told_by, (SELECT newer FROM successions WHERE older = m.id))
            WHERE m.id = ? AND r.session_id <> m.session_id LIMIT 1
            """,
            (mid,),
        ).fetchone()
        return str(row[0]) if row else ""

    def model_instead(self, mid: str) -> str:
        """What is told in place of a memory because a model said so: its sentence, or an outcome; or ""."""
        row = self._db.execute(
            f"SELECT r.id FROM {_GAVE_WAY} WHERE m.id = ?",  # noqa: S608 - a constant of this file
            (mid,),
        ).fetchone()
        return str(row[0]) if row else ""

    def gave_way_to(self, mid: str) -> list[str]:
        """The memories in whose place this one is told because a model said so."""
        rows = self._db.execute(
            f"SELECT m.id FROM {_GAVE_WAY} WHERE r.id = ? AND {KEPT} ORDER BY m.at DESC, m.id LIMIT 50",  # noqa: S608
            (mid,),
        )
        return [older for (older,) in rows]

    def revised(self, project_id: str) -> list[str]:
        """The ids of a project's memories that a model has worded better, or retired."""
        rows = self._db.execute(
            f"SELECT m.id FROM {_GAVE_WAY} WHERE m.project_id = ?",  # noqa: S608 - a constant of this file
            (project_id,),
        )
        return [mid for (mid,) in rows]

    def reworded(self, project_id: str) -> list[Memory]:
        """The memories of a project that a person has worded anew and that may be shown."""
        return self._read(
            """
            m.project_id = ? AND m.status = 'confirmed' AND EXISTS (
                SELECT 1 FROM memory_sources f JOIN events e ON e.id = f.event_id
                WHERE f.memory_id = m.id AND e.kind = 'judged' AND e.reason = 'edit')
            """,
            (project_id,),
        )

    def of_session(self, sid: str, kinds: Sequence[MemoryKind] = ()) -> list[Memory]:
        """All that was distilled from a session, in the order it happened; of some kinds only, if named.

        What a better sentence of the same session stands for is left out.
        """
        of_kinds = f"AND m.kind IN ({','.join('?' * len(kinds))})" if kinds else ""
        return self._read(
            f"m.session_id = ? {of_kinds} AND {_NOT_REWORDED}", (sid, *kinds), "ORDER BY m.at, m.id"
        )

    def marks(self, project_id: str) -> dict[str, str]:
        """For each session of a project that has memories a mark that changes when they do."""
        rows = self._db.execute(
            f"""
            SELECT m.session_id, count(*) || '/' || sum(length(m.text) + length(m.reason)) || '/' || max(m.at)
            FROM memories m WHERE m.project_id = ? AND {_OWN} AND {VISIBLE} AND {_NOT_REWORDED}
            GROUP BY m.session_id
            """,  # noqa: S608 - constants of this file
            (project_id,),
        )
        return dict(rows.fetchall())

    def standing(self, sid: str, but: Sequence[MemoryKind]) -> list[Memory]:
        """A session's memories that hold or once held, neither proposed nor rejected, but for some kinds."""
        rows = self._db.execute(
            f"""
            SELECT {_COLUMNS} FROM memories m JOIN projects p ON p.id = m.project_id
            WHERE m.session_id = ? AND m.status IN ('candidate', 'confirmed', 'superseded') AND {KEPT}
                AND m.kind NOT IN ({",".join("?" * len(but))}) ORDER BY m.at, m.id
            """,  # noqa: S608 - constants of this file and question marks
            (sid, *but),
        ).fetchall()
        return [self._memory(row) for row in rows]

    def sightings(self, mid: str) -> list[tuple[str, int, int]]:
        """The sessions that showed the same thing, with when and how often, newest first."""
        rows = self._db.execute(
            f"""
            SELECT m.session_id, m.at, m.times FROM memories a
            JOIN memories m USING (project_id, kind, signature)
            WHERE a.id = ? AND a.signature <> '' AND {KEPT} ORDER BY m.at DESC, m.id LIMIT 50
            """,  # noqa: S608 - a constant of this file
            (mid,),
        )
        return [(str(sid), int(at), int(times)) for sid, at, times in rows]

    def _read(self, condition: str, values: Sequence[object], tail: str = "") -> list[Memory]:
        rows = self._db.execute(
            f"""
            SELECT {_COLUMNS} FROM memories m JOIN projects p ON p.id = m.project_id
            WHERE {VISIBLE} AND {condition} {tail}
            """,  # noqa: S608 - conditions are constants of this file
            values,
        ).fetchall()
        return [self._memory(row) for row in rows]

    def _memory(self, row: tuple[str, ...]) -> Memory:
        (mid, project_id, name, session_id, agent, kind, tier, status, scope, text, detail, reason, files,
         said_by, at, weight, pinned, turn, made_by, seen, total, written_by, origin,
         untold) = row  # fmt: skip
        sources = self._db.execute("SELECT event_id FROM memory_sources WHERE memory_id = ?", (mid,))
        return Memory(
            id=mid,
            project_id=project_id,
            project_name=name,
            session_id=session_id,
            agent=agent,
            kind=MemoryKind(kind),
            tier=Tier(tier),
            status=MemoryStatus(status),
            scope=Scope(scope),
            text=_told(kind, status, text, int(seen), int(total), written_by, origin, said_by),
            detail=detail,
            reason=reason,
            files=tuple(json.loads(files)),
            said_by=said_by,
            at=int(at),
            weight=float(weight),
            pinned=bool(pinned),
            turn=int(turn),
            made_by=made_by,
            sources=tuple(source for (source,) in sources),
            seen=int(seen),
            times=int(total),
            author=written_by,
            origin=origin,
            untold=bool(untold) and status == MemoryStatus.CANDIDATE,
        )


def _told(
    kind: str, status: str, text: str, seen: int, total: int, author: str, origin: str, said_by: str
) -> str:
    """The text of a memory as anybody may read it: with whose it is, if somebody else shared it."""
    said = _counted(kind, text, seen, total) if status == MemoryStatus.CANDIDATE else text
    return told_by_other(MemoryKind(kind), said, author, origin, said_by) if author else said


def _counted(kind: str, text: str, seen: int, total: int) -> str:
    """What a memory says, with how often sessions showed it if more than one did."""
    if seen < _OFTEN:
        return text
    if kind == MemoryKind.COMMAND:
        return f"{text.rpartition(': ')[0] or text}: passed {total} times in {seen} sessions"
    return f"{text} (in {seen} sessions)" if kind == MemoryKind.LESSON else text
