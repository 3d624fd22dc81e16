"""The last weeks in pictures: how much was done, with which agents, in which files, for how many tokens."""

from collections.abc import Iterable

from backstory import clock
from backstory.app import App
from backstory.capture.history_reader import SPENT
from backstory.llm.model_provider import OFF
from backstory.store.records import SessionFilter
from backstory.web import charts
from backstory.web.markup import Html, h
from backstory.web.pages import components
from backstory.web.pages.spending_page import against_caps
from backstory.web.request import PageRequest

_DAY_MS = 86_400_000
_WEEKS = 12
_FILES = 8


def activity(app: App, asked: PageRequest, project_id: str) -> Html | None:
    """A project's days: the last weeks, or the last in which something was done."""
    latest = app.store.listings.sessions(SessionFilter(project_id), None, 1)
    if not latest:
        return None
    now = clock.now_ms()
    quiet = now - latest[0].last_at > _WEEKS * 7 * _DAY_MS
    until = latest[0].last_at if quiet else now
    days = charts.days(until, _WEEKS * 7, asked.zone)
    worked = app.store.listings.session_activity(until - _WEEKS * 7 * _DAY_MS, project_id)
    by_day = charts.by_day(days, asked.zone, ((each.started_at, each.events) for each in worked))
    says = f"Events a day, 12 weeks{f' until {days[-1]}' if quiet else ''}"
    link = h("a", "Week by week", href=f"/sessions?project={project_id}&week={days[-1]}")
    return h("section", _figure("Activity", says, charts.calendar(days, by_day)), h("p", link))


def last_weeks(app: App, asked: PageRequest) -> Html | None:
    """All projects together; what has nothing to show is left out."""
    shown = list(filter(None, _figures(app, asked)))
    if not shown:
        return None
    return h("section", h("h2", "The last weeks"), h("div", shown, class_="figures"), class_="pictures")


def _figures(app: App, asked: PageRequest) -> Iterable[Html | None]:
    now = clock.now_ms()
    since = now - _WEEKS * 7 * _DAY_MS
    views = app.store.listings
    days = charts.days(now, _WEEKS * 7, asked.zone)
    by_agent: dict[str, int] = {}
    for each in views.session_activity(since):
        by_agent[each.agent] = by_agent.get(each.agent, 0) + each.events
    agents = sorted(by_agent.items(), key=lambda item: -item[1])
    if len(agents) > 1:
        bars = charts.bars([(components.agent_name(name), n) for name, n in agents])
        yield _figure("Agents side by side", "Events in 12 weeks, all projects", bars)
    touched: dict[str, int] = {}
    for files in views.changed_files(since, "", 500):
        for file in files:
            touched[file] = touched.get(file, 0) + 1
    if touched:
        most = sorted(touched.items(), key=lambda item: (-item[1], item[0]))[:_FILES]
        says = "By the sessions that changed them, 12 weeks"
        yield _figure("Files most worked on", says, charts.bars(most, shorten=True))
    tokens = charts.by_day(days, asked.zone, views.brief_tokens(since))
    if tokens:
        drawn = charts.columns(days[-28:], tokens)
        yield _figure("Tokens given to agents", "Tokens of briefs a day, 4 weeks", drawn)
    counted = app.store.counters.by_agent(SPENT, days[0])
    spent = [(f"Spent by {components.agent_name(name)}", n) for name, n in sorted(counted.items())]
    if spent:
        bars = charts.bars([("Given by Backstory", sum(tokens.values())), *spent])
        yield _figure(
            "Given, and spent by agents", "Tokens in 12 weeks, as far as agents write them down", bars
        )
    if (taken := app.spending()).provider != OFF:
        meters = h("div", against_caps(taken), class_="meters")
        yield _figure("Spent on models by Backstory", "Against the caps", meters)


def _figure(title: str, says: str, drawing: Html) -> Html:
    return h("figure", h("figcaption", h("strong", title), h("span", says)), drawing)
