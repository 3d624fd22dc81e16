"""The text index: pieces of about a thousand characters that search looks through.

Memories are indexed when they are stored. Events are committed first and indexed afterwards, from a
high-water mark, so that a kill in between costs nothing. `full_text_index` finds passages by their words.
Neighbouring events of a session form stretches: what a short reply is about often stands in the one before
it.
"""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from backstory.model import Kind, Outcome
from backstory.store.full_text_index import Narrowed, Shelves, Worded
from backstory.store.records import Filters, Found, Matches, Sort
from backstory.store.tokenizer import errors, spread
from backstory.store.vectors import Vectors

PASSAGE_CHARS = 1_000
# Where a passage ends in the middle of something, the next one begins a fifth earlier: the longest name.
_OVERLAP = 5
_GAP = re.compile(r"[^\w]")
# How many events are indexed in one transaction: beside live work, and when many wait (half the merging).
STEP, BULK = 500, 4_000
_STRETCH_CHARS = 1_200
_READ = 3
_COMPLETIONS = 3
SEARCHED = (Kind.PROMPT, Kind.SAID, Kind.TOOL, Kind.COMPACTED, Kind.DOCUMENT, Kind.NOTED)
_INSERT = """
    INSERT INTO passages (row, owner, part, project_id, session_id, kind, at, text, extra, stretch, scope)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')
"""
_FOUND = """
    SELECT f.row, f.owner, f.project_id, p.name, f.session_id, s.agent, f.kind, f.at, f.text,
           f.stretch, s.branch, coalesce(m.status, ''), coalesce(m.said_by, ''), coalesce(m.pinned, 0)
"""
_JOINED = """
    JOIN projects p ON p.id = f.project_id
    JOIN sessions s ON s.id = f.session_id
    LEFT JOIN memories m ON m.id = f.owner
"""
_NOT_FORGOTTEN = "NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.id IN (f.owner, f.session_id))"
# A session may change its branch: an event happened on its own one.
_BRANCH = "coalesce(nullif((SELECT e.branch FROM events e WHERE e.id = f.owner), ''), s.branch)"
# A file's name counts from the beginning of a part of its path: `auth.py` is not `oauth.py`. A decision had
# to do with the files that were changed in its turn, too.
TOUCHED = """
    (instr('/' || replace(m.files, '"', '/'), ?) OR EXISTS (
        SELECT 1 FROM events e WHERE e.id = f.owner AND instr('/' || replace(e.target, ' ', '/'), ?))
    OR (m.kind = 'decision' AND EXISTS (
        SELECT 1 FROM memories t WHERE t.session_id = m.session_id AND t.kind = 'turn' AND t.turn = m.turn
            AND instr('/' || replace(t.files, '"', '/'), ?))))
"""


class _New(NamedTuple):
    """A passage that is to be written."""

    owner: str
    part: int
    project_id: str
    session_id: str
    kind: str
    at: int
    text: str
    extra: str
    stretch: int


