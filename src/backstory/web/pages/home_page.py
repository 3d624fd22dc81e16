"""Now: what runs, what arrives, what was learned, and the last weeks in pictures."""

from backstory import clock
from backstory.app import App
from backstory.capture.history_reader import SPENT
from backstory.llm.model_provider import OFF
from backstory.model import MemoryStatus
from backstory.present.plain_text import count_of, one_line
from backstory.store.records import SessionFilter
from backstory.web import charts
from backstory.web.markup import Html, h, join
from backstory.web.pages import components
from backstory.web.pages.layout import heading
from backstory.web.pages.spending_page import against_caps
from backstory.web.request import Page, PageRequest

_DAY_MS = 86_400_000
_WEEKS = 12
_LATEST = 14
_FILES = 8


def page(app: App, asked: PageRequest) -> Page:
    """The first page."""
    if not app.home.database.exists() or not app.projects():
        return Page("Now", _welcome(), "/")
    beside = join(_sessions(app, asked), _learned(app, asked))
    if asked.fragment:
        return Page("Now", h("div", beside))
    body = join(
        heading("Now", "What your agents are doing, as it arrives."),
        h(
            "div",
            h("div", h("section", _feed(app, asked)), _pictures(app, asked), class_="wide"),
            h("div", beside, class_="narrow", data_fresh="/?part=1"),
            class_="columns",
        ),
    )
    return Page("Now", body, "/")


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


def _feed(app: App, asked: PageRequest) -> Html:
    events = app.timeline(None, 0, _LATEST)
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
    return join(title, feed)


def _sessions(app: App, asked: PageRequest) -> Html:
    recent = app.store.listings.sessions(SessionFilter(), None, 8)
    now = clock.now_ms()
    running = [session for session in recent if session.state(now) == "running"]
    rest = [session for session in recent if session not in running]
    shown = [components.session_short(session, asked.zone) for session in (running + rest)[:5]]
    title = f"{count_of(len(running), 'session')} running" if running else "Latest sessions"
    return h(
        "section",
        h("h2", title),
        h("ul", shown, class_="rows compact"),
        h("a", "All sessions", href="/sessions"),
    )


def _learned(app: App, asked: PageRequest) -> Html | None:
    kinds = list(components.KINDS)[:5]
    found = app.memories(kinds, [MemoryStatus.CANDIDATE, MemoryStatus.CONFIRMED], None, None, 5)
    if not found:
        return None
    shown = [
        components.linked_line(
            m.kind.replace("_", " "),
            components.kind_colour(m.kind),
            one_line(m.text, 160),
            f"/memories/{m.id}",
        )
        for m in found
    ]
    return h("section", h("h2", "Last learned"), h("ul", shown, class_="lines"))


def _pictures(app: App, asked: PageRequest) -> Html:
    now = clock.now_ms()
    since = now - _WEEKS * 7 * _DAY_MS
    views = app.store.listings
    worked = views.session_activity(since)
    days = charts.days(now, _WEEKS * 7, asked.zone)
    by_agent: dict[str, int] = {}
    for each in worked:
        by_agent[each.agent] = by_agent.get(each.agent, 0) + each.events
    by_day = charts.by_day(days, asked.zone, ((each.started_at, each.events) for each in worked))
    tokens = charts.by_day(days, asked.zone, views.brief_tokens(since))
    touched: dict[str, int] = {}
    for files in views.changed_files(since, "", 500):
        for file in files:
            touched[file] = touched.get(file, 0) + 1
    most = sorted(touched.items(), key=lambda item: (-item[1], item[0]))[:_FILES]
    agents = sorted(by_agent.items(), key=lambda item: -item[1])
    counted = app.store.counters.by_agent(SPENT, days[0])
    spent = [(f"Spent by {components.agent_name(name)}", n) for name, n in sorted(counted.items())]
    figures = [
        _figure(
            "Activity",
            "Events of the sessions that began each day, 12 weeks",
            charts.calendar(days, by_day),
        ),
        _figure(
            "Agents side by side",
            "Events in 12 weeks",
            charts.bars([(components.agent_name(name), n) for name, n in agents]),
        ),
        _figure(
            "Files most worked on",
            "By the sessions that changed them, 12 weeks",
            charts.bars(most, shorten=True),
        ),
        _figure(
            "Tokens given to agents", "Tokens of briefs a day, 4 weeks", charts.columns(days[-28:], tokens)
        ),
        _figure(
            "Given, and spent by agents",
            "Tokens in 12 weeks, as far as agents write them down",
            charts.bars([("Given by Backstory", sum(tokens.values())), *spent]),
        )
        if spent
        else None,
        _figure(
            "Spent on models by Backstory", "Against the caps", h("div", against_caps(taken), class_="meters")
        )
        if (taken := app.spending()).provider != OFF
        else None,
    ]
    return h("section", h("h2", "The last weeks"), h("div", figures, class_="figures"), class_="pictures")


def _figure(title: str, says: str, drawing: Html) -> Html:
    return h("figure", h("figcaption", h("strong", title), h("span", says)), drawing)
