"""Markdown to HTML, from text that is hostile until it went through `h`.

markdown-it-py reads it (CommonMark and tables); what it found becomes HTML here, element by element, so that
nothing but these elements can appear. Raw HTML is shown as the text that it is, a picture is a link to where
it lies and never loaded, a link leads to the web, to a letter, or to a page that `resolve` knows.
[[wikilinks]] are a rule of our own.
"""

import functools
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

from backstory.web.markup import Child, Html, h, join

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.tree import SyntaxTreeNode

# the target of a link → its address, or None if there is no such page
Resolve = Callable[[str], str | None]

# Bounded, and without brackets inside: a line of brackets is looked at once.
_WIKILINK = re.compile(r"\[\[([^\[\]\n|]{1,300})(?:\|([^\[\]\n]{1,300}))?\]\]")
_CODE_OR_WIKILINK = re.compile(rf"`[^`\n]+`|{_WIKILINK.pattern}")
_WEB = ("http://", "https://", "mailto:")
_DEEPEST = 20
_MOST_ROWS = 200
_LARGEST = 200_000


def wikilink_targets(text: str) -> list[str]:
    """The targets of all wikilinks."""
    return [found[1].rstrip("\\").strip() for found in _CODE_OR_WIKILINK.finditer(text) if found[1]]


def render_wiki(text: str, resolve: Resolve) -> list[Html]:
    """A whole text, up to a length."""
    from markdown_it.tree import SyntaxTreeNode

    tree = SyntaxTreeNode(_parser().parse(text[:_LARGEST]))
    shown = [html for node in tree.children for html in _block(node, resolve)]
    if len(text) > _LARGEST:
        shown.append(h("p", f"And {len(text) - _LARGEST:,} characters more, in the file.", class_="how"))
    return shown


@functools.cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable("table").disable("html_inline")
    parser.inline.ruler.before("link", "wikilink", _read_wikilink)
    return parser


def _read_wikilink(state: "StateInline", silent: bool) -> bool:
    found = _WIKILINK.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        token = state.push("wikilink", "", 0)
        token.meta = {"target": found[1].strip(), "words": found[2] or ""}
    state.pos = found.end()
    return True


# --- blocks ----------------------------------------------------------------------------------------------


def _block(node: "SyntaxTreeNode", resolve: Resolve) -> Iterator[Html]:
    kind = node.type
    if kind == "paragraph":
        words = _inlines(node, resolve)
        yield join(words) if node.hidden else h("p", words)  # hidden: in a list without blank lines
    elif kind == "heading":
        yield h(f"h{min(6, int(node.tag[1]) + 1)}", _inlines(node, resolve))
    elif kind in ("fence", "code_block"):
        yield h("pre", h("code", node.content.removesuffix("\n")), tabindex="0")
    elif kind == "html_block":
        if not _is_comment(node.content.strip()):
            yield h("p", node.content)
    elif kind == "hr":
        yield h("hr")
    elif kind == "table":
        yield _table(node, resolve)
    elif kind == "ordered_list":
        yield h("ol", _blocks(node, resolve), start=node.attrs.get("start"))
    elif kind in _CONTAINERS:
        yield h(_CONTAINERS[kind], _blocks(node, resolve))


_CONTAINERS = {"bullet_list": "ul", "list_item": "li", "blockquote": "blockquote"}


def _is_comment(text: str) -> bool:
    """Whether a text is one comment of HTML and nothing else: the wiki's own marks."""
    return text.startswith("<!--") and text.find("-->") == len(text) - len("-->")


def _blocks(node: "SyntaxTreeNode", resolve: Resolve) -> list[Html]:
    return [html for child in node.children for html in _block(child, resolve)]


def _table(node: "SyntaxTreeNode", resolve: Resolve) -> Html:
    head, *rest = node.children
    names = [h("th", _inlines(cell, resolve), scope="col") for cell in head.children[0].children]
    rows = rest[0].children if rest else []
    body = [h("tr", [h("td", _inlines(cell, resolve)) for cell in row.children]) for row in rows[:_MOST_ROWS]]
    if len(rows) > _MOST_ROWS:
        more = f"and {len(rows) - _MOST_ROWS:,} more, in the file"
        body.append(h("tr", h("td", more, colspan=len(names))))
    return h("div", h("table", h("thead", h("tr", names)), h("tbody", body)), class_="table", tabindex="0")


# --- inside a block --------------------------------------------------------------------------------------


def _inlines(node: "SyntaxTreeNode", resolve: Resolve) -> list[Child]:
    """What stands in a block's one `inline`, or in an emphasis or link of it."""
    return [
        _inline(each, resolve)
        for child in node.children
        for each in (child.children if child.type == "inline" else (child,))
    ]


def _inline(node: "SyntaxTreeNode", resolve: Resolve) -> Child:
    kind = node.type
    if kind == "code_inline":
        return h("code", node.content)
    if kind in ("em", "strong"):
        return h(kind, _inlines(node, resolve))
    if kind == "link":
        return _link(str(node.attrs.get("href", "")), _inlines(node, resolve), resolve)
    if kind == "image":
        source = str(node.attrs.get("src", ""))
        return _link(source, node.content or source, resolve)
    if kind == "wikilink":
        target = node.meta["target"]
        words = node.meta["words"] or target.rpartition("/")[2]
        found = resolve(target)
        return h("a", words, href=found) if found else h("span", words, class_="broken", title="no such page")
    return h("br") if kind == "hardbreak" else "\n" if kind == "softbreak" else node.content


def _link(target: str, words: Child, resolve: Resolve) -> Html:
    if target.startswith(_WEB):
        return h("a", words, href=target, rel="noopener noreferrer")
    found = resolve(unquote(target))
    return h("a", words, href=found) if found else h("span", words)
