"""`index.md`, one row for each article there is, and `log.md`, one entry for each thing that was done."""

import re
from collections.abc import Sequence

from backstory.front_matter import split_front_matter
from backstory.knowledge.markdown_page import (
    harmless_line,
    page_sections,
    shorten_markdown,
    wikilink,
    with_block,
    words_of,
)
from backstory.knowledge.page_transaction import Changes
from backstory.knowledge.vault import ARTICLES

TITLES = {"concepts": "Concepts", "connections": "Connections", "qa": "Questions and answers"}
MOST_SOURCES = 3
_SUMMARY = 100
_LINKED = re.compile(r"\[\[(?:[^\]|]{0,300}\|)?([^\]|]{0,300})\]\]")


def put_index(changes: Changes) -> None:
    """Plan the index of the articles as they will be."""
    parts = []
    for folder in ARTICLES:
        links = article_links(changes, folder)
        if links:
            rows = [_row(changes, address) for address in links]
            parts.append(
                f"## {TITLES[folder]}\n\n| article | about | sources | updated |\n|---|---|---|---|\n"
                + "\n".join(rows)
            )
    places = [_place(changes, folder) for folder in ("weekly", "daily", "facts")]
    singles = [
        wikilink(name) for name in ("RUNBOOK", "highlights", "log") if changes.read(f"{name}.md") is not None
    ]
    if any(places) or singles:
        parts.append(
            "## Elsewhere\n\n" + "\n".join(f"- {place}" for place in [*filter(None, places), *singles])
        )
    head = f"# {harmless_line(changes.vault.name, 80)}: what is known\n"
    text = with_block(changes.read("index.md") or "", head, "\n\n".join(parts) or "Nothing is compiled yet.")
    changes.put("index.md", text)


def article_links(changes: Changes, folder: str) -> list[str]:
    """The articles of a folder as they will be, as links."""
    found = set(changes.vault.links(folder))
    for relative, data in changes.pages.items():
        if relative.startswith(f"{folder}/") and relative.endswith(".md"):
            address = relative[:-3]
            found = found | {address} if data is not None else found - {address}
    return sorted(found)


def _row(changes: Changes, address: str) -> str:
    fields, body = split_front_matter(changes.read(f"{address}.md") or "")
    cells = (
        wikilink(address, str(fields.get("title") or "")).replace("|", "\\|"),
        _cell(_summary(body)),
        source_cell(words_of(fields.get("sources"))),
        _cell(str(fields.get("updated") or fields.get("filed") or "")),
    )
    return "| " + " | ".join(cells) + " |"


def source_cell(sources: Sequence[str]) -> str:
    """The latest sources of an article, and how many more there are."""
    shown = [
        wikilink(source, source.partition("/")[2]).replace("|", "\\|")
        for source in sorted(sources)[-MOST_SOURCES:]
    ]
    more = f" +{len(sources) - MOST_SOURCES}" if len(sources) > MOST_SOURCES else ""
    return ", ".join(shown) + more


def _summary(body: str) -> str:
    """The first thing that an article says, as plain words."""
    found = page_sections(body)
    for name in ("Key Points", "Answer", "Connection", "Details", ""):
        for row in found.get(name, "").splitlines():
            text = _LINKED.sub(r"\1", row.strip().lstrip("-*# ").partition(" ([[")[0])
            if text and not row.startswith(("*Compiled", "#", "<!--")) and text != "None yet.":
                return shorten_markdown(text, _SUMMARY)
    return ""


def _cell(text: str) -> str:
    return harmless_line(text).replace("|", "/")


def _place(changes: Changes, folder: str) -> str:
    links = [address for address in article_links(changes, folder) if not address.endswith("/index")]
    return (
        f"{folder}: {wikilink(links[-1])}" + (f" and {len(links) - 1} more" if len(links) > 1 else "")
        if links
        else ""
    )


def put_log(
    changes: Changes, stamp: str, what: str, created: Sequence[str], updated: Sequence[str], more: str = ""
) -> None:
    """Plan an entry in the log of what was done; the log is only appended to."""
    old = changes.read("log.md") or "# Log\n\nWhat was compiled, asked and checked; only appended to.\n"
    done = (("created", created), ("updated", updated))
    # no links: an article may go one day, and what was written here stays
    rows = [f"- {name}: {', '.join(f'`{page}`' for page in pages) or 'none'}" for name, pages in done]
    if more:
        rows.append(f"- {harmless_line(more, 300)}")
    changes.put("log.md", old.rstrip("\n") + f"\n\n## {stamp} {what}\n\n" + "\n".join(rows) + "\n")
