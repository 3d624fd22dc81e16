"""The one reader of files: agents' histories and settings, wiki pages, other tools' stores, our own state.

Anybody may have put anything there. What is not a regular file is refused before it is opened (a named pipe
blocks, a device may never end); a file has a largest size, and a line a longest length. Whatever is refused
raises `UnusableFile`, an `OSError` with a plain reason: who handles a file that cannot be read handles this,
too. `tests/test_file_access.py` holds that nobody else opens files.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from backstory.hook.regular_file import UnusableFile, mtime_ns, open_regular, require_regular

__all__ = [
    "UnusableFile",
    "bounded_lines",
    "mtime_ns",
    "open_file",
    "read_bytes",
    "read_lines",
    "read_rows",
    "read_text",
    "regular_file",
    "require_database",
    "require_regular",
]

LARGEST = 64 * 1024 * 1024
LARGEST_HISTORY = 8 * 1024 * 1024 * 1024
LONGEST_LINE = 32 * 1024 * 1024
# What is given in place of a line that is too long: pieces of the same length, so that places in the file
# still count, and nothing that any reader takes for a row.
SKIPPED = b"\0"
_PIECE = 1024 * 1024
_LARGEST_GROWN = 64 * 1024 * 1024  # so much of what came in the meantime
_EFBIG = 27


class Readable(Protocol):
    """What gives lines: a file, or what a compressed file unpacks to."""

    def readline(self, size: int, /) -> bytes:
        """The next line, or its first `size` bytes."""


def open_file(path: Path | str, limit: int = LARGEST_HISTORY, follow: bool = True) -> BinaryIO:
    """A regular file of at most `limit` bytes, opened for reading; the caller closes it."""
    file = os.fdopen(open_regular(os.fspath(path), follow), "rb")
    size = os.fstat(file.fileno()).st_size
    if size > limit:
        file.close()
        raise _too_large(path, limit)
    return file


def read_bytes(path: Path | str, limit: int = LARGEST, follow: bool = True) -> bytes:
    """All of a regular file; one that is larger than `limit`, or grows beyond it, is refused."""
    with open_file(path, limit, follow) as file:
        # room is made for as much as is asked for: for what is there, and one byte more if it grows
        data = file.read(os.fstat(file.fileno()).st_size + 1)
        if more := file.read(_PIECE):  # it grows faster than it is read, or its size says nothing
            data += more + file.read(max(0, min(limit, _LARGEST_GROWN) - len(data)))
    if len(data) > limit:
        raise _too_large(path, limit)
    return data


def read_text(path: Path | str, limit: int = LARGEST) -> str:
    """All of a regular file in UTF-8."""
    return read_bytes(path, limit).decode("utf-8")


def read_lines(path: Path | str, start: int = 0) -> Iterator[bytes]:
    """The lines of a file from byte `start` on, as `bounded_lines` gives them."""
    with open_file(path) as file:
        file.seek(start)
        yield from bounded_lines(file)


def read_rows(path: Path | str, start: int = 0) -> Iterator[bytes]:
    """The same, but blank lines that follow each other come as one piece: millions cost next to nothing."""
    blank: list[bytes] = []
    for line in read_lines(path, start):
        if line.isspace() and len(blank) < _PIECE:
            blank.append(line)
            continue
        if blank:
            yield b"".join(blank)
            blank = []
        yield line
    if blank:
        yield b"".join(blank)


def bounded_lines(file: Readable, longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """Lines, each with its line end; the last one may have none.

    A line longer than `longest` is never held whole: pieces of zero bytes of the same length stand for it,
    of which the last ends as the line does.
    """
    while line := file.readline(longest + 1):
        if len(line) <= longest:
            yield line
        else:
            yield from _skipped(file, line)


def _skipped(file: Readable, piece: bytes) -> Iterator[bytes]:
    """Zero bytes for what was read of a line and for its rest; the last piece is never the line end alone."""
    owed, end = 0, b""
    while piece and not end:
        end = piece[-1:] if piece.endswith(b"\n") else b""
        owed += len(piece) - len(end)
        yield from _zeros(owed - 1)
        owed = 1
        piece = b"" if end else file.readline(_PIECE)
    yield SKIPPED + end


def _zeros(length: int) -> Iterator[bytes]:
    for at in range(0, length, _PIECE):
        yield bytes(min(_PIECE, length - at))


def regular_file(path: Path | str) -> os.stat_result | None:
    """What is known of a regular file, also behind a link; None if there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - asked of thousands of files
        require_regular(os.fspath(path), found.st_mode)
    except (OSError, ValueError):
        return None
    return found


def require_database(path: Path) -> None:
    """Raise `UnusableFile` if a database, or what SQLite opens beside it, is no regular file."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        beside = f"{path}{suffix}"
        try:
            mode = os.stat(beside).st_mode  # noqa: PTH116 - a name made of another
        except FileNotFoundError:
            continue
        require_regular(beside, mode)


def _too_large(path: Path | str, limit: int) -> UnusableFile:
    return UnusableFile(_EFBIG, f"larger than {limit >> 20:,} MB, which is not read", str(path))
