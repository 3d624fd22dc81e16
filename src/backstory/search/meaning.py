"""Search by meaning: the nearest vectors, and how alike the words of question and text are.

The signs of all vectors are scanned, the best 300 that a filter lets through compared exactly. `Likeness`
looks closer at a few texts: each word of the question finds the word that is most like it in the text
("deploy" finds "rollout"), and the rarer words count more. A short reply gets its neighbours' words too,
since what it is about stands there. A name that nothing has is like nothing.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from backstory.embed import vector_codes
from backstory.embed.embedder import Embedder
from backstory.embed.static_table import Table
from backstory.embed.vector_codes import Floats
from backstory.search.question import Question
from backstory.store import Store
from backstory.store.records import Filters

_EXACT = 300
_MOST_AT_ONCE = 20_000


def vector_of(embedder: Embedder, text: str) -> Floats:
    """The vector of a question."""
    return np.asarray(embedder.embed([text])[0], np.float32)


def nearest(
    store: Store,
    model: str,
    vector: Floats,
    project_id: str | None,
    limit: int,
    filters: Filters | None = None,
) -> tuple[dict[int, float], int]:
    """The passages that are nearest to the question, with the cosine, and among how many they are."""
    if not vector.any():
        return {}, 0
    signs = vector_codes.signs(vector[None, :])[0]
    numbers, distances = [], []
    for rows, codes in store.vectors.blocks(model, project_id):
        count = len(rows) // 8
        if count and len(codes) == count * len(signs):
            numbers.append(np.frombuffer(rows, np.int64))
            distances.append(vector_codes.distances(codes, count, signs))
    if not numbers:
        return {}, 0
    every, far = np.concatenate(numbers), np.concatenate(distances)
    among = len(every)
    if filters:
        every = np.asarray(
            _let_through(store, every[np.argsort(far, kind="stable")].tolist(), filters), np.int64
        )
    elif len(every) > _EXACT:
        within = np.searchsorted(np.cumsum(np.bincount(far)), _EXACT)  # sooner than to sort all of them
        close = np.flatnonzero(far <= within)
        every = every[close[np.argsort(far[close], kind="stable")[:_EXACT]]]
    exact = cosines(store, model, vector, every.tolist())
    best = sorted(exact, key=lambda row: -exact[row])[:limit]
    return {row: exact[row] for row in best}, among


def _let_through(store: Store, numbers: Sequence[int], filters: Filters) -> list[int]:
    """The first of these passages that a filter lets through, as many as are compared exactly."""
    found: list[int] = []
    start, some = 0, 2 * _EXACT
    while start < len(numbers) and len(found) < _EXACT:
        found += store.passages.let_through(numbers[start : start + some], filters)
        start, some = start + some, min(4 * some, _MOST_AT_ONCE)
    return found[:_EXACT]


def cosines(store: Store, model: str, vector: Floats, rows: Sequence[int]) -> dict[int, float]:
    """How near these passages are to the question, those that have a vector."""
    found = store.vectors.read(model, rows)
    if not found:
        return {}
    exact = vector_codes.decoded([values for _, values in found]) @ vector
    return dict(zip((row for row, _ in found), exact.tolist(), strict=True))


class Likeness:
    """How alike texts are to one question, word by word and as a whole."""

    def __init__(self, table: Table, question: Question) -> None:
        self._table = table
        pieces: dict[int, float] = {}
        strange = 0.0
        for word in question.words:
            own = table.pieces(word.text)
            if word.text in question.unknown:
                strange += float(table.rarity(own).max(initial=0.0))
                continue
            for piece, rarity in zip(own, table.rarity(own).tolist(), strict=True):
                pieces[piece] = max(pieces.get(piece, 0.0), rarity / len(own) ** 0.5)
        self._asked = table.directions(list(pieces)) if pieces else None
        columns = {piece: n for n, piece in enumerate(pieces)}
        self._meant = [
            (
                [columns[piece] for word in each.words for piece in table.pieces(word) if piece in columns],
                [known for other in each.others if (known := table.pieces(other))],
                each.alike,
            )
            for each in question.meant
        ]
        self._weights = np.fromiter(pieces.values(), np.float32)
        self._vector = table.embed([_without(question.text, question.unknown)])[0]
        self._all = float(self._weights.sum()) + strange

    def pieces(self, store: Store, rows: Sequence[int]) -> dict[int, bytes]:
        """The word pieces of passages, cut now where that was not done yet."""
        found = store.vectors.pieces(self._table.model, rows)
        if missing := [row for row in rows if row not in found]:
            texts = store.passages.texts(missing)
            found |= {row: self._table.pieces_once(text) for row, text in texts.items()}
        return found

    def measure(
        self, pieces: Mapping[int, bytes], stretches: Sequence[Sequence[int]], sessions: Sequence[int]
    ) -> "Measured":
        """Measure stretches by the pieces of their passages; `sessions` numbers the session of each."""
        cuts = [b"".join([pieces.get(row, b"") for row in rows]) for rows in stretches]  # or just forgotten
        known = [n for n, cut in enumerate(cuts) if cut]
        alike = np.zeros((len(cuts), len(self._weights)), np.float32)
        near = np.zeros(len(cuts), np.float32)
        together = np.zeros((max(sessions, default=-1) + 1, len(self._weights)), np.float32)
        if self._asked is not None and known:
            flat = np.frombuffer(b"".join(cuts), np.uint16)
            place = np.zeros(self._table.size, np.int32)
            place[flat] = 1
            used = np.flatnonzero(place)
            place[used] = np.arange(len(used))
            inside = place[flat]
            lengths = [len(cuts[n]) // 2 for n in known]
            vectors, norms, factors = self._table.rows(used)
            words = vectors @ self._asked.T / norms[:, None]
            found = np.maximum.reduceat(words[inside], np.cumsum([0, *lengths[:-1]]), axis=0)
            shared = np.zeros((len(known), len(used)), np.float32)
            shared[np.repeat(np.arange(len(known)), lengths), inside] = factors[inside]
            if self._meant:
                self._stand_in(found, shared > 0, {piece: n for n, piece in enumerate(used.tolist())})
            alike[known] = found
            np.maximum.at(together, np.asarray(sessions, np.intp), alike)
            sums = shared @ vectors
            near[known] = sums @ self._vector / np.maximum(np.linalg.norm(sums, axis=1), 1e-9)
        shares = self._weights / max(self._all, 1e-9)
        return Measured((alike @ shares).tolist(), near.tolist(), (together @ shares).tolist())

    def _stand_in(self, alike: Floats, has: NDArray[np.bool_], place: Mapping[int, int]) -> None:
        """Raise how alike words are, in place, where a text has what may stand for them."""
        for columns, others, much in self._meant:
            for pieces in others:
                if columns and all(piece in place for piece in pieces):
                    rows = np.flatnonzero(has[:, [place[piece] for piece in pieces]].all(axis=1))
                    here = (rows[:, None], columns)
                    alike[here] = np.maximum(alike[here], much)


def _without(text: str, names: Sequence[str]) -> str:
    for name in names:
        text = re.sub(re.escape(name), " ", text, flags=re.IGNORECASE)
    return text


class Measured(NamedTuple):
    """How alike a question is: stretches word by word and as a whole, sessions word by word."""

    stretches: list[float]
    near: list[float]
    sessions: list[float]
