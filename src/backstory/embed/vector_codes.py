"""Vectors as bytes: 8 bits a dimension to compare exactly, one bit, its sign, to scan by."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def values(vectors: Floats) -> list[bytes]:
    """Each vector in 8 bits a dimension; how long it is does not matter, only where it points."""
    largest = np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-9)
    return [row.tobytes() for row in np.round(vectors / largest * 127).astype(np.int8)]


def signs(vectors: Floats) -> list[bytes]:
    """The signs of each vector, filled up to whole bytes of eight words."""
    bits = np.packbits(vectors > 0, axis=1)
    wide = np.zeros((len(bits), -(-bits.shape[1] // 8) * 8), np.uint8)
    wide[:, : bits.shape[1]] = bits
    return [row.tobytes() for row in wide]


def decoded(rows: list[bytes]) -> Floats:
    """Unit vectors from their values."""
    found = np.frombuffer(b"".join(rows), np.int8).reshape(len(rows), -1).astype(np.float32)
    return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9), np.float32)


def distances(codes: bytes, count: int, question: bytes) -> NDArray[np.uint16]:
    """In how many signs each of `count` vectors differs from the question's."""
    rows = np.frombuffer(codes, np.uint64).reshape(count, -1)
    differing = np.bitwise_count(rows ^ np.frombuffer(question, np.uint64))
    found = np.zeros(count, np.uint16)
    for column in differing.T:  # few and long: twice as fast as a sum over each row
        found += column
    return found
