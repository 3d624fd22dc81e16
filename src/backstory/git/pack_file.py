"""Packs and their indexes (https://git-scm.com/docs/gitformat-pack), version 2, one object at a time.

An object may be a difference to another one, which is a difference in turn. A library in C cannot be stopped
in the middle of such a chain, and a few megabytes can be made that take minutes: here every step looks at the
limits of time and size. Files are read and not mapped: a mapped file that is cut short ends the process.
"""

import os
import stat
import zlib
from pathlib import Path
from struct import Struct, error

from backstory.git.read_limit import ReadLimit, Unavailable
from backstory.hook.regular_file import open_regular

KINDS = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}
_BY_OFFSET, _BY_ID = 6, 7
_LONGEST_CHAIN = 500  # git makes 50 by default
_MOST_DELTAS = 32 << 20  # bytes of one chain
_MOST_KEPT = 16 << 20  # bytes of objects that others may be differences to
_MOST_OPEN = 40  # packs: each takes two descriptors
_CHUNK = 4096
_LARGE_CHUNK = 256 * 1024
_CHECK_EVERY = 4096
_WORD, _LONG = Struct(">I"), Struct(">Q")
_FAN = 8  # where the table of first bytes begins
_IDS = _FAN + 256 * 4
_Object = tuple[int, bytes]  # its type and content


class Packs:
    """The packs of some folders of objects."""

    def __init__(self, folders: list[Path]) -> None:
        self._paths = [path for folder in folders for path in _pack_files(folder / "pack")]
        self._open: dict[Path, _Pack] = {}

    def read(self, oid: str, most: int, limit: ReadLimit) -> tuple[bytes, bytes]:
        """An object's kind and content; `Unavailable` if it is missing, damaged or larger than `most`."""
        wanted = bytes.fromhex(oid)
        try:
            for number, path in enumerate(self._paths):
                limit.check()
                pack = self._opened(path)
                if (offset := pack.find(wanted)) is not None:
                    if number:  # the next one is likely to be in the same pack
                        self._paths.insert(0, self._paths.pop(number))
                    kind, content = pack.read(offset, most, limit)
                    return KINDS[kind], content
        except (OSError, ValueError, IndexError, error, zlib.error) as failed:
            raise Unavailable(f"{oid} is damaged") from failed
        raise Unavailable(f"{oid} is missing")

    def _opened(self, path: Path) -> "_Pack":
        if path not in self._open:
            if len(self._open) >= _MOST_OPEN:
                self._open.clear()
            self._open[path] = _Pack(path)
        return self._open[path]


class _Pack:
    """One pack: where its objects stand, and what they say."""

    def __init__(self, path: Path) -> None:
        self._data, self._index = _File(path), _File(path.with_suffix(".idx"))
        head = self._index.read(0, _IDS)
        self._fan = [_WORD.unpack_from(head, _FAN + 4 * first)[0] for first in range(256)]
        self._count = self._fan[-1]
        known = head[:8] == b"\377tOc\0\0\0\2" and self._data.read(0, 8) == b"PACK\0\0\0\2"
        if not known or self._fan != sorted(self._fan) or self._count > self._index.size // 28:
            raise ValueError
        self._kept: dict[int, _Object] = {}
        self._kept_bytes = 0

    def find(self, oid: bytes) -> int | None:
        """Where an object stands; None if it is not in this pack."""
        low, high = self._fan[oid[0] - 1] if oid[0] else 0, self._fan[oid[0]]
        while low < high:
            middle = (low + high) // 2
            found = self._index.read(_IDS + 20 * middle, 20)
            if found == oid:
                return self._offset(middle)
            low, high = (middle + 1, high) if found < oid else (low, middle)
        return None

    def _offset(self, number: int) -> int:
        offsets = _IDS + 24 * self._count
        (offset,) = _WORD.unpack(self._index.read(offsets + 4 * number, 4))
        if offset & 0x80000000:
            far = offsets + 4 * self._count + 8 * (offset & 0x7FFFFFFF)
            (offset,) = _LONG.unpack(self._index.read(far, 8))
        return int(offset)

    def read(self, offset: int, most: int, limit: ReadLimit) -> _Object:
        """The object at a place; of a chain of differences, from its beginning on."""
        chain: list[tuple[int, bytes]] = []
        left = _MOST_DELTAS
        while offset not in self._kept:
            limit.check()
            kind, base, content = self._entry(offset, most, limit)
            if kind in KINDS:
                self._keep(offset, (kind, content))
                break
            left -= len(content)
            chain.append((offset, content))
            if len(chain) > _LONGEST_CHAIN or left < 0:
                raise Unavailable("a chain of differences is too long")
            offset = base
        kind, content = found = self._kept[offset]
        for place, delta in reversed(chain):
            content = _applied(content, delta, most, limit)
            found = kind, content
            self._keep(place, found)
        if len(content) > most:
            raise Unavailable("an object is too large")
        return found

    def _keep(self, offset: int, found: _Object) -> None:
        if self._kept_bytes > _MOST_KEPT:
            self._kept.clear()
            self._kept_bytes = 0
        self._kept[offset] = found
        self._kept_bytes += len(found[1]) + 200

    def _entry(self, offset: int, most: int, limit: ReadLimit) -> tuple[int, int, bytes]:
        """What stands at a place: its type, where its base stands, and its content or difference."""
        data = self._data.read(offset, _CHUNK)
        kind, size, at = data[0] >> 4 & 7, data[0] & 15, 1
        for shift in range(4, 39, 7):
            if not data[at - 1] & 0x80:
                break
            size |= (data[at] & 0x7F) << shift
            at += 1
        if data[at - 1] & 0x80 or size > most:
            raise Unavailable("an object is too large")
        base = 0
        if kind == _BY_OFFSET:
            back, at = _distance(data, at)
            base = offset - back
        elif kind == _BY_ID:
            base = self.find(data[at : at + 20]) or 0
            at += 20
        if kind not in KINDS and not 0 < base < self._data.size:
            raise ValueError
        return kind, base, self._inflated(offset + at, data[at:], size, limit)

    def _inflated(self, at: int, data: bytes, size: int, limit: ReadLimit) -> bytes:
        engine = zlib.decompressobj()
        content = engine.decompress(data, size + 1)
        while not engine.eof and len(content) <= size:
            limit.check()
            at += len(data) - len(engine.unconsumed_tail)
            data = self._data.read(at, _LARGE_CHUNK)
            if not data:
                break
            content += engine.decompress(data, size + 1 - len(content))
        if len(content) != size:
            raise ValueError
        return content


