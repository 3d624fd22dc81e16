"""One event with everything that is kept of it, a long text in parts."""

from backstory.app import App, EventView
from backstory.errors import SourceMissing
from backstory.present.plain_text import one_line, terminal_text
from backstory.web.markup import Html, h, join
from backstory.web.pages import components, handle_page
from backstory.web.pages.layout import heading
from backstory.web.request import Page, PageRequest, Redirect

_PART = 60_000


def page(app: App, asked: PageRequest) -> Page | Redirect:
    """An event."""
    if (other := handle_page.handle_redirect(app, asked, "e")) is not None:
        return other
    view = app.show(asked.parts["id"])
    if not isinstance(view, EventView):
        raise SourceMissing(f"{asked.parts['id']!r} is no event")
    event, session = view.stored.event, view.session
    facts = (
        ("When", components.time_element(event.at, asked.zone)),
        ("Session", h("a", session.title or session.id, href=f"/sessions/{session.id}#{view.stored.id}")),
        ("Agent", components.agent_chip(event.agent)),
        ("Tool", event.tool),
        ("Outcome", event.outcome),
        ("Reason", event.reason),
        ("Folder", event.where.cwd),
        ("Branch", f"{event.where.branch} {event.where.commit[:9]}".strip()),
        ("Turn", view.stored.turn),
        ("Handle", components.handle(view.stored.id)),
        (
            "Note",
            "These are our own words coming back: never distilled, never found." if event.recalled else "",
        ),
    )
    rows = [h("div", h("dt", name), h("dd", value)) for name, value in facts if value]
    forget = (
        None
        if asked.read_only
        else h("a", "Forget…", href=f"/forget?handle={view.stored.id}", class_="quiet")
    )
    body = join(
        heading(components.event_verb(event).capitalize(), "", h("dl", rows, class_="sheet"), forget),
        h("section", h("h2", "Worked on"), h("pre", one_line(event.target, 4_000), tabindex="0"))
        if event.target
        else None,
        _text("Text", "text", event.text, asked),
        _text("As the agent sent it, redacted", "payload", view.payload or "", asked),
    )
    return Page(f"{components.event_verb(event)} event", body, "/sessions")


def _text(title: str, name: str, text: str, asked: PageRequest) -> Html | None:
    if not text:
        return None
    given = asked.get(name)
    start = int(given) if given.isdecimal() and len(given) < 12 else 0
    part = terminal_text(text[start : start + _PART])
    end = start + _PART
    more = (
        h("p", h("a", f"Go on ({len(text) - end:,} characters more)", href=asked.with_(**{name: str(end)})))
        if end < len(text)
        else None
    )
    return h("section", h("h2", title), h("pre", part, tabindex="0"), more)
