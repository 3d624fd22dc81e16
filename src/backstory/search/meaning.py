"""Search by meaning: the nearest vectors. Signs of all are scanned, the best 300 compared exactly."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from backstory.embed import vector_codes
from backstory.embed.vector_codes import Floats
from backstory.store.vectors import Vectors

if TYPE_CHECKING:
    from backstory.embed.embedder import Embedder

_EXACT = 300
_MOST_AT_ONCE = 20_000
LetThrough = Callable[[Sequence[int]], list[int]]


def vector_of(embedder: "Embedder", text: str) -> Floats:
    """The vector of a question."""
    return np.asarray(embedder.embed([text])[0], np.float32)


def nearest(
    vectors: Vectors,
    model: str,
    vector: Floats,
    project_id: str | None,
    limit: int,
    let_through: LetThrough | None = None,
) -> tuple[dict[int, float], int]:
    """The passages that are nearest to the question, with the cosine, and among how many they are.

    `let_through` tells which of some passages may be found at all.
    """
    if not vector.any():
        return {}, 0
    signs = vector_codes.signs(vector[None, :])[0]
    numbers, distances = [], []
    for rows, codes in vectors.blocks(model, project_id):
        count = len(rows) // 8
        if count and len(codes) == count * len(signs):
            numbers.append(np.frombuffer(rows, np.int64))
            distances.append(vector_codes.distances(codes, count, signs))
    if not numbers:
        return {}, 0
    every, far = np.concatenate(numbers), np.concatenate(distances)
    among = len(every)
    if let_through:
        every = np.asarray(_first(every[np.argsort(far, kind="stable")].tolist(), let_through), np.int64)
    elif len(every) > _EXACT:
        within = np.searchsorted(np.cumsum(np.bincount(far)), _EXACT)  # sooner than to sort all of them
        close = np.flatnonzero(far <= within)
        every = every[close[np.argsort(far[close], kind="stable")[:_EXACT]]]
    exact = cosines(vectors, model, vector, every.tolist())
    best = sorted(exact, key=lambda row: -exact[row])[:limit]
    return {row: exact[row] for row in best}, among


def _first(numbers: Sequence[int], let_through: LetThrough) -> list[int]:
    """The first of these passages that may be found, as many as are compared exactly."""
    found: list[int] = []
    start, some = 0, 2 * _EXACT
    while start < len(numbers) and len(found) < _EXACT:
        found += let_through(numbers[start : start + some])
        start, some = start + some, min(4 * some, _MOST_AT_ONCE)
    return found[:_EXACT]


def cosines(vectors: Vectors, model: str, vector: Floats, rows: Sequence[int]) -> dict[int, float]:
    """How near these passages are to the question, those that have a vector."""
    found = vectors.read(model, rows)
    if not found:
        return {}
    exact = vector_codes.decoded([values for _, values in found]) @ vector
    return dict(zip((row for row, _ in found), exact.tolist(), strict=True))


def nearest_of(vectors: Vectors, model: str, rows: Sequence[int], others: Sequence[int]) -> dict[int, float]:
    """How near each of these passages is to the nearest of the others."""
    found, beside = vectors.read(model, rows), vectors.read(model, others)
    if not found or not beside:
        return {}
    exact = vector_codes.decoded([values for _, values in found])
    near = (exact @ vector_codes.decoded([values for _, values in beside]).T).max(axis=1)
    return dict(zip((row for row, _ in found), near.tolist(), strict=True))
