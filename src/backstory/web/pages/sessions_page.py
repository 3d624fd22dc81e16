"""Sessions: the list, narrowed by project, agent, branch and day."""

import itertools
import os
from datetime import datetime, timedelta

from backstory import clock
from backstory.app import App
from backstory.errors import UsageError
from backstory.model import Session
from backstory.store.records import SessionFilter
from backstory.web.markup import Html, h, join
from backstory.web.pages import components
from backstory.web.pages.layout import heading
from backstory.web.request import Page, PageRequest, clamped_limit, page_rows, parse_cursor


def day_span(day: str, asked: PageRequest) -> tuple[int, int]:
    """From when to when a day of the user's zone is, in milliseconds; all of time if there is none."""
    if not day:
        return 0, 0
    try:
        date = datetime.strptime(day, "%Y-%m-%d").date()
    except ValueError:
        raise UsageError(f"{day!r} is not a day: write YYYY-MM-DD") from None
    if not 1971 <= date.year <= 9000:
        return 0, 1
    return clock.day_start(date, asked.zone), clock.day_start(date + timedelta(days=1), asked.zone)


def listed_sessions(app: App, asked: PageRequest) -> tuple[list[Session], str]:
    """The sessions that were asked for, and where the next page begins."""
    limit = clamped_limit(asked.get("limit"))
    since, until = day_span(asked.get("day"), asked)
    wanted = SessionFilter(asked.get("project"), asked.get("agent"), asked.get("branch"), since, until)
    found = app.store.listings.sessions(wanted, parse_cursor(asked.get("before")), limit + 1)
    return page_rows(found, limit, lambda session: (session.last_at, session.id))


def page(app: App, asked: PageRequest) -> Page:
    """The list."""
    found, more = listed_sessions(app, asked)
    body = join(
        heading("Sessions", "Every session of every agent, the latest first."),
        _filters(app, asked),
        _rows(found, asked),
        components.pager(asked, more),
    )
    return Page("Sessions", body, "/sessions")


def _rows(found: list[Session], asked: PageRequest) -> Html:
    if not found:
        narrowed = any(asked.get(name) for name in ("project", "agent", "branch", "day", "before"))
        if narrowed:
            return components.empty_page(
                "No session fits", "Choose less, or ", h("a", "look at all of them", href="/sessions"), "."
            )
        return components.empty_page(
            "No session yet", "Connect an agent with ", h("code", "backstory install"), " and start it."
        )
    in_one = bool(asked.get("project"))
    days = itertools.groupby(found, lambda session: clock.day_of(session.last_at, asked.zone))
    return join(_day(day, list(group), asked, in_one) for day, group in days)


def _day(day: str, found: list[Session], asked: PageRequest, in_one: bool) -> Html:
    written = datetime.strptime(day, "%Y-%m-%d").strftime(
        "%A, %-d %B %Y" if os.name == "posix" else "%A, %d %B %Y"
    )
    rows = [components.session_line(session, asked.zone, not in_one) for session in found]
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
        h("button", "Show", type="submit"),
        class_="filters",
        action="/sessions",
    )
