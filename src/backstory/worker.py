"""The worker: started by a hook when there is work, single, and gone when there is none.

It takes the worker's lock or ends at once. After its last look at an empty spool it gives the lock back and
looks once more: a hook that found the lock held in that moment started no second worker, and its file
must not lie there until the next one.
"""

import contextlib
import logging
import os
import signal
import sys
import time
from logging.handlers import RotatingFileHandler
from pathlib import Path

from backstory import settings
from backstory.atomic import lock, make_private_dir
from backstory.capture import quarantine
from backstory.capture.hookfiles import write_hook_files
from backstory.errors import BackstoryError
from backstory.hook import spool
from backstory.paths import Home
from backstory.store import open_store
from backstory.work import Work

log = logging.getLogger(__name__)
_POLL_SECONDS = 0.1


def run(home: Home, linger: float | None = None) -> int:
    """Work until nothing is left for `linger` seconds; gives the number of things done."""
    done = 0
    while True:
        with lock(home.worker_lock) as held:
            if not held:
                log.info("another worker is at work")
                return done
            done += _work(home, linger)
        if not _waiting(home):
            return done


def _work(home: Home, linger: float | None) -> int:
    loaded, problems = settings.load(home)
    for problem in problems:
        log.warning("%s", problem)
    patience = loaded.worker_linger_seconds if linger is None else linger
    with contextlib.closing(open_store(home)) as store:
        store.checkpoint()
        work = Work(home, loaded, store)
        done = 0
        idle_since = time.monotonic()
        while True:
            if _waiting(home) or idle_since == 0 or not done:
                step = work.round()
                done += step
                if step:
                    idle_since = time.monotonic()
            if time.monotonic() - idle_since >= patience:
                break
            time.sleep(_POLL_SECONDS)
        quarantine.age_out(home)
        store.checkpoint()
    return done


def _waiting(home: Home) -> bool:
    """Whether a finished file or a mark lies in the spool."""
    return bool(spool.entries(str(home.spool), newest=1)) or any(home.spool.glob("*.fail"))


def main(argv: list[str]) -> int:
    """Entry of the detached process: `python -m backstory.worker HOME`."""
    if sys.platform != "win32":
        for name in (signal.SIGHUP, signal.SIGINT):
            signal.signal(name, signal.SIG_IGN)
        with contextlib.suppress(OSError):
            os.setsid()
    home = Home(Path(argv[0]).absolute()) if argv else Home.default()
    if not home.root.is_dir():
        return 0  # deleted on purpose: a worker must not bring it back
    log_to(home)
    try:
        write_hook_files(home.root)
        run(home)
    except BackstoryError as error:
        log.error("%s", error)
        return error.exit_code
    except Exception:
        log.exception("the worker failed")
        return 4
    return 0


def log_to(home: Home) -> None:
    """Send what is logged to the worker's log in the home, at most a few megabytes of it."""
    path = make_private_dir(home.logs) / "worker.log"
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    handler = RotatingFileHandler(path, maxBytes=1_000_000, backupCount=2, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
