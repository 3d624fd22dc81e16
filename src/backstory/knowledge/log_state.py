"""Which sessions are to be logged, and how far they were: the worker's part of the daily log.

A session is logged when it has ended, when it is about to be compacted, or when it has been silent for a
while, and again when its memories change: as it goes on, and when a model has said what came of it. Whatever
the log says of it already is left out.
"""

import logging
from datetime import tzinfo

from backstory import clock
from backstory.knowledge import daily_log
from backstory.knowledge.log_entry import entry_of
from backstory.knowledge.vault import Vault
from backstory.model import Memory, MemoryKind, Session, SessionStatus
from backstory.store import Store

log = logging.getLogger(__name__)
SILENT_MS = 30 * 60_000
_DAY_MS = 86_400_000
_MOST_SESSIONS = 5_000


def keep_project(store: Store, vault: Vault, project_id: str, zone: tzinfo | None, most_turns: int) -> int:
    """Log every session of a project that is due, oldest first; gives how many entries were written."""
    due_before = clock.now_ms() - SILENT_MS
    written = 0
    with vault.held():
        kept = vault.state("kept")
        sessions = store.events.sessions(project_id, _MOST_SESSIONS)
        marks = store.memories.marks(project_id)
        for session in sorted(sessions, key=lambda session: session.last_at):
            mark = marks.get(session.id, "")
            over = session.status is not SessionStatus.ACTIVE or session.last_at < due_before
            if over and kept.get(session.id) != mark:
                written += _log(store, vault, session, zone, most_turns)
                kept[session.id] = mark
        known = {session.id for session in sessions}
        vault.set_state("kept", {sid: mark for sid, mark in kept.items() if sid in known})
    return written


def keep_before_compaction(
    store: Store, vault: Vault, session: Session, zone: tzinfo | None, most_turns: int
) -> int:
    """Log what a session that is about to be compacted would lose."""
    with vault.held():
        return _log(store, vault, session, zone, most_turns, compacting=True)


def _log(
    store: Store,
    vault: Vault,
    session: Session,
    zone: tzinfo | None,
    most_turns: int,
    compacting: bool = False,
) -> int:
    memories = store.memories.of_session(session.id)
    if not any(memory.kind is MemoryKind.SUMMARY for memory in memories):
        return 0
    entry = entry_of(session, memories, _logged(vault, session, memories, zone), zone, most_turns, compacting)
    if entry is None:
        return 0
    return daily_log.append_entry(vault, entry.day, entry.time, entry.title, entry.body).added


def _logged(vault: Vault, session: Session, memories: list[Memory], zone: tzinfo | None) -> str:
    """All that the logs of a session's days say; a session may span several."""
    first = clock.day_of(min(memory.at for memory in memories) - _DAY_MS, zone)
    last = clock.day_of(max(session.last_at, *(memory.at for memory in memories)) + _DAY_MS, zone)
    return "\n".join(daily_log.read_log(vault, day) for day in vault.days() if first <= day <= last)
