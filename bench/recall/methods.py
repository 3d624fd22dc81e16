"""From a question to an order: the product, and what it is compared with.

`ours` is the search that users get, abstention off. `plain` is SQLite's FTS5 alone: porter stems, stop words
out, terms OR-ed, passages of about 1,200 characters. `vectors` is the product's model alone over the same
passages. None of them knows which benchmark it is in.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from bench.recall.data import Case, Session
from bench.recall.memory import PROJECT

from backstory.app import App
from backstory.embed.minilm import minilm
from backstory.store.records import Filters

_DEEP = 100
_PASSAGE = 1_200
_STOP = frozenset(
    {
        "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been",
        "before", "but", "by", "can", "could", "did", "do", "does", "for", "from", "had", "has",
        "have", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "no", "not", "of",
        "on", "or", "our", "out", "over", "please", "should", "so", "some", "than", "that", "the",
        "their", "them", "then", "there", "these", "they", "this", "to", "up", "us", "use",
        "used", "was", "we", "were", "what", "when", "where", "which", "who", "why", "will",
        "with", "would", "you", "your",
    }
)  # fmt: skip
_SPOKEN = Filters(kinds=("prompt", "said"))


@dataclass(frozen=True, slots=True)
class Orders:
    """The sessions that a method gives for a question, best first, and the turns if it can tell them."""

    sessions: list[str]
    turns: list[str] | None = None


@dataclass(frozen=True, slots=True)
class Method:
    """Answers questions with orders, from a store of so many bytes."""

    ask: Callable[[str], Orders]
    size: int


def ours(app: App, sessions: dict[str, str], turns: dict[str, str], turn_level: bool) -> Method:
    """The product. For single turns it is asked with `--kind prompt --kind said`."""

    def ask(question: str) -> Orders:
        hits = app.search(question, PROJECT.id, _DEEP, floor=False).hits
        order = list(dict.fromkeys(sessions[hit.session] for hit in hits if hit.session in sessions))
        said = []
        if turn_level:
            found = app.search(question, PROJECT.id, _DEEP, floor=False, filters=_SPOKEN).hits
            said = [turns[each] for hit in found for each in (hit.id, *hit.also) if each in turns]
        return Orders(order, said)

    return Method(ask, sum(file.stat().st_size for file in app.home.root.glob("backstory.db*")))


def sessions_only(ask: Callable[[str], list[str]], size: int) -> Method:
    """A method that knows sessions, no turns."""
    return Method(lambda question: Orders(ask(question)), size)


def plain(case: Case) -> Method:
    """FTS5 alone."""
    passages = list(_passages(case.sessions))
    spoken = [(turn.id, turn.text) for session in case.sessions for turn in session.turns]
    indexes = [_index([text for _, text in rows]) for rows in (passages, spoken)]

    def ask(question: str) -> Orders:
        words = list(dict.fromkeys(re.findall(r"\w+", question.lower())))
        terms = [word for word in words if word not in _STOP] or words
        query = " OR ".join(f'"{term}"' for term in terms)
        found = []
        for db, rows in zip(indexes, (passages, spoken), strict=True):
            hits = (
                db.execute("SELECT rowid FROM f WHERE f MATCH ? ORDER BY bm25(f)", (query,)) if terms else ()
            )
            found.append(list(dict.fromkeys(rows[row][0] for (row,) in hits)))
        return Orders(*found)

    pages, page = (indexes[0].execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    return Method(ask, pages * page)


def vectors(case: Case) -> Method:
    """The product's own model, and nothing else."""
    passages = list(_passages(case.sessions))
    spoken = [(turn.id, turn.text) for session in case.sessions for turn in session.turns]
    own = minilm()
    spaces = [own.embed([text for _, text in rows]) for rows in (passages, spoken)]

    def ask(question: str) -> Orders:
        asked = own.embed([question])[0]
        found = []
        for space, rows in zip(spaces, (passages, spoken), strict=True):
            found.append(list(dict.fromkeys(rows[n][0] for n in np.argsort(-(space @ asked)))))
        return Orders(*found)

    return Method(ask, spaces[0].nbytes)


def _index(texts: Sequence[str]) -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE f USING fts5 (t, tokenize = 'porter unicode61')")
    db.executemany("INSERT INTO f (rowid, t) VALUES (?, ?)", enumerate(texts))
    return db


def _passages(sessions: Sequence[Session]) -> Iterator[tuple[str, str]]:
    for session in sessions:
        held: list[str] = []
        for turn in session.turns:
            if held and sum(map(len, held)) + len(turn.text) > _PASSAGE:
                yield session.id, "\n".join(held)
                held = []
            held.append(turn.text)
        if held:
            yield session.id, "\n".join(held)
