"""What many tests begin with, made once in a process: an empty database, a repository, vectors of texts."""

import contextlib
import functools
import os
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from backstory.embed import minilm
from backstory.store import schema, sqlite

MOST_VECTORS = 20_000

_connect = sqlite._connect
_embed = minilm.MiniLM.embed
_check_weights = minilm.check_weights
_vectors: dict[str, minilm.Floats] = {}


@functools.cache
def _empty_database() -> bytes:
    """A database with all migrations applied, and nothing else in it: not even its key."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "empty.db")
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            schema.apply_migrations(connection, schema.migrations())
        return path.read_bytes()


def connect(path: Path, wait: float) -> sqlite3.Connection:
    """A database that is not there yet begins as a copy of the empty one."""
    with contextlib.suppress(FileExistsError):
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with open(file, "wb") as new:
            new.write(_empty_database())
    return _connect(path, wait)


@functools.cache
def _files_made(make: Callable[[Path], None]) -> dict[str, tuple[int, bytes]]:
    """The folders and files that `make` makes, each with its time, and what is in the files."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder, "made")
        make(top)
        return {
            str(each.relative_to(top)): (each.stat().st_mtime_ns, each.read_bytes())
            for each in sorted(top.rglob("*"))
            if each.is_file() and each.suffix != ".sample"
        } | {f"{each.relative_to(top)}/": (0, b"") for each in top.rglob("*") if each.is_dir()}


def copy_files(folder: Path, make: Callable[[Path], None]) -> None:
    """What `make` makes in a folder, copied into another one, which is new."""
    folder.mkdir(parents=True)
    made = _files_made(make)
    for name in sorted(made):
        if name.endswith("/"):
            (folder / name).mkdir()
    for name, (at, data) in made.items():
        if not name.endswith("/"):
            (folder / name).write_bytes(data)
            os.utime(folder / name, ns=(at, at))


def embed(model: minilm.MiniLM, texts: Sequence[str]) -> minilm.Floats:
    """The model's own vectors; a text that was seen before is not worked out again."""
    new = [text for text in dict.fromkeys(texts) if text not in _vectors]
    if len(_vectors) + len(new) > MOST_VECTORS:
        _vectors.clear()
        new = list(dict.fromkeys(texts))
    if new:
        _vectors.update(zip(new, _embed(model, new), strict=True))
    empty = np.zeros((0, minilm._WIDTH), np.float32)
    return np.stack([_vectors[text] for text in texts]) if texts else empty


def check_weights() -> None:
    """Weights that were sound are read again only when their file is another."""
    file = minilm.weights_file()
    found = file.stat()
    _sound(file, found.st_mtime_ns, found.st_size)


@functools.cache
def _sound(*_: Any) -> None:
    _check_weights()
