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
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

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


def write_atomic(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace `path`, or what it links to, by `data` as a whole; missing parent folders are created."""
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    _make_parent(path)
    fd, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            if hasattr(os, "fchmod"):  # not on Windows
                os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def read_state(path: Path, default: Any) -> Any:
    """Read a JSON state file of the default's type; a corrupt one is moved aside and the default is used."""
    try:
        value = json.loads(path.read_bytes())
        if not isinstance(value, type(default)):
            raise ValueError(f"it holds a {type(value).__name__}, not a {type(default).__name__}")
        return value
    except FileNotFoundError:
        return default
    except (ValueError, RecursionError) as error:
        aside = path.with_name(f"{path.name}.bak-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
        path.replace(aside)
        log.warning("%s is corrupt (%s); moved to %s, starting from the default", path, error, aside.name)
        return default


def write_state(path: Path, value: Any) -> None:
    """Write a JSON state file as a whole."""
    write_atomic(path, json.dumps(value, ensure_ascii=False, indent=1).encode())


@contextlib.contextmanager
def lock(path: Path, wait: float = 0.0) -> Iterator[bool]:
    """Hold the lock at `path` for the block; yields False if it was not free within `wait` seconds."""
    _make_parent(path)
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + wait
        while not (held := _try_lock(fd)) and time.monotonic() < deadline:
            time.sleep(0.01)
        if held:
            os.ftruncate(fd, 0)
            os.write(fd, str(os.getpid()).encode())
        yield held
    finally:
        os.close(fd)
