"""Doing the worker's work while the viewer runs, without carrying what that loads.

The viewer holds the worker's lock and watches the spool. When something arrives or is due, it hands the lock
to a worker process of its own, which stays as long as more arrives: pages never wait for it, and what it has
loaded to distil and to make vectors is given back when it ends.
"""

import contextlib
import logging
import threading
import time

from backstory import clock, settings
from backstory.atomic import lock
from backstory.capture.spool_state import asked_to_look, has_waiting_files, lock_is_wanted
from backstory.capture.worker_spawn import call_worker
from backstory.llm.model_provider import OFF
from backstory.paths import Home
from backstory.store import open_store

log = logging.getLogger(__name__)
_POLL_SECONDS = 0.1
_LINGER_SECONDS = 30
_AGAIN_SECONDS = 5.0
# So often it is looked whether jobs are due; and so often there is something to do without any.
_JOBS_SECONDS = 20.0
_CHORES_SECONDS = 3_600.0


def watch_spool(home: Home, stopped: threading.Event) -> None:
    """See to the spool until told to stop; give way to who wants the lock."""
    chores_at = 0.0
    while not stopped.is_set():
        try:
            with lock(home.worker_lock, wait=_POLL_SECONDS) as held:
                called = held and _watch(home, stopped, chores_at)
            if called:
                chores_at = time.monotonic() + _CHORES_SECONDS
                _work(home, stopped)
        except OSError:  # a full disk, too many processes: that may pass
            log.exception("the spool could not be seen to")
            stopped.wait(_AGAIN_SECONDS)
        stopped.wait(_POLL_SECONDS)


def _watch(home: Home, stopped: threading.Event, chores_at: float) -> bool:
    """Wait until there is something to do; False if nothing is, but somebody wants the lock or we end."""
    jobs_at = time.monotonic() + _JOBS_SECONDS
    while not stopped.is_set() and not lock_is_wanted(home):
        now = time.monotonic()
        if now >= chores_at or has_waiting_files(home) or asked_to_look(home):
            return True
        if now >= jobs_at:
            if _due(home):
                return True
            jobs_at = now + _JOBS_SECONDS
        stopped.wait(_POLL_SECONDS)
    return False


def _due(home: Home) -> bool:
    try:
        if not home.database.exists():
            return False
        loaded, _ = settings.load_settings(home)
        with contextlib.closing(open_store(home)) as store:
            return store.jobs.any_due(clock.now_ms(), asking=loaded.model_provider != OFF)
    except Exception:  # a database in repair, a full disk: the worker finds out, and leaves word
        log.exception("the jobs could not be looked at")
        return False


def _work(home: Home, stopped: threading.Event) -> None:
    """Let a worker do all there is to do, until it is through or the viewer ends."""
    worker = call_worker(home, _LINGER_SECONDS)
    while worker.poll() is None and not stopped.wait(_POLL_SECONDS):
        pass
    worker.terminate()
    if worker.wait():
        stopped.wait(_AGAIN_SECONDS)
