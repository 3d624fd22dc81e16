"""HTML that cannot forget to escape: whatever is not `Html` already is text, and text is made harmless.

Stored text was written by agents, by tools and by whoever they read. It loses its control characters, escape
sequences and direction overrides, and every character that means something to HTML. Links lead to this site,
to the web or to a letter, never to a script.
"""

import functools
from collections.abc import Iterable
from html import escape

from backstory.present.plain_text import terminal_text

_VOID = frozenset(("br", "hr", "img", "input", "link", "meta"))
_LINKS = ("href", "src", "action", "formaction")
_SAFE_LINKS = ("/", "#", "?", "http://", "https://", "mailto:")


class Html(str):
    """Markup that is safe as it is."""

    __slots__ = ()


Child = object  # Html, text, a number, an iterable of these, or None


def h(element: str, /, *children: Child, **attributes: object) -> Html:
    """One element. `class_` is class, `data_row` is data-row; None and False leave an attribute out."""
    written = "".join(_attribute(_name(key), value) for key, value in attributes.items())
    if element in _VOID:
        return Html(f"<{element}{written}>")
    return Html(f"<{element}{written}>{join(*children)}</{element}>")


def join(*children: Child) -> Html:
    """Children one after the other; all that is not `Html` is escaped."""
    return Html("".join(_child(child) for child in children))


def _child(child: Child) -> str:
    if child is None or child is False:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, str):
        return escape(terminal_text(child), quote=False)
    if isinstance(child, Iterable):
        return "".join(_child(each) for each in child)
    return escape(str(child), quote=False)


@functools.cache
def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _attribute(name: str, value: object) -> str:
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    text = terminal_text(str(value))
    if name in _LINKS and not (text.startswith(_SAFE_LINKS) and not text.startswith("//")):
        return ""
    return f' {name}="{escape(text)}"'


def document(title: str, body: Html, **attributes: object) -> str:
    """A whole page."""
    head = h(
        "head",
        h("meta", charset="utf-8"),
        h("meta", name="viewport", content="width=device-width, initial-scale=1"),
        h("meta", name="color-scheme", content="light dark"),
        h("title", f"{title} · Backstory"),
        h("link", rel="stylesheet", href="/static/style.css"),
        h("link", rel="icon", href="/static/icon.svg", type="image/svg+xml"),
        h("script", src="/static/viewer.js", defer=True),
    )
    return "<!doctype html>\n" + h("html", head, h("body", body, **attributes), lang="en")
