"""Proof of capture: what an agent wrote down itself, compared with what is stored.

A hook is too dumb to count, and one that never runs leaves no trace at all. So the agent's own history is the
witness: of each session since the installation, every prompt and every tool call must be stored.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from backstory import clock
from backstory.agents.history_source import Source, Trail
from backstory.agents.importable_histories import histories
from backstory.capture import written_files
from backstory.capture.history_reader import HistoryReading
from backstory.capture.privacy import Privacy
from backstory.hook.project_identity import session_id
from backstory.model import Event, Kind, Project
from backstory.paths import Home
from backstory.settings import Settings
from backstory.store import Store
from backstory.store.records import Arrival, Mark

_RECENT_DAYS = 7
_DAY_MS = 86_400_000
_QUIET_MS = 60_000  # what is happening right now may still be on its way
_SESSIONS = 3
_LARGEST = 32 * 1024 * 1024
_WITNESSED = (Kind.PROMPT, Kind.TOOL)
_NOWHERE = Project("", "", "", "", 0)


@dataclass(frozen=True, slots=True)
class AuditedSession:
    """One session: how many prompts and tool calls its agent wrote down, and how many are not stored.

    `trouble` says why a history that holds sessions cannot be read.
    """

    agent: str
    title: str
    session: str
    told: int
    missing: int
    at: int
    trouble: str = ""


@dataclass(slots=True)
class _Witness:
    """A sink that stores nothing, but counts what should be there and is not."""

    store: Store
    since: int
    until: int
    told: int = 0
    missing: int = 0

    def key(self, event: Event) -> str:
        """The store's key."""
        return self.store.events.key(event)

    def keep(
        self, trail: Trail, arrivals: Sequence[Arrival], mark: Mark, title: str, spent: Mapping[str, int]
    ) -> int:
        """How many of these are missing."""
        due = [
            arrival
            for arrival in arrivals
            if arrival.event.kind in _WITNESSED
            and not arrival.event.recalled
            and self.since <= arrival.event.at < self.until
        ]
        self.told += len(due)
        missing = len(self.store.events.missing(due))
        self.missing += missing
        return missing


def installed_at(home: Home) -> int:
    """When an agent was last connected, in milliseconds; nothing from before can be expected."""
    try:
        return written_files.state_file(home).stat().st_mtime_ns // 1_000_000
    except OSError:
        return clock.now_ms()


def audit_sessions(
    home: Home, store: Store, settings: Settings, agents: Iterable[str], unknown_only: bool = False
) -> Iterator[AuditedSession]:
    """The latest sessions of these agents since the installation, in the last week.

    With `unknown_only`, those of which nothing at all is stored: looking at names is enough to find them.
    """
    now = clock.now_ms()
    kept_ms = (settings.retention_event_days or _RECENT_DAYS) * _DAY_MS
    since, until = max(now - min(kept_ms, _RECENT_DAYS * _DAY_MS), installed_at(home)), now - _QUIET_MS
    privacy = Privacy(settings)
    known = histories()
    for source in (known[name] for name in agents if name in known):
        looked = 0
        for trail, trouble in _latest(source, since):
            if trouble:
                yield AuditedSession(source.agent, source.title, "", 0, 0, trail.updated, trouble)
                continue
            session = store.events.session(session_id(source.agent, trail.session))
            if unknown_only and session is not None:
                continue
            if looked == _SESSIONS:
                break
            witness = _Witness(store, since, until)
            HistoryReading(witness, privacy, source, trail, lambda cwd, at: _NOWHERE, session).run(None, 0, 0)
            if witness.told:
                looked += 1
                yield AuditedSession(
                    source.agent, source.title, trail.session, witness.told, witness.missing, trail.updated
                )


def _latest(source: Source, since: int) -> Iterator[tuple[Trail, str]]:
    """Whole sessions that were written to since then, the latest first, without those of sub-agents.

    A history that cannot be read comes with the reason.
    """
    root = source.history.root()
    if not root.exists():
        return
    found = [t for t in source.history.find(root) if t.updated >= since and t.size <= _LARGEST]
    for trail in sorted(found, key=lambda t: t.updated, reverse=True):
        try:
            named = source.history.identify(trail)
        except OSError as error:
            yield trail, error.strerror or str(error)
            continue
        if named is not None and not named.subagent:
            yield named, ""
