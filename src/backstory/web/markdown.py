"""Markdown to HTML, as much as the wiki uses, from text that is hostile until it went through `h`.

Headings, paragraphs, lists, quotes, fences, tables, code, emphasis, links and [[wikilinks]]. Raw HTML is
shown as the text that it is.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from backstory.web.markup import Child, Html, h

# (target, words) → a link, or None if there is no such page
Resolve = Callable[[str], str | None]

_INLINE = re.compile(
    r"(?P<code>`[^`\n]+`)"
    r"|\[\[(?P<wiki>[^\]\n|]+)(?:\|(?P<alias>[^\]\n]+))?\]\]"
    r"|\[(?P<words>[^\]\n]+)\]\((?P<link>[^)\s]+)\)"
    r"|\*\*(?P<strong>[^*\n]+)\*\*"
    r"|(?<![\w*])\*(?P<em>[^*\n]+)\*(?!\w)"
)
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d{1,3}[.)])\s+(.*)")
_RULE = re.compile(r"(?:-{3,}|\*{3,})\s*")
_ROW = re.compile(r"\s*\|(.*)\|\s*")
_CELLS = re.compile(r"(?<!\\)\|")
_COMMENT = re.compile(r"\s*<!--.*-->\s*")
_DEEPEST = 6
_MOST_ROWS = 200


def front_matter(text: str) -> tuple[list[tuple[str, str]], str]:
    """The fields between the first two lines of dashes, and the rest."""
    if not text.startswith("---\n"):
        return [], text
    head, mark, rest = text[4:].partition("\n---")
    if not mark:
        return [], text
    fields = [line.partition(":") for line in head.splitlines() if ":" in line]
    return [(key.strip(), value.strip()) for key, _, value in fields], rest.partition("\n")[2]


def links(text: str) -> list[str]:
    """The targets of all wikilinks."""
    return [found["wiki"].rstrip("\\").strip() for found in _INLINE.finditer(text) if found["wiki"]]


def inline(text: str, resolve: Resolve) -> list[Child]:
    """A line with its emphasis and links."""
    parts: list[Child] = []
    at = 0
    for found in _INLINE.finditer(text):
        parts.append(text[at : found.start()])
        parts.append(_span(found, resolve))
        at = found.end()
    return [*parts, text[at:]]


def _span(found: re.Match[str], resolve: Resolve) -> Child:
    if found["code"]:
        return h("code", found["code"][1:-1])
    if found["wiki"]:
        target = found["wiki"].strip()
        words = found["alias"] or target.rpartition("/")[2]
        link = resolve(target)
        return h("a", words, href=link) if link else h("span", words, class_="broken", title="no such page")
    if found["words"]:
        link = found["link"] if found["link"].startswith(("http://", "https://")) else resolve(found["link"])
        attributes = {"rel": "noopener noreferrer"} if link and link.startswith("http") else {}
        return h("a", found["words"], href=link, **attributes) if link else h("span", found["words"])
    return h("strong", found["strong"]) if found["strong"] else h("em", found["em"])


def rendered(text: str, resolve: Resolve) -> list[Html]:
    """A whole text."""
    return list(_blocks(text.splitlines(), resolve))


def _blocks(lines: Sequence[str], resolve: Resolve, depth: int = 0) -> Iterator[Html]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip() or _COMMENT.fullmatch(line):
            at += 1
        elif line.startswith("```"):
            end = next((n for n in range(at + 1, len(lines)) if lines[n].startswith("```")), len(lines))
            yield h("pre", h("code", "\n".join(lines[at + 1 : end])), tabindex="0")
            at = end + 1
        elif found := _HEADING.fullmatch(line):
            yield h(f"h{min(6, len(found[1]) + 1)}", inline(found[2], resolve))
            at += 1
        elif _RULE.fullmatch(line):
            yield h("hr")
            at += 1
        elif line.startswith(">") and depth < _DEEPEST:
            end = _while(lines, at, lambda each: each.startswith(">"))
            inner = [each[1:].removeprefix(" ") for each in lines[at:end]]
            yield h("blockquote", _blocks(inner, resolve, depth + 1))
            at = end
        elif _ROW.fullmatch(line):
            end = _while(lines, at, lambda each: bool(_ROW.fullmatch(each)))
            yield _table(lines[at:end], resolve)
            at = end
        elif _ITEM.fullmatch(line):
            end = _while(lines, at, lambda each: bool(_ITEM.fullmatch(each)) or each.startswith("  "))
            yield _list(lines[at:end], resolve)
            at = end
        else:
            end = _while(lines, at, lambda each: bool(each.strip()) and not _begins(each))
            yield h("p", inline("\n".join(lines[at : max(end, at + 1)]), resolve))
            at = max(end, at + 1)


def _begins(line: str) -> bool:
    """Whether something other than a paragraph begins here."""
    return line.startswith(("```", ">")) or any(
        p.fullmatch(line) for p in (_HEADING, _ITEM, _RULE, _ROW, _COMMENT)
    )


def _while(lines: Sequence[str], at: int, holds: Callable[[str], bool]) -> int:
    end = at
    while end < len(lines) and holds(lines[end]):
        end += 1
    return end


def _list(lines: Sequence[str], resolve: Resolve) -> Html:
    items: list[tuple[int, list[Child]]] = []
    for line in lines:
        if found := _ITEM.fullmatch(line):
            items.append((min(len(found[1]) // 2, _DEEPEST), inline(found[2], resolve)))
        elif items:
            items[-1][1].extend([" ", *inline(line.strip(), resolve)])
    return h("ul", [h("li", words, class_=f"deep{depth}" if depth else None) for depth, words in items])


def _table(lines: Sequence[str], resolve: Resolve) -> Html:
    rows = [[cell.strip().replace("\\|", "|") for cell in _CELLS.split(line.strip()[1:-1])] for line in lines]
    has_head = len(rows) > 1 and all(set(cell) <= set("-: ") for cell in rows[1])
    head = (
        h("thead", h("tr", [h("th", inline(cell, resolve), scope="col") for cell in rows[0]]))
        if has_head
        else None
    )
    told = rows[2 if has_head else 0 :]
    body = [h("tr", [h("td", inline(cell, resolve)) for cell in row]) for row in told[:_MOST_ROWS]]
    if len(told) > _MOST_ROWS:
        rest = f"and {len(told) - _MOST_ROWS:,} more, in the file"
        body.append(h("tr", h("td", rest, colspan=len(rows[0]))))
    return h("div", h("table", head, h("tbody", body)), class_="table", tabindex="0")
