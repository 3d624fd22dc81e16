"""The index of words: which passages have which words, and how well they fit a question.

Each project has a shelf: its passages have neighbouring numbers in the index, so that a search within one
project reads only its part of every word's list. Within the index a passage is (shelf << 32 | row).
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from backstory.store.tokenizer import typing_errors

_BITS = 32
_ROWS = (1 << _BITS) - 1
_ROW = f"passage_fts.rowid & {_ROWS}"
# Columns of the index: the text, its parts, and the prompt of its turn.
_OWN, _WITH_CONTEXT = "bm25(passage_fts, 1.0, 0.6, 0.0)", "bm25(passage_fts, 1.0, 0.6, 1.0)"
# To rank a passage costs ten times as much as to find it. Of the words that are looked for the rarer ones,
# those that together are in so many passages of a project, or of all, find the candidates; the common ones
# only weigh them. What that changes among the best is measured in docs/lab/recall.md.
_ENOUGH, _ENOUGH_IN_ALL = 2_000, 5_000
# Where every word is common, two of these, the rarest, find together, if they find as many as are wanted.
_TOGETHER = 6
# The stems of all words, and where they are: read only for a word that is not found.
_VOCABULARY = (
    "passage_terms USING fts5vocab (main, passage_fts, row)",
    "passage_instances USING fts5vocab (main, passage_fts, instance)",
)
# The shortest stem, how many are looked at, and in how many passages of each.
_STEM, _STEMS, _COUNTED = 3, 8, 20


class Match(NamedTuple):
    """A passage by its row, and how well the words fit: its own, and those of its turn's prompt as well.

    Both are BM25 as SQLite counts it: below zero, and the smaller the better.
    """

    row: int
    own: float
    with_context: float


class Matches(NamedTuple):
    """Passages and how well they fit, best first; and the terms that are in none."""

    ranks: list[Match]
    absent: list[str]


class IndexedPassage(NamedTuple):
    """A passage as the index of words takes it: its row, and what is indexed."""

    row: int
    project_id: str
    text: str
    extra: str
    context: str


class PassageCondition(NamedTuple):
    """What else is asked of passages `f`: tables joined to them, a condition, its values."""

    joined: str
    condition: str
    values: Sequence[object]


class FullTextIndex:
    """Writes and searches the index of words of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def add(self, passages: Iterable[IndexedPassage]) -> None:
        """Index passages that are not in the index yet."""
        self._db.executemany(
            "INSERT INTO passage_fts (rowid, text, extra, context) VALUES (?, ?, ?, ?)",
            self._placed(passages),
        )

    def remove(self, passages: Iterable[IndexedPassage]) -> None:
        """Take passages out; the index needs what it was given."""
        unshelved = self.last_unindexed()
        self._db.executemany(
            """
            INSERT INTO passage_fts (passage_fts, rowid, text, extra, context) VALUES ('delete', ?, ?, ?, ?)
            """,
            self._placed(each for each in passages if each.row > unshelved),
        )

    def clear(self) -> None:
        """Empty the index."""
        self._db.execute("INSERT INTO passage_fts (passage_fts) VALUES ('delete-all')")
        self._db.execute("DELETE FROM meta WHERE key = 'unshelved'")

    def last_unindexed(self) -> int:
        """The last of the older passages that are still to be indexed; 0 if none is."""
        row = self._db.execute("SELECT value FROM meta WHERE key = 'unshelved'").fetchone()
        return 0 if row is None else int(row[0])

    def index_older(self, limit: int) -> int:
        """Index the newest of the older passages; 0 when all are. Call it inside a transaction."""
        if not (unshelved := self.last_unindexed()):
            return 0
        rows = self._db.execute(
            """
            SELECT row, project_id, text, extra, context FROM passages
            WHERE row <= ? ORDER BY row DESC LIMIT ?
            """,
            (unshelved, limit),
        ).fetchall()
        self.add(map(IndexedPassage._make, rows))
        left = rows[-1][0] - 1 if len(rows) == limit else 0
        self._db.execute("UPDATE meta SET value = ? WHERE key = 'unshelved' AND ?", (str(left), left))
        self._db.execute("DELETE FROM meta WHERE key = 'unshelved' AND NOT ?", (left,))
        return len(rows)

    def is_consistent(self) -> bool:
        """Whether the index agrees with itself, and has the passages that it should; reads all of it."""
        try:
            self._db.execute("INSERT INTO passage_fts (passage_fts) VALUES ('integrity-check')")
        except sqlite3.DatabaseError:
            return False
        wanted = """
            SELECT s.number << ? | p.row FROM passages p LEFT JOIN shelves s ON s.project_id = p.project_id
            WHERE p.row > ?
        """
        there = "SELECT id FROM passage_fts_docsize"
        return not self._db.execute(
            f"""
            SELECT EXISTS ({wanted} EXCEPT {there}) OR EXISTS ({there} EXCEPT {wanted})
            """,
            (_BITS, self.last_unindexed()) * 2,
        ).fetchone()[0]

    def count(self, project_id: str) -> int:
        """How many passages of a project can be found by their words."""
        row = self._db.execute(
            "SELECT count(*) FROM passage_fts_docsize WHERE id BETWEEN ? AND ?", self._shelf_of(project_id)
        ).fetchone()
        return int(row[0])

    def matches(
        self,
        terms: Sequence[str],
        project_id: str | None,
        limit: int,
        narrowed: PassageCondition | None = None,
    ) -> Matches:
        """The passages with any of the quoted `terms`."""
        counts = self._counts(terms, project_id, _enough(project_id))
        there = sorted(counts, key=lambda term: counts[term])
        finding = self._finding(there, counts, project_id, limit)
        found = self._ranked(there, finding, project_id, limit, narrowed)
        if len(found) < limit // 4 and finding != there:  # there may be others beside these
            found = self._ranked(there, there, project_id, limit, narrowed)
        return Matches(found, [term for term in terms if term not in counts])

    def spelled_like(self, typed: str, most: int, project_id: str | None) -> dict[str, list[int]]:
        """Stems that a word begins like, but for so many typing errors; some rows of each, nearest first."""
        for table in _VOCABULARY:
            self._db.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{table}")
        letters = set(typed)
        rows = self._db.execute(
            "SELECT term FROM passage_terms WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?",
            (typed[0], chr(ord(typed[0]) + 1), min(_STEM, len(typed) - most), len(typed) + most),
        ).fetchall()
        near = sorted(
            (typing_errors(typed, term, most, begins=True), -len(term), term)
            for (term,) in rows
            if len(set(term) - letters) <= most
        )
        first, last = (0, 1 << 62) if project_id is None else self._shelf_of(project_id)
        query = """
            SELECT DISTINCT doc & ? FROM passage_instances WHERE term = ? AND doc BETWEEN ? AND ? LIMIT ?
        """
        found: dict[str, list[int]] = {}
        for distance, _, term in near:
            if distance > most or len(found) == _STEMS:
                break
            if having := self._db.execute(query, (_ROWS, term, first, last, _COUNTED)).fetchall():
                found[term] = [row for (row,) in having]
        return found

    def beginning_with(self, typed: str, project_id: str | None) -> list[int]:
        """Some rows with words whose stems begin so, or that begin like these."""
        for table in _VOCABULARY:
            self._db.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{table}")
        shorter = [typed[:end] for end in range(_STEM + 1, len(typed))]
        terms = self._db.execute(
            f"""
            SELECT term FROM passage_terms
            WHERE (term >= ? AND term < ?) OR term IN ({",".join("?" * len(shorter))})
            ORDER BY term >= ? DESC, doc DESC LIMIT ?
            """,  # noqa: S608
            (typed, typed + "\U0010ffff", *shorter, typed, _STEMS),
        ).fetchall()
        first, last = (0, 1 << 62) if project_id is None else self._shelf_of(project_id)
        query = """
            SELECT DISTINCT doc & ? FROM passage_instances WHERE term = ? AND doc BETWEEN ? AND ? LIMIT ?
        """
        return [
            row
            for (term,) in terms
            for (row,) in self._db.execute(query, (_ROWS, term, first, last, _COUNTED))
        ]

    def _counts(self, terms: Sequence[str], project_id: str | None, most: int) -> dict[str, int]:
        """In how many passages each term is that is in any, up to so many."""
        matching, values = self._matching(project_id)
        query = f"SELECT count(*) FROM (SELECT 1 FROM passage_fts WHERE {matching} LIMIT ?)"  # noqa: S608
        counted = {term: self._db.execute(query, (term, *values, most)).fetchone()[0] for term in terms}
        return {term: count for term, count in counted.items() if count}

    def _finding(
        self, terms: Sequence[str], counts: Mapping[str, int], project_id: str | None, limit: int
    ) -> list[str]:
        """What finds candidates: all terms, rarest first, or the rarer ones; where all are common, pairs."""
        left = _enough(project_id)
        if len(terms) > 1 and counts[terms[0]] == left:
            pairs = [f"({one} AND {other})" for one, other in combinations(terms[:_TOGETHER], 2)]
            if self._counts([" OR ".join(pairs)], project_id, limit) == {" OR ".join(pairs): limit}:
                return pairs
        chosen = list(terms[:1])
        left -= sum(counts[term] for term in chosen)
        for term in terms[1:]:
            if counts[term] > left:
                break
            chosen.append(term)
            left -= counts[term]
        return chosen

    def _ranked(
        self,
        terms: Sequence[str],
        finding: Sequence[str],
        project_id: str | None,
        limit: int,
        narrowed: PassageCondition | None,
    ) -> list[Match]:
        """Passages that have one of the terms that find, weighed by all terms."""
        if not finding:
            return []
        matching, values = self._matching(project_id)
        joined, condition, wanted = narrowed or PassageCondition("", "1", ())
        chosen, others = "1", list[object]()
        if finding != terms:
            chosen = f"+passage_fts.rowid IN (SELECT rowid FROM passage_fts WHERE {matching})"  # noqa: S608
            others = [" OR ".join(finding), *values]
        if joined:
            joined = f"CROSS JOIN passages f ON f.row = {_ROW} {joined}"
        rows = self._db.execute(
            f"""
            SELECT {_ROW}, {_OWN} AS own, {_WITH_CONTEXT} AS with_context FROM passage_fts {joined}
            WHERE {matching} AND {chosen} AND {condition} ORDER BY own + with_context LIMIT ?
            """,  # noqa: S608 - constants of this package
            (" OR ".join(terms), *values, *others, *wanted, limit),
        )
        return [Match._make(row) for row in rows]

    def _matching(self, project_id: str | None) -> tuple[str, list[int]]:
        """The condition that passages of a project have some words, and its values after the words."""
        if project_id is None:
            return "passage_fts MATCH ?", []
        return "passage_fts MATCH ? AND passage_fts.rowid BETWEEN ? AND ?", list(self._shelf_of(project_id))

    def _shelf_of(self, project_id: str) -> tuple[int, int]:
        """The first and the last number that a passage of the project has in the index."""
        shelf = self._number(project_id) << _BITS
        return shelf, shelf + _ROWS

    def _placed(self, passages: Iterable[IndexedPassage]) -> list[tuple[int, str, str, str]]:
        """What is indexed, by its number, in the order that the index wants: else it writes out each time."""
        return sorted(
            (self._shelf(each.project_id) | each.row, each.text, each.extra, each.context)
            for each in passages
        )

    def _shelf(self, project_id: str) -> int:
        """Where the project's shelf begins; it gets one if it has none."""
        number = self._number(project_id)
        if not number:
            added = self._db.execute("INSERT INTO shelves (project_id) VALUES (?)", (project_id,))
            number = int(added.lastrowid or 0)
        return number << _BITS

    def _number(self, project_id: str) -> int:
        row = self._db.execute("SELECT number FROM shelves WHERE project_id = ?", (project_id,)).fetchone()
        return 0 if row is None else int(row[0])


def _enough(project_id: str | None) -> int:
    return _ENOUGH_IN_ALL if project_id is None else _ENOUGH
