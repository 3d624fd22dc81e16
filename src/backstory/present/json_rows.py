"""Events, sessions, memories and reports as JSON: the same keys wherever programs read them."""

from typing import Any

from backstory import clock
from backstory.app.status_report import Status
from backstory.llm.governor import Spending
from backstory.model import Memory, Project, Session, StoredEvent
from backstory.upkeep.erasure import ErasurePlan


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
        "author": memory.author,
        "origin": memory.origin,
        "weight": memory.weight,
        "pinned": memory.pinned,
        "turn": memory.turn,
        "made_by": memory.made_by,
        "untold": memory.untold,
        "sources": memory.sources,
    }


def forgotten_json(plan: ErasurePlan, forgotten: bool) -> dict[str, object]:
    """What forgetting touches, for programs."""
    return {
        "forgotten": forgotten,
        "events": plan.reach.events,
        "memories": plan.reach.memories,
        "sessions": plan.reach.sessions,
        "touched": plan.sessions,
        "files": plan.files,
        "pages": plan.pages,
        "exported": plan.exported,
        "archives": plan.archives,
        "copies": plan.copies,
        "projects": plan.projects,
        "backups": plan.backups,
        "needed": plan.needed,
        "out_of_reach": plan.out_of_reach,
        "damaged": (*plan.damaged, *plan.damaged_copies),
        "unreadable": plan.unreadable,
    }


def status_json(found: Status, projects: list[Project]) -> dict[str, object]:
    """The status for programs."""
    return {
        "events": found.events,
        "sessions": found.sessions,
        "memories": found.memories,
        "projects": found.projects,
        "spooled": found.spooled,
        "quarantined": found.quarantined,
        "duplicates": found.duplicates,
        "failed_hooks": found.failed_hooks,
        "captured": found.captured,
        "unindexed": found.unindexed,
        "jobs": found.jobs,
        "briefs": found.briefs,
        "brief_tokens": found.brief_tokens,
        "last_event": found.last_event_at,
        "worker_running": found.worker_running,
        "home": found.home,
        "schema": found.schema,
        "database_bytes": found.database_bytes,
        "sizes": found.sizes,
        "freeable": found.freeable,
        "by_status": found.by_status,
        "by_source": found.by_source,
        "worst_attempts": found.worst_attempts,
        "vectors": found.vectors,
        "spending": spending_json(found.spending),
        "problems": found.problems,
        "project_list": projects,
    }


def spending_json(spending: Spending) -> dict[str, Any]:
    """What models take, for programs; money as a decimal number."""
    return {
        "provider": spending.provider,
        "models": spending.models,
        "today": {**spending.today._asdict(), "cost": spending.today.cost / 1e6},
        "month": {**spending.month._asdict(), "cost": spending.month.cost / 1e6},
        "caps": {
            scope: {"tokens": cap.tokens, "cost": cap.money / 1e6} for scope, cap in spending.caps.items()
        },
        "paused_until": spending.paused_until,
        "paused_why": spending.paused_why,
        "unpriced": spending.unpriced,
    }
