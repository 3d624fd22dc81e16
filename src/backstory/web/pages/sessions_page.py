"""Sessions by what came of them, narrowed by project, agent, branch, day and week."""

import itertools
import os
from datetime import date, datetime, timedelta

from backstory import clock
from backstory.app import App
from backstory.errors import UsageError
from backstory.model import Session
from backstory.store.records import SessionFilter
from backstory.web.markup import Html, h, join
from backstory.web.pages import components
from backstory.web.pages.layout import heading
from backstory.web.request import PAGE, Page, PageRequest, clamped_limit, page_rows, parse_cursor

_ROOM = 160  # characters
_SHOWN = 20  # what came of each is looked up


def day_span(day: str, asked: PageRequest) -> tuple[int, int]:
    """From when to when a day of the user's zone is, in milliseconds; all of time if there is none."""
    if not day:
        return 0, 0
    try:
        named = datetime.strptime(day, "%Y-%m-%d").date()
    except ValueError:
        raise UsageError(f"{day!r} is not a day: write YYYY-MM-DD") from None
    if not 1971 <= named.year <= 9000:
        return 0, 1
    return clock.day_start(named, asked.zone), clock.day_start(named + timedelta(days=1), asked.zone)


def week_span(day: str, asked: PageRequest) -> tuple[int, int, date | None]:
    """From when to when the week of a day is, Monday to Sunday, and its Monday."""
    if not day:
        return 0, 0, None
    start, until = day_span(day, asked)
    if until <= 1:
        return start, until, None
    given = date.fromisoformat(day)
    monday = given - timedelta(days=given.weekday())
    return (
        clock.day_start(monday, asked.zone),
        clock.day_start(monday + timedelta(days=7), asked.zone),
        monday,
    )


def listed_sessions(app: App, asked: PageRequest, usual: int = PAGE) -> tuple[list[Session], str]:
    """The sessions that were asked for, and where the next page begins."""
    limit = clamped_limit(asked.get("limit"), usual)
    since, until = day_span(asked.get("day"), asked)
    if not since and not until:
        since, until, _ = week_span(asked.get("week"), asked)
    wanted = SessionFilter(asked.get("project"), asked.get("agent"), asked.get("branch"), since, until)
    found = app.store.listings.sessions(wanted, parse_cursor(asked.get("before")), limit + 1)
    return page_rows(found, limit, lambda session: (session.last_at, session.id))


def page(app: App, asked: PageRequest) -> Page:
    """The list."""
    found, more = listed_sessions(app, asked, _SHOWN)
    body = join(
        heading("Sessions", "Every session of every agent by what came of it, the latest first."),
        _filters(app, asked),
        _week(asked),
        _rows(app, found, asked),
        components.pager(asked, more),
    )
    return Page("Sessions", body, "/sessions")


def _week(asked: PageRequest) -> Html | None:
    """The week that is shown, with the ways to those around it."""
    _, _, monday = week_span(asked.get("week"), asked)
    if monday is None:
        return None
    sunday, week = monday + timedelta(days=6), timedelta(days=7)
    return h(
        "nav",
        h("a", "The week before", href=asked.with_(week=str(monday - week)), rel="prev"),
        h("strong", f"{monday} to {sunday}"),
        h("a", "The week after", href=asked.with_(week=str(monday + week)), rel="next"),
        h("a", "All weeks", href=asked.with_(week="")),
        class_="facts",
        aria_label="Weeks",
    )


def _rows(app: App, found: list[Session], asked: PageRequest) -> Html:
    if not found:
        narrowed = any(asked.get(name) for name in ("project", "agent", "branch", "day", "week", "before"))
        if narrowed:
            return components.empty_page(
                "No session fits", "Choose less, or ", h("a", "look at all of them", href="/sessions"), "."
            )
        return components.empty_page(
            "No session yet", "Connect an agent with ", h("code", "backstory install"), " and start it."
        )
    in_one = bool(asked.get("project"))
    days = itertools.groupby(found, lambda session: clock.day_of(session.last_at, asked.zone))
    return join(_day(app, day, list(group), asked, in_one) for day, group in days)


def _day(app: App, day: str, found: list[Session], asked: PageRequest, in_one: bool) -> Html:
    written = datetime.strptime(day, "%Y-%m-%d").strftime(
        "%A, %-d %B %Y" if os.name == "posix" else "%A, %d %B %Y"
    )
    rows = [
        components.session_line(session, asked.zone, not in_one, app.came_of(session, _ROOM), by_day=True)
        for session in found
    ]
    return h("section", h("h2", written, class_="day"), h("ul", rows, class_="rows"))


def _filters(app: App, asked: PageRequest) -> Html:
    project = asked.get("project")
    agents, branches = app.store.listings.filter_choices(project)
    return h(
        "form",
        components.project_list(app.projects(), project),
        components.agent_list(agents, asked.get("agent")),
        components.select_list(
            "branch", "Branch", asked.get("branch"), [("", "All branches"), *((b, b) for b in branches)]
        )
        if branches
        else None,
        h(
            "label",
            h("span", "Day"),
            h("input", type="date", name="day", value=asked.get("day"), data_submit=True),
        ),
        h("input", type="hidden", name="week", value=asked.get("week")) if asked.get("week") else None,
        h("button", "Show", type="submit"),
        h("a", "By week", href=asked.with_(week=clock.day_of(clock.now_ms(), asked.zone)), class_="quiet")
        if not asked.get("week")
        else None,
        class_="filters",
        action="/sessions",
    )
