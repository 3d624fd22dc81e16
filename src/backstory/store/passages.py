"""The text index: passages that search looks through.

Memories are indexed when they are stored. Events are committed first and indexed afterwards, from a
high-water mark, so that a kill in between costs nothing. What is indexed of events is harvested from whole
turns (`distil/harvest.py`): each turn that has a new event is harvested again, and what changed replaces what
the index had of it. Documents, and what other tools noted, are cut into pieces of about a thousand
characters. `full_text_index` finds passages by their words.
"""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from backstory.model import Kind, Outcome, StoredEvent
from backstory.store.full_text_index import FullTextIndex, IndexedPassage, Matches, PassageCondition
from backstory.store.records import Filters, Found, NewPassage, Sort, Turns
from backstory.store.tokenizer import index_text, typing_errors
from backstory.store.vectors import Vectors

PASSAGE_CHARS = 1_000
# Where a passage ends in the middle of something, the next one begins a fifth earlier: the longest name.
_OVERLAP = 5
_GAP = re.compile(r"[^\w]")
# How many events are indexed in one transaction: beside live work, and when many wait (half the merging).
STEP, BULK = 500, 4_000
_READ = 3
_COMPLETIONS = 3
SEARCHED = (Kind.PROMPT, Kind.SAID, Kind.TOOL, Kind.COMPACTED, Kind.DOCUMENT, Kind.NOTED)
# Cut into pieces as they are; everything else that is indexed of events is harvested.
_AS_THEY_ARE = (Kind.DOCUMENT, Kind.NOTED)
_INSERT = """
    INSERT INTO passages
        (row, owner, part, project_id, session_id, kind, at, text, extra, turn, form, context, scope)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')
"""
_OWNED = """
    SELECT part, project_id, session_id, kind, at, text, turn, form, context FROM passages
    WHERE owner = ? ORDER BY part
"""
# Events in the shape of passages: those that no passage is made of are found by their time or a name in them.
_EVENTS = f"""
    (SELECT e.row, e.id AS owner, t.project_id, e.session_id, e.kind, e.at, e.turn, '' AS form,
            substr(trim(e.target || char(10) || e.text, char(10)), 1, {PASSAGE_CHARS}) AS text
     FROM events e JOIN sessions t ON t.id = e.session_id
     WHERE NOT e.recalled AND (e.target <> '' OR e.text <> ''))
"""  # noqa: S608
_FOUND = """
    SELECT f.row, f.owner, f.project_id, p.name, f.session_id, s.agent, f.kind, f.at, f.text,
           f.turn, f.form, s.branch, coalesce(m.status, ''), coalesce(m.said_by, ''), coalesce(m.pinned, 0)
"""
_FIRST_PASSAGE = "passages f ON f.owner = o.id AND f.part = 0"
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
    turn: int = 0
    form: str = ""
    context: str = ""


