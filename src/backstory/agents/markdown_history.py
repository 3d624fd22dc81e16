"""Histories that are Markdown: a session is read as a whole, since nothing in it has an id of its own.

What happened is known by its place in the session: the third thing said stays the third when more is written.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from backstory.agents.history_source import Trail
from backstory.agents.own_output import without_notes
from backstory.agents.payload_fields import INPUT_LIMIT, OUTPUT_LIMIT, head_and_tail
from backstory.file_reader import regular_file
from backstory.model import Action, Event, Kind, Where

ORIGIN = "history"
LARGEST = 64 * 1024 * 1024


@dataclass(slots=True)
class Page:
    """A session's events as they are found, one after the other."""

    agent: str
    trail: Trail
    cwd: str
    at: int
    events: list[Event] = field(default_factory=list)

    def add(
        self,
        kind: Kind,
        text: str,
        at: int = 0,
        target: str = "",
        tool: str = "",
        action: Action = Action.NONE,
    ) -> None:
        """Something more; without a time of its own it came right after what was before it."""
        shown = without_notes(text).strip()
        if not shown and not target:
            return
        self.at = max(at, self.at + 1) if self.events else at or self.at
        self.events.append(
            Event(
                self.agent,
                self.trail.session,
                kind,
                self.at,
                head_and_tail(shown, OUTPUT_LIMIT if kind is Kind.TOOL else INPUT_LIMIT),
                action=action,
                tool=tool,
                target=head_and_tail(target, INPUT_LIMIT),
                native_id=str(len(self.events) + 1),
                transcript=str(self.trail.path),
                where=Where(self.cwd),
                origin=ORIGIN,
            )
        )


class PageReader:
    """Reads a session that comes as one piece."""

    def __init__(self, read: Callable[[str], list[Event]]) -> None:
        self.counts: Counter[str] = Counter()
        self.turn_start = 0
        self.title = ""
        self.offset = 0
        self._read = read

    def feed(self, line: bytes) -> list[Event]:
        """All events of the session."""
        self.offset += len(line)
        return self._read(line.decode("utf-8", "replace").replace("\r\n", "\n"))

    def finish(self) -> list[Event]:
        """Nothing is ever held back."""
        return []


def markdown_files(place: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[Path, os.stat_result]]:
    """The Markdown files of the wanted names in a folder and below; one that is named is taken as it is."""
    if (named := regular_file(place)) is not None:
        yield place, named
        return
    for folder, folders, names in os.walk(place):
        folders[:] = sorted(name for name in folders if name not in ("node_modules", ".git"))
        for name in sorted(filter(wanted, names)):
            path = Path(folder, name)
            found = regular_file(path)
            if found is not None and found.st_size <= LARGEST:
                yield path, found


def short_id(*parts: str) -> str:
    """An id for what has none."""
    return blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
