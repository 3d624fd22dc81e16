"""How long a hook may look around: in processor time of its own, and on the clock.

What others take from a busy machine is not our time: there the clock alone would end a hook that needs 50 ms
before it has said a word. The clock counts for disks that hang, and as agents wait only so long.
"""

import time


class TimeLimit:
    """Both limits, counted from now, in seconds."""

    __slots__ = ("_clock", "_processor")

    def __init__(self, processor: float, clock: float) -> None:
        self._processor = time.process_time() + processor
        self._clock = time.monotonic() + clock

    def passed(self) -> bool:
        """Whether one of them is over."""
        return time.process_time() > self._processor or time.monotonic() > self._clock
