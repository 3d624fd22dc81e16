"""Answering a tool call through the app. What goes out is quoted notes, one way for all tools.

The home is opened for each call and closed after it: a server that idles for days must not keep a database
open that somebody wants to repair or restore.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from backstory import clock
from backstory.app import App, EventView, MemoryView, SessionView, payload_state
from backstory.attribution import author, doer, whose
from backstory.errors import BackstoryError, UsageError
from backstory.hook.brief_text import HANDLE, age_label, shorten
from backstory.hook.sanitize import sanitized_line
from backstory.mcp.forget_tool import forget_call
from backstory.mcp.slow_calls import in_time
from backstory.model import Event, Kind, Memory, Outcome, Session, Speaker
from backstory.search.excerpt import excerpt

PAGE = 8_000
# An agent waits for the answer: what a busy worker has not taken in yet is not worth more of its time.
PATIENCE_SECONDS = 0.3
_HIT_CHARS = 1_000
_LINE_CHARS = 300
_PAYLOAD_CHARS = 4_000
_TIMELINE = 20

_IS_REASON = re.compile(
    r"\W*(?:because|since|as|so|due to|given|otherwise|weil|da|denn|damit|parce qu|car|puisque|porque|ya que|"
    r"因为|なぜなら)",
    re.IGNORECASE,
)

Arguments = Mapping[str, Any]


def call_tool(
    tool: Mapping[str, Any], arguments: Arguments, folder: str, of: int = 1, asks_user: bool = False
) -> tuple[str, bool]:
    """The text that answers a call, and whether it failed; `folder` is the first of so many.

    `asks_user`: the client asks its user before something is forgotten.
    """
    name = tool["name"]

    def answer() -> str:
        with App(patience=PATIENCE_SECONDS) as app:
            if name == "forget":
                text = forget_call(app, checked, Path(folder), asks_user)
            else:
                text = _CALLS[name](app, checked, Path(folder))
        where = f"\n(This is of {Path(folder).name}, the first of {of} folders.)"
        return quote_notes(text + where if of > 1 and _of_a_folder(name, checked) else text)

    try:
        checked = _checked(tool, arguments)
        return in_time(name, [checked, folder], answer), False
    except BackstoryError as error:
        return str(error), True


def _of_a_folder(name: str, arguments: Arguments) -> bool:
    """Whether a call is about one project, so that who works in several must hear which."""
    limited = name in ("search", "timeline", "remember") or (name == "forget" and "text" in arguments)
    return limited and not arguments.get("all")


def quote_notes(text: str) -> str:
    """Notes in the wrapper by which they are recognised, should they ever come back to us."""
    lines = (sanitized_line(line) if line.strip() else "" for line in text.splitlines())
    return "\n".join(("<backstory-notes>", *lines, "</backstory-notes>"))


_TYPES: Mapping[str, type] = {"string": str, "integer": int, "boolean": bool}


def well_formed(text: str) -> str:
    """The text with a mark in place of each half of a character, which cannot be stored."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _checked(tool: Mapping[str, Any], arguments: Arguments) -> dict[str, Any]:
    """Clients hand over whatever the model wrote: hold it to the schema, and say what is wrong."""
    checked: dict[str, Any] = {}
    schema = tool["inputSchema"]
    arguments = {name: value for name, value in arguments.items() if value is not None}  # null: left out
    for name in schema.get("required", ()):
        if name not in arguments:
            raise UsageError(f"{tool['name']} needs {name!r}")
    for name, value in arguments.items():
        rule = schema["properties"].get(name)
        if rule is None:
            known = ", ".join(schema["properties"]) or "none"
            raise UsageError(f"{tool['name']} takes no {name!r}; its arguments: {known}")
        wanted = _TYPES[rule["type"]]
        if isinstance(value, float) and value.is_integer() and wanted is int:
            value = int(value)  # JSON has one kind of number
        if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
            raise UsageError(f"{name!r} must be of type {rule['type']}")
        if value not in rule.get("enum", (value,)):
            raise UsageError(f"{name!r} must be one of {', '.join(rule['enum'])}")
        if isinstance(value, str):
            value = well_formed(value)
        if wanted is int and not rule.get("minimum", 0) <= value <= rule.get("maximum", 1 << 62):
            raise UsageError(f"{name!r} must be from {rule.get('minimum', 0)} to {rule.get('maximum', '…')}")
        checked[name] = value
    return checked


def _project(app: App, arguments: Arguments, folder: Path) -> str | None:
    return None if arguments.get("all") else app.project_at(folder).id


def _search(app: App, arguments: Arguments, folder: Path) -> str:
    query = arguments["query"]
    if not query.strip("\0 \t\r\n"):
        raise UsageError("there is nothing to search for: write words")
    found = app.search(query, _project(app, arguments, folder), arguments.get("limit"), by_agent=True)
    lacking = f"\n(Searched {found.lacking}.)" if found.lacking else ""
    note = f"{found.time_note}\n" if found.time_note else ""
    lacking += f"\n({found.reading})" if found.reading else ""
    if not found.hits:
        wider = "" if arguments.get("all") else " in this project; all=true searches every project"
        return f"{note}Nothing relevant{wider}.{lacking}"
    now = clock.now_ms()
    told = "\n".join(
        f"- [{age_label(hit.when, now)} · {hit.agent} · {hit.kind.replace('_', ' ')}"
        f"{whose(hit.agent, hit.by)}"
        f"{f' · {hit.project}' if arguments.get('all') else ''}{f' · {hit.label}' if hit.label else ''}] "
        f"{shorten(excerpt(hit.text, query, _HIT_CHARS), _HIT_CHARS)} ({hit.id[:HANDLE]})"
        for hit in found.hits
    )
    return f"{note}{told}{lacking}"


