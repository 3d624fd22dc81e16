"""Calling a worker: a process of its own, which ends when nothing is left to do."""

import contextlib
import os
import subprocess
import sys
import threading

from backstory.paths import Home


def call_worker(home: Home, linger: int | None = None) -> subprocess.Popen[bytes]:
    """Start a worker of this home, detached; it waits for more as long as is said here or in the settings."""
    seconds = [] if linger is None else [str(linger)]
    return subprocess.Popen(
        [sys.executable, "-I", "-m", "backstory.worker", str(home.root), *seconds],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "BACKSTORY_GUARD": "1"},
        start_new_session=True,
    )


def wake_worker(home: Home) -> None:
    """Have what there is to do done, by a worker that outlives us and does not wait for more."""
    detach_worker(call_worker(home, 0))


def detach_worker(worker: subprocess.Popen[bytes]) -> None:
    """Let a worker outlive us: nobody asks any more how it ends."""
    if worker.poll() is not None:
        return
    worker.returncode = 0
    if sys.platform != "win32":  # a server lives on: its children must not stay behind as zombies
        threading.Thread(target=_reap, args=(worker.pid,), daemon=True).start()


def _reap(pid: int) -> None:
    with contextlib.suppress(OSError):
        os.waitpid(pid, 0)
