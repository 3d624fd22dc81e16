"""`backstory show`: what a handle stands for, and what it was made from."""

from datetime import tzinfo
from typing import assert_never

import click

from backstory import clock
from backstory.app import EventView, MemoryView, SessionView, payload_state
from backstory.cli.listing import event_row, memory_row, session_row, short_handle, time_span
from backstory.cli.output import json_option, line, print_json, raw, table, talk
from backstory.cli.project_scope import open_app
from backstory.errors import SourceMissing, UsageError
from backstory.present.json_rows import event_json, memory_json, session_json
from backstory.present.plain_text import MADE_BY, MEMORY_STATES, UNTOLD, count_of, when_text

_EVENTS = 100  # of a session, at once
View = SessionView | EventView | MemoryView


@click.command()
@click.argument("name", metavar="HANDLE")
@click.option(
    "--raw", "as_raw", is_flag=True, help="Print an event's payload as the agent sent it, redacted."
)
@click.option(
    "--from",
    "first",
    type=click.IntRange(1),
    default=1,
    metavar="N",
    help="The event of a session to begin with; 100 are printed.",
)
@json_option
def show(name: str, as_raw: bool, first: int, as_json: bool) -> None:
    """Show what a handle stands for: a session, an event or a memory.

    HANDLE is the code that briefs, searches and timelines print; its first few characters are enough.
    """
    with open_app() as app:
        view = app.show(name.strip(" \t\n[](){}<>`'\".,;:"), untold=True)
        zone = clock.zone(app.settings.time_zone)
    if as_raw:
        raw(_payload(view))
    elif as_json:
        print_json(_json(view))
    else:
        _print(view, zone, first)


def _payload(view: View) -> str:
    if not isinstance(view, EventView):
        raise UsageError("--raw is for events: `backstory show` without it lists the events this comes from")
    if view.payload is None and view.stored.payload_size:
        raise SourceMissing(
            f"the payload of {view.stored.id} has grown old and left: "
            "`backstory import backstory FILE` brings a file of the home's archive/ back"
        )
    if view.payload is None:
        raise SourceMissing(
            f"{view.stored.id} has no payload of its own: leave out --raw to see what is kept"
        )
    return view.payload


def _json(view: View) -> dict[str, object]:
    match view:
        case EventView():
            return {
                "event": event_json(view.stored),
                "session": session_json(view.session),
                "payload": view.payload,
            }
        case MemoryView():
            return {
                "memory": memory_json(view.memory),
                "sources": [event_json(s) for s in view.sources],
                "label": view.label,
                "commit": view.commit,
                "replaced": view.replaced,
                "replaced_by": view.replaced_by,
            }
        case SessionView():
            return {
                "session": session_json(view.session),
                "children": [session_json(child) for child in view.children],
                "memories": [memory_json(memory) for memory in view.memories],
                "events": [event_json(stored) for stored in view.events],
                "briefs": view.injections,
            }
        case _:
            assert_never(view)


def _print(view: View, zone: tzinfo | None, first: int) -> None:
    match view:
        case EventView():
            _print_event(view, zone)
        case MemoryView():
            _print_memory(view, zone)
        case SessionView():
            _print_session(view, zone, first)
        case _:
            assert_never(view)


def _facts(*facts: tuple[str, str]) -> None:
    table([[(name, "dim"), value] for name, value in facts if value])


def _heading(text: str) -> None:
    line()
    line((text, "bold"))


def _print_event(view: EventView, zone: tzinfo | None) -> None:
    event = view.stored.event
    line((view.stored.id, "bold cyan"), f"  {event.kind.replace('_', ' ')}")
    _facts(
        ("when", when_text(event.at, zone)),
        ("session", f"{short_handle(view.session.id)}, turn {view.stored.turn}, {view.session.project_name}"),
        ("agent", f"{event.agent} {event.subagent_type}".strip()),
        ("tool", event.tool),
        ("target", event.target),
        ("outcome", event.outcome),
        ("reason", event.reason),
        ("folder", event.where.cwd),
        ("branch", " ".join(filter(None, (event.where.branch, event.where.commit[:9])))),
        ("payload", payload_state(view)),
        ("recalled", "our own words come back; never distilled or searched" if event.recalled else ""),
    )
    if event.text:
        line()
        line(event.text)


def _print_memory(view: MemoryView, zone: tzinfo | None) -> None:
    memory = view.memory
    line((memory.id, "bold cyan"), f"  {memory.kind.replace('_', ' ')}")
    _facts(
        ("when", when_text(memory.at, zone)),
        ("project", memory.project_name),
        ("session", f"{short_handle(memory.session_id)}, {memory.agent}"),
        ("said by", memory.author or memory.said_by),
        ("because", memory.reason),
        ("files", ", ".join(memory.files)),
        ("commit", view.commit[:9]),
        ("source", f"{MADE_BY[memory.tier]}, {MEMORY_STATES.get(memory.status, memory.status)}"),
        ("today", view.label),
        ("told", UNTOLD if memory.untold else ""),
        ("replaced", ", ".join(map(short_handle, view.replaced))),
        ("now told as", short_handle(view.replaced_by) if view.replaced_by else ""),
    )
    line()
    line(memory.text)
    if memory.detail and memory.detail != memory.text:
        line()
        line(memory.detail)
    if view.sources:
        _heading("Made from")
        table([event_row(stored, zone) for stored in view.sources])


def _print_session(view: SessionView, zone: tzinfo | None, first: int) -> None:
    session = view.session
    if first > 1:
        _print_events(view, zone, first)
        return
    line((session.id, "bold cyan"), f"  {session.agent} session {session.native_id}")
    ended = session.state(clock.now_ms()) + (f" ({session.end_reason})" if session.end_reason else "")
    _facts(
        ("about", session.title),
        ("when", time_span(session.started_at, session.last_at, zone)),
        ("state", ended),
        ("project", session.project_name),
        ("folder", session.cwd),
        ("branch", session.branch),
        ("size", f"{count_of(session.prompt_count, 'prompt')}, {count_of(session.event_count, 'event')}"),
        ("briefs", ", ".join(f"{b.source}: {b.chars} characters" for b in view.injections)),
    )
    if view.memories:
        _heading("What was learned")
        table([memory_row(memory) for memory in view.memories])
    if view.children:
        _heading("Sub-agents")
        table([session_row(child, zone) for child in view.children])
    _print_events(view, zone, first)


def _print_events(view: SessionView, zone: tzinfo | None, first: int) -> None:
    """A page of what happened, and how to go on."""
    shown = view.events[first - 1 : first - 1 + _EVENTS]
    if not shown:
        return
    _heading("What happened")
    table([event_row(stored, zone) for stored in shown])
    if (left := len(view.events) - (first - 1) - len(shown)) > 0:
        after = f"backstory show {short_handle(view.session.id)} --from {first + _EVENTS}"
        talk(f"{count_of(left, 'event')} more: `{after}`")
