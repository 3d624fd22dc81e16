"""What hooks do not carry (the assistant's words in mid-turn), from the agent's own transcript.

Read in place from the last prompt that was seen: the turn it began is read again, which costs little and
lets every line know its prompt; only what is new gives events. What hooks have stored already meets the same
rows. How far it was read is noted in the transaction that stores what was read.
"""

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from backstory import clock
from backstory.agents import AGENTS, Agent, HistoryReader
from backstory.capture.privacy import Privacy
from backstory.model import Event, Session, SessionStatus
from backstory.store import Store
from backstory.store.protocol import Arrival

log = logging.getLogger(__name__)
_BATCH = 500


def catch_up(store: Store, session: Session, privacy: Privacy) -> int:
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
        turn_start, known_size = store.books.transcript_mark(session.transcript)
        if size == known_size:
            return 0
        # a smaller one was written anew
        start, seen = (turn_start, known_size) if size > known_size else (0, 0)
        reader = agent.reader(session.native_id, start, session.transcript)
        with path.open("rb") as file:
            file.seek(start)
            new = _read(store, session, agent, reader, file, seen, privacy)
    except OSError as error:
        log.info("SKIP transcript of session %s: %s", session.native_id, error)
        return 0
    if skipped := reader.counts["malformed"]:
        log.warning("%s: %d lines could not be read and were skipped", path, skipped)
    return new


def _read(
    store: Store,
    session: Session,
    agent: Agent,
    reader: HistoryReader,
    file: BinaryIO,
    seen: int,
    privacy: Privacy,
) -> int:
    """Store what the lines behind `seen` give; those before it are read for what they mean to them."""
    project = store.events.project(session.project_id)
    assert project is not None
    assert agent.reader is not None
    twin = agent.reader(session.native_id, file.tell(), session.transcript)
    arrivals: list[Arrival] = []
    new = 0

    def save() -> int:
        mark = (reader.turn_start, file.tell())
        with store.transaction():
            added = store.events.add(arrivals)
            store.books.set_transcript_mark(session.transcript, session.id, mark, clock.now_ms())
        arrivals.clear()
        return sum(result.new for result in added)

    ended = session.status is not SessionStatus.ACTIVE
    for events, again in _told_twice(reader, twin, file, privacy, ended):
        if file.tell() <= seen:
            continue
        for event, clean in zip(events, privacy.excerpts(events, again), strict=True):
            if not privacy.refuses(event, agent.our_tools) and not _inherited(event, session):
                cwd, branch = event.where.cwd or session.cwd, event.where.branch or session.branch
                kept = replace(privacy.hidden(clean), where=replace(event.where, cwd=cwd, branch=branch))
                arrivals.append(Arrival(kept, project, store.events.key(event)))
        if len(arrivals) >= _BATCH:
            new += save()
    return new + save()


def _inherited(event: Event, session: Session) -> bool:
    """Whether a fork's transcript only repeats what happened in the session that it was forked from."""
    return session.source == "fork" and event.at < session.started_at


def _told_twice(
    reader: HistoryReader, twin: HistoryReader, file: BinaryIO, privacy: Privacy, ended: bool
) -> Iterator[tuple[list[Event], list[Event]]]:
    """The events of each line as they are, for their keys, and with its secrets gone, for their texts."""
    while line := file.readline():
        yield reader.feed(line), twin.feed(privacy.line(line))
    if ended:
        yield reader.finish(), twin.finish()
