"""memoria and claude-memory-compiler: daily logs, and articles compiled from them, as Markdown.

`daily/YYYY-MM-DD.md` holds `### Session (HH:MM)` entries, `knowledge/` the articles with their index and log.
A day is a session here and its last entry that day's summary; articles are documents. A file that has changed
replaces what was imported of it before.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from backstory.agents.agent import HistoryReader
from backstory.agents.history_source import Trail
from backstory.agents.markdown_history import PageReader, short_id
from backstory.file_reader import read_bytes
from backstory.front_matter import text_fields
from backstory.importers import event_writer
from backstory.importers.event_writer import Pen
from backstory.importers.markdown_pages import (
    DAILY,
    Numbering,
    day_at,
    markdown_trails,
    page_sections,
    parse_moment,
    says_something,
)
from backstory.model import Event

NAME = "memoria"
_LOGS, _ARTICLES = "daily", "knowledge"
_ENTRY = re.compile(r"###\s+Session[^\n]*?\(?(\d{1,2}:\d\d)")
_DATES = ("updated", "created", "date")


class History:
    """What memoria has kept."""

    resumable = False

    def root(self) -> Path:
        """It lies wherever it was cloned to; one runs the import there."""
        return Path.cwd()

    def find(self, place: Path) -> Iterator[Trail]:
        """All daily logs and articles, a trail each."""
        return markdown_trails(place, lambda path: _top(path) is not None)

    def identify(self, trail: Trail) -> Trail | None:
        """By the folder that it lies in: a day's session, or that of all articles."""
        top = _top(trail.path)
        if top is None:
            return None
        day = DAILY.fullmatch(trail.path.name)
        name = f"{_LOGS}-{day[1]}" if day and trail.path.parent.name == _LOGS else _ARTICLES
        session = f"{NAME}:{name}-{short_id(str(top.resolve()))}"
        return replace(trail, session=session, cwd=str(top.resolve()))

    def lines(self, trail: Trail, start: int) -> Iterator[bytes]:
        """The page in one piece."""
        yield read_bytes(trail.path)

    def reader(self, trail: Trail, start: int) -> HistoryReader:
        """Reads that piece."""
        told = Pen(NAME, trail.session, trail.cwd)
        day = DAILY.fullmatch(trail.path.name)
        if day and trail.path.parent.name == _LOGS:
            return PageReader(lambda text: list(_entries(told, trail.path, day[1], text)))
        return PageReader(lambda text: _article(told, trail, text))


def _top(path: Path) -> Path | None:
    """The folder that memoria works in, if this is one of its files."""
    if path.parent.name == _LOGS and DAILY.fullmatch(path.name):
        return path.parent.parent
    knowledge = next((folder for folder in path.parents if folder.name == _ARTICLES), None)
    return knowledge.parent if knowledge else None


def _entries(told: Pen, path: Path, day: str, text: str) -> Iterator[Event]:
    numbering = Numbering()
    for number, section in enumerate(page_sections(text, 3)):
        if not says_something(section):
            continue
        entry = _ENTRY.match(section)
        at = day_at(day, entry[1] if entry else "00:00")
        what = event_writer.SUMMARY if entry else event_writer.LOG
        # entries of one minute stay in their order
        yield from told.noted(what, at + number, section, numbering.of(path.name, section), target=str(path))


def _article(told: Pen, trail: Trail, text: str) -> list[Event]:
    fields, page = text_fields(text)
    at = next((at for name in _DATES if (at := parse_moment(fields.get(name, "")))), 0)
    path = str(trail.path)
    return told.document(
        event_writer.ARTICLE if says_something(page) else event_writer.INDEX,
        at or trail.updated,
        text,
        Numbering().of(path, text),
        path,
    )
