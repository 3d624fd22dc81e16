"""Commits, trees and blobs by their ids: loose ones with zlib, packed ones with libgit2.

libgit2 is asked for one packed object at a time, by id, after its size is known. It never sees the
repository's configuration, and never opens what is not a regular file: a pipe would block it for ever.
"""

import hashlib
import os
import time
import zlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from backstory.hook.regular_file import read_head

if TYPE_CHECKING:
    from pygit2 import Odb

COMMIT, TREE, BLOB = b"commit", b"tree", b"blob"
LONGEST_NAME = 4096
_MOST_BYTES = {COMMIT: 1 << 20, TREE: 8 << 20, BLOB: 4 << 20}
_MOST_NAMES = 64 << 20
_PER_NAME = 200  # what Python takes for a name and its item, about
_TYPES = {1: COMMIT, 2: TREE, 3: BLOB}
_MOST_STORES = 8  # a repository and those that its `alternates` name
_SMALL = 64 * 1024
_HEX = frozenset("0123456789abcdef")


class Unavailable(Exception):
    """What was asked for is not there, is damaged, is too large, or cannot be read safely."""


class OverLimit(Unavailable):
    """What a question may take, of time or of memory, is used up."""


class ReadLimit:
    """What one question may take: time, which every read checks, and bytes of names that are kept."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._bytes = _MOST_NAMES

    def check(self) -> None:
        """Raise when the time is over."""
        if time.monotonic() >= self._until:
            raise OverLimit("it took too long")

    def keep(self, name: bytes) -> bytes:
        """A name that is going to be kept; raises when it, or all of them together, are too long."""
        self._bytes -= len(name) + _PER_NAME
        if len(name) > LONGEST_NAME or self._bytes < 0:
            raise OverLimit("names that are too long, or too many")
        return name


class ObjectStore:
    """The objects of one repository. `borrowed`: also those of the stores that `alternates` names."""

    def __init__(self, folder: Path, limit: ReadLimit, borrowed: bool = True) -> None:
        self.limit = limit
        if not borrowed and (folder.is_symlink() or (folder / "pack").is_symlink()):
            raise Unavailable("the objects are another repository's")
        self._folders = _with_alternates(folder) if borrowed else [folder]
        self._packs: Odb | None = None

    def read(self, oid: str, kind: bytes) -> bytes:
        """The content of an object of this kind."""
        self.limit.check()
        if not is_id(oid):
            raise Unavailable("what should name an object is no SHA-1")
        data = self._loose(oid, kind)
        return self._packed(oid, kind) if data is None else data

    def has_commit(self, oid: str) -> bool:
        """Whether a commit is there, whole: its content has this hash."""
        try:
            data = self.read(oid, COMMIT)
        except OverLimit:
            raise
        except Unavailable:
            return False
        return object_id(COMMIT, data) == oid

    def _loose(self, oid: str, kind: bytes) -> bytes | None:
        for folder in self._folders:
            path = folder / oid[:2] / oid[2:]
            if path.is_symlink() or path.parent.is_symlink():
                continue
            most = _MOST_BYTES[kind]
            if packed := read_head(str(path), most + _SMALL):
                return _inflated(packed, kind, most)
        return None

    def _packed(self, oid: str, kind: bytes) -> bytes:
        if self._packs is None:
            self._packs = _packs(self._folders)
        try:
            # the backend's own `read_header` cuts sizes to 32 bits
            type_, size = self._packs.read_header(oid)
            if _TYPES.get(int(type_)) != kind or size > _MOST_BYTES[kind]:
                raise Unavailable(f"{oid} is no {kind.decode()}, or too large")
            return self._packs.read(oid)[1]
        except (KeyError, ValueError, OSError, MemoryError, _pygit2().GitError) as error:
            raise Unavailable(f"{oid} is missing or damaged") from error


def is_id(text: str) -> bool:
    """Whether a text is the id of an object."""
    return len(text) == 40 and _HEX.issuperset(text)


def object_id(kind: bytes, content: bytes) -> str:
    """The id that git gives to this content."""
    digest = hashlib.sha1(b"%s %d\0" % (kind, len(content)), usedforsecurity=False)
    digest.update(content)  # not joined to its head: it may be large
    return digest.hexdigest()


def lines_changed(old: bytes, new: bytes) -> tuple[int, int]:
    """How many lines were added and removed."""
    _, added, removed = _pygit2().Patch.create_from(old, new, context_lines=0).line_stats
    return added, removed


@cache
def _pygit2():  # type: ignore[no-untyped-def]
    """libgit2, loaded when it is first needed (70 ms), and without anybody's configuration."""
    import pygit2
    from pygit2.enums import ConfigLevel

    for level in (ConfigLevel.PROGRAMDATA, ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
        pygit2.settings.search_path[level] = ""
    return pygit2


def _inflated(packed: bytes, kind: bytes, most: int) -> bytes:
    """The content of a loose object, which never becomes larger than it may be."""
    engine = zlib.decompressobj()
    try:
        data = engine.decompress(packed, most + 64)
    except zlib.error as error:
        raise Unavailable("a loose object is damaged") from error
    head, nul, content = data.partition(b"\0")
    if not nul or head != b"%s %d" % (kind, len(content)):
        raise Unavailable(f"a loose object is no {kind.decode()}, too large, or damaged")
    return content


def _packs(folders: list[Path]) -> "Odb":
    """The packs of some folders, if all that lies beside them are regular files."""
    packs: Odb = _pygit2().Odb()
    for folder in folders:
        try:
            entries = list(os.scandir(folder / "pack"))
        except OSError:
            continue
        if not all(entry.is_file(follow_symlinks=False) for entry in entries):
            raise Unavailable("among the packs is something that is not a regular file")
        if entries:
            packs.add_backend(_pygit2().OdbBackendPack(str(folder)), 1)
    return packs


def _with_alternates(folder: Path) -> list[Path]:
    """A folder of objects and those that it borrows from, as a clone made with `--shared` does."""
    found = [folder]
    for each in found:
        lines = read_head(str(each / "info" / "alternates"), _SMALL).decode("utf-8", "surrogateescape")
        for line in lines.splitlines():
            other = Path(os.path.normpath(each / line)) if line and "\0" not in line else each
            if line[:1] not in ("", "#") and other not in found and len(found) < _MOST_STORES:
                found.append(other)
    return found
