"""Opening a file that somebody else may have made.

A named pipe blocks whoever opens it, a device may never end, or do something when it is opened. So only a
regular file is opened, never waiting, and what was opened is looked at once more. `backstory.file_reader`
builds on this for everything outside the hook.
"""

import os

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_TYPE, _REGULAR = 0o170000, 0o100000
_NAMES = {
    0o010000: "a named pipe",
    0o020000: "a device",
    0o040000: "a folder",
    0o060000: "a device",
    0o120000: "a symbolic link",
    0o140000: "a socket",
}
_LAST_NS = 2**63 - 1
_EINVAL = 22  # `errno` is not among what a hook may import


class UnusableFile(OSError):
    """A file that is not read or written, whatever its permissions say: no regular one, or too large."""


def require_regular(path: str, mode: int) -> None:
    """Raise `UnusableFile` if the mode that `stat` gave is not that of a regular file."""
    if mode & _TYPE != _REGULAR:
        raise UnusableFile(_EINVAL, f"{_NAMES.get(mode & _TYPE, 'something')}, not a regular file", path)


def open_regular(path: str, follow: bool = True) -> int:
    """A descriptor of a regular file; any other raises `UnusableFile`, also a link without `follow`."""
    require_regular(path, os.stat(path, follow_symlinks=follow).st_mode)
    fd = os.open(path, _FLAGS | (0 if follow else _NO_LINK))
    try:
        require_regular(path, os.fstat(fd).st_mode)  # it may have been replaced in between
    except BaseException:
        os.close(fd)
        raise
    return fd


def read_head(path: str, limit: int) -> bytes:
    """A regular file's first `limit` bytes; empty if it cannot be read."""
    try:
        fd = open_regular(path)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(fd, min(limit, os.fstat(fd).st_size))
    except OSError:
        return b""
    finally:
        os.close(fd)


def mtime_ns(stat: os.stat_result) -> int:
    """A file's mtime in ns; one after 2262 fits into no column of a database, and counts as then."""
    return min(stat.st_mtime_ns, _LAST_NS)
