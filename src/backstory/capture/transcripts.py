"""What hooks do not carry (the assistant's words in mid-turn), from the agent's own transcript.

Read in place from the last prompt that was seen: the turn it began is read again, which costs little and
lets every line know its prompt. What live capture stored already meets the same rows.
"""

import logging
from dataclasses import replace
from pathlib import Path

from backstory import clock
from backstory.agents import AGENTS
from backstory.capture.places import Places
from backstory.capture.privacy import Privacy
from backstory.model import Session, SessionStatus
from backstory.store import Store
from backstory.store.protocol import Arrival

log = logging.getLogger(__name__)
_BATCH = 500


def catch_up(store: Store, session: Session, places: Places, privacy: Privacy) -> int:
    """Store what a session's transcript has beyond what is stored; gives the number of new events."""
    agent = AGENTS.get(session.agent)
    if agent is None or agent.reader is None or session.parent_id:
        return 0
    if not session.transcript:
        log.info("SKIP transcript of session %s: the agent named none", session.native_id)
        return 0
    path = Path(session.transcript)
    try:
        size = path.stat().st_size
    except OSError as error:
        log.info("SKIP transcript of session %s: %s", session.native_id, error)
        return 0
    mark, known_size = store.books.transcript_mark(session.transcript)
    if size == known_size:
        return 0
    if size < mark:
        mark = 0  # it was written anew
    reader = agent.reader(session.native_id, mark, session.transcript)
    arrivals: list[Arrival] = []
    new = 0
    with path.open("rb") as file:
        file.seek(mark)
        for line in file:
            for event in reader.feed(line):
                cwd = event.where.cwd or session.cwd
                where = replace(event.where, cwd=cwd, branch=event.where.branch or session.branch)
                clean = privacy.cleaned_text(replace(event, where=where))
                project = store.events.project(session.project_id) or places.project(cwd, event.at)
                arrivals.append(Arrival(clean, project, store.events.key(event)))
            if len(arrivals) >= _BATCH:
                new += _store(store, arrivals)
                arrivals = []
    if session.status is not SessionStatus.ACTIVE:
        project = store.events.project(session.project_id) or places.project(session.cwd, session.last_at)
        arrivals += [Arrival(privacy.cleaned_text(e), project, store.events.key(e)) for e in reader.finish()]
    new += _store(store, arrivals)
    if reader.counts["malformed"]:
        log.warning("%s: %d lines could not be read and were skipped", path, reader.counts["malformed"])
    with store.transaction():
        store.books.set_transcript_mark(session.transcript, session.id, (reader.turn_start, size), clock.now_ms())
    return new


def _store(store: Store, arrivals: list[Arrival]) -> int:
    if not arrivals:
        return 0
    with store.transaction():
        return sum(added.new for added in store.events.add(arrivals))
