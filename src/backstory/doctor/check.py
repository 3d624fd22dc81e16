"""What a check is."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How a check came out: `warn` deserves attention, `fail` means that memory does not work."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One step: what was found, and what to do about it; a `quiet` one is for programs, not worth a line."""

    name: str
    state: State
    found: str
    todo: str = ""
    quiet: bool = False


def ok(name: str, found: str) -> Check:
    """A step that works."""
    return Check(name, State.OK, found)


def warn(name: str, found: str, todo: str) -> Check:
    """A step that works, but not as it should."""
    return Check(name, State.WARN, found, todo)


def fail(name: str, found: str, todo: str) -> Check:
    """A step that does not work."""
    return Check(name, State.FAIL, found, todo)
