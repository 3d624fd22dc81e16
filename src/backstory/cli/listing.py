"""Events, sessions and memories as one line each, and as JSON: the same wherever they are listed."""

from datetime import tzinfo

from backstory import clock
from backstory.attribution import doer, led_in, told_as
from backstory.cli.output import Styled
from backstory.hook.brief_text import HANDLE
from backstory.model import Event, Kind, Memory, Outcome, Session, StoredEvent
from backstory.present.plain_text import count_of, one_line, when_text

_TEXT = 240
_STYLES = {Kind.PROMPT: "bold", Kind.SAID: "magenta", Kind.TOOL: "blue", Kind.REMEMBERED: "green"}


def short_handle(full: str) -> str:
    """As much of an id as `show` needs."""
    return full[:HANDLE]


def event_line(event: Event, longest: int = _TEXT) -> str:
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
    who = f"{event.agent} ({event.subagent_type})" if event.subagent_type else doer(event)
    return [
        (short_handle(stored.id), "cyan"),
        (when_text(event.at, zone), "dim"),
        (who, "dim"),
        (event.kind.replace("_", " "), "red" if bad else _STYLES.get(event.kind, "dim")),
        event_line(event),
    ]


def session_row(session: Session, zone: tzinfo | None) -> list[str | Styled]:
    """Handle, time, agent, state, project, what it was about."""
    state = session.state(clock.now_ms())
    return [
        (short_handle(session.id), "cyan"),
        (when_text(session.last_at, zone), "dim"),
        (session.agent, "dim"),
        (state, "green" if state == "running" else "dim"),
        (session.project_name, "dim"),
        one_line(session.title, _TEXT) or count_of(session.event_count, "event"),
    ]


def memory_row(memory: Memory) -> list[str | Styled]:
    """Handle, kind, text."""
    return [
        (short_handle(memory.id), "cyan"),
        (memory.kind.replace("_", " "), "green"),
        one_line(led_in(told_as(memory), memory.text), _TEXT),
    ]


def time_span(first: int, last: int, zone: tzinfo | None) -> str:
    """From when to when."""
    return f"{clock.stamp(first, zone)} – {when_text(last, zone)}"
