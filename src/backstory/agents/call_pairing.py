"""Calls and their results, which an agent's history keeps apart, brought together in order.

A call becomes an event when its result comes. Until then everything behind it is held back, so that one
number tells a later reader where to go on: all before `offset` has been given, nothing after it.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from backstory.model import Event


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that waits for its result; `make` builds an event at the place and time of the call."""

    id: str
    offset: int
    name: str
    inputs: Mapping[str, object]
    make: Callable[..., Event]


class Pairing:
    """The events of one history in their order, with gaps where results are missing."""

    def __init__(self) -> None:
        self._open: dict[str, Call] = {}
        self._line: deque[Event | str] = deque()

    @property
    def first(self) -> Call | None:
        """The oldest call without a result."""
        return next(iter(self._open.values()), None)

    def add(self, event: Event) -> None:
        """Something that is complete in itself."""
        self._line.append(event)

    def call(self, call: Call) -> None:
        """A call: what comes after it waits."""
        self._open[call.id] = call
        self._line.append(call.id)

    def answered(self, call_id: str) -> Call | None:
        """The call that a result belongs to, no longer waiting; None if it was not read."""
        return self._open.pop(call_id, None)

    def abandoned(self) -> list[Call]:
        """All calls that still wait, given up."""
        calls = list(self._open.values())
        self._open.clear()
        return calls

    def ready(self) -> list[Event]:
        """What waits for nothing any more, in order."""
        given: list[Event] = []
        while self._line:
            entry = self._line[0]
            if isinstance(entry, Event):
                given.append(entry)
            elif entry in self._open:
                break
            self._line.popleft()
        return given

    def rest(self) -> list[Event]:
        """What is held back, as if the calls in front of it were not there."""
        given = [entry for entry in self._line if isinstance(entry, Event)]
        self._line.clear()
        return given
