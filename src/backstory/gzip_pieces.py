"""Files of several gzip members, written one after the other: what of them can be read, also past damage."""

import zlib
from collections.abc import Iterator
from enum import Enum

_CHUNK = 1 << 16
_GZIP = 31  # zlib's word for "as gzip writes it"
_MAGIC = b"\x1f\x8b\x08"


class State(Enum):
    """Of a member: whole, cut off by the end of the file, or changed since it was written."""

    WHOLE = 1
    TORN = 2
    DAMAGED = 3


def gzip_members(data: bytes) -> Iterator[tuple[bytes, State]]:
    """What each member says, or the beginning of what it said; after damage it goes on with the next one.

    One that is torn in the middle of a file, so that another follows, is damaged.
    """
    view = memoryview(data)
    at, torn = 0, False
    while 0 <= at < len(data):
        piece, end, state = _piece(view, at)
        if state is State.WHOLE:
            if torn:
                yield b"", State.DAMAGED
            yield piece, state
            at, torn = end, False
            continue
        yield piece, state
        at, torn = _next(view, data, at), state is State.TORN


def _next(view: memoryview, data: bytes, at: int) -> int:
    """Where the next member begins that is whole; -1 if there is none."""
    at = data.find(_MAGIC, at + 1)
    while at >= 0 and _piece(view, at)[2] is not State.WHOLE:
        at = data.find(_MAGIC, at + 1)
    return at


def _piece(data: memoryview, at: int) -> tuple[bytes, int, State]:
    """The member that begins there, where it ends, and its state."""
    unpacking = zlib.decompressobj(wbits=_GZIP)
    out = bytearray()
    for start in range(at, len(data), _CHUNK):
        chunk = data[start : start + _CHUNK]
        try:
            out += unpacking.decompress(chunk)
        except zlib.error:
            return bytes(out), 0, State.DAMAGED
        if unpacking.eof:
            return bytes(out), start + len(chunk) - len(unpacking.unused_data), State.WHOLE
    return bytes(out), len(data), State.TORN
