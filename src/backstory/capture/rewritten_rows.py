"""Rows that another tool changed in place: what such a row said before is found no more.

A row that its tool has deleted stays: tools clean up, and what was imported is ours.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backstory import clock
from backstory.importers.event_writer import row_of
from backstory.model import Event, Kind
from backstory.store import Store
from backstory.store.job_queue import DISTIL
from backstory.store.records import REPLACED, Added, Arrival

Said = dict[tuple[Kind, str], set[str]]


@dataclass(slots=True)
class RowRewriter:
    """Called with each batch of a session's events, in the transaction that stores it."""

    store: Store
    session: str
    at: int
    then: Callable[[Sequence[Arrival], Sequence[Added]], None]
    _before: Said | None = None

    def __call__(self, arrivals: Sequence[Arrival], added: Sequence[Added]) -> None:
        """Bury what the rows of this batch said before."""
        told = {result.event_id for result in added}
        back = self.store.tombstones.remove(told, REPLACED)
        if back:
            self.store.events.add(arrivals)
        self.then(arrivals, added)
        if not back and not any(result.new for result in added):
            return
        before = self._said_before()
        gone = set().union(*(before.get(_row(arrival.event), set()) for arrival in arrivals)) - told
        self.store.tombstones.add("event", gone, REPLACED, clock.now_ms())
        if back or gone:
            self.store.jobs.ask(DISTIL, self.session, self.at)

    def _said_before(self) -> Said:
        """The events of each row, read once: later batches are about other rows."""
        if self._before is None:
            self._before = defaultdict(set)
            for stored in self.store.events.of_session(self.session):
                self._before[_row(stored.event)].add(stored.id)
        return self._before


def _row(event: Event) -> tuple[Kind, str]:
    return event.kind, row_of(event.native_id)
