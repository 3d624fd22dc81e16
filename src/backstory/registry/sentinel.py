"""The sentinel: which session has been given its bootstrap. Only an exact match means that it was done."""

from pathlib import Path
from typing import NamedTuple

from backstory.atomic import write_atomic
from backstory.file_reader import open_file
from backstory.registry.session_state import RegistryFailed

_LONGEST = 4_096


class Need(NamedTuple):
    """Whether a session needs its bootstrap, and why."""

    needed: bool
    reason: str


def bootstrap_need(sentinel: Path, session: str) -> Need:
    """Whether the session with this id still needs its bootstrap."""
    if not session:
        return Need(True, "no session id in the environment")
    try:
        with open_file(sentinel) as file:
            found = file.read(_LONGEST)
    except FileNotFoundError:
        return Need(True, "no sentinel")
    except OSError as error:
        return Need(True, f"the sentinel cannot be read: {error.strerror or error}")
    if not found.strip():
        return Need(True, "the sentinel is empty")
    if found.strip() != session.encode("utf-8", "surrogateescape"):
        return Need(True, "the sentinel is another session's")
    return Need(False, "this session was given its bootstrap")


def write_sentinel(sentinel: Path, session: str) -> bool:
    """Write that this session was given its bootstrap; False, and nothing written, without an id."""
    if not session:
        return False
    try:
        write_atomic(sentinel, session.encode("utf-8", "surrogateescape"), keep=True)
    except OSError as error:
        raise RegistryFailed(
            f"the sentinel {sentinel} cannot be written: {error.strerror or error}"
        ) from None
    return True
