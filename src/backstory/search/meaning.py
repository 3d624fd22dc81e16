"""Search by meaning: the nearest vectors, and how alike the words of question and text are.

The signs of all vectors are scanned, the best 500 compared exactly. `Likeness` looks closer at a few texts:
each word of the question finds the word that is most like it in the text ("deploy" finds "rollout"), and the
rarer words count more. A short reply gets its neighbours' words too, since what it is about stands there.
"""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from backstory.embed import coding
from backstory.embed.coding import Floats
from backstory.embed.provider import Embedder
from backstory.embed.table import Table
from backstory.search.question import Question
from backstory.store import Store

_EXACT = 500


def vector_of(embedder: Embedder, text: str) -> Floats:
    """The vector of a question."""
    return np.asarray(embedder.embed([text])[0], np.float32)


def nearest(store: Store, model: str, vector: Floats, project_id: str | None, limit: int) -> dict[int, float]:
    """The passages whose vectors are nearest to the question's, by number, with the cosine."""
    if not vector.any():
        return {}
    signs = coding.signs(vector[None, :])[0]
    numbers, distances = [], []
    for rows, codes in store.vectors.blocks(model, project_id):
        count = len(rows) // 8
        if count and len(codes) == count * len(signs):
            numbers.append(np.frombuffer(rows, np.int64))
            distances.append(coding.distances(codes, count, signs))
    if not numbers:
        return {}
    every, far = np.concatenate(numbers), np.concatenate(distances)
    if len(every) > _EXACT:
        every = every[np.argpartition(far, _EXACT)[:_EXACT]]
    close = cosines(store, model, vector, every.tolist())
    best = sorted(close, key=lambda row: -close[row])[:limit]
    return {row: close[row] for row in best}


def cosines(store: Store, model: str, vector: Floats, rows: Sequence[int]) -> dict[int, float]:
    """How near these passages are to the question, those that have a vector."""
    found = store.vectors.read(model, rows)
    if not found:
        return {}
    exact = coding.decoded([values for _, values in found]) @ vector
    return dict(zip((row for row, _ in found), exact.tolist(), strict=True))


class Likeness:
    """How alike texts are to one question, word by word and as a whole."""

    def __init__(self, table: Table, question: Question) -> None:
        self._table = table
        pieces: dict[int, float] = {}
        for word in question.words:
            own = table.pieces(word.text)
            for piece, rarity in zip(own, table.rarity(own).tolist(), strict=True):
                pieces[piece] = max(pieces.get(piece, 0.0), rarity / len(own) ** 0.5)
        self._asked = table.directions(list(pieces)) if pieces else None
        self._weights = np.fromiter(pieces.values(), np.float32)
        self._vector = table.embed([question.text])[0]

    def cut(self, text: str) -> list[int]:
        """The word pieces of a text, to be measured."""
        return self._table.pieces_once(text)

    def measure(self, texts: Sequence[Sequence[int]], groups: Sequence[int]) -> "Measured":
        """Measure texts. `groups` numbers the session of each of the first texts, the wide ones."""
        wide, most = len(groups), max(groups, default=-1) + 1
        found = Measured([0.0] * len(texts), [0.0] * wide, [0.0] * most)
        known = [n for n, pieces in enumerate(texts) if pieces]
        if self._asked is None or not known:
            return found
        flat = np.fromiter(chain.from_iterable(texts[n] for n in known), np.int64)
        used, place = np.unique(flat, return_inverse=True)
        directions = self._table.directions(used)
        lengths = [len(texts[n]) for n in known]
        starts = np.cumsum([0, *lengths[:-1]])
        best = np.zeros((len(texts), len(self._weights)), np.float32)
        best[known] = np.maximum.reduceat((directions @ self._asked.T)[place], starts, axis=0)
        shares = self._weights / self._weights.sum()
        together = np.zeros((most, len(shares)), np.float32)
        np.maximum.at(together, np.asarray(groups, np.int64), best[:wide])
        near = np.zeros(wide, np.float32)
        first = [n for n in known if n < wide]
        if first:
            end = sum(lengths[: len(first)])
            owner = np.repeat(np.arange(len(first)), lengths[: len(first)])
            counts = np.bincount(owner * len(used) + place[:end], minlength=len(first) * len(used))
            sums = counts.reshape(len(first), -1).astype(np.float32) @ self._table.heavy(used, directions)
            near[first] = sums @ self._vector / np.maximum(np.linalg.norm(sums, axis=1), 1e-9)
        return Measured((best @ shares).tolist(), near.tolist(), (together @ shares).tolist())


class Measured(NamedTuple):
    """How alike texts are to a question: word by word, the wide ones as a whole, and sessions altogether."""

    alike: list[float]
    near: list[float]
    together: list[float]
