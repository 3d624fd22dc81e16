"""Health: whether sessions are being captured, what waits, what it takes, and the doctor's findings."""

from pathlib import Path

from backstory import doctor
from backstory.app import App, Status
from backstory.capture import written_files
from backstory.doctor import Check, State
from backstory.present.plain_text import JOB_STATES, age_text, count_of, megabytes
from backstory.web.markup import Html, h, join
from backstory.web.pages import components, spending_page
from backstory.web.pages.layout import heading
from backstory.web.request import Page, PageRequest

_COUNTED = {"spooled": "heard", "failed": "failed", "quarantined": "unreadable"}
_SILENT = "connected; no session since"
_COLOURS = {State.OK: "green", State.WARN: "amber", State.FAIL: "red"}


def page(app: App, asked: PageRequest) -> Page:
    """How the memory is doing; the doctor is asked only on request, since it runs the hooks."""
    found = app.status()
    body = join(
        heading("Health", "Whether what your agents do arrives here."),
        h("div", _numbers(found), class_="numbers"),
        h(
            "ul",
            [h("li", components.text_with_code(problem)) for problem in found.problems],
            class_="problems",
        )
        if found.problems
        else None,
        h("div", _capture(app, asked), _work(app, found), _sizes(found), class_="cards"),
        spending_page.spending_section(app, asked, found.spending),
        _doctor(app, asked),
    )
    return Page("Health", body, "/health")


def _numbers(found: Status) -> list[Html]:
    last = age_text(found.last_event_at) if found.last_event_at else "none yet"
    pairs = (
        (f"{found.events:,}", "events"),
        (f"{found.sessions:,}", "sessions"),
        (f"{found.memories:,}", "memories"),
        (f"{found.projects:,}", "projects"),
        (last, "last event"),
    )
    return [h("div", h("strong", value), h("span", name)) for value, name in pairs]


def _card(title: str, rows: list[tuple[str, object]]) -> Html:
    return h(
        "section",
        h("h2", title),
        h("dl", [h("div", h("dt", n), h("dd", v)) for n, v in rows], class_="sheet"),
        class_="card",
    )


def _capture(app: App, asked: PageRequest) -> Html:
    by_agent: dict[str, dict[str, int]] = {}
    if app.home.database.exists():
        for _, agent, _, name, n in app.store.counters.since():
            if agent and name in _COUNTED:
                counts = by_agent.setdefault(agent, {})
                counts[name] = counts.get(name, 0) + n
    for agent in written_files.written_sites(app.home):
        by_agent.setdefault(agent, {})
    rows: list[tuple[str, object]] = [
        (
            components.agent_name(agent),
            ", ".join(f"{n[name]:,} {word}" for name, word in _COUNTED.items() if n.get(name)) or _SILENT,
        )
        for agent, n in sorted(by_agent.items())
    ]
    return _card(
        "Capture",
        rows
        or [("Hooks", components.text_with_code("no agent is connected: `backstory install` connects them"))],
    )


def _work(app: App, found: Status) -> Html:
    jobs = (
        ", ".join(f"{n:,} {JOB_STATES.get(state, state)}" for state, n in sorted(found.jobs.items()))
        or "none"
    )
    rows: list[tuple[str, object]] = [
        ("Spool", f"{found.spooled:,} waiting, {found.quarantined:,} in quarantine"),
        ("Jobs", jobs),
        ("To index", count_of(found.unindexed, "event")),
        ("Worker", "at work" if found.worker_running else "not running: it starts when there is work"),
        ("Briefs given", f"{found.briefs:,}, about {found.brief_tokens:,} tokens"),
        ("Hooks that failed", f"{found.failed_hooks:,}"),
        ("Met twice, stored once", f"{found.duplicates:,}"),
    ]
    return _card("Work", rows)


def _sizes(found: Status) -> Html:
    rows: list[tuple[str, object]] = [
        (name.capitalize(), megabytes(n)) for name, n in found.sizes.items() if n
    ]
    rows += [(f"Can be freed: {name}", megabytes(n)) for name, n in found.freeable.items() if n]
    rows += [("Home", components.short_path(str(found.home))), ("Schema", found.schema)]
    return _card("Disk use", rows)


def doctor_checks(app: App) -> list[Check]:
    """The doctor's findings."""
    return list(doctor.run_checks(app, Path(app.projects()[0].root) if app.projects() else app.home.root))


def _doctor(app: App, asked: PageRequest) -> Html:
    title = h("h2", "The doctor", id="doctor")
    if not asked.get("examine"):
        link = h("a", "Examine everything", href="/health?examine=1#doctor", class_="button")
        return h(
            "section",
            title,
            h("p", "It follows a session's words from the hook to the brief; that takes a few seconds."),
            link,
        )
    rows = [
        h(
            "li",
            components.chip(check.state, _COLOURS[check.state]),
            h("strong", check.name),
            h("span", components.text_with_code(components.short_path(check.found))),
            h("p", "→ ", components.text_with_code(components.short_path(check.todo)), class_="todo")
            if check.todo
            else None,
            class_=f"check {check.state}",
        )
        for check in doctor_checks(app)
    ]
    return h("section", title, h("ul", rows, class_="checks"))
