"""Events, sessions and memories as one line each, and as JSON: the same wherever they are listed."""

from datetime import tzinfo
from typing import Any

from backstory import clock
from backstory.cli.output import Styled, count, one_line, when
from backstory.hook.brief_text import HANDLE
from backstory.model import Event, Kind, Memory, Outcome, Session, StoredEvent

_TEXT = 240
_STYLES = {Kind.PROMPT: "bold", Kind.SAID: "magenta", Kind.TOOL: "blue", Kind.REMEMBERED: "green"}


def handle(full: str) -> str:
    """As much of an id as `show` needs."""
    return full[:HANDLE]


def what(event: Event, longest: int = _TEXT) -> str:
    """What happened, in a line."""
    if event.kind is not Kind.TOOL:
        return one_line(event.text or event.reason or event.target, longest)
    done = f"{event.action or event.tool} {event.target}".strip()
    if event.outcome in (Outcome.FAILED, Outcome.INTERRUPTED):
        done = f"{one_line(done, longest // 2)} → {event.outcome}: {event.text}"
    return one_line(done, longest)


def event_row(stored: StoredEvent, zone: tzinfo | None) -> list[str | Styled]:
    """Handle, time, agent, kind, what happened."""
    event = stored.event
    bad = event.outcome in (Outcome.FAILED, Outcome.INTERRUPTED)
    who = f"{event.agent} ({event.subagent_type})" if event.subagent_type else event.agent
    return [
        (handle(stored.id), "cyan"),
        (when(event.at, zone), "dim"),
        (who, "dim"),
        (event.kind.replace("_", " "), "red" if bad else _STYLES.get(event.kind, "dim")),
        what(event),
    ]


def session_row(session: Session, zone: tzinfo | None) -> list[str | Styled]:
    """Handle, time, agent, state, project, what it was about."""
    state = session.state(clock.now_ms())
    return [
        (handle(session.id), "cyan"),
        (when(session.last_at, zone), "dim"),
        (session.agent, "dim"),
        (state, "green" if state == "running" else "dim"),
        (session.project_name, "dim"),
        one_line(session.title, _TEXT) or count(session.event_count, "event"),
    ]


def memory_row(memory: Memory) -> list[str | Styled]:
    """Handle, kind, text."""
    return [
        (handle(memory.id), "cyan"),
        (memory.kind.replace("_", " "), "green"),
        one_line(memory.text, _TEXT),
    ]


def event_json(stored: StoredEvent) -> dict[str, Any]:
    """An event for programs: the keys that searches have, and its own."""
    event = stored.event
    return {
        "id": stored.id,
        "kind": event.kind,
        "text": event.text,
        "session": stored.session_id,
        "agent": event.agent,
        "when": event.at,
        "turn": stored.turn,
        "action": event.action,
        "tool": event.tool,
        "target": event.target,
        "outcome": event.outcome,
        "reason": event.reason,
        "subagent": event.subagent,
        "recalled": event.recalled,
        "origin": event.origin,
        "payload_size": stored.payload_size,
        "where": event.where,
    }


def session_json(session: Session) -> dict[str, Any]:
    """A session for programs."""
    return {
        "id": session.id,
        "agent": session.agent,
        "native_id": session.native_id,
        "project": session.project_name,
        "project_id": session.project_id,
        "parent": session.parent_id,
        "subagent_type": session.subagent_type,
        "source": session.source,
        "status": session.status,
        "state": session.state(clock.now_ms()),
        "end_reason": session.end_reason,
        "title": session.title,
        "cwd": session.cwd,
        "branch": session.branch,
        "transcript": session.transcript,
        "started": session.started_at,
        "last": session.last_at,
        "ended": session.ended_at,
        "prompts": session.prompt_count,
        "events": session.event_count,
    }


def memory_json(memory: Memory) -> dict[str, Any]:
    """A memory for programs: the keys that searches have, and its own."""
    return {
        "id": memory.id,
        "kind": memory.kind,
        "text": memory.text,
        "session": memory.session_id,
        "agent": memory.agent,
        "project": memory.project_name,
        "project_id": memory.project_id,
        "when": memory.at,
        "tier": memory.tier,
        "status": memory.status,
        "scope": memory.scope,
        "detail": memory.detail,
        "reason": memory.reason,
        "files": memory.files,
        "said_by": memory.said_by,
        "weight": memory.weight,
        "pinned": memory.pinned,
        "turn": memory.turn,
        "made_by": memory.made_by,
        "sources": memory.sources,
    }


def span(first: int, last: int, zone: tzinfo | None) -> str:
    """From when to when."""
    return f"{clock.stamp(first, zone)} – {when(last, zone)}"
