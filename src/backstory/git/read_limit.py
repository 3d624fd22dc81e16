"""What one question to a repository may take, and the errors of whoever takes more."""

import time

LONGEST_NAME = 4096
_MOST_NAMES = 64 << 20
_PER_NAME = 200  # what Python takes for a name and its item, about


class Unavailable(Exception):
    """What was asked for is not there, is damaged, is too large, or cannot be read safely."""


class OverLimit(Unavailable):
    """What a question may take, of time or of memory, is used up."""


class ReadLimit:
    """What one question may take: time, which every read checks, and bytes of names that are kept."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._bytes = _MOST_NAMES

    def check(self) -> None:
        """Raise when the time is over."""
        if time.monotonic() >= self._until:
            raise OverLimit("it took too long")

    def keep(self, name: bytes) -> bytes:
        """A name that is going to be kept; raises when it, or all of them together, are too long."""
        self._bytes -= len(name) + _PER_NAME
        if len(name) > LONGEST_NAME or self._bytes < 0:
            raise OverLimit("names that are too long, or too many")
        return name
