"""Commits, trees and blobs by their ids: loose ones here, packed ones by pack_file.py.

libgit2 compares the lines of two texts, and nothing else: it never sees a repository.
"""

import hashlib
import os
import zlib
from functools import cache
from pathlib import Path

from backstory.git.pack_file import Packs
from backstory.git.read_limit import OverLimit, ReadLimit, Unavailable
from backstory.hook.regular_file import read_head
from backstory.hook.remote_url import leaves_machine

COMMIT, TREE, BLOB = b"commit", b"tree", b"blob"
_MOST_BYTES = {COMMIT: 1 << 20, TREE: 8 << 20, BLOB: 4 << 20}
_MOST_STORES = 8  # a repository and those that its `alternates` name
_SMALL = 64 * 1024
_HEX = frozenset("0123456789abcdef")


class ObjectStore:
    """The objects of one repository. `borrowed`: also those of the stores that `alternates` names."""

    def __init__(self, folder: Path, limit: ReadLimit, borrowed: bool = True) -> None:
        self.limit = limit
        if not borrowed and (folder.is_symlink() or (folder / "pack").is_symlink()):
            raise Unavailable("the objects are another repository's")
        self._folders = _with_alternates(folder) if borrowed else [folder]
        self._packs: Packs | None = None

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
            self._packs = Packs(self._folders)
        found, content = self._packs.read(oid, _MOST_BYTES[kind], self.limit)
        if found != kind:
            raise Unavailable(f"{oid} is no {kind.decode()}")
        return content


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


def _with_alternates(folder: Path) -> list[Path]:
    """A folder of objects and those that it borrows from, as a clone made with `--shared` does."""
    found = [folder]
    for each in found:
        lines = read_head(str(each / "info" / "alternates"), _SMALL).decode("utf-8", "surrogateescape")
        for line in lines.splitlines():
            usable = line and "\0" not in line and not leaves_machine(line, str(folder))
            other = Path(os.path.normpath(each / line)) if usable else each
            if line[:1] not in ("", "#") and other not in found and len(found) < _MOST_STORES:
                found.append(other)
    return found
