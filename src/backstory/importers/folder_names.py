"""The real folders behind the names that other tools keep.

They keep a project's last path segment, a session's id, or Claude Code's name of a folder, in which every
character that is no letter or digit became a dash. Claude Code's own transcripts know the real paths.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from backstory.agents import AGENTS
from backstory.agents.history_source import first_rows
from backstory.agents.payload_fields import path as clean_path

_OTHER = re.compile(r"[^A-Za-z0-9]")
_SEPARATORS = re.compile(r"[-_\s]+")
_TRANSCRIPTS_OPENED = 5


def tool_slug(name: str) -> str:
    """A name without the differences that tools make: MemPalace writes shop-api as shop_api."""
    return _SEPARATORS.sub("_", name.lower()).strip("_")


def claude_folder_name(path: str) -> str:
    """The name that Claude Code gives to what it keeps about a folder."""
    return _OTHER.sub("-", path)


@dataclass(slots=True)
class Folders:
    """What Claude Code knows about folders on this machine, looked up once."""

    _sessions: dict[str, str] | None = None
    _cwds: dict[str, str] = field(default_factory=dict)

    def of_session(self, session: str) -> str:
        """The folder that a session of Claude Code was started in; "" if it is not known."""
        return self._known().get(session, "")

    def called(self, name: str) -> str:
        """The one folder with this name; "" if there is none, or several."""
        self._known()
        found = {cwd for cwd in self._cwds.values() if cwd and tool_slug(Path(cwd).name) == tool_slug(name)}
        return found.pop() if len(found) == 1 else ""

    def behind(self, folder: Path) -> str:
        """The folder that one of Claude Code's own folders is about; "" if nothing tells."""
        if folder.name not in self._cwds:
            self._cwds[folder.name] = _recorded(folder) or _existing(folder.name)
        return self._cwds[folder.name]

    def _known(self) -> dict[str, str]:
        if self._sessions is None:
            self._sessions = {}
            for folder in _subfolders(_root()):
                cwd = self.behind(folder)
                for transcript in folder.glob("*.jsonl"):
                    self._sessions[transcript.stem] = cwd
        return self._sessions


def _root() -> Path:
    history = AGENTS["claude-code"].history
    assert history is not None
    return history.root()


def _subfolders(place: Path) -> list[Path]:
    try:
        return sorted(path for path in place.iterdir() if path.is_dir())
    except OSError:
        return []


def _recorded(folder: Path) -> str:
    """The real path, as one of the transcripts in Claude Code's folder gives it."""
    for transcript in sorted(folder.glob("*.jsonl"))[:_TRANSCRIPTS_OPENED]:
        try:
            for row in first_rows(transcript):
                cwd = clean_path(row.get("cwd"))
                if cwd and claude_folder_name(cwd) == folder.name:
                    return cwd
        except OSError:
            continue
    return ""


def _existing(name: str) -> str:
    """The one folder on this machine that Claude Code would call so."""
    found = list(_below("/", name.removeprefix("-"))) if name.startswith("-") else []
    return found[0] if len(found) == 1 else ""


def _below(place: str, rest: str) -> Iterator[str]:
    """The folders below a place whose dashed path is the rest of a name."""
    try:
        names = [entry.name for entry in os.scandir(place) if entry.is_dir()]
    except OSError:
        return
    for name in names:
        dashed = claude_folder_name(name)
        here = f"{place.rstrip('/')}/{name}"
        if dashed == rest:
            yield here
        elif rest.startswith(f"{dashed}-"):
            yield from _below(here, rest[len(dashed) + 1 :])
