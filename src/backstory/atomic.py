"""Files that are never half written, and locks that die with their holder.

State goes to a temporary file, is fsynced and renamed over the target, so a kill at any instant leaves
the old content or the new. Locks are the operating system's own: a killed holder releases them.
"""

import contextlib
import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from backstory.file_reader import UnusableFile, read_bytes, require_regular

T = TypeVar("T")
log = logging.getLogger(__name__)

if sys.platform == "win32":
    import msvcrt

    def _try_lock(fd: int) -> bool:
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def make_private_dir(path: Path) -> Path:
    """Create a folder that only its owner can enter, whatever the umask says."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in {path, *missing}:
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
    return path


def _make_parent(path: Path) -> None:
    if not path.parent.exists():  # one that is there already may be the user's own: its mode stays
        make_private_dir(path.parent)


def replaceable(path: Path) -> os.stat_result | None:
    """What stands where a file is to be written, None if nothing does; no regular file is refused."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    require_regular(str(path), found.st_mode)
    return found


def write_atomic(path: Path, data: bytes, mode: int = 0o600, keep: bool = False) -> None:
    """Replace `path`, or what it links to, by `data` as a whole; missing parent folders are created.

    Only a regular file is ever replaced. `keep`: one that is there is not ours alone and keeps its mode, and
    its owner and group as far as we may give it to them; `mode` is for a new one.
    """
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    before = replaceable(path)
    _make_parent(path)
    fd, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            if hasattr(os, "fchmod"):  # not on Windows
                _give(file.fileno(), before if keep else None, mode)
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def write_own(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write a file that nobody but us makes: whatever else stands in its place is moved aside."""
    make_way(path)
    write_atomic(path, data, mode)


def make_way(path: Path) -> None:
    """Move aside what stands where a file of ours belongs and is no regular file."""
    try:
        replaceable(path)
    except UnusableFile as error:
        move_aside(path, str(error.strerror))


def _give(fd: int, before: os.stat_result | None, mode: int) -> None:
    """Give a new file the owner, the group and the mode of the one that it replaces, or the mode alone."""
    if before is not None:
        mode = before.st_mode & 0o7777
        now = os.fstat(fd)
        for owner, group in ((-1, before.st_gid), (before.st_uid, -1)):
            if owner not in (-1, now.st_uid) or group not in (-1, now.st_gid):
                with contextlib.suppress(OSError):  # only root may give a file away
                    os.fchown(fd, owner, group)
    os.fchmod(fd, mode)  # last: changing the owner clears bits of it


def read_state(path: Path, default: T, valid: Callable[[T], bool] = lambda value: True) -> T:
    """Read a JSON state file of the default's type that is `valid`.

    One that is damaged, of another shape, or no regular file is moved aside under a dated name, with a line
    in the log, and the default is used. What cannot be read at all (no permission) raises `OSError`.
    """
    try:
        value = json.loads(read_bytes(path))
        if not isinstance(value, type(default)):
            raise ValueError(f"it holds a {type(value).__name__}, not a {type(default).__name__}")
        if not valid(value):
            raise ValueError("it is not of the shape that was written")
        return value
    except FileNotFoundError:
        return default
    except (UnusableFile, ValueError, RecursionError) as error:
        move_aside(path, str(error.strerror) if isinstance(error, UnusableFile) else str(error))
        return default


def dated_copy(path: Path) -> Path:
    """A free name beside a file for what stands there now."""
    dated = f"{path.name}.bak-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    copy, number = path.with_name(dated), 1
    while os.path.lexists(copy):  # two in one second
        number += 1
        copy = path.with_name(f"{dated}.{number}")
    return copy


def move_aside(path: Path, why: str) -> Path | None:
    """Keep what stands in a state file's place under a dated name; gives that, None if it cannot be moved."""
    aside = dated_copy(path)
    try:
        path.replace(aside)
    except OSError as error:
        log.warning("%s is corrupt (%s) and cannot be moved aside (%s)", path, why, error.strerror)
        return None
    log.warning("%s is corrupt (%s); moved to %s, starting from the default", path, why, aside.name)
    return aside


def write_state(path: Path, value: Any) -> None:
    """Write a JSON state file as a whole."""
    write_own(path, json.dumps(value, ensure_ascii=False, indent=1).encode())


@contextlib.contextmanager
def lock(path: Path, wait: float = 0.0) -> Iterator[bool]:
    """Hold the lock at `path` for the block; yields False if it was not free within `wait` seconds."""
    _make_parent(path)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0), 0o600)
    try:
        require_regular(str(path), os.fstat(fd).st_mode)
        deadline = time.monotonic() + wait
        while not (held := _try_lock(fd)) and time.monotonic() < deadline:
            time.sleep(0.01)
        if held:
            os.ftruncate(fd, 0)
            os.write(fd, str(os.getpid()).encode())
        yield held
    finally:
        os.close(fd)
