"""The table: a vector for each word piece, fitted so that their sum lies where a sentence model would put it.

A text's vector is the sum of its pieces' vectors, each as heavy as the fitting made it. Two words are as
alike as their vectors' directions; how much a word tells is known from how rare it is. The file is
memory-mapped: processes share it, and only the rows that are needed are read.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backstory.embed.embedder import STATIC_MODEL
from backstory.embed.word_pieces import DATA, WordPieces

Floats = NDArray[np.float32]
# Texts whose pieces are summed in one multiplication.
_TOGETHER = 64


class Table:
    """The table that ships with Backstory; it is an `Embedder`."""

    model = STATIC_MODEL
    batch = 512

    def __init__(self, folder: Path = DATA) -> None:
        self._vectors: NDArray[np.int8] = np.load(folder / "vectors.npy", mmap_mode="r")
        weights = np.load(folder / "weights.npy").astype(np.float32)
        self._weights: Floats = np.ascontiguousarray(weights[:, 0])
        self._rarity: Floats = np.ascontiguousarray(weights[:, 1])
        self._pieces = WordPieces((folder / "pieces.txt").read_text("ascii").split())

    @property
    def dimensions(self) -> int:
        """How long the vectors are."""
        return int(self._vectors.shape[1])

    @property
    def size(self) -> int:
        """How many pieces it has."""
        return len(self._vectors)

    def pieces(self, text: str) -> list[int]:
        """The numbers of a text's word pieces."""
        return self._pieces.of(text)

    def pieces_once(self, text: str) -> bytes:
        """The numbers of a text's pieces, each once, two bytes each."""
        return np.unique(np.fromiter(self._pieces.of(text), np.uint16)).tobytes()

    def rarity(self, pieces: Sequence[int]) -> Floats:
        """How much each piece tells."""
        return self._rarity[pieces]

    def directions(self, pieces: Sequence[int] | NDArray[np.int64]) -> Floats:
        """The unit vectors of pieces."""
        rows, lengths, _ = self.rows(pieces)
        return np.asarray(rows / lengths[:, None], np.float32)

    def rows(self, pieces: Sequence[int] | NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
        """The vectors of pieces as stored, their lengths, and what to multiply them with in a sum."""
        rows = self._vectors[pieces].astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        return rows, lengths, self._weights[pieces] / lengths

    def embed(self, texts: Sequence[str]) -> Floats:
        """One unit vector per text; a text without words that are known has zeros."""
        found = np.zeros((len(texts), self.dimensions), np.float32)
        for start in range(0, len(texts), _TOGETHER):
            some = [self.pieces(text) for text in texts[start : start + _TOGETHER]]
            flat = np.fromiter(chain.from_iterable(some), np.int64)
            used, place = np.unique(flat, return_inverse=True)
            owner = np.repeat(np.arange(len(some)), [len(pieces) for pieces in some])
            counts = np.bincount(owner * len(used) + place, minlength=len(some) * len(used))
            rows, _, factors = self.rows(used)
            sums = (counts.reshape(len(some), -1) * factors).astype(np.float32) @ rows
            lengths = np.linalg.norm(sums, axis=1, keepdims=True)
            found[start : start + _TOGETHER] = sums / np.maximum(lengths, 1e-9)
        return found


@lru_cache(maxsize=1)
def table() -> Table:
    """The table, opened once in a process."""
    return Table()