class Passages:
    """Writes and searches the text index of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._shelves = Shelves(connection)

    def put(self, owner: str, project_id: str, session_id: str, kind: str, at: int, text: str) -> None:
        """Index `text` for its owner, in place of what was indexed for it before; the same stays as it is."""
        wanted = [(part, project_id, session_id, kind, at, piece) for part, piece in enumerate(pieces(text))]
        there = self._db.execute(
            "SELECT part, project_id, session_id, kind, at, text FROM passages WHERE owner = ? ORDER BY part",
            (owner,),
        ).fetchall()
        if there == wanted:
            return
        self.remove(owner)
        self._put_all(
            [
                _New(owner, part, project_id, session_id, kind, at, piece, spread(piece), 0)
                for part, piece in enumerate(pieces(text))
            ]
        )

    def remove(self, *owners: str) -> None:
        """Take everything of these owners out of the index, with its vectors."""
        rows = [
            Worded._make(row)
            for owner in owners
            for row in self._db.execute(
                "SELECT row, project_id, text, extra FROM passages WHERE owner = ?", (owner,)
            )
        ]
        if rows:
            self._shelves.remove(rows)
            self._db.executemany("DELETE FROM passages WHERE owner = ?", [(owner,) for owner in owners])
            Vectors(self._db).remove([each.row for each in rows])

    def index_events(self, limit: int = STEP) -> int:
        """Index the next events that are not indexed yet, else older passages whose words are not.

        0 when all are. Call it inside a transaction.
        """
        mark = int(self._meta("indexed_events") or 0)
        rows = self._db.execute(
            """
            SELECT e.row, e.id, s.project_id, e.session_id, e.kind, e.at, e.target, e.text, e.recalled,
                   e.turn, s.imported_by
            FROM events e JOIN sessions s ON s.id = e.session_id
            WHERE e.row > ? ORDER BY e.row LIMIT ?
            """,
            (mark, limit),
        ).fetchall()
        if not rows:
            return self._shelves.shelve(limit)
        self._forget_between(mark, rows[-1][0])
        found: list[_New] = []
        stretches = _Stretches(self._db)
        for _, eid, project_id, session_id, kind, at, target, text, recalled, turn, imported_by in rows:
            if recalled or kind not in SEARCHED:
                continue
            body = f"{target}\n{text}" if target and text else target or text
            for part, piece in enumerate(pieces(body)):
                stretch = stretches.of(session_id, len(piece))
                found.append(_New(eid, part, project_id, session_id, kind, at, piece, spread(piece), stretch))
            if imported_by and turn == 1 and kind == Kind.PROMPT:
                found.append(self._header(session_id, project_id))
        self._put_all(found)
        self._set_mark(rows[-1][0])
        return len(rows)

    def first_unindexed(self) -> int | None:
        """The row of the next event that is not indexed yet, or None."""
        mark = int(self._meta("indexed_events") or 0)
        row = self._db.execute("SELECT min(row) FROM events WHERE row > ?", (mark,)).fetchone()
        return None if row[0] is None else int(row[0])

    def skip_event(self, row: int) -> int:
        """Leave an event out of the index, for good or until it is built again; gives 1."""
        self._set_mark(row)
        return 1

    def _set_mark(self, row: int) -> None:
        self._db.execute(
            """
            INSERT INTO meta (key, value) VALUES ('indexed_events', ?)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value
            """,
            (str(row),),
        )

    def _forget_between(self, first: int, last: int) -> None:
        """Take out what is indexed already of the events between two rows; there is nothing, as a rule."""
        owners = self._db.execute(
            """
            SELECT DISTINCT p.owner FROM events e JOIN passages p ON p.owner = e.id
            WHERE e.row > ? AND e.row <= ?
            """,
            (first, last),
        ).fetchall()
        self.remove(*(owner for (owner,) in owners))

    def _header(self, session_id: str, project_id: str) -> _New:
        """What an imported session is found by as a whole: its title, folder, day and agent."""
        self.remove(session_id)
        title, cwd, agent, at = self._db.execute(
            "SELECT title, cwd, agent, started_at FROM sessions WHERE id = ?", (session_id,)
        ).fetchone()
        day = datetime.fromtimestamp(at / 1000, UTC).date()
        text = f"{title}\n{agent} session in {cwd or 'an unknown folder'}, {day}"
        return _New(session_id, 0, project_id, session_id, "session", at, text, spread(text), 0)

    def head_again(self, session_id: str) -> None:
        """If a session is found as a whole, let it be by the title that it has now."""
        row = self._db.execute("SELECT project_id FROM passages WHERE owner = ?", (session_id,)).fetchone()
        if row is not None:
            self._put_all([self._header(session_id, row[0])])

    def _put_all(self, found: list[_New]) -> None:
        last = self._db.execute("SELECT coalesce(max(row), 0) FROM passages").fetchone()[0]
        last = max(last, self._shelves.unshelved())
        self._db.executemany(_INSERT, [(row, *new) for row, new in enumerate(found, last + 1)])
        self._shelves.put(
            Worded(row, new.project_id, new.text, new.extra) for row, new in enumerate(found, last + 1)
        )

    def clear(self) -> None:
        """Empty the index, to be built again from the start."""
        self._shelves.clear()
        self._db.execute("DELETE FROM passages")
        Vectors(self._db).clear()
        self._db.execute("DELETE FROM meta WHERE key = 'indexed_events'")

    def sound(self) -> bool:
        """Whether the index is there and agrees with itself; reads all of it."""
        searched = ", ".join(f"'{kind}'" for kind in SEARCHED)
        empty = self._db.execute(
            f"""
            SELECT NOT EXISTS (SELECT 1 FROM passages) AND EXISTS (
                SELECT 1 FROM events e JOIN meta m ON m.key = 'indexed_events'
                WHERE e.kind IN ({searched}) AND NOT e.recalled AND e.text <> ''
                  AND e.row <= CAST(m.value AS INTEGER))
            """  # noqa: S608 - kinds of this file
        ).fetchone()[0]
        return not empty and self._shelves.sound()

    def lower_mark(self) -> None:
        """After events were deleted: the numbers of the last rows are given again, to events not indexed."""
        self._db.execute(
            """
            UPDATE meta SET value = (SELECT coalesce(max(row), 0) FROM events)
            WHERE key = 'indexed_events'
              AND CAST(value AS INTEGER) > (SELECT coalesce(max(row), 0) FROM events)
            """
        )

    def unindexed(self) -> int:
        """How many events wait to be indexed."""
        mark = int(self._meta("indexed_events") or 0)
        return int(self._db.execute("SELECT count(*) FROM events WHERE row > ?", (mark,)).fetchone()[0])

    def unshelved(self) -> bool:
        """Whether older passages wait to be found by their words."""
        return self._shelves.unshelved() > 0

    def _meta(self, key: str) -> str | None:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def search(
        self, terms: Sequence[str], project_id: str | None, limit: int, filters: Filters | None = None
    ) -> list[Found]:
        """Passages with any of the quoted `terms`, best first, of one project or of all."""
        ranks = dict(self.matches(terms, project_id, limit, filters).ranks)
        found = [each._replace(rank=ranks[each.row]) for each in self.read(list(ranks), filters)]
        return sorted(found, key=lambda each: each.rank)

    def matches(
        self, terms: Sequence[str], project_id: str | None, limit: int, filters: Filters | None = None
    ) -> Matches:
        """The numbers of passages with any of the quoted `terms`, and how well they fit, best first.

        Without filters some may be among them that may not be shown: `read` leaves them out.
        """
        narrowed = None
        if filters:
            condition, values = _wanted(filters)
            narrowed = Narrowed(_JOINED, f"{_NOT_FORGOTTEN} AND {condition}", values)
        return self._shelves.matches(terms, project_id, limit, narrowed)

    def spelled_like(self, typed: str, most: int, project_id: str | None) -> dict[str, int]:
        """Words that differ from this one by so many typing errors, and in how many passages each is.

        Passages are counted by the stem, and only up to a few.
        """
        found: dict[str, int] = {}
        for rows in self._shelves.spelled_like(typed, most, project_id).values():
            for text in self.texts(rows[:_READ]).values():
                for written in dict.fromkeys(re.findall(rf"(?i)(?<![a-z]){typed[0]}[a-z]+", text)):
                    for word in dict.fromkeys((written, written.removesuffix("s"))):
                        if errors(typed, word.lower(), most) <= most:
                            found.setdefault(word, len(rows))
                            break
        return found

    def completions(self, typed: str, project_id: str | None) -> list[str]:
        """Words that begin like what somebody types in small letters, the commonest first; at most three."""
        texts = self.texts(self._shelves.begun(typed, project_id)).values()
        found = Counter(
            word.lower()
            for text in texts
            for word in dict.fromkeys(re.findall(rf"(?i)(?<!\w){re.escape(typed)}[^\W\d_]{{1,40}}", text))
        )
        return [word for word, _ in found.most_common(_COMPLETIONS)]

    def read(self, numbers: Sequence[int], filters: Filters | None = None) -> list[Found]:
        """These passages, those that may be shown and are wanted."""
        wanted, values = _wanted(filters)
        marks = ",".join("?" * len(numbers))
        rows = self._db.execute(
            f"""
            {_FOUND}, 0.0 FROM passages f {_JOINED}
            WHERE f.row IN ({marks}) AND {_NOT_FORGOTTEN} AND {wanted}
            """,
            (*numbers, *values),
        )
        return [Found._make(row) for row in rows]

    def let_through(self, numbers: Sequence[int], filters: Filters) -> list[int]:
        """Those of these passages that may be shown and are wanted, in the same order."""
        wanted, values = _wanted(filters)
        rows = self._db.execute(
            f"""
            SELECT f.row FROM json_each(?) w CROSS JOIN passages f ON f.row = w.value {_JOINED}
            WHERE {_NOT_FORGOTTEN} AND {wanted} ORDER BY w.key
            """,  # noqa: S608 - constants of this file
            (json.dumps(numbers), *values),
        )
        return [row for (row,) in rows]

    def texts(self, numbers: Sequence[int]) -> dict[int, str]:
        """The texts of these passages."""
        marks = ",".join("?" * len(numbers))
        query = f"SELECT row, text FROM passages WHERE row IN ({marks})"  # noqa: S608
        return dict(self._db.execute(query, numbers).fetchall())

    def stretches(self, wanted: Sequence[tuple[str, int]]) -> dict[tuple[str, int], list[int]]:
        """The numbers of the passages of stretches, by session and number."""
        if not wanted:
            return {}
        found: dict[tuple[str, int], list[int]] = {}
        marks = ",".join(["(?, ?)"] * len(wanted))
        rows = self._db.execute(
            f"""
            WITH w (session_id, stretch) AS (VALUES {marks})
            SELECT f.session_id, f.stretch, f.row
            FROM w JOIN passages f ON f.session_id = w.session_id AND f.stretch = w.stretch
            """,  # noqa: S608
            [value for pair in wanted for value in pair],
        )
        for session_id, stretch, row in rows:
            found.setdefault((session_id, stretch), []).append(row)
        return found

    def of_time(
        self,
        project_id: str | None,
        since: int,
        until: int,
        sort: Sort,
        limit: int,
        latest: bool = True,
        filters: Filters | None = None,
    ) -> list[Found]:
        """Beginnings of what is of a sort and of a time, the latest first, or the earliest."""
        wanted, values = _wanted(filters)
        marks = ",".join("?" * len(sort.kinds))
        order = "DESC" if latest else "ASC"
        scope, of_project = ("", ()) if project_id is None else ("AND f.project_id = ?", (project_id,))
        found: list[Found] = []
        for owners in ("memories", "events"):  # each has its index of times, the passages have none
            did, actions = _did(sort) if owners == "events" else ("", ())
            rows = self._db.execute(
                f"""
                {_FOUND}, 0.0 FROM {owners} o
                CROSS JOIN passages f ON f.owner = o.id AND f.part = 0 {_JOINED}
                WHERE o.kind IN ({marks}) {did} AND o.at >= ? AND o.at < ? {scope}
                  AND {_NOT_FORGOTTEN} AND {wanted}
                ORDER BY o.at {order}, f.row {order} LIMIT ?
                """,
                (*sort.kinds, *actions, since, until, *of_project, *values, limit),
            )
            found += [Found._make(row) for row in rows]
        return sorted(found, key=lambda each: (each.at, each.row), reverse=latest)[:limit]

    def around(self, row: int, session_id: str, count: int) -> list[Found]:
        """The passages of events before and after one, in order, at most `count` on each side."""
        numbers = [
            number
            for comparison, order in (("<", "DESC"), (">", "ASC"))
            for (number,) in self._db.execute(
                f"""
                SELECT row FROM passages WHERE session_id = ? AND stretch > 0 AND row {comparison} ?
                ORDER BY row {order} LIMIT ?
                """,  # noqa: S608
                (session_id, row, count),
            )
        ]
        return sorted(self.read(numbers), key=lambda found: found.row)


def _did(sort: Sort) -> tuple[str, tuple[str, ...]]:
    """The condition on what a tool did and how it ended, and its values."""
    actions = f"AND (o.kind <> '{Kind.TOOL}' OR o.action IN ({','.join('?' * len(sort.actions))}))"
    failed = f"AND (o.kind <> '{Kind.TOOL}' OR o.outcome = '{Outcome.FAILED}')"
    return f"{actions if sort.actions else ''} {failed if sort.failed else ''}", sort.actions


def _wanted(filters: Filters | None) -> tuple[str, list[object]]:
    """The condition that filters stand for, and its values. Of memories, only those in force by default."""
    filters = filters or Filters()
    parts, values = [], list[object]()
    if filters.statuses:
        parts.append(f"m.status IN ({','.join('?' * len(filters.statuses))})")
        values += filters.statuses
    else:
        parts.append("(m.id IS NULL OR m.status IN ('candidate', 'confirmed', 'superseded'))")
    for column, wanted in (
        ("f.kind", filters.kinds),
        ("s.agent", filters.agents),
        (_BRANCH, filters.branches),
    ):
        if wanted:
            parts.append(f"{column} IN ({','.join('?' * len(wanted))})")
            values += wanted
    if filters.since:
        parts.append("f.at >= ?")
        values.append(filters.since)
    if filters.until:
        parts.append("f.at < ?")
        values.append(filters.until)
    for name in filters.files:
        parts.append(TOUCHED)
        values += [f"/{name}"] * TOUCHED.count("?")
    return " AND ".join(parts), values


class _Stretches:
    """Numbers the stretches of sessions, going on where the index stopped."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._last: dict[str, tuple[int, int]] = {}

    def of(self, session_id: str, length: int) -> int:
        """The stretch of the session's next passage, which is so long."""
        number, filled = self._last.get(session_id) or self._stored(session_id)
        if not number or filled + length > _STRETCH_CHARS:
            number, filled = number + 1, 0
        self._last[session_id] = (number, filled + length)
        return number

    def _stored(self, session_id: str) -> tuple[int, int]:
        number, filled = self._db.execute(
            """
            SELECT coalesce(max(stretch), 0), coalesce(sum(length(text)), 0) FROM passages
            WHERE session_id = :sid
              AND stretch = (SELECT max(stretch) FROM passages WHERE session_id = :sid)
            """,
            {"sid": session_id},
        ).fetchone()
        return int(number), int(filled)


def pieces(text: str, size: int = PASSAGE_CHARS) -> Iterator[str]:
    """Cut text into passages; nothing is dropped but space at their ends."""
    for start, end in cuts(text, size):
        if piece := text[start:end].strip():
            yield piece


def cuts(text: str, size: int = PASSAGE_CHARS) -> Iterator[tuple[int, int]]:
    """Where passages begin and end: at line ends or spaces where there are any.

    Where there are none, neighbours overlap, so that a name or a pair of characters is whole in one of them.
    """
    start = 0
    overlap = size // _OVERLAP
    while start < len(text):
        end = following = min(start + size, len(text))
        if end < len(text):
            cut = max(text.rfind("\n", start + size // 2, end), text.rfind(" ", start + size // 2, end))
            if cut > 0:
                end = following = cut + 1
            else:
                end = _after_gap(text, end - size // 4, end)
                following = _after_gap(text, end - 2 * overlap, end - overlap)
        yield start, end
        start = following


def _after_gap(text: str, first: int, last: int) -> int:
    """Where the last word begins that begins between two places; `last` if none does."""
    gaps = [match.end() for match in _GAP.finditer(text, max(first, 0), last)]
    return gaps[-1] if gaps else last
