"""The worker's process: started by a hook when there may be work, detached, and gone when there is none.

A busy agent's hooks start it every few seconds, mostly while another one is at work. So it finds that out
before it loads anything: 20 ms instead of 250.
"""

import os
import signal
import sys
import time

_LOCK_SECONDS = 0.1


def main(argv: list[str]) -> int:
    """Entry of the detached process: `python -m backstory.worker HOME [SECONDS TO LINGER]`."""
    _detach()
    if argv and not os.path.isdir(argv[0]):  # noqa: PTH112 - pathlib is not loaded yet
        return 0  # deleted on purpose: a worker must not bring it back
    if argv and _taken(os.path.join(argv[0], "worker.lock")):  # noqa: PTH118
        return 0
    from pathlib import Path

    from backstory import shift
    from backstory.paths import Home

    home = Home(Path(argv[0]).absolute()) if argv else Home.default()
    return shift.begin(home, float(argv[1]) if argv[1:] else None)


def _detach() -> None:
    """Leave the agent's process group, its terminal and its files behind."""
    if sys.platform == "win32":
        return
    for name in (signal.SIGHUP, signal.SIGINT):
        signal.signal(name, signal.SIG_IGN)
    if os.getpgrp() != os.getpid():  # whoever leads a group has one of its own
        os.setsid()
    # The hook ignored it so that we got this far; out of the agent's group it may end us again.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.closerange(3, 256)  # whatever the agent left open to its children


def _taken(path: str) -> bool:
    """Whether another worker holds the lock and goes on holding it; who holds it for a moment only looks."""
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fd = os.open(path, os.O_RDWR)
    except OSError:
        return False
    deadline = time.monotonic() + _LOCK_SECONDS
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    return True
                time.sleep(0.01)
            else:
                return False
    finally:
        os.close(fd)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