class Passages:
    """Writes and searches the text index of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._full_text = FullTextIndex(connection)

    def put(self, owner: str, project_id: str, session_id: str, kind: str, at: int, text: str) -> None:
        """Index `text` for its owner, in place of what was indexed for it before; the same stays as it is."""
        self._replace(
            owner,
            [
                _New(owner, n, project_id, session_id, kind, at, each)
                for n, each in enumerate(split_passages(text))
            ],
        )

    def rewrite(self, owner: str, clean: Callable[[str], str]) -> None:
        """Index what an owner has with its texts as `clean` makes them."""
        if owner[:1] == "e":
            self.remove(owner)
            return
        there = [_New(owner, *row) for row in self._db.execute(_OWNED, (owner,))]
        told = (each._replace(text=clean(each.text)) for each in there)
        self._replace(owner, [each for each in told if each.text])

    def _replace(self, owner: str, wanted: Sequence[_New]) -> None:
        if self._db.execute(_OWNED, (owner,)).fetchall() != [each[1:] for each in wanted]:
            self._remove(owner)
            self._put_all(wanted)

    def remove(self, *owners: str) -> None:
        """Take everything of these owners out of the index, with its vectors.

        Passages quote their neighbours: the turn's prompt, the words that a command was announced with. So
        of an event its whole turn is taken out, to be indexed again with what is left of it.
        """
        turns = {turn for owner in owners if owner[:1] == "e" for turn in self._turns_of(owner)}
        others = {
            owner
            for turn in turns
            for (owner,) in self._db.execute(
                "SELECT DISTINCT owner FROM passages WHERE session_id = ? AND turn = ?", turn
            )
        }
        self._remove(*owners, *(others - {*owners}))
        if turns:
            self._set("stale_turns", json.dumps(sorted({*self._stale(), *turns})))

    def _turns_of(self, event: str) -> list[tuple[str, int]]:
        return self._db.execute(
            """
            SELECT session_id, turn FROM events WHERE id = ? AND turn > 0 UNION
            SELECT session_id, turn FROM passages WHERE owner = ? AND turn > 0
            """,
            (event, event),
        ).fetchall()

    def _stale(self) -> list[tuple[str, int]]:
        """Turns that are to be indexed again."""
        return [(sid, turn) for sid, turn in json.loads(self._meta("stale_turns") or "[]")]

    def _remove(self, *owners: str) -> None:
        rows = [
            IndexedPassage._make(row)
            for owner in owners
            for row in self._db.execute(
                "SELECT row, project_id, text, extra, context FROM passages WHERE owner = ?", (owner,)
            )
        ]
        if rows:
            self._full_text.remove(rows)
            self._db.executemany("DELETE FROM passages WHERE owner = ?", [(owner,) for owner in owners])
            Vectors(self._db).remove([each.row for each in rows])

    def unindexed_turns(self, limit: int = STEP) -> Turns:
        """The turns of the next events that are not indexed yet; without turns when all are."""
        mark = int(self._meta("indexed_events") or 0)
        if stale := self._stale()[:limit]:
            return Turns(stale, mark, len(stale))
        rows = self._db.execute(
            "SELECT row, session_id, turn FROM events WHERE row > ? ORDER BY row LIMIT ?", (mark, limit)
        ).fetchall()
        turns = list(dict.fromkeys((session_id, turn) for _, session_id, turn in rows))
        return Turns(turns, rows[-1][0] if rows else mark, len(rows))

    def index_turns(
        self, turns: Turns, events: Sequence[StoredEvent], passages: Sequence[NewPassage]
    ) -> None:
        """Index the passages of whole turns, in place of what was indexed of their events before.

        What did not change stays as it is, with its vector. Call it inside a transaction.
        """
        projects = {sid: self._session(sid) for sid, _ in turns.turns}
        if stale := self._stale():
            self._set("stale_turns", json.dumps([each for each in stale if each not in turns.turns]))
        made: dict[str, list[_New]] = {stored.id: [] for stored in events}
        stored_as = {stored.id: stored for stored in events}
        for each in passages:
            stored = stored_as[each.owner]
            made[each.owner].append(
                _New(
                    each.owner, each.part, projects[stored.session_id][0], stored.session_id,
                    _kind_of(stored.event.kind), stored.event.at, each.text, stored.turn, each.form,
                    each.context,
                )
            )  # fmt: skip
        for stored in events:
            if stored.event.kind in _AS_THEY_ARE and not stored.event.recalled:
                made[stored.id] = list(_as_it_is(stored, projects[stored.session_id][0]))
        self._replace_all(made)
        for sid in dict.fromkeys(sid for sid, turn in turns.turns if turn == 1):
            project_id, imported = projects[sid]
            if imported and events:
                self._put_all([self._header(sid, project_id)])
        self._set_mark(turns.last)

    def _replace_all(self, made: Mapping[str, Sequence[_New]]) -> None:
        """Replace what changed of many owners, written in one go."""
        changed = [
            owner
            for owner, wanted in made.items()
            if self._db.execute(_OWNED, (owner,)).fetchall() != [each[1:] for each in wanted]
        ]
        self._remove(*changed)
        self._put_all([each for owner in changed for each in made[owner]])

    def _session(self, sid: str) -> tuple[str, bool]:
        """The project of a session, and whether it was imported and not a sub-agent's."""
        row = self._db.execute("SELECT project_id, imported_by FROM sessions WHERE id = ?", (sid,)).fetchone()
        return (str(row[0]), bool(row[1])) if row else ("", False)

    def index_words(self, limit: int) -> int:
        """Index the words of older passages, the newest first; 0 when all are. Inside a transaction."""
        return self._full_text.index_older(limit)

    def first_unindexed(self) -> int | None:
        """The row of the next event that is not indexed yet, or None."""
        mark = int(self._meta("indexed_events") or 0)
        if self._stale():
            return 0
        row = self._db.execute("SELECT min(row) FROM events WHERE row > ?", (mark,)).fetchone()
        return None if row[0] is None else int(row[0])

    def skip_event(self, row: int) -> int:
        """Leave an event out of the index, for good or until it is built again; gives 1."""
        if not row:  # turns that are to be indexed again
            self._set("stale_turns", "[]")
            return 1
        self._set_mark(row)
        self._set("skipped_events", json.dumps([*self.skipped(), row]))
        return 1

    def skipped(self) -> list[int]:
        """The rows of the events that were left out because they ended a worker."""
        return [int(row) for row in json.loads(self._meta("skipped_events") or "[]")]

    def _set_mark(self, row: int) -> None:
        self._set("indexed_events", str(row))

    def _set(self, key: str, value: str) -> None:
        self._db.execute(
            """
            INSERT INTO meta (key, value) VALUES (?, ?)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value
            """,
            (key, value),
        )

    def _header(self, session_id: str, project_id: str) -> _New:
        """What an imported session is found by as a whole: its title, folder, day and agent."""
        self._remove(session_id)
        title, cwd, agent, at = self._db.execute(
            "SELECT title, cwd, agent, started_at FROM sessions WHERE id = ?", (session_id,)
        ).fetchone()
        day = datetime.fromtimestamp(at / 1000, UTC).date()
        text = f"{title}\n{agent} session in {cwd or 'an unknown folder'}, {day}"
        return _New(session_id, 0, project_id, session_id, "session", at, text)

    def rewrite_header(self, session_id: str) -> None:
        """If a session is found as a whole, let it be by the title that it has now."""
        row = self._db.execute("SELECT project_id FROM passages WHERE owner = ?", (session_id,)).fetchone()
        if row is not None:
            self._put_all([self._header(session_id, row[0])])

    def _put_all(self, found: Sequence[_New]) -> None:
        last = self._db.execute("SELECT coalesce(max(row), 0) FROM passages").fetchone()[0]
        last = max(last, self._full_text.last_unindexed())
        worded = [
            IndexedPassage(row, new.project_id, new.text, index_text(new.text), new.context)
            for row, new in enumerate(found, last + 1)
        ]
        self._db.executemany(
            _INSERT,
            [(each.row, *new[:7], each.extra, *new[7:]) for each, new in zip(worded, found, strict=True)],
        )
        self._full_text.add(worded)

    def clear(self) -> None:
        """Empty the index, to be built again from the start."""
        self._full_text.clear()
        self._db.execute("DELETE FROM passages")
        Vectors(self._db).clear()
        self._db.execute("DELETE FROM meta WHERE key IN ('indexed_events', 'skipped_events', 'stale_turns')")

    def is_consistent(self) -> bool:
        """Whether the index is there and agrees with itself; reads all of it."""
        empty = self._db.execute(
            """
            SELECT NOT EXISTS (SELECT 1 FROM passages) AND EXISTS (
                SELECT 1 FROM events e JOIN meta m ON m.key = 'indexed_events'
                WHERE e.kind = 'prompt' AND NOT e.recalled AND length(e.text) > 30
                  AND e.row <= CAST(m.value AS INTEGER))
            """
        ).fetchone()[0]
        return not empty and self._full_text.is_consistent()

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
        waiting = self._db.execute("SELECT count(*) FROM events WHERE row > ?", (mark,)).fetchone()[0]
        return int(waiting) + len(self._stale())

    def words_unindexed(self) -> bool:
        """Whether older passages wait to be found by their words."""
        return self._full_text.last_unindexed() > 0

    def _meta(self, key: str) -> str | None:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def search(
        self, terms: Sequence[str], project_id: str | None, limit: int, filters: Filters | None = None
    ) -> list[Found]:
        """Passages with any of the quoted `terms`, best first, of one project or of all."""
        ranks = {each.row: each.own for each in self.matches(terms, project_id, limit, filters).ranks}
        found = [each._replace(rank=ranks[each.row]) for each in self.by_row(list(ranks), filters)]
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
            narrowed = PassageCondition(_JOINED, f"{_NOT_FORGOTTEN} AND {condition}", values)
        return self._full_text.matches(terms, project_id, limit, narrowed)

    def spelled_like(self, typed: str, most: int, project_id: str | None) -> dict[str, int]:
        """Words that differ from this one by so many typing errors, and in how many passages each is.

        Passages are counted by the stem, and only up to a few.
        """
        found: dict[str, int] = {}
        for rows in self._full_text.spelled_like(typed, most, project_id).values():
            for text in self.texts(rows[:_READ]).values():
                for written in dict.fromkeys(re.findall(rf"(?i)(?<![a-z]){typed[0]}[a-z]+", text)):
                    for word in dict.fromkeys((written, written.removesuffix("s"))):
                        if typing_errors(typed, word.lower(), most) <= most:
                            found.setdefault(word, len(rows))
                            break
        return found

    def completions(self, typed: str, project_id: str | None) -> list[str]:
        """Words that begin like what somebody types in small letters, the commonest first; at most three."""
        texts = self.texts(self._full_text.beginning_with(typed, project_id)).values()
        found = Counter(
            word.lower()
            for text in texts
            for word in dict.fromkeys(re.findall(rf"(?i)(?<!\w){re.escape(typed)}[^\W\d_]{{1,40}}", text))
        )
        return [word for word, _ in found.most_common(_COMPLETIONS)]

    def size_of(self, project_id: str) -> int:
        """How much there is to be found of a project, by words and by meaning."""
        return self._full_text.count(project_id) + Vectors(self._db).count(project_id)

    def of_owners(self, owners: Sequence[str]) -> list[tuple[str, str, str, str]]:
        """What is indexed of these: owner, form, kind and text of each passage."""
        return [
            row
            for owner in owners
            for row in self._db.execute(
                "SELECT owner, form, kind, text FROM passages WHERE owner = ?", (owner,)
            )
        ]

    def by_row(self, numbers: Sequence[int], filters: Filters | None = None) -> list[Found]:
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

    def passing(self, numbers: Sequence[int], filters: Filters) -> list[int]:
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

    def of_events(self, rows: Sequence[int], filters: Filters | None = None) -> list[Found]:
        """Events as they are, by their rows, those that may be shown and are wanted; the latest first."""
        wanted, values = _wanted(filters)
        marks = ",".join("?" * len(rows))
        found = self._db.execute(
            f"""
            {_FOUND}, 0.0 FROM {_EVENTS} f {_JOINED}
            WHERE f.row IN ({marks}) AND {_NOT_FORGOTTEN} AND {wanted} ORDER BY f.row DESC
            """,
            (*rows, *values),
        )
        return [Found._make(row) for row in found]

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
            told = f"{_EVENTS} f ON f.row = o.row" if owners == "events" else _FIRST_PASSAGE
            rows = self._db.execute(
                f"""
                {_FOUND}, 0.0 FROM {owners} o CROSS JOIN {told} {_JOINED}
                WHERE o.kind IN ({marks}) {did} AND o.at >= ? AND o.at < ? {scope}
                  AND {_NOT_FORGOTTEN} AND {wanted}
                ORDER BY o.at {order}, f.row {order} LIMIT ?
                """,
                (*sort.kinds, *actions, since, until, *of_project, *values, limit),
            )
            found += [Found._make(row) for row in rows]
        return sorted(found, key=lambda each: (each.at, each.row), reverse=latest)[:limit]

    def around(self, found: Found, count: int) -> tuple[list[Found], list[Found]]:
        """The passages of events before and after one, each in order, at most `count` on each side."""
        first = self._db.execute(
            "SELECT coalesce(min(row), 0) FROM passages WHERE owner = ?", (found.owner,)
        ).fetchone()[0]
        sides = []
        for comparison, order in (("<", "DESC"), (">", "ASC")):
            rows = self._db.execute(
                f"""
                SELECT row FROM passages
                WHERE session_id = ? AND turn > 0 AND owner <> ? AND (at, row) {comparison} (?, ?)
                ORDER BY at {order}, row {order} LIMIT ?
                """,  # noqa: S608
                (found.session_id, found.owner, found.at, first, count),
            )
            there = self.by_row([row for (row,) in rows])
            sides.append(sorted(there, key=lambda each: (each.at, each.row)))
        return sides[0], sides[1]


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
        parts.append(
            """(m.id IS NULL OR (m.status IN ('candidate', 'confirmed', 'superseded')
                AND (m.author = '' OR m.author NOT IN (SELECT author FROM muted))
                AND (NOT m.own_work OR m.seen > 1 OR m.pinned OR m.status = 'confirmed')
                AND NOT EXISTS (SELECT 1 FROM memories r WHERE r.id = m.told_by)))"""
        )
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


def _kind_of(kind: Kind) -> str:
    """The kind by which a passage of an event is known: the end of a turn tells what the agent said last."""
    return Kind.SAID if kind is Kind.TURN_ENDED else kind


def _as_it_is(stored: StoredEvent, project_id: str) -> Iterator[_New]:
    event = stored.event
    body = f"{event.target}\n{event.text}" if event.target and event.text else event.target or event.text
    for part, piece in enumerate(split_passages(body)):
        yield _New(stored.id, part, project_id, stored.session_id, event.kind, event.at, piece, stored.turn)


def split_passages(text: str, size: int = PASSAGE_CHARS) -> Iterator[str]:
    """Cut text into passages; nothing is dropped but space at their ends."""
    for start, end in passage_bounds(text, size):
        if piece := text[start:end].strip():
            yield piece


def passage_bounds(text: str, size: int = PASSAGE_CHARS) -> Iterator[tuple[int, int]]:
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
