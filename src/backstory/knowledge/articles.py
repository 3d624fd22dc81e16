"""Articles: made of notes, and brought up to date without a word of people's lost.

Every row that Backstory writes ends in its citation: the daily log, and the handle of the memory. That is
how an update knows its own rows: those of a log that was compiled anew go and come back, all others stay.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

from backstory.front_matter import front_matter, split_front_matter
from backstory.knowledge.log_notes import Note, note_gist, note_summary
from backstory.knowledge.markdown_page import (
    code_span,
    harmless_line,
    links_in,
    page_sections,
    shorten_markdown,
    slug,
    wikilink,
    words_of,
)
from backstory.knowledge.topics import Topic, title_of

POINTS = "Key Points"
DETAILS = "Details"
RELATED = "Related Concepts"
SOURCES = "Sources"
SECTIONS = (POINTS, DETAILS, RELATED, SOURCES)
MADE = "*Compiled by Backstory"
_POINTERS = {
    "decision": "Decided",
    "wish": "Wished",
    "lesson": "Failed and fixed",
    "attempt": "Tried and abandoned",
    "turn": "Changed together with",
    "outcome": "What came of it",
}
_SESSION = ("turn", "outcome")  # kinds that tell what a session did
_MOST_DETAILS = 40
_CITED = re.compile(r"\[\[daily/(\d{4}-\d\d-\d\d)\|[^\[\]]{0,300}\]\]")
_HANDLE = re.compile(r"`(m[0-9a-f]{8})`")
_ALIKE = 0.6
_SHORT = 140
_LINK_WORDS = re.compile(r"\[\[(?:[^\]|]{0,300}\|)?([^\]|]{0,300})\]\]")


@dataclass(slots=True)
class Article:
    """One article, taken apart."""

    link: str
    title: str
    aliases: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    created: str = ""
    updated: str = ""
    intro: str = ""
    rows: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in SECTIONS})
    others: dict[str, str] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        """The page."""
        fields = {
            **self.fields,
            "title": self.title,
            "aliases": self.aliases,
            "tags": self.tags,
            "sources": self.sources,
            "created": self.created,
            "updated": self.updated,
        }
        parts = [f"# {self.title}", self.intro.strip()]
        parts += [f"## {name}\n\n" + ("\n".join(self.rows[name]) or "- None yet.") for name in SECTIONS]
        parts += [f"## {name}\n\n{text.strip()}" for name, text in self.others.items()]
        return front_matter(fields) + "\n" + "\n\n".join(part for part in parts if part) + "\n"


def article_from(address: str, text: str) -> Article:
    """An article as it stands on disk, whoever wrote it."""
    fields, body = split_front_matter(text)
    found = page_sections(body)
    head = found.pop("", "")
    title = str(fields.get("title") or "")
    if match := re.search(r"^# (.+)$", head, re.MULTILINE):
        title = title or match[1].strip()
        head = head.replace(match[0], "", 1)
    rows = {name: _rows(found.pop(name, "")) for name in SECTIONS}
    known = ("title", "aliases", "tags", "sources", "created", "updated")
    return Article(
        address,
        title or address.partition("/")[2],
        words_of(fields.get("aliases")),
        words_of(fields.get("tags")),
        words_of(fields.get("sources")),
        str(fields.get("created") or ""),
        str(fields.get("updated") or ""),
        head.strip(),
        rows,
        found,
        {key: value for key, value in fields.items() if key not in known},
    )


def _rows(text: str) -> list[str]:
    rows = text.strip("\n").split("\n") if text.strip() else []
    return [row for row in rows if row != "- None yet."]


class ArticleIndex:
    """The concepts that there are, found by whatever they are called."""

    def __init__(self, articles: Iterable[Article]) -> None:
        self.articles = {article.link: article for article in articles}

    def about(self, topic: Topic) -> Article | None:
        """The article about a topic: of that name, of one of its other names, or nearly so."""
        wanted = _key(topic.name)
        for article in self.articles.values():
            names = {_key(article.title), *map(_key, article.aliases), article.link.partition("/")[2]}
            if wanted in names:
                return article
            if topic.kind == "file" and "/" in topic.name:
                base = _key(topic.name.rpartition("/")[2])
                if base in names and not any("/" in alias for alias in article.aliases):
                    return article
        if topic.kind == "decision":
            words = _words(topic.name)
            for article in self.articles.values():
                if "decision" in article.tags and _alike(words, _words(article.title)) >= _ALIKE:
                    return article
        return None

    def new(self, topic: Topic, today: str) -> Article:
        """An empty article about a topic, with an address of its own."""
        title = harmless_line(title_of(topic), 90)
        prefix = "decision-" if topic.kind == "decision" else ""
        address = f"concepts/{prefix}{slug(title) or 'topic'}"
        if address in self.articles:
            address += "-" + blake2b(topic.name.encode(), digest_size=2).hexdigest()
        aliases = [harmless_line(topic.name)] if topic.name != title else []
        article = Article(address, title, aliases, [topic.kind], created=today, updated=today)
        self.articles[address] = article
        return article


def row_of(note: Note) -> str:
    """A note as a row of its home."""
    return f"- {harmless_line(note_summary(note))} {citation(note)}"


def citation(note: Note) -> str:
    """Where a row comes from: the log of its day, who said it, and the handle to ask for more."""
    shown = f"{note.day} {note.time}".strip()
    handle = f", `{note.handle}`" if note.handle else ""
    return f"({wikilink(f'daily/{note.day}', shown)}, {harmless_line(note.source, 40)}{handle})"


def drop_day(article: Article, day: str) -> None:
    """Take out what Backstory wrote of a day: that log is read anew."""
    for name in (POINTS, DETAILS):
        article.rows[name] = [row for row in article.rows[name] if day not in _CITED.findall(row)]
    article.rows[SOURCES] = [row for row in article.rows[SOURCES] if f"daily/{day}" not in links_in(row)]
    article.sources = [source for source in article.sources if source != f"daily/{day}"]


def add_notes(
    article: Article, told: Sequence[Note], pointed: Mapping[str, Sequence[tuple[Note, str]]]
) -> None:
    """Add notes to their home, and under `pointed` rows that link to the homes of others."""
    for note in told:
        _add_row(article, DETAILS if note.kind in _SESSION else POINTS, row_of(note))
        if note.kind == "decision" and note.files:
            files = ", ".join(code_span(file, 120) for file in note.files[:6])
            _add_row(article, DETAILS, f"- Changed with it: {files} {citation(note)}")
    for home, notes in pointed.items():
        for note, title in notes:
            where = DETAILS if note.kind in _SESSION else POINTS
            label = _POINTERS.get(note.kind, "Also named")
            said = (
                f"{harmless_line(note_gist(note))} → " if note.kind in ("lesson", "attempt", "line") else ""
            )
            _add_row(article, where, f"- {label}: {said}{wikilink(home, title)} {citation(note)}")
    turns = article.rows[DETAILS]
    ours = [row for row in turns if _CITED.search(row)]
    for row in ours[: max(0, len(ours) - _MOST_DETAILS)]:
        turns.remove(row)
    days = {note.day for note in told} | {note.day for notes in pointed.values() for note, _ in notes}
    for day in sorted(days):
        source = f"daily/{day}"
        if source not in article.sources:
            article.sources.append(source)
        if not any(source in links_in(row) for row in article.rows[SOURCES]):
            article.rows[SOURCES].append(f"- {wikilink(source)}")


def _add_row(article: Article, name: str, row: str) -> None:
    if row not in article.rows[name]:
        article.rows[name].append(row)


def link_articles(article: Article, other: Article | str) -> None:
    """Link to another article, once."""
    address, title = (other, "") if isinstance(other, str) else (other.link, other.title)
    if address != article.link and not any(address in links_in(row) for row in article.rows[RELATED]):
        article.rows[RELATED].append(f"- {wikilink(address, title)}")


def told_of(article: Article) -> str:
    """A row that says in short what another article tells."""
    rows = article.rows[POINTS] or article.rows[DETAILS]
    plain = _LINK_WORDS.sub(r"\1", rows[-1].removeprefix("- ").partition(" ([[daily/")[0]) if rows else ""
    more = f", and {len(rows) - 1} more" if len(rows) > 1 else ""
    return f"- {wikilink(article.link, article.title)}" + (
        f": {shorten_markdown(plain, _SHORT)}{more}" if plain else ""
    )


def write_introduction(article: Article) -> None:
    """Say, above what people wrote, what the article is and how it was made."""
    cited = [row for name in (POINTS, DETAILS) for row in article.rows[name] if _CITED.search(row)]
    days = sorted({day for row in cited for day in _CITED.findall(row)})
    span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}" if days else ""
    notes = len({tuple(_HANDLE.findall(row)[-1:]) or row for row in cited})
    many = f"{notes} note{'' if notes == 1 else 's'} of the daily log, {span}"
    made_of = many if cited else "the articles that it lists"
    line = f"{MADE} by rules from {made_of}; no model wrote it.*"
    told = "\n".join(cited)
    kept = []
    for row in article.intro.split("\n"):
        handles = _HANDLE.findall(row)
        if row.startswith(MADE) and handles and all(f"`{one}`" in told for one in handles):
            line = row  # a model's introduction, and what it rests on is still there
        elif not row.startswith(MADE):
            kept.append(row)
    article.intro = "\n".join([line, *kept]).strip()


def is_empty(article: Article) -> bool:
    """Whether nothing is left of an article: no row, and no word of people's."""
    ours = all(row.startswith(MADE) for row in article.intro.split("\n") if row.strip())
    return ours and not article.others and not article.rows[POINTS] and not article.rows[DETAILS]


def without_links_to(article: Article, gone: str) -> Article:
    """An article whose rows no longer link to one that is gone."""
    rows = {name: [row for row in found if gone not in links_in(row)] for name, found in article.rows.items()}
    left = [row for row in article.intro.split("\n") if not (row.startswith(MADE) and gone in links_in(row))]
    without = replace(article, rows=rows, intro="\n".join(left))
    if without.intro != article.intro:
        write_introduction(without)
    return without


def _key(text: str) -> str:
    return " ".join(text.casefold().split())


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if len(word) > 2}


def _alike(first: set[str], second: set[str]) -> float:
    both = first | second
    return len(first & second) / len(both) if both else 0.0
