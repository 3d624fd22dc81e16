"""When calls go wrong again and again, or one took far more than it should have, nobody is asked for a while.

Nothing is kept for this: the ledger's latest calls tell it.
"""

from collections.abc import Sequence
from itertools import takewhile

from backstory.store.model_ledger import ANOMALY, FAILED, OPEN, UNUSABLE
from backstory.store.records import Call

FAILURES = 5  # in a row, whichever sessions they were for
LOOK_BACK = 20
_FIRST_PAUSE_MS = 5 * 60_000
_LONGEST_PAUSE_MS = 6 * 3_600_000
_FAR_MORE = 3
_MARGIN = 1_000


def is_anomalous(estimated: int, took: int) -> bool:
    """Whether a call took far more tokens than it was thought to."""
    return took > estimated * _FAR_MORE + _MARGIN


def open_until(latest: Sequence[Call]) -> tuple[int, str]:
    """Until when nobody is to be asked, and why; (0, "") if all is well. The newest call comes first."""
    for call in latest:
        if call.outcome == ANOMALY:
            return call.asked_at + _LONGEST_PAUSE_MS, f"a call took far more than it should ({call.error})"
    over = [call for call in latest if call.outcome != OPEN]  # one that is open has not failed
    failed = list(takewhile(lambda call: call.outcome in (FAILED, UNUSABLE), over))
    if len(failed) < FAILURES:
        return 0, ""
    pause = min(_FIRST_PAUSE_MS * 2 ** (len(failed) - FAILURES), _LONGEST_PAUSE_MS)
    return failed[0].asked_at + pause, f"{len(failed)} calls in a row failed"
