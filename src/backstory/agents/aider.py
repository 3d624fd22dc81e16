"""Aider's chat history: `.aider.chat.history.md`, one file per repository, all sessions one after the other.

`#### ` is what the user typed, `> ` what Aider itself printed, everything else is what the model said. Times
are known only of a session's start.
"""

import os
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from backstory.agents.agent import HistoryReader
from backstory.agents.history_source import Source, Trail
from backstory.agents.markdown_history import Page, PageReader, markdown_files, short_id
from backstory.file_reader import mtime_ns, open_file, read_bytes
from backstory.model import Action, Event, Kind

NAME = "aider"
FILE = ".aider.chat.history.md"
_START = re.compile(rb"^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[^\n]*\n", re.MULTILINE)
_EDITED = re.compile(r"Applied edit to (.+)")
_RUN = re.compile(r"(?:/run\s+|/test\s+|!)(.+)", re.DOTALL)
_ASKED = re.compile(r"/(?:ask|code|architect|context|chat-mode)\s+(.+)", re.DOTALL)
_FENCES = ("```", "~~~")


class History:
    """Aider's sessions, found in one repository or in many."""

    resumable = False

    def root(self) -> Path:
        """The file of the current repository, wherever Aider was told to keep it."""
        configured = os.environ.get("AIDER_CHAT_HISTORY_FILE")
        return Path(configured) if configured else Path.cwd() / FILE

    def find(self, place: Path) -> Iterator[Trail]:
        """One trail per session; the files are read, as nothing else tells where a session begins."""
        for path, found in markdown_files(place, lambda name: name == FILE):
            data = read_bytes(path)
            starts = list(_START.finditer(data))
            ends = [*(start.start() for start in starts[1:]), len(data)]
            for start, end in zip(starts, ends, strict=False):
                size = end - start.start()
                begun = start[1].decode()
                session = f"{begun.replace(' ', 'T').replace(':', '-')}-{short_id(str(path.resolve()))}"
                part = f"{start.start()}"
                # a session that another one follows has ended, whatever happened to the file since
                updated = mtime_ns(found) // 1_000_000 if end == len(data) else _milliseconds(begun)
                yield Trail(path, size, size, updated, session, part)

    def identify(self, trail: Trail) -> Trail | None:
        """It is known from the start."""
        return trail

    def lines(self, trail: Trail, start: int) -> Iterator[bytes]:
        """The session in one piece."""
        with open_file(trail.path) as file:
            file.seek(int(trail.part))
            yield file.read(trail.size)

    def reader(self, trail: Trail, start: int) -> HistoryReader:
        """Reads that piece."""
        return PageReader(lambda text: _events(trail, text))


SOURCE = Source(NAME, "Aider", History())


def _milliseconds(begun: str) -> int:
    """Aider writes local time; 0 if it is none."""
    try:
        return int(datetime.strptime(begun, "%Y-%m-%d %H:%M:%S").astimezone().timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0


def _events(trail: Trail, text: str) -> list[Event]:
    head, _, rest = text.partition("\n")
    begun = head.removeprefix("# aider chat started at ").strip()[:19]
    page = Page(NAME, trail, str(trail.path.parent), _milliseconds(begun))
    for mark, block in _blocks(rest):
        if mark == "####":
            _typed(page, block)
        elif mark == ">":
            _printed(page, block)
        else:
            page.add(Kind.SAID, block)
    return page.events


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """The runs of lines that begin alike; inside a fence everything is what the model said."""
    mark, fence = "", ""
    lines: list[str] = []
    for line in text.split("\n"):
        if mark == "" and line.startswith(_FENCES):
            fence = "" if line.startswith(fence or "\0") else fence or line[:3]
        kind = "" if fence else "####" if line.startswith("####") else ">" if line.startswith(">") else ""
        if kind != mark and (kind or line.strip() or mark == "####"):
            yield mark, "\n".join(lines)
            mark, lines = kind, []
        lines.append(line.removeprefix(kind).removeprefix(" ").rstrip() if kind else line)
    yield mark, "\n".join(lines)


def _typed(page: Page, text: str) -> None:
    """A prompt, a command that was run, or one of Aider's own commands, which are no news."""
    text = text.strip()
    if run := _RUN.match(text):
        page.add(Kind.TOOL, "", target=run[1].strip(), tool="run", action=Action.RUN)
    elif asked := _ASKED.match(text):
        page.add(Kind.PROMPT, asked[1])
    elif not text.startswith("/"):
        page.add(Kind.PROMPT, text)


def _printed(page: Page, text: str) -> None:
    for path in _EDITED.findall(text):
        target = str(Path(page.cwd, path.strip()))
        page.add(Kind.TOOL, "", target=target, tool="edit", action=Action.EDIT)
