"""Markdown, made and read: text that stays text, slugs, links, sections.

What is stored was written by agents, tools and whoever they read. In a page it is one line that can neither
link, embed, open a tag, begin a comment nor end the block it stands in, nor be run by an editor's plugins.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import Any

from backstory.front_matter import split_front_matter
from backstory.hook.brief_text import shorten
from backstory.hook.sanitize import sanitized_line

_SLUG_CHARS = 60
_TAG = re.compile(r"<(?=[A-Za-z/!?%])")  # <% is run by Templater
_QUERY = re.compile(r"(`\s*+\$?)=")  # `= …` and `$= …` are run by Dataview; outside of code \= is read as =
_LINK = re.compile(r"(?<!\\)\[\[([^\[\]|#^\n]+)(?:[#^][^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_SECTION = re.compile(r"^## (.*[^ \t\n])[ \t]*$", re.MULTILINE)


def harmless_line(text: str, longest: int = 0) -> str:
    """Any text as one line of a page that does nothing but stand there."""
    line = _QUERY.sub(r"\1\\=", _TAG.sub("‹", sanitized_line(text)))
    for found, instead in (("[[", "[ ["), ("]]", "] ]"), ("](", "] ("), ("%%", "% %")):
        while found in line:
            line = line.replace(found, instead)
    return shorten_markdown(line, longest) if longest else line


def code_span(text: str, longest: int = 0) -> str:
    """Any name as a span of code that does nothing but stand there."""
    line = harmless_line(text.replace("`", "'"), longest)
    return _QUERY.sub(r"\1\\=", f"`{line}`")


def shorten_markdown(text: str, longest: int) -> str:
    """Text of at most this length, cut between words if it must be."""
    kept = shorten(text, longest)
    if kept != text and kept.count("`") % 2:  # a code span that the cut opened
        return kept.rpartition("`")[0].rstrip() + " …"
    return kept


_ANY_LINK = re.compile(r"\[\[((?:[^\[\]|]|\[(?!\[))*)(?:\|(?:[^\[\]]|\[(?!\[))*)?\]\]")


def line_with_links(text: str, allowed: Collection[str], longest: int) -> str:
    """Any text as one harmless line in which those links alone are links that are allowed."""
    given = [target for target in links_in(text) if target in allowed]
    line = harmless_line(_ANY_LINK.sub(r"«\1»", text), longest)
    for target in given:
        line = line.replace(f"«{target}»", f"[[{target}]]")
    return line


def slug(text: str) -> str:
    """Lowercase words with hyphens, of letters and digits alone."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)
    made = "-".join(words)
    if len(made) > _SLUG_CHARS:
        made = made[:_SLUG_CHARS].rpartition("-")[0] or made[:_SLUG_CHARS]
    return made


def wikilink(target: str, shown: str = "") -> str:
    """A wikilink."""
    label = harmless_line(shown).replace("|", "/").replace("[", "(").replace("]", ")")
    return f"[[{target}|{label}]]" if label else f"[[{target}]]"


def links_in(text: str) -> list[str]:
    """The targets of a page's wikilinks, each once, in their order; not those in code or front matter."""
    found = _LINK.findall(_CODE.sub("", split_front_matter(text)[1]))
    return list(dict.fromkeys(target.strip().rstrip("\\") for target in found))


def words_of(value: Any) -> list[str]:
    """A field that should be a list of words, as one."""
    if isinstance(value, str):
        return [value] if value else []
    return [str(item) for item in value] if isinstance(value, Sequence) else []


def page_sections(body: str) -> dict[str, str]:
    """The sections of a page by their heading, and under "" what stands before the first."""
    found: dict[str, str] = {}
    parts = _SECTION.split(body)
    found[""] = parts[0]
    for title, text in zip(parts[1::2], parts[2::2], strict=True):
        found[title] = found.get(title, "") + text
    return found


def word_count(text: str) -> int:
    """How many words a page has, its front matter left out."""
    return len(split_front_matter(text)[1].split())


_BEGIN, _END = "<!-- backstory: made anew each time -->", "<!-- /backstory -->"


def with_block(old: str, head: str, made: str) -> str:
    """A page whose one part is made anew each time; what people wrote around it stays."""
    block = f"{_BEGIN}\n{made.strip()}\n{_END}"
    before, begin, rest = old.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if begin and end:
        return before + block + after
    mine = old.strip()
    return f"{mine or head.strip()}\n\n{block}\n"
