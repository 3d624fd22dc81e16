"""The first page: a project as it stands. What was done last, what is open, what goes wrong, what holds."""

from collections.abc import Iterator, Sequence

from backstory import clock
from backstory.app import App
from backstory.hook.brief_text import SECTIONS, Row
from backstory.model import Kind, MemoryStatus, Project, Session
from backstory.present.plain_text import count_of, one_line
from backstory.store.records import SessionFilter
from backstory.web.markup import Html, h, join
from backstory.web.pages import components, pictures
from backstory.web.pages.handle_page import handle_address
from backstory.web.pages.layout import heading
from backstory.web.request import Page, PageRequest

_LATEST = 14
_SESSIONS = 5
_ROOM = 160  # characters for what came of one
_ROWS = 6
_LEARNED = 5
_TEXT = 360
# What a brief tells by these is told by the sessions themselves here.
_BY_SESSIONS = ("left_off", "others")


def page(app: App, asked: PageRequest) -> Page:
    """The project that was asked for, or the one that was worked on last."""
    projects = app.projects() if app.home.database.exists() else []
    latest = app.store.listings.sessions(SessionFilter(asked.get("project")), None, 20) if projects else []
    wanted = asked.get("project") or (latest[0].project_id if latest else "")
    project = next((each for each in projects if each.id == wanted), None)
    if project is None or not latest:
        return Page("Overview", _welcome(), "/")
    recent = [session for session in latest if session.project_id == project.id]
    beside = join(_running(recent, asked), _learned(app, project), pictures.activity(app, asked, project.id))
    if asked.fragment:
        return Page("Overview", h("div", beside), "/")
    about = h(
        "div",
        _done_last(app, recent, asked),
        [_section(title, rows, asked) for title, rows in _known(app, project)],
        class_="wide parts",
    )
    fresh = asked.with_(part="1", project=project.id)
    body = join(
        _top(app, project, projects, recent, asked),
        h("div", about, h("div", beside, class_="narrow", data_fresh=fresh), class_="columns"),
        _feed(app, asked),
        pictures.last_weeks(app, asked),
    )
    return Page(project.name or "Overview", body, "/")


def _welcome() -> Html:
    steps = (
        ("Connect your agents", "backstory install"),
        ("Bring in what they did before", "backstory import"),
        ("Then work as always: sessions appear here while they run.", ""),
    )
    items = [
        h("li", h("p", says), h("pre", h("code", command)) if command else None) for says, command in steps
    ]
    return join(
        heading(
            "Nothing is remembered yet", "One memory for every coding agent. It begins with these steps."
        ),
        h("ol", items, class_="steps"),
    )


def _top(
    app: App, project: Project, projects: Sequence[Project], recent: Sequence[Session], asked: PageRequest
) -> Html:
    facts = h(
        "div",
        h("span", "last worked on ", components.time_element(recent[0].last_at, asked.zone)),
        h("span", components.short_path(project.root), class_="mono"),
        h("a", "What the next session is told", href=f"/brief?project={project.id}"),
        class_="facts",
    )
    choice = (
        h(
            "form",
            components.project_list(projects, project.id, every=False),
            h("button", "Show", type="submit"),
            class_="filters",
            action="/",
        )
        if len(projects) > 1
        else None
    )
    return h("div", h("h1", project.name or "This project"), facts, choice, class_="top")


# --- what is known ----------------------------------------------------------------------------------------


def _done_last(app: App, recent: Sequence[Session], asked: PageRequest) -> Html:
    rows = [
        components.session_line(session, asked.zone, project=False, outcome=app.came_of(session, _ROOM))
        for session in recent[:_SESSIONS]
    ]
    more = h("a", "All sessions", href=f"/sessions?project={recent[0].project_id}")
    return h("section", h("h2", "What was done last"), h("ul", rows, class_="rows"), h("p", more))


def _known(app: App, project: Project) -> Iterator[tuple[str, list[Row]]]:
    """What briefs choose from, by section, in their order."""
    rows = app.standing_rows(project)
    for section, title in SECTIONS:
        found = [row for row in rows if row.section == section and section not in _BY_SESSIONS]
        if found:
            yield title, found[:_ROWS]


def _section(title: str, rows: Sequence[Row], asked: PageRequest) -> Html:
    shown = [
        h(
            "li",
            h("a", components.text_with_code(one_line(row.text, _TEXT)), href=handle_address(row.id)),
            components.time_element(row.at, asked.zone),
            class_="line",
            data_row=True,
        )
        for row in rows
        if row.id
    ]
    return h("section", h("h2", title), h("ul", shown, class_="lines"))


# --- beside it --------------------------------------------------------------------------------------------


def _running(recent: Sequence[Session], asked: PageRequest) -> Html | None:
    now = clock.now_ms()
    running = [session for session in recent if session.state(now) == "running"]
    if not running:
        return None
    shown = [components.session_short(session, asked.zone) for session in running[:5]]
    title = f"{count_of(len(running), 'session')} running"
    return h("section", h("h2", title), h("ul", shown, class_="rows compact"))


def _learned(app: App, project: Project) -> Html | None:
    kinds = list(components.KINDS)[:5]
    found = app.memories(kinds, [MemoryStatus.CANDIDATE, MemoryStatus.CONFIRMED], project.id, None, _LEARNED)
    if not found:
        return None
    shown = [
        components.linked_line(
            memory.kind.replace("_", " "),
            components.kind_colour(memory.kind),
            one_line(memory.text, 160),
            f"/memories/{memory.id}",
        )
        for memory in found
    ]
    more = h("a", "All memories", href=f"/memories?project={project.id}")
    return h("section", h("h2", "Last learned"), h("ul", shown, class_="lines stacked"), h("p", more))


def _feed(app: App, asked: PageRequest) -> Html:
    """What happens in all projects, as it arrives."""
    events = [each for each in app.timeline(None, 0, _LATEST) if each.event.kind is not Kind.DOCUMENT]
    names = {sid: app.store.events.session(sid) for sid in {stored.session_id for stored in events}}
    rows = []
    for stored in events:
        session = names[stored.session_id]
        event = stored.event
        rows.append(
            h(
                "li",
                components.time_element(event.at, asked.zone, short=True),
                components.chip(components.event_verb(event), components.event_tone(event)),
                h(
                    "a",
                    components.event_line(event, 200) or "…",
                    href=f"/sessions/{stored.session_id}#{stored.id}",
                ),
                h("span", session.project_name if session else "", class_="where"),
                class_="row",
            )
        )
    title = h("h2", "As it happens ", h("span", "connecting", class_="pulse", id="pulse"), id="feed-title")
    feed = h(
        "ol", rows, class_="feed", id="feed", data_live="/live", tabindex="0", aria_labelledby="feed-title"
    )
    return h("section", title, feed)
