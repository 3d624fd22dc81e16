"""Brief: exactly what the next session in a project will be told, and why each row is in it."""

from collections.abc import Mapping
from pathlib import Path

from backstory.agents import AGENTS
from backstory.app import App
from backstory.errors import UsageError
from backstory.hook.brief_text import SECTIONS
from backstory.hook.session_brief import SOURCES
from backstory.present.plain_text import count_of, one_line
from backstory.recall.brief import Brief, Told
from backstory.web.markup import Html, h, join
from backstory.web.pages import components
from backstory.web.pages.layout import heading
from backstory.web.request import Page, PageRequest

_WHY: Mapping[str, str] = {
    "checkpoint": "this session's own state before it was compacted",
    "now": "it happened just now and waits in the spool",
    "left_off": "the latest session here that left work behind",
    "open": "a step that the latest sessions left open",
    "decisions": "a current decision: pinned and weighty first, then the newest",
    "failed": "something that failed here, and what is known of the cause",
    "prefs": "a wish or a fact that you told",
    "known": "a statement that is worth reading whatever a session is about",
    "commands": "checks that passed in several sessions",
    "others": "what came of a session of the last weeks",
}


def made_for(app: App, asked: PageRequest) -> Brief:
    """The brief that was asked for: of a project or a folder, for an agent and a way to start."""
    agent, source = asked.get("agent") or "claude-code", asked.get("source") or SOURCES[0]
    if agent not in AGENTS:
        raise UsageError(f"no agent is called {agent!r}: known are {', '.join(sorted(AGENTS))}")
    folder = asked.get("cwd")
    if not folder:
        projects = app.projects()
        if not projects:
            return Brief("", 0, 0, ())
        named = app.project_named(asked.get("project")) if asked.get("project") else projects[0]
        folder = named.root
    if not folder or "\0" in folder:
        return Brief("", 0, 0, ())
    return app.brief(Path(folder), agent, source, asked.get("session"))


def page(app: App, asked: PageRequest) -> Page:
    """The brief as it will be given."""
    made = made_for(app, asked)
    projects = app.projects()[:200]
    chosen = asked.get("project") or (projects[0].id if projects else "")
    form = h(
        "form",
        components.select_list("project", "Project", chosen, [(each.id, each.name) for each in projects]),
        components.select_list(
            "agent",
            "Agent",
            asked.get("agent") or "claude-code",
            [(name, agent.title) for name, agent in AGENTS.items()],
        ),
        components.select_list(
            "source", "Start", asked.get("source") or SOURCES[0], [(each, each) for each in SOURCES]
        ),
        h("button", "Show", type="submit"),
        class_="filters",
        action="/brief",
    )
    limits = (
        f"of at most {app.settings.brief_max_tokens:,} tokens and {app.settings.brief_max_chars:,} characters"
    )
    body = join(
        heading("Brief", "What a session that starts now is told, word for word."),
        form,
        _empty()
        if not made.text
        else join(
            h(
                "p",
                h("strong", f"{made.tokens:,} tokens"),
                f", {count_of(made.chars, 'character')}, {count_of(len(made.rows), 'row')} ",
                h("span", limits, class_="how"),
                class_="sum",
            ),
            h(
                "div",
                h(
                    "section",
                    h("h2", "The text"),
                    h("pre", made.text, class_="brief", tabindex="0"),
                    class_="wide",
                ),
                h("section", h("h2", "Why each row is in it"), _why(made.rows), class_="narrow"),
                class_="columns",
            ),
        ),
    )
    return Page("Brief", body, "/brief")


def _empty() -> Html:
    return components.empty_page(
        "Nothing to say",
        "A session that starts here now is told nothing. That is better than something irrelevant.",
    )


def _why(rows: tuple[Told, ...]) -> list[Html]:
    shown = []
    for section, title in SECTIONS:
        found = [row for row in rows if row.section == section]
        if found:
            listed = [
                h(
                    "li",
                    h("a", components.text_with_code(one_line(row.text, 160)), href=_link(row)),
                    data_row=True,
                )
                for row in found
            ]
            shown.append(
                h(
                    "section",
                    h("h3", title),
                    h("p", _WHY.get(section, ""), class_="how"),
                    h("ul", listed),
                    class_="why-rows",
                )
            )
    return shown


def _link(row: Told) -> str | None:
    if row.id.startswith("m"):
        return f"/memories/{row.id}"
    return f"/sessions/{row.session}" if row.session else None
