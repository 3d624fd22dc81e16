"""No call keeps its client waiting: what takes longer goes on beside, and who asks again hears how it ends.

A client's calls are answered one after the other. One that waits for a busy worker, a long write, an upgrade
of the database or a slow disk would hold up all others, also those that need none of that.
"""

import json
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from time import monotonic as now
from typing import Any, TypeVar

from backstory import settings
from backstory.errors import Failed
from backstory.paths import Home

# So long an ending that nobody has heard is kept: later on it would be an old answer to a new question.
_KEPT_SECONDS = 60.0

_T = TypeVar("_T")
_under_way: dict[str, tuple[Future[Any], float]] = {}


class NotYet(Failed):
    """It takes longer than a client should wait, and goes on."""


def in_time(what: str, asked: object, run: Callable[[], _T]) -> _T:
    """What `run` gives, or `NotYet`; the same asked again is waited for again, not begun a second time."""
    for old, (ran, since) in list(_under_way.items()):
        if ran.done() and since < now() - _KEPT_SECONDS:
            _under_way.pop(old, None)
    key = json.dumps([what, asked], sort_keys=True)
    found = _under_way.pop(key, None)
    running: Future[_T] = found[0] if found else _begin(run)
    if not wait([running], _seconds()).done:
        _under_way[key] = running, now()
        raise NotYet(
            f"{what} is not through yet: a worker, an upgrade or another program is busy with the memory. "
            "It goes on, and the same call again, in a moment, tells how it ends; do not count on it before"
        )
    return running.result()


def _seconds() -> float:
    return settings.load_settings(Home.default())[0].mcp_answer_seconds


def _begin(run: Callable[[], _T]) -> Future[_T]:
    """Run it in a thread; the process does not end before that is through, should the client leave."""
    made: Future[_T] = Future()

    def go() -> None:
        try:
            made.set_result(run())
        except BaseException as error:  # whoever hears the end hears this
            made.set_exception(error)

    threading.Thread(target=go).start()
    return made
