"""Calling a worker: a process of its own, which ends when nothing is left to do."""

import os
import subprocess
import sys

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
