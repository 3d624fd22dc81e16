"""What stands around every page: where one can go, and the one search field."""

from backstory.web import undo
from backstory.web.markup import Html, document, h, join
from backstory.web.pages.components import text_with_code
from backstory.web.request import Page, PageRequest

# key, path, name; the key after `g` goes there
PLACES = (
    ("o", "/", "Overview"),
    ("s", "/sessions", "Sessions"),
    ("f", "/search", "Search"),
    ("m", "/memories", "Memories"),
    ("r", "/review", "Review"),
    ("k", "/knowledge", "Knowledge"),
    ("b", "/brief", "Brief"),
    ("h", "/health", "Health"),
    ("e", "/settings", "Settings"),
)
_KEYS = (
    ("/", "search"),
    ("j k", "next and previous row"),
    ("Enter", "open the row"),
    ("c r p", "confirm, reject or pin the row"),
    ("c r b", "of a pair: the newer holds, the older, both"),
    ("g o", "Overview; g s Sessions, g m Memories, g r Review, …"),
    ("u", "undo what was just done"),
    ("t", "light or dark"),
    ("?", "this help"),
)


def render_page(page: Page, asked: PageRequest) -> str:
    """A page as it is sent."""
    here = page.here or asked.path
    places = [
        h("a", name, href=path, data_go=key, aria_current="page" if path == here else None)
        for key, path, name in PLACES
    ]
    side = h(
        "header",
        h("a", "Skip to the content", href="#main", class_="skip"),
        h("a", _mark(), h("span", "Backstory"), href="/", class_="brand"),
        h(
            "form",
            h(
                "input",
                type="search",
                name="q",
                id="find",
                placeholder="Search",
                aria_label="Search the memory",
                autocomplete="off",
                value=asked.get("q"),
            ),
            h("kbd", "/", aria_hidden="true"),
            action="/search",
            role="search",
        ),
        h("nav", places, aria_label="Pages"),
        h(
            "div",
            h("span", "read-only", class_="chip amber") if asked.read_only else None,
            h("button", "Keys", type="button", data_help=True, class_="quiet"),
            h("button", "Theme", type="button", data_theme_switch=True, class_="quiet"),
            class_="foot",
        ),
        class_="side",
    )
    main = h("main", undo.note(asked), page.body, id="main", tabindex="-1")
    return document(page.title, join(h("div", side, main, class_="frame"), _help(), _status()))


def _mark() -> Html:
    return h("i", class_="mark", aria_hidden="true")


def _help() -> Html:
    rows = [h("div", h("dt", h("kbd", keys)), h("dd", what)) for keys, what in _KEYS]
    close = h("form", h("button", "Close", class_="button"), method="dialog")
    return h("dialog", h("h2", "Keys"), h("dl", rows), close, id="keys", aria_label="Keys")


def _status() -> Html:
    return h("div", role="status", aria_live="polite", id="said", class_="said")


def heading(title: str, says: str = "", *more: object) -> Html:
    """The top of a page: what it is, and what it is good for."""
    return h(
        "div",
        h("h1", title),
        h("p", text_with_code(says), class_="lead") if says else None,
        *more,
        class_="top",
    )
