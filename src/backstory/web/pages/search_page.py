"""Search: as one types, narrowed, explained; every hit with a handle to copy."""

import re
from dataclasses import replace

from backstory import clock
from backstory.app import App
from backstory.present.plain_text import one_line
from backstory.search.answer import Answer, Hit, ReadAs
from backstory.store.records import Filters
from backstory.web.markup import Html, h, join
from backstory.web.pages import components, handle_page
from backstory.web.pages.layout import heading
from backstory.web.request import Page, PageRequest, Redirect, clamped_limit

_LIMIT = 20
_UNFINISHED = re.compile(r"[^\W\d_]{3,40}$")
_TEXT = 700
_LONGEST = 10_000
_KINDS = (
    "prompt",
    "said",
    "tool",
    "decision",
    "lesson",
    "attempt",
    "preference",
    "fact",
    "command",
    "summary",
)
_SPANS = (
    ("", "Any time"),
    ("1d", "Last day"),
    ("1w", "Last week"),
    ("4w", "Last 4 weeks"),
    ("52w", "Last year"),
)


def asked_of(app: App, asked: PageRequest, explain: bool = False) -> Answer:
    """The answer to what was asked, within reason."""
    since, until, file = asked.get("since"), asked.get("until"), asked.get("file")
    filters = Filters(
        agents=tuple(filter(None, (asked.get("agent"),))),
        branches=tuple(filter(None, (asked.get("branch"),))),
        files=tuple(filter(None, (file,))),
        kinds=tuple(filter(None, (asked.get("kind").replace(" ", "_"),))),
        since=clock.parse_when(since, asked.zone) if since else 0,
        until=clock.parse_when(until, asked.zone, end=True) if until else 0,
    )
    return app.search(
        asked.get("q")[:_LONGEST],
        asked.get("project") or None,
        clamped_limit(asked.get("limit"), _LIMIT, 100),
        floor=not asked.get("nearest"),
        filters=filters,
        explain=explain,
    )


def page(app: App, asked: PageRequest) -> Page | Redirect:
    """The form and, if something was asked, the hits; a handle leads to what it stands for."""
    named = handle_page.standing_for(app, asked.get("q"))
    if len(named) == 1 and not asked.fragment:
        return Redirect(handle_page.handle_address(named[0]))
    shown = handle_page.handle_list(app, asked, named) if named else _results(app, asked)
    results = h("div", shown, id="results", aria_live="polite")
    if asked.fragment:
        return Page("Search", results)
    body = join(
        heading("Search", "Words, an error message, a path, a command. “Last week” prefers that time."),
        _form(app, asked),
        results,
    )
    return Page(f"{one_line(asked.get('q'), 40)} · Search" if asked.get("q") else "Search", body, "/search")


def _form(app: App, asked: PageRequest) -> Html:
    agents, _ = app.store.listings.filter_choices("") if app.home.database.exists() else ([], [])
    return h(
        "form",
        h(
            "input",
            type="search",
            name="q",
            value=asked.get("q"),
            placeholder="why did we choose …",
            aria_label="What to search for",
            data_as_you_type="#results",
            autofocus=True,
            autocomplete="off",
        ),
        h(
            "div",
            components.project_list(app.projects(), asked.get("project")),
            components.agent_list(agents, asked.get("agent")),
            components.select_list(
                "kind", "Kind", asked.get("kind"), [("", "Everything"), *((k, k) for k in _KINDS)]
            ),
            components.select_list("since", "When", asked.get("since"), _SPANS),
            _tick("explain", "Explain", asked),
            _tick("nearest", "Even if not relevant", asked),
            class_="filters",
        ),
        h("input", type="hidden", name="file", value=asked.get("file")) if asked.get("file") else None,
        action="/search",
        role="search",
        class_="find",
    )


def _tick(name: str, says: str, asked: PageRequest) -> Html:
    box = h("input", type="checkbox", name=name, value="1", checked=bool(asked.get(name)), data_submit=True)
    return h("label", box, h("span", says), class_="tick")


def _results(app: App, asked: PageRequest) -> Html:
    if not asked.get("q"):
        return components.empty_page(
            "Ask anything", "Handles such as ", h("code", "m1a2b3c4d"), " lead there at once."
        )
    answer = _as_typed(app, asked)
    read = h("p", answer.reading, class_="how") if answer.reading else None
    note = h("p", components.text_with_code(answer.time_note), class_="short") if answer.time_note else None
    if answer.withheld and not answer.hits:
        nearest = h("a", "Show the nearest", href=asked.with_(nearest="1"))
        none = components.empty_page(
            "Nothing relevant", "There are hits, but none is near enough. ", nearest, " all the same."
        )
        return join(note, read, none)
    if not answer.hits:
        return join(
            note, read, components.empty_page("Nothing found", "Try other words, or look in all projects.")
        )
    how = h("p", f"Searched {answer.mode}.", class_="how") if asked.get("explain") and answer.mode else None
    hits = h("ul", [_hit(hit, asked) for hit in answer.hits], class_="rows hits")
    return join(note, read, hits, how)


def _as_typed(app: App, asked: PageRequest) -> Answer:
    """The answer; if there is none, that to the question with its last word as the memory has it whole."""
    explain = bool(asked.get("explain"))
    answer = asked_of(app, asked, explain)
    typed = _UNFINISHED.search(asked.get("q"))
    if answer.hits or typed is None:
        return answer
    for word in app.store.passages.completions(typed[0].lower(), asked.get("project") or None):
        whole = asked.get("q")[: typed.start()] + word
        found = asked_of(app, replace(asked, values={**asked.values, "q": whole}), explain)
        if found.hits:
            return replace(found, read_as=(ReadAs(typed[0], word), *found.read_as))
    return answer


def _hit(hit: Hit, asked: PageRequest) -> Html:
    tone = components.kind_colour(hit.kind) if hit.id.startswith("m") else "blue"
    return h(
        "li",
        h(
            "div",
            components.chip(hit.kind.replace("_", " "), tone),
            components.chip(hit.status) if hit.status not in ("", "candidate") else None,
            class_="chips",
        ),
        h(
            "a",
            components.text_with_code(components.short_path(one_line(hit.text, _TEXT))),
            href=f"/memories/{hit.id}" if hit.id.startswith("m") else f"/events/{hit.id}",
            class_="title",
        ),
        h(
            "div",
            components.agent_chip(hit.agent),
            h("span", hit.project),
            h("span", hit.branch, class_="mono") if hit.branch else None,
            components.time_element(hit.when, asked.zone),
            h("a", "its session", href=f"/sessions/{hit.session}"),
            components.handle(hit.id),
            class_="facts",
        ),
        _why(hit),
        class_="row",
        data_row=True,
        id=hit.id,
    )


def _why(hit: Hit) -> Html | None:
    if hit.why is None:
        return None
    parts = [h("span", f"{name} ", h("b", f"{share:.4f}")) for name, share in hit.why.parts.items()]
    return h(
        "p",
        h("span", "score ", h("b", f"{hit.score:.4f}"), " ="),
        parts,
        h("span", "relevance ", h("b", f"{hit.why.relevance:.2f}")),
        h("span", f"found by {hit.why.found_by}"),
        class_="why",
    )
