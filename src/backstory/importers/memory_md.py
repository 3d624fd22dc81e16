"""MEMORY.md files: Claude Code's own memory, and groups of nanoclaw's kind.

A `memory/` folder holds MEMORY.md and topic files; a group holds MEMORY.md, typed facts
(`user_`, `feedback_`, `project_`, `reference_`) and daily logs of `- HH:MM …` lines. They are an agent's
notes, and told as such. A file that has changed replaces what was imported of it before.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from backstory.agents import AGENTS
from backstory.agents.agent import HistoryReader
from backstory.agents.history_source import Trail
from backstory.agents.markdown_history import PageReader, short_id
from backstory.file_reader import read_bytes
from backstory.front_matter import text_fields
from backstory.importers import event_writer
from backstory.importers.event_writer import Pen, join_lines
from backstory.importers.folder_names import Folders
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

NAME = "memory-md"
_INDEX = "MEMORY.md"
_FOLDER = "memory"
_TYPED = re.compile(r"(?:user|feedback|project|reference)_.+\.md")
_LOGGED = re.compile(r"^[-*] (\d{1,2}:\d\d)\b")
_POINTER = re.compile(r"^\s*[-*]\s+\[[^\]]+\]\([^)]+\.md\)")
_DATES = ("updated", "modified", "created", "date")


class History:
    """What lies in MEMORY.md files and beside them."""

    resumable = False

    def __init__(self) -> None:
        self._folders = Folders()

    def root(self) -> Path:
        """Where Claude Code keeps its own."""
        history = AGENTS["claude-code"].history
        assert history is not None
        return history.root()

    def find(self, place: Path) -> Iterator[Trail]:
        """All files of memory folders and groups, a trail each."""
        self._folders = Folders()
        return markdown_trails(place, _wanted)

    def identify(self, trail: Trail) -> Trail | None:
        """By the folder that it lies in, and the project that this folder is about."""
        folder = _memory_folder(trail.path)
        session = f"{NAME}:{short_id(str(folder.resolve()))}"
        about = folder.parent if folder.name == _FOLDER else folder
        if about.name.startswith("-") or any(about.glob("*.jsonl")):  # one of Claude Code's own
            return replace(trail, session=session, cwd=self._folders.behind(about), project=about.name)
        return replace(trail, session=session, cwd=str(about.resolve()))

    def lines(self, trail: Trail, start: int) -> Iterator[bytes]:
        """The page in one piece."""
        yield read_bytes(trail.path)

    def reader(self, trail: Trail, start: int) -> HistoryReader:
        """Reads that piece."""
        told = Pen(NAME, trail.session, trail.cwd)
        if day := DAILY.fullmatch(trail.path.name):
            return PageReader(lambda text: list(_logged(told, trail.path, day[1], text)))
        return PageReader(lambda text: list(_facts(told, trail, text)))


def _wanted(path: Path) -> bool:
    return (
        path.name == _INDEX
        or DAILY.fullmatch(path.name) is not None
        or _TYPED.fullmatch(path.name) is not None
        or any(folder.name == _FOLDER for folder in path.parents)
    )


def _memory_folder(path: Path) -> Path:
    """The memory folder that a file lies in, or just its folder."""
    return next((folder for folder in path.parents if folder.name == _FOLDER), path.parent)


def _logged(told: Pen, path: Path, day: str, text: str) -> Iterator[Event]:
    """A daily log's entries; what stands before the first of them belongs to the day."""
    numbering = Numbering()
    entry: list[str] = []
    at = day_at(day)
    number = 0

    def said() -> Iterator[Event]:
        whole = "\n".join(entry).strip()
        if says_something(whole):
            yield from told.noted(
                event_writer.LOG, at + number, whole, numbering.of(path.name, whole), target=str(path)
            )

    for line in text.split("\n"):
        if begun := _LOGGED.match(line):
            yield from said()
            entry, at, number = [], day_at(day, begun[1]) or at, number + 1
        entry.append(line)
    yield from said()


def _facts(told: Pen, trail: Trail, text: str) -> Iterator[Event]:
    """A topic file is one fact, of MEMORY.md each section is; a list of links to the others is an index."""
    fields, page = text_fields(text)
    at = next((at for name in _DATES if (at := parse_moment(fields.get(name, "")))), 0) or trail.updated
    path, numbering = str(trail.path), Numbering()
    parts = list(page_sections(page, 3)) if trail.path.name == _INDEX else [page.strip()]
    if fields:
        head = [fields.pop("name", ""), fields.pop("description", "")]
        parts[0] = join_lines(
            *head, *(f"{name}: {value}" for name, value in fields.items() if value), parts[0]
        )
    for part in parts:
        if not says_something(part):
            continue
        points = all(_POINTER.match(line) for line in part.split("\n") if line.strip() and line[0] != "#")
        what = event_writer.INDEX if points and trail.path.name == _INDEX else event_writer.FACT
        yield from told.noted(what, at, part, numbering.of(path, part), target=path)
