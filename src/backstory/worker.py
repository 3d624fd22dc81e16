"""The worker's process: started by a hook when there may be work, detached, and gone when there is none.

A busy agent's hooks start it every few seconds, mostly while another one is at work. So it finds that out
before it loads anything: 20 ms instead of 250.

The process that was started only supervises: a child of it does the work. If a job ends the child by its
limits (job_limits.py) or crashes it, another child goes on with everybody else's work. Both live and die
together.
"""

import mmap
import os
import signal
import sys
import time

_LOCK_SECONDS = 0.1
_POLL_SECONDS = 1.0
# So many children one supervisor starts at most: each but the last was ended by a job.
_CHILDREN = 20
_CRASHES = ("SIGXCPU", "SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE")


def main(argv: list[str]) -> int:
    """Entry of the detached process: `python -m backstory.worker HOME [SECONDS TO LINGER]`."""
    _detach()
    if argv and not os.path.isdir(argv[0]):  # noqa: PTH112 - pathlib is not loaded yet
        return 0  # deleted on purpose: a worker must not bring it back
    if argv and _taken(os.path.join(argv[0], "worker.lock")):  # noqa: PTH118
        return 0
    return _work(argv, _Page(), "") if sys.platform == "win32" else _supervise(argv)


def _work(argv: list[str], page: "_Page", ended: str) -> int:
    from pathlib import Path

    from backstory import worker_loop
    from backstory.paths import Home

    home = Home(Path(argv[0]).absolute()) if argv else Home.default()
    return worker_loop.run_worker(home, float(argv[1]) if argv[1:] else None, page, ended)


class _Page:
    """Memory that supervisor and child share: see `limits.Page`."""

    def __init__(self) -> None:
        self._bytes = memoryview(mmap.mmap(-1, 16))
        self._floats = self._bytes.cast("d")

    @property
    def deadline(self) -> float:
        """Until when the job at hand may take; 0: there is none."""
        return self._floats[0]

    @deadline.setter
    def deadline(self, value: float) -> None:
        self._floats[0] = value

    @property
    def left(self) -> bool:
        """Whether the caller is gone."""
        return self._floats[1] != 0

    @left.setter
    def left(self, value: bool) -> None:
        self._floats[1] = float(value)


if sys.platform != "win32":

    def _supervise(argv: list[str]) -> int:
        """Let a child work, and another one if a job ended that one; gives the last one's exit code."""
        caller, ended = os.getppid(), ""
        for _ in range(_CHILDREN):
            page = _Page()
            supervised, supervising = os.pipe()  # the child reads its end: it comes when we die
            alive, living = os.pipe()  # and we read the child's
            child = os.fork()
            if not child:
                os.close(supervising)
                os.close(alive)
                _end_with(supervised)
                return _work(argv, page, ended)
            os.close(supervised)
            os.close(living)
            late = _watch(child, alive, page, caller)
            _, status = os.waitpid(child, 0)
            os.close(supervising)
            os.close(alive)
            code = os.waitstatus_to_exitcode(status)
            if code >= 0:
                return code
            ended = "time limit" if late else _reason(signal.Signals(-code))
            if not ended:
                _die_of(-code)
        return 4

    def _watch(child: int, alive: int, page: _Page, caller: int) -> bool:
        """Wait until the child ends, or end it when it is late; whether it was."""
        from select import select

        late = False
        while not select([alive], [], [], _POLL_SECONDS)[0]:
            page.left = os.getppid() != caller
            if 0 < page.deadline < time.monotonic():
                late = True
                os.kill(child, signal.SIGKILL)
        return late

    def _reason(by: signal.Signals) -> str:
        """What ended a child; "" if somebody else did."""
        if by is signal.SIGXCPU:
            return "processor time limit"
        return f"crash, {by.name}" if by.name in _CRASHES else ""

    def _die_of(number: int) -> None:
        """End as the child ended, for whoever waits for us."""
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _end_with(supervised: int) -> None:
        """Die when the supervisor dies: who kills it wants no worker."""
        from threading import Thread

        def wait() -> None:
            os.read(supervised, 1)
            os.kill(os.getpid(), signal.SIGKILL)

        Thread(target=wait, daemon=True).start()


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