def _timeline(app: App, arguments: Arguments, folder: Path) -> str:
    zone = clock.zone(app.settings.time_zone)
    since = clock.parse_when(arguments["since"], zone) if "since" in arguments else 0
    limit = arguments.get("limit", _TIMELINE)
    events = app.timeline(_project(app, arguments, folder), since, limit)
    now = clock.now_ms()
    lines = [
        f"- [{age_label(stored.event.at, now)} · {doer(stored.event)}] "
        f"{_what(stored.event)} ({stored.id[:HANDLE]})"
        for stored in events
    ]
    return "\n".join(lines) or "Nothing happened here yet."


def _what(event: Event) -> str:
    words = event.kind.replace("_", " ")
    if event.kind is Kind.TOOL:
        words = f"{event.action or event.tool} {event.target}"
        if event.outcome in (Outcome.FAILED, Outcome.INTERRUPTED):
            words = f"{shorten(words, _LINE_CHARS // 2)} → {event.outcome}: {event.text}"
    elif event.text:
        words = f"{words}: {event.text}"
    return shorten(" ".join(words.split()), _LINE_CHARS)


def _get(app: App, arguments: Arguments, folder: Path) -> str:
    return text_page(
        handle_document(app.show(arguments["handle"].strip(" []()`'\".,;:"))), arguments.get("offset", 0)
    )


def text_page(text: str, offset: int) -> str:
    """One page of a long text, and where the next one begins."""
    if offset and offset >= len(text):
        raise UsageError(f"there is nothing at offset={offset}: it ends after {len(text)} characters")
    part = text[offset : offset + PAGE]
    end = offset + len(part)
    return part if end >= len(text) else f"{part}\n[{len(text) - end} characters more: offset={end}]"


def handle_document(view: SessionView | EventView | MemoryView) -> str:
    """All that is known of what a handle stands for."""
    match view:
        case MemoryView():
            lines = [_memory(view.memory), *_standing(view), "", "Made from:"]
            lines += [f"- {_what(stored.event)} ({stored.id[:HANDLE]})" for stored in view.sources]
        case EventView():
            event = view.stored.event
            lines = [
                _session(view.session),
                f"{event.kind} {clock.stamp(event.at)}: {event.target}",
                event.text,
            ]
            lines += ["", f"Payload: {payload_state(view)}"]
            if view.payload is not None:
                lines += ["As the agent sent it:", shorten(view.payload, _PAYLOAD_CHARS)]
        case SessionView():
            lines = [_session(view.session), "", "What was learned:"]
            lines += [f"- {_memory(memory)} ({memory.id[:HANDLE]})" for memory in view.memories]
            lines += ["", "What happened:"]
            lines += [f"- {_what(stored.event)} ({stored.id[:HANDLE]})" for stored in view.events]
    return "\n".join(lines)


def _memory(memory: Memory) -> str:
    more = (memory.detail, _because(memory.reason), " ".join(memory.files))
    kind = memory.kind.replace("_", " ")
    told = "; ".join(part for part in (memory.text, *more) if part)
    who = f"{whose(memory.agent, memory.said_by)}, {author(memory.agent, memory.said_by)}"
    return f"{kind}{who}, {clock.stamp(memory.at)}: {told}"


def _because(reason: str) -> str:
    """A reason as it is told; many say themselves that they are one."""
    return reason if not reason or _IS_REASON.match(reason) else f"because {reason}"


def _standing(view: MemoryView) -> list[str]:
    """How a memory stands today, and what it replaced."""
    told = [f"Today: {view.label}."] if view.label else []
    return told + [f"It took the place of {older[:HANDLE]}." for older in view.replaced]


def _session(session: Session) -> str:
    title = session.title or "untitled"
    return f"Session {session.id[:HANDLE]} of {session.agent} in {session.project_name}: {title}"


def _remember(app: App, arguments: Arguments, folder: Path) -> str:
    memory = app.remember(arguments["text"], folder, arguments.get("kind", ""), Speaker.AGENT)
    kind = f"{memory.kind.replace('_', ' ')}, as your word"
    replaced = "".join(f"; it takes the place of {older[:HANDLE]}" for older in app.replaced_by(memory.id))
    return f"Remembered for {memory.project_name} as {kind}: {memory.text} ({memory.id[:HANDLE]}){replaced}"


def _status(app: App, arguments: Arguments, folder: Path) -> str:
    status = app.status()
    lines = [
        f"{status.sessions} sessions, {status.events} events, {status.memories} memories, "
        f"{status.projects} projects; {status.spooled} waiting, {status.quarantined} unreadable."
    ]
    if status.last_event_at:
        lines.append(f"Last event: {age_label(status.last_event_at, clock.now_ms())}.")
    return "\n".join([*lines, *(f"! {problem}" for problem in status.problems)])


_CALLS: Mapping[str, Callable[[App, Arguments, Path], str]] = {
    "search": _search,
    "timeline": _timeline,
    "get": _get,
    "remember": _remember,
    "status": _status,
}
