"""What one job may take: processor time, elapsed time and memory. A process that takes more is ended.

The limits are set from outside the code that they hold: the kernel ends a process that has used its
processor time (also inside a regular expression, where no Python code runs), and the worker's supervisor
(worker.py) ends one that hangs; it reads the deadline in a page of memory that both share. Memory that is
refused is a MemoryError, an ordinary failure of the job.

Only a worker's process is limited, once it has called `limit_process`. Anywhere else this does nothing.
"""

import contextlib
import faulthandler
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

if sys.platform != "win32":
    import resource

# A job that waits (for a disk, for a lock) may take so many times as long as one that computes.
_ELAPSED = 10
_MEMORY_BYTES = 2 * 1024**3


class Page(Protocol):
    """Memory that a worker shares with its supervisor."""

    deadline: float  # until when the job at hand may take, of the monotonic clock; 0: there is none
    left: bool  # the process that called the supervisor is gone


class _State:
    """What holds in this process."""

    page: Page | None = None
    ended = ""
    seconds = 60
    at_work = False
    elapsed = True


def limit_process(page: Page, ended: str, log: Path) -> None:
    """Limit this process; `ended` says which limit ended the one before it. A traceback goes to the log."""
    _State.page, _State.ended = page, ended
    if sys.platform != "win32":
        file = log.open("a", encoding="utf-8")  # open as long as the process lives
        faulthandler.register(signal.SIGXCPU, file, all_threads=False, chain=True)


def allow_processor_seconds(seconds: int) -> None:
    """How much processor time a job may take from now on; 0: there is no limit."""
    _State.seconds = seconds


def previous_end() -> str:
    """Which limit ended the process before this one; "" if none did."""
    return _State.ended


def caller_is_gone() -> bool:
    """Whether the process that called this worker is gone."""
    return _State.page is not None and _State.page.left


@contextlib.contextmanager
def job_limit(waits: bool = False) -> Iterator[None]:
    """Limit what is done in the block; `waits`: it may take any time, and starts programs of others."""
    if _State.page is None or not _State.seconds or _State.at_work:
        yield
        return
    _State.at_work, _State.elapsed = True, not waits
    try:
        _grant()
        if not waits:
            _limit_memory()
        yield
    finally:
        _State.at_work = False
        _lift()


def reset_usage() -> None:
    """A part of the job at hand is done and stored: what it has taken so far counts no more."""
    if _State.at_work:
        _grant()


def _grant() -> None:
    assert _State.page is not None
    if _State.elapsed:
        _State.page.deadline = time.monotonic() + _State.seconds * _ELAPSED
    if sys.platform != "win32":
        _set(resource.RLIMIT_CPU, int(time.process_time()) + 1 + _State.seconds)


def _limit_memory() -> None:
    """So much more than the process has; without a limit where the system does not tell how much that is."""
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_bytes().split()[0])
        _set(resource.RLIMIT_AS, pages * resource.getpagesize() + _MEMORY_BYTES)


def _lift() -> None:
    assert _State.page is not None
    _State.page.deadline = 0.0
    if sys.platform != "win32":
        for kind in (resource.RLIMIT_CPU, resource.RLIMIT_AS):
            _set(kind, resource.RLIM_INFINITY)


if sys.platform != "win32":

    def _set(kind: int, soft: int) -> None:
        """Set a soft limit, within the hard one that somebody else may have set."""
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY and (soft == resource.RLIM_INFINITY or soft > hard):
            soft = hard
        resource.setrlimit(kind, (soft, hard))
