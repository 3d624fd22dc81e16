"""A worker's shift: round after round while there is work, then a while of waiting for more.

One worker at a time, by the worker's lock. After the last look at an empty spool the lock is given back and
the spool looked at once more: a hook whose worker found the lock held in that moment has started none that
stayed, and its file must not lie there until the next one.
"""

import contextlib
import logging
import os
import time
from logging.handlers import RotatingFileHandler
from pathlib import Path

from backstory import clock, settings
from backstory.atomic import lock, make_private_dir, read_state, write_state
from backstory.capture import quarantine
from backstory.capture.hookfiles import write_hook_files, write_hook_settings
from backstory.capture.waiting import waiting
from backstory.errors import BackstoryError
from backstory.paths import Home
from backstory.store import open_store
from backstory.work import Work

log = logging.getLogger(__name__)
_POLL_SECONDS = 0.1
_WANTED_SECONDS = 60
# `status` holds the lock for a moment, to see whether a worker does.
_LOCK_SECONDS = 0.1


def begin(home: Home) -> int:
    """The whole shift of a worker process, told in its log; gives the exit code."""
    if not home.root.is_dir():
        return 0  # deleted on purpose while we were loading
    log_to(home)
    try:
        if home.hook.is_dir():  # gone after an uninstall, and to stay so
            write_hook_files(home.root)
            loaded, _ = settings.load(home)  # edited by hand, perhaps
            write_hook_settings(home.root, loaded.for_hook(read_state(home.confirmed, {})))
        run(home)
    except BackstoryError as error:
        log.error("%s", error)
        _leave_word(home, str(error))
        return error.exit_code
    except Exception as error:
        log.exception("the worker failed")
        _leave_word(home, repr(error))
        return 4
    home.trouble.unlink(missing_ok=True)
    return 0


def _leave_word(home: Home, error: str) -> None:
    """Tell the next session's hook that nothing can be stored: the database cannot tell it."""
    with contextlib.suppress(OSError):
        since = read_state(home.trouble, {}).get("since") or clock.now_ms()
        write_state(home.trouble, {"since": since, "error": error[:300]})


def run(home: Home, linger: float | None = None) -> int:
    """Work until nothing is left for `linger` seconds; gives the number of things done."""
    done = idle = 0
    while True:
        with lock(home.worker_lock, wait=_LOCK_SECONDS) as held:
            if not held:
                log.info("another worker is at work")
                return done
            step = _work(home, linger)
        done += step
        idle = 0 if step else idle + 1
        if idle > 1 or not waiting(home):  # twice nothing done: what lies there is beyond us
            return done


def _work(home: Home, linger: float | None) -> int:
    """Round after round while there is something to do; then look at the spool until `linger` is over."""
    loaded, problems = settings.load(home)
    for problem in problems:
        log.warning("%s", problem)
    patience = loaded.worker_linger_seconds if linger is None else linger
    with contextlib.closing(open_store(home)) as store:
        store.checkpoint()
        work = Work(home, loaded, store)
        opened = _inode(home.database)
        done = step = work.round()
        idle_since = time.monotonic()
        while opened and opened == _inode(home.database):  # deleted with its home: nothing more to do here
            if step or waiting(home):
                step = work.round()
                done += step
            if step:
                idle_since = time.monotonic()
            elif time.monotonic() - idle_since >= patience or _wanted(home):
                step = work.look_again()
                if not step:
                    break
            else:
                time.sleep(_POLL_SECONDS)
        quarantine.age_out(home)
        if opened == _inode(home.database):
            work.prove()
            work.prune()
        if store.forgetting.traces_left():  # whoever forgot something was killed before the end
            store.forgetting.erase_traces()
        store.checkpoint()
    return done


def _wanted(home: Home) -> bool:
    """Whether a command waits for the lock; one that was killed does not count for long."""
    try:
        return time.time() - home.wanted.stat().st_mtime < _WANTED_SECONDS
    except OSError:
        return False


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def log_to(home: Home) -> None:
    """Send what is logged to the worker's log in the home, at most a few megabytes of it."""
    path = make_private_dir(home.logs) / "worker.log"
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    handler = RotatingFileHandler(path, maxBytes=1_000_000, backupCount=2, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
