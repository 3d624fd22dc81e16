"""A handle that somebody typed: the one thing that it stands for, or a list of those that begin so."""

from backstory.app import App
from backstory.present.plain_text import one_line
from backstory.web.markup import Html, h, join
from backstory.web.pages import components
from backstory.web.pages.layout import heading
from backstory.web.request import Page, PageRequest, Redirect

_SHORTEST = 4
_TEXT = 160
_PLACES = {"m": "/memories/", "e": "/events/", "s": "/sessions/"}


def standing_for(app: App, handle: str) -> list[str]:
    """The ids that begin so; the id itself, if it is one."""
    if len(handle) < _SHORTEST or not app.home.database.exists():
        return []
    found = app.store.events.ids_like(handle)
    return [handle] if handle in found else found


def handle_address(full: str) -> str:
    """Where a thing is shown."""
    return _PLACES[full[0]] + full


def handle_redirect(app: App, asked: PageRequest, kind: str) -> Page | Redirect | None:
    """Where the short handle in a path leads, or what to choose from; None if it is an id, or nothing."""
    handle = asked.parts["id"]
    found = [full for full in standing_for(app, handle) if full[0] == kind and full != handle]
    if len(found) == 1:
        return Redirect(handle_address(found[0]))
    return choice_page(app, asked, handle, found) if found else None


def choice_page(app: App, asked: PageRequest, handle: str, found: list[str]) -> Page:
    """What begins so, to choose from."""
    says = f"{handle} stands for several by now."
    return Page("Several begin so", join(heading("Several begin so", says), handle_list(app, asked, found)))


def handle_list(app: App, asked: PageRequest, found: list[str]) -> Html:
    """Each of these things, as a link to it."""
    return h("ul", [_row(app, asked, full) for full in found], class_="rows")


def _row(app: App, asked: PageRequest, full: str) -> Html:
    at, text = _told(app, full)
    return h(
        "li",
        h("a", one_line(text, _TEXT) or full, href=handle_address(full), class_="title"),
        h("div", components.time_element(at, asked.zone), components.handle(full), class_="facts"),
        class_="row",
        data_row=True,
    )


def _told(app: App, full: str) -> tuple[int, str]:
    store = app.store
    if full.startswith("m") and (memory := store.memories.kept(full)) is not None:
        return memory.at, memory.text
    if full.startswith("e") and (stored := store.events.event(full)) is not None:
        return stored.event.at, stored.event.text or stored.event.target
    if full.startswith("s") and (session := store.events.session(full)) is not None:
        return session.started_at, session.title
    return 0, full
