"""Sessions that nobody ended (the agent was killed, the machine went down) get an end, and their summary.

The end is an event like any other, at the time of the last thing that happened; a session that is resumed
after all is alive again. Only one that was captured live and stopped in mid-turn has failed: a terminal that
was closed after the answer, or a history that was imported without an end, has just ended.
"""

from collections.abc import Sequence

from backstory import clock
from backstory.model import Event, Kind, Outcome, Session, Where
from backstory.store import Store
from backstory.store.job_queue import DISTIL
from backstory.store.records import Arrival

ORIGIN = "upkeep"
REASON = "orphaned"
HOUR_MS = 3_600_000


def find_stale_sessions(store: Store, max_age_hours: float) -> list[Session]:
    """Sessions without an end in which nothing has happened for so long."""
    return store.events.silent_since(clock.now_ms() - int(max_age_hours * HOUR_MS))


def end_stale_sessions(store: Store, sessions: Sequence[Session]) -> None:
    """Give them an end, and ask for their summaries; inside a transaction."""
    now = clock.now_ms()
    for session in sessions:
        project = store.projects.get(session.project_id)
        assert project is not None
        broken = not session.imported_by and store.events.turn_is_open(session.id)
        ended = _end_of(session, Outcome.FAILED if broken else Outcome.OK)
        store.events.add([Arrival(ended, project, store.events.key(ended))])
        store.jobs.ask(DISTIL, session.id, now)


def _end_of(session: Session, outcome: Outcome) -> Event:
    native, _, subagent = (
        session.native_id.partition("/") if session.parent_id else (session.native_id, "", "")
    )
    return Event(
        session.agent,
        native,
        Kind.SESSION_ENDED if not subagent else Kind.SUBAGENT_ENDED,
        session.last_at,
        outcome=outcome,
        reason=REASON,
        native_id=f"{REASON}-{session.last_at}",
        subagent=subagent,
        subagent_type=session.subagent_type,
        where=Where(session.cwd, session.branch),
        origin=ORIGIN,
    )
