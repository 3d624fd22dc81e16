"""git's index (https://git-scm.com/docs/index-format), versions 2 to 4: the tracked files and their stamps.

A split or sparse index does not name all files: it is `Unavailable`.
"""

import stat
from bisect import bisect_left
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct, error
from typing import NamedTuple

from backstory.git.read_limit import LONGEST_NAME, ReadLimit, Unavailable
from backstory.hook.regular_file import read_head

_MOST_BYTES = 64 << 20
_MOST_ENTRIES = 400_000
_MOST_FOLDERS = 100_000
_MOST_NAMES = 64 << 20  # bytes of all names together
_DEEPEST = 200
_MOST_EXTENSIONS = 32
_LONGEST_NUMBER = 10  # digits
_ENTRY = Struct(">8xII8xI8xI20sH")  # mtime, its nanoseconds, mode, size, id, flags
_CHECK_EVERY = 4096


class Entry(NamedTuple):  # there may be 100,000, and a dataclass takes four times as long to make
    """A tracked file: its mode and content's id, and what `lstat` said of it when git last compared them."""

    mode: int
    oid: str
    size: int
    seconds: int
    nanoseconds: int
    stage: int
    unwatched: bool  # skip-worktree or assume-unchanged: the user wants it to count as unchanged


@dataclass(frozen=True, slots=True)
class Index:
    """The tracked files by name, in git's order, and the ids of whole folders that have not changed since."""

    entries: dict[bytes, Entry]
    written_ns: int
    folders: dict[bytes, str] = field(default_factory=dict)  # by path with a "/" at its end; "" is the top

    def below(self, names: list[bytes], folder: bytes) -> slice:
        """Where the files of a folder stand in the sorted `names`."""
        return slice(bisect_left(names, folder), bisect_left(names, folder[:-1] + b"0") if folder else None)


def read_index(path: Path, limit: ReadLimit) -> Index:
    """Read an index; one that is missing tracks nothing."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return Index({}, 0)
    except OSError as failed:
        raise Unavailable("the index cannot be read") from failed
    if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_BYTES:
        raise Unavailable("the index is not a regular file, or too large")
    data = read_head(str(path), _MOST_BYTES)
    try:
        return _parse(data, found.st_mtime_ns, limit)
    except (error, IndexError, ValueError) as failed:
        raise Unavailable("the index is damaged") from failed


def _parse(data: bytes, written_ns: int, limit: ReadLimit) -> Index:
    magic, version, count = Struct(">4sII").unpack_from(data)
    if magic != b"DIRC" or version not in (2, 3, 4) or count > len(data) // 62 or count > _MOST_ENTRIES:
        raise Unavailable("the index has a form that is not known")
    entries: dict[bytes, Entry] = {}
    at, name, total, unpack = 12, b"", 0, _ENTRY.unpack_from
    for number in range(count):
        if not number % _CHECK_EVERY:
            limit.check()
        seconds, nanoseconds, mode, size, oid, flags = unpack(data, at)
        start = at + 62
        more = 0
        if flags & 0x4000:
            more = int.from_bytes(data[start : start + 2], "big")
            start += 2
        kept = 0
        if version == 4:
            dropped, start = _offset(data, start)
            kept = len(name) - dropped
            if kept < 0:
                raise ValueError
        end = data.index(0, start)
        name = name[:kept] + data[start:end]
        total += len(name)
        if len(name) > LONGEST_NAME or total > _MOST_NAMES:  # in version 4 a name may repeat the one before
            raise Unavailable("the names in the index are too long")
        at = end + 1 if version == 4 else at + (end - at + 8 & ~7)
        unwatched = bool(flags & 0x8000 or more & 0x4000)
        entries[name] = Entry(mode, oid.hex(), size, seconds, nanoseconds, flags >> 12 & 3, unwatched)
    return Index(entries, written_ns, _extensions(data, at, limit))


def _offset(data: bytes, at: int) -> tuple[int, int]:
    """A number in the variable length that packs use for offsets, and where it ends."""
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        value = (value + 1 << 7) | data[at] & 0x7F
        if value > LONGEST_NAME:  # no name is that long; a number without an end would grow for ever
            raise ValueError
    return value, at + 1


def _extensions(data: bytes, at: int, limit: ReadLimit) -> dict[bytes, str]:
    folders: dict[bytes, str] = {}
    end = len(data) - 20
    for _ in range(_MOST_EXTENSIONS):
        if at + 8 > end:
            return folders
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "big")
        if name == b"TREE":
            folders = _folders(data, at + 8, min(at + 8 + size, end), limit)
        elif not name[:1].isupper():
            raise Unavailable("a split or sparse index does not name all files")
        at += 8 + size
    raise Unavailable("the index has too many extensions")


def _folders(data: bytes, at: int, stop: int, limit: ReadLimit) -> dict[bytes, str]:
    """The ids of trees that git has made of this index; of folders that changed since there is none."""
    found: dict[bytes, str] = {}
    inside = [(b"", 1)]  # the folders that are open, and how many are still to come in each
    for number in range(_MOST_FOLDERS):
        if not number % _CHECK_EVERY:
            limit.check()
        while inside and not inside[-1][1]:
            inside.pop()
        if not inside or at >= stop:
            return found
        parent, left = inside[-1]
        inside[-1] = parent, left - 1
        nul = data.index(b"\0", at, min(stop, at + LONGEST_NAME))
        end = data.index(b"\n", nul, min(stop, nul + 2 * _LONGEST_NUMBER + 3))
        path = limit.keep(parent + data[at:nul] + b"/") if nul > at else parent
        count, below = map(_number, data[nul + 1 : end].split(b" "))
        at = end + 1
        if count >= 0:
            found[path] = data[at : at + 20].hex()
            at += 20
        inside.append((path, below))
        if len(inside) > _DEEPEST:
            raise Unavailable("the folders of the index are nested too deep")
    raise Unavailable("the index names too many folders")


def _number(text: bytes) -> int:
    """A number of the index; -1 is the only one below 0."""
    if text == b"-1":
        return -1
    if not text.isdigit() or len(text) > _LONGEST_NUMBER:
        raise ValueError
    return int(text)