class _File:
    """A regular file, read in pieces; it is closed when nobody needs it any more."""

    def __init__(self, path: Path) -> None:
        self._fd = open_regular(str(path), follow=False)
        self.size = os.fstat(self._fd).st_size

    def read(self, at: int, length: int) -> bytes:
        """Bytes from a place on; fewer at the end of the file."""
        if not 0 <= at <= self.size:
            raise ValueError
        os.lseek(self._fd, at, os.SEEK_SET)
        return os.read(self._fd, length)

    def __del__(self) -> None:
        if hasattr(self, "_fd"):
            os.close(self._fd)


def _pack_files(folder: Path) -> list[Path]:
    """The packs of a folder, the latest first; what is no regular file is none."""
    found: list[tuple[int, Path]] = []
    try:
        for entry in os.scandir(folder):
            if entry.name.endswith(".pack"):
                there = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(there.st_mode):
                    found.append((there.st_mtime_ns, Path(entry.path)))
    except OSError:
        return []
    return [path for _, path in sorted(found, reverse=True)]


def _distance(data: bytes, at: int) -> tuple[int, int]:
    """How far back a base stands, and where that number ends."""
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        value = (value + 1 << 7) | data[at] & 0x7F
        if value >> 62:
            raise ValueError
    return value, at + 1


def _length(delta: bytes, at: int) -> tuple[int, int]:
    """A length at the beginning of a difference, and where it ends."""
    value = 0
    for shift in range(0, 63, 7):
        value |= (delta[at] & 0x7F) << shift
        at += 1
        if not delta[at - 1] & 0x80:
            return value, at
    raise ValueError


def _applied(base: bytes, delta: bytes, most: int, limit: ReadLimit) -> bytes:
    """What a difference makes of its base."""
    before, at = _length(delta, 0)
    after, at = _length(delta, at)
    if before != len(base) or after > most:
        raise Unavailable("a difference does not fit its base, or makes too much of it")
    pieces: list[bytes] = []
    end, made = len(delta), 0
    while at < end:
        if not len(pieces) % _CHECK_EVERY:
            limit.check()
        code = delta[at]
        at += 1
        if code & 0x80:
            start = size = 0
            for bit in range(4):
                if code & 1 << bit:
                    start |= delta[at] << 8 * bit
                    at += 1
            for bit in range(3):
                if code & 16 << bit:
                    size |= delta[at] << 8 * bit
                    at += 1
            piece = base[start : start + (size or 0x10000)]
        else:
            piece = delta[at : at + code]
            at += code
        made += len(piece)
        if not piece or made > after:
            raise ValueError
        pieces.append(piece)
    if made != after:
        raise ValueError
    return b"".join(pieces)
