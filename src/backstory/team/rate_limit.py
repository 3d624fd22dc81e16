"""How often a device may ask: so many at once, and so many a second."""

import threading
import time
from collections import OrderedDict

_MOST_KEPT = 10_000


class RateLimit:
    """A bucket of tries for each key, filled again with time."""

    def __init__(self, per_second: float, at_once: int) -> None:
        self._per_second, self._at_once = per_second, at_once
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, key: str) -> float:
        """0 if it may ask now, else in how many seconds."""
        now = time.monotonic()
        with self._lock:
            left, since = self._left.pop(key, (float(self._at_once), now))
            left = min(self._at_once, left + (now - since) * self._per_second)
            self._left[key] = (left - 1 if left >= 1 else left, now)
            while len(self._left) > _MOST_KEPT:
                self._left.popitem(last=False)
        return 0.0 if left >= 1 else (1 - left) / self._per_second
