"""The one way in which the rest of the program asks a user's repository something.

Nothing that a repository holds may cost an event, or a command its answer. So whatever goes wrong while it is
read (also what nobody thought of: a number that fits into no type, memory or recursion that ends) is an
answer that is not known.
"""

import logging
from collections.abc import Callable
from typing import TypeVar

from backstory.git.read_limit import Unavailable

log = logging.getLogger(__name__)

_T = TypeVar("_T")
_U = TypeVar("_U")
_MOST_LOGGED = 100
_logged: set[tuple[str, str]] = set()


def ask(root: str, question: Callable[[], _T], unknown: _U) -> _T | _U:
    """What the repository at `root` answers, or `unknown`; an unexpected reason is logged once."""
    try:
        return question()
    except Unavailable:
        return unknown
    except Exception as error:
        _log_once(root, error)
        return unknown


def _log_once(root: str, error: Exception) -> None:
    key = root, type(error).__name__
    if key not in _logged and len(_logged) < _MOST_LOGGED:
        _logged.add(key)
        log.warning("%s: its git files cannot be read (%s: %.200s)", *key, str(error)[:200])
