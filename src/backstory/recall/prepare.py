"""What the next session will be told, prepared by the worker so that the hook only has to read a file.

One file a project holds the rows of its brief, best first in each section; one file a session holds what
its context has been given and its checkpoint. Both are written as a whole, and can be made again at any time.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping

from backstory import clock
from backstory.atomic import write_own
from backstory.hook.work_notes import MOST
from backstory.llm import governor
from backstory.model import Memory, MemoryKind, Session, SessionStatus, Tier
from backstory.paths import Home
from backstory.recall import notes
from backstory.recall.rows import SECTIONS, Row, stamped
from backstory.store import Store

FORMAT = 1
_STAMPS = 40  # files that every start of a session looks at
_CHECKPOINT_PARTS = (
    ("goal", "Goal"),
    ("done", "Done"),
    ("pending", "Pending"),
    ("files", "Files"),
    ("failing", "Failing"),
    ("passing", "Passing"),
    ("decisions", "Decided"),
)

_UNHEARD = "unheard"
#: The counters of what agents forgot; their names say what.
FORGOT = "forgot"
_PLURALS = {"session": "sessions", "event": "events", "memory": "memories"}
_NOTICE_MS = 7 * 86_400_000
# What a counter of the drain means to the user.
_FAILURES = {
    "failed": "could not record {events}",
    "quarantined": "could not record {events}",
}


def section_of(kind: MemoryKind) -> str:
    """The section of a brief that tells memories of a kind."""
    return next((section for section, kinds, _ in SECTIONS if kind in kinds), "commands")


def project_file(home: Home, store: Store, project_id: str) -> None:
    """Write the rows of a project's brief."""
    from backstory.recall.brief_rows import project_rows  # reads sessions anew, which only a worker does

    project = store.projects.get(project_id)
    rows = project_rows(store, project_id, project.root if project else "")
    value = {
        "v": FORMAT,
        "project": project_id,
        "name": project.name if project else "",
        "made_at": clock.now_ms(),
        "rows": rows,
        "notices": notices(store),
    } | stamped(rows, project.root if project else "", _STAMPS)
    write_own(home.briefs / f"{project_id}.json", json.dumps(value, ensure_ascii=False).encode())
    forgotten_file(home, store)
    notes.write_notes(home, store, project_id)


def forgotten_file(home: Home, store: Store, also: Iterable[str] = ()) -> None:
    """Write which sessions were forgotten: what of them still comes in is shown to nobody."""
    sessions = sorted(store.tombstones.of_kind("session").union(also))
    if sessions or home.forgotten.exists():
        write_own(home.forgotten, json.dumps({"sessions": sessions}).encode())


def session_file(home: Home, store: Store, session: Session) -> None:
    """Write what a session's context holds already, and its checkpoint."""
    memories = store.memories.of_session(session.id)
    checkpoint = next((memory for memory in memories if memory.kind is MemoryKind.CHECKPOINT), None)
    told = any(memory.kind is MemoryKind.SUMMARY and memory.tier is Tier.MODEL for memory in memories)
    if told and session.status is not SessionStatus.ACTIVE:
        checkpoint = None  # what came of it says more to whoever goes on
    value = {
        "v": FORMAT,
        # not the start that is being answered right now: it would hide all that is new
        "last_at": store.events.last_spoke(session.id),
        "shown": list(store.briefs.held_by(session.id)),
        "noted": list(store.briefs.held_by(session.id, tuple(MOST))),
        "subagents": _subagents(store, session),
        "pending": notes.pending(home, store, session.id, session.project_id),
        "checkpoint": _checkpoint_rows(checkpoint, session) if checkpoint else [],
    }
    path = home.briefs / "sessions" / f"{session.id}.json"
    write_own(path, json.dumps(value, ensure_ascii=False).encode())


def _subagents(store: Store, session: Session) -> dict[str, list[str]]:
    """What each sub-agent's own context has been told, by the name that its agent gives it."""
    told = {
        child.native_id.partition("/")[2]: list(store.briefs.held_by(child.id))
        for child in store.events.children(session.id)
    }
    return {name: ids for name, ids in told.items() if name and ids}


def note_unheard(store: Store, unheard: Mapping[str, tuple[int, int]]) -> bool:
    """Write of how many sessions of an agent nothing was captured, since when; True if that is news."""
    value = json.dumps(unheard, sort_keys=True)
    news = value != (store.meta.get(_UNHEARD) or "{}")
    store.meta.set(_UNHEARD, value)
    return news


def notices(store: Store) -> list[str]:
    """What the user should know, one line each: where capture failed, what agents forgot, models."""
    return [
        *_unheard(store),
        *_failures(store),
        *_forgot(store),
        *filter(None, [governor.spending_notice(store)]),
    ]


def _forgot(store: Store) -> list[str]:
    """One line for each day of the last week on which an agent forgot something, the latest first."""
    since = clock.day_of(clock.now_ms() - _NOTICE_MS)
    days: dict[str, list[str]] = {}
    for day, _, event, what, n in store.counters.since(since):
        if event == FORGOT:
            days.setdefault(day, []).append(f"{n} {_PLURALS[what] if n > 1 else what}")
    return [
        f"An agent forgot {', '.join(parts)} for good on {day}, by the tool or the command `forget`"
        for day, parts in sorted(days.items(), reverse=True)
    ]


def _unheard(store: Store) -> list[str]:
    found = json.loads(store.meta.get(_UNHEARD) or "{}")
    return [
        f"Backstory recorded nothing of {n} session{'' if n == 1 else 's'} of {agent} "
        f"since {clock.day_of(since)}: run `backstory doctor`"
        for agent, (n, since) in sorted(found.items())
    ]


def _failures(store: Store) -> list[str]:
    """One line for each day and agent that hooks failed for in the last week, the latest first."""
    since = clock.day_of(clock.now_ms() - _NOTICE_MS)
    sums: Counter[tuple[str, str, str]] = Counter()
    for day, agent, _, name, n in store.counters.since(since):
        if name in _FAILURES:
            sums[day, agent, _FAILURES[name]] += n
    return [
        f"Backstory {what.format(events=_events(n, agent))} on {day}: run `backstory doctor`"
        for (day, agent, what), n in sorted(sums.items(), reverse=True)
    ]


def _events(n: int, agent: str) -> str:
    return f"{n} event{'' if n == 1 else 's'}" + (f" of {agent}" if agent else "")


def _checkpoint_rows(checkpoint: Memory, session: Session) -> list[Row]:
    try:
        parts = json.loads(checkpoint.detail)
    except ValueError:
        parts = {"goal": checkpoint.text}
    rows = []
    for key, label in _CHECKPOINT_PARTS:
        value = parts.get(key)
        text = "; ".join(map(str, value)) if isinstance(value, list) else str(value or "")
        if text:
            rows.append(
                {
                    "id": checkpoint.id,
                    "section": "checkpoint",
                    "text": f"{label}: {text}",
                    "at": checkpoint.at,
                    "agent": session.agent,
                    "session": session.id,
                }
            )
    return rows
