"""What hooks do not carry (the assistant's words in mid-turn), from a live session's own transcript.

What hooks have stored already meets the same rows.
"""

import logging
import os
from pathlib import Path

from backstory.agents import AGENTS
from backstory.agents.history_source import JsonLines, Source, Trail
from backstory.capture.history_reader import HistoryReading, StoreSink, is_unchanged, starting_point
from backstory.capture.privacy import Privacy
from backstory.file_reader import mtime_ns, open_file
from backstory.model import Session, SessionStatus
from backstory.store import Store

log = logging.getLogger(__name__)


def catch_up(store: Store, session: Session, privacy: Privacy) -> int:
    """Store what a session's transcript has beyond what is stored; gives the number of new events."""
    agent = AGENTS.get(session.agent)
    if agent is None or agent.reader is None or _in_its_parents(store, session):
        return 0
    if not session.transcript:
        log.info("SKIP transcript of session %s: the agent named none", session.native_id)
        return 0
    path = Path(session.transcript)
    history = JsonLines(root=lambda: path, read=agent.reader, names=lambda row, file: None)
    try:
        with open_file(path) as file:  # what is no regular file is refused before a mark is looked for
            found = os.fstat(file.fileno())
        trail = Trail(path, found.st_size, mtime_ns(found), 0, session.native_id.partition("/")[0])
        mark = store.transcript_marks.get(trail.key)
        if is_unchanged(mark, trail):
            return 0
        project = store.projects.get(session.project_id)
        assert project is not None
        told = HistoryReading(
            StoreSink(store, agent.name, session),
            privacy,
            Source(agent.name, agent.title, history, agent.our_tools),
            trail,
            project=lambda cwd, at: project,
            session=session,
            finish=session.status is not SessionStatus.ACTIVE,
        ).run(mark, *starting_point(mark, trail, resumable=True))
    except OSError as error:
        log.info("SKIP transcript of session %s: %s", session.native_id, error)
        return 0
    if told.corrupt:
        log.warning("%s: %d lines could not be read and were skipped", path, told.corrupt)
    return told.new


def _in_its_parents(store: Store, session: Session) -> bool:
    """Whether a session is a sub-agent's that has no transcript of its own; Codex gives each one."""
    parent = store.events.session(session.parent_id) if session.parent_id else None
    return parent is not None and session.transcript in ("", parent.transcript)
