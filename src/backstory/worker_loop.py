"""The worker's loop: round after round while there is work, then a while of waiting for more.

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
from typing import Any

from backstory import clock, job_limits, settings
from backstory.atomic import lock, make_private_dir, make_way, read_state, write_state
from backstory.capture import quarantine
from backstory.capture.confirmed_folders import confirmed_projects
from backstory.capture.hook_bundle import write_hook_files, write_hook_settings
from backstory.capture.spool_state import asked_to_look, has_waiting_files, lock_is_wanted
from backstory.errors import BackstoryError
from backstory.llm.model_provider import OFF
from backstory.paths import Home
from backstory.pipeline import Pipeline
from backstory.recall import notes
from backstory.store import open_store
from backstory.store.job_queue import BRIEF

log = logging.getLogger(__name__)
_POLL_SECONDS = 0.1
# `status` holds the lock for a moment, to see whether a worker does.
_LOCK_SECONDS = 0.1
# What a model has answered is put in its place by the next round: that is worth waiting for.
_ANSWER_SECONDS = 10.0
# What a confirmed folder ends with from which others' memories are read.
SHARED_FILES = f"{os.sep}.backstory{os.sep}shared"


def run_worker(
    home: Home, linger: float | None = None, page: job_limits.Page | None = None, ended: str = ""
) -> int:
    """The whole shift of a worker process, told in its log; gives the exit code.

    `linger` is how long it waits for more instead of the time that the settings give. `page` is shared with
    its supervisor, and `ended` says what ended the process whose work this one takes over.
    """
    if not home.root.is_dir():
        return 0  # deleted on purpose while we were loading
    path = log_to(home)
    if page is not None:
        job_limits.limit_process(page, ended, path)
    if ended:
        log.error("the worker before this one was ended: %s", ended)
    try:
        run_rounds(home, linger)
    except BackstoryError as error:
        log.error("%s", error)
        _leave_word(home, str(error))
        return error.exit_code
    except Exception as error:
        log.exception("the worker failed")
        _leave_word(home, repr(error))
        return 4
    with contextlib.suppress(OSError):  # a folder in its place tells nobody of trouble
        home.trouble.unlink(missing_ok=True)
    return 0


def _leave_word(home: Home, error: str) -> None:
    """Tell the next session's hook that nothing can be stored: the database cannot tell it."""
    with contextlib.suppress(OSError):
        before: dict[str, Any] = read_state(home.trouble, {})
        since = before.get("since") or clock.now_ms()
        write_state(home.trouble, {"since": since, "error": error[:300]})


def run_rounds(home: Home, linger: float | None = None) -> int:
    """Work until nothing is left for `linger` seconds; gives the number of things done.

    One that made room for a command does the rest and ends.
    """
    done = idle = refined = 0
    patient = False
    while True:
        with lock(home.worker_lock, wait=_ANSWER_SECONDS if refined or patient else _LOCK_SECONDS) as held:
            if not held:
                log.info("another worker is at work")
                return done
            step, patient = _work(home, linger)
        done += step
        if patient:
            _stand_by(home)
            linger = 0.0  # what is left to do is done, then it ends: the next hook starts another
            continue
        idle = 0 if step else idle + 1
        if idle > 1 or not has_waiting_files(home):  # twice nothing done: what lies there is beyond us
            refined = _refine(home) + _share(home)
            if not refined:
                return done


def _refine(home: Home) -> int:
    """Ask a model, if there is one, what is to be asked; outside the worker's lock: it takes its time.

    Gives how much that leaves to be done.
    """
    loaded, _ = settings.load_settings(home)
    if loaded.model_provider == OFF or not home.database.exists():
        return 0
    from backstory.model_pass import ModelPass

    with contextlib.closing(open_store(home)) as store:
        kept = ModelPass(home, loaded, store).run()
        now = clock.now_ms()
        told = store.jobs.due_at(BRIEF, now)  # briefs are to say that no model is asked
        return kept + (told is not None and told <= now)


def _share(home: Home) -> int:
    """Share with the team what is to be shared, if there is one; outside the worker's lock: nobody waits.

    Gives how much that leaves to be done. Without a team nothing of it is loaded.
    """
    joined = home.team.exists()
    if not joined and not any(SHARED_FILES in place for place in confirmed_projects(home)):
        return 0
    if not home.database.exists():
        return 0
    from backstory.share.share_pass import run_share_pass

    loaded, _ = settings.load_settings(home)
    with contextlib.closing(open_store(home)) as store:
        return run_share_pass(home, loaded, store)


def _work(home: Home, linger: float | None) -> tuple[int, bool]:
    """Round after round while there is something to do; then look at the spool until `linger` is over.

    Gives how much was done, and whether it broke off in the middle because a command waits for the lock.
    """
    loaded, problems = settings.load_settings(home)
    for problem in problems:
        log.warning("%s", problem)
    job_limits.allow_processor_seconds(loaded.jobs_cpu_seconds)
    patience = loaded.worker_linger_seconds if linger is None else linger
    caller = os.getppid()
    told_anew = _refresh_hooks(home, loaded)
    with contextlib.closing(open_store(home)) as store:
        store.checkpoint()
        if told_anew:
            notes.flag_again(home, store)  # where hooks ask for notes follows the settings, too
        work = Pipeline(home, loaded, store, lambda: lock_is_wanted(home))
        opened = _inode(home.database)
        done = step = work.round()
        idle_since = time.monotonic()
        gave_way = False
        # a database deleted with its home: nothing more to do here
        while opened and opened == _inode(home.database):
            if step and lock_is_wanted(home):
                gave_way = True
                break
            if step or has_waiting_files(home) or asked_to_look(home):
                step = work.round()
                done += step
            if step:
                idle_since = time.monotonic()
            elif (
                time.monotonic() - idle_since >= patience
                or lock_is_wanted(home)
                or (linger and _left(caller))
            ):
                step = work.look_again()
                if not step:
                    break
            else:
                time.sleep(_POLL_SECONDS)
        quarantine.age_out(home)
        if opened == _inode(home.database) and not lock_is_wanted(home):
            work.prove()
            work.prune()
            work.write_down()
        if store.row_erasure.traces_left():  # whoever forgot something was killed before the end
            store.row_erasure.erase_traces()
        store.checkpoint()
    return done, gave_way


def _refresh_hooks(home: Home, loaded: settings.Settings) -> bool:
    """Hooks follow an upgrade and what was set by hand; True if they were told other settings."""
    if not home.hook.is_dir():
        return False  # gone after an uninstall, and to stay so
    write_hook_files(home.root)
    return write_hook_settings(home.root, loaded.for_hook(confirmed_projects(home)))


def _left(caller: int) -> bool:
    """Whether the process that asked to wait for more is gone."""
    return job_limits.caller_is_gone() or os.getppid() != caller


def _stand_by(home: Home) -> None:
    """Let the command that waits for the lock have it; what is left to do is done when it is through."""
    while lock_is_wanted(home):
        time.sleep(_POLL_SECONDS)


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def log_to(home: Home) -> Path:
    """Send what is logged to the worker's log in the home, at most a few megabytes of it; gives its path."""
    path = make_private_dir(home.logs) / "worker.log"
    make_way(path)
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    handler = RotatingFileHandler(path, maxBytes=1_000_000, backupCount=2, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    return path
