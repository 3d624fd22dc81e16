"""An agent's own history: where it lies, which sessions it holds, and how each is read.

An adapter plugs in by giving its row `history=`. For agents that write a file of JSON lines per session that
is one `JsonLines` value: the folder, the line reader, and `names`, which tells from a line whose it is.

    history=JsonLines(root=sessions_dir, read=Reader, names=_named)

Anything else (a database, Markdown) is a class of its own with the five methods of `History`. A session is
always read as *lines*: whoever has no lines makes some (opencode: one JSON object per row), because a line is
what is redacted, counted when it is broken, and read again where it was left. The importer does the rest:
marks, redaction, keys, projects, the store.

Sources are opened read-only and never changed. `find` looks at names and sizes alone, so that a gigabyte that
has not changed costs nothing; `identify` opens a file that is new.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from backstory import file_reader
from backstory.agents.agent import HistoryReader
from backstory.file_reader import mtime_ns, open_file, regular_file
from backstory.hook.payload import BadPayload, parse_payload

# Histories may begin with lines that say nothing of their session.
PROBED_LINES = 50
_PROBED_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Trail:
    """What one session left, as it lies there now.

    `session` is the agent's own id, "" until `identify` has looked. `part` names the session in a file that
    holds several. `size` and `stamp` change when it changes: bytes and mtime in ns, or whatever a database
    has (a number of rows, the time of the last update). `updated` is that time in ms, for --since.
    `subagent` is set if it is what a sub-agent of `session` left; `parent` names the session it forked from.
    `cwd` is the folder that it is about, where the trail itself tells; `project` the name of a project for
    what tells no folder.
    """

    path: Path
    size: int
    stamp: int
    updated: int
    session: str = ""
    part: str = ""
    subagent: str = ""
    parent: str = ""
    cwd: str = ""
    project: str = ""

    @property
    def key(self) -> str:
        """Under which it is noted how far it was read."""
        return f"{self.path}#{self.part}" if self.part else str(self.path)


@dataclass(frozen=True, slots=True)
class Name:
    """Whose a history is, as one of its lines tells."""

    session: str
    subagent: str = ""
    parent: str = ""


class History(Protocol):
    """Finds and opens what an agent has kept of its sessions."""

    @property
    def resumable(self) -> bool:
        """Whether `lines` can start in the middle; if not, a session that grew is read from its beginning."""

    def root(self) -> Path:
        """Where this agent keeps its history, as its own environment variables say; it need not be there."""

    def find(self, place: Path) -> Iterator[Trail]:
        """Everything that may be a session in a file or anywhere below a folder, without opening files."""

    def identify(self, trail: Trail) -> Trail | None:
        """The same with its session's id; None if it is none of this agent's histories."""

    def lines(self, trail: Trail, start: int) -> Iterator[bytes]:
        """The lines from byte `start` on, each with its line end; the last one may not be whole yet."""

    def reader(self, trail: Trail, start: int) -> HistoryReader:
        """A reader that is to be fed these lines. Ids in its events are those that hooks give."""


@dataclass(frozen=True, slots=True)
class Source:
    """A history and whose it is; `our_tools` are globs of the names of our own MCP tools in it.

    `secondhand`: it tells of other agents' sessions, and of none that is known from its agent itself.
    `whole`: each session counts, however short. `replaces`: a file that has changed says all that there is to
    say; what it said before and says no more is found no more. `rewrites`: rows may be changed in place; what
    such a row said before is found no more.
    """

    agent: str
    title: str
    history: History
    our_tools: tuple[str, ...] = ()
    secondhand: bool = False
    whole: bool = False
    replaces: bool = False
    rewrites: bool = False


@dataclass(frozen=True, slots=True)
class JsonLines:
    """Histories that are one file of JSON lines per session.

    `root` is the folder. `read` (session, offset, file) makes the line reader, as in `Agent.reader`.
    `names` gives whose history it is from one line, or None if that line does not tell; it is asked for the
    first lines until it knows. `wanted` is how the files' names match, below any folder.
    """

    root: Callable[[], Path]
    read: Callable[[str, int, str], HistoryReader]
    names: Callable[[Mapping[str, object], Path], Name | None]
    wanted: str = "*.jsonl"
    resumable: bool = True

    def find(self, place: Path) -> Iterator[Trail]:
        """All files of the wanted name, in a stable order."""
        return history_files(place, self.wanted)

    def identify(self, trail: Trail) -> Trail | None:
        """The trail with the id that one of its first lines gives."""
        for row in first_rows(trail.path):
            if (name := self.names(row, trail.path)) is not None and name.session:
                return replace(trail, session=name.session, subagent=name.subagent, parent=name.parent)
        return None

    def lines(self, trail: Trail, start: int) -> Iterator[bytes]:
        """The file's lines from byte `start` on; what was written after it was found is left for later."""
        left = trail.size - start
        for line in file_reader.read_rows(trail.path, start):
            left -= len(line)
            if left < 0:
                return
            yield line

    def reader(self, trail: Trail, start: int) -> HistoryReader:
        """The agent's line reader."""
        return self.read(trail.session, start, str(trail.path))


def history_files(place: Path, wanted: str) -> Iterator[Trail]:
    """The files of that name in a folder and below, or the one file that is named, as unidentified trails."""
    if (found := regular_file(place)) is not None:
        yield trail_of(place, found)
        return
    suffix = wanted.removeprefix("*")
    for folder, folders, names in os.walk(place):
        folders.sort()
        for name in sorted(names):
            if name.endswith(suffix) if wanted.startswith("*") else name == wanted:
                path = Path(folder, name)
                if (found := regular_file(path)) is not None:
                    yield trail_of(path, found)


def trail_of(path: Path, stat: os.stat_result, size: int | None = None, part: str = "") -> Trail:
    """A file as it lies there now, not identified yet."""
    stamp = mtime_ns(stat)
    return Trail(path, stat.st_size if size is None else size, stamp, stamp // 1_000_000, part=part)


def first_rows(path: Path) -> Iterator[dict[str, object]]:
    """The first lines of a file that are JSON objects."""
    with open_file(path) as file:
        for _ in range(PROBED_LINES):
            line = file.readline(_PROBED_BYTES)
            if not line:
                return
            try:
                yield parse_payload(line)
            except BadPayload:
                continue
