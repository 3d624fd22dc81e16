"""Texts without the machine that they come from: what is left means the same on another one.

Paths below the project's folders become relative, the home folder (anybody's) becomes `~`, secrets and
private spans are redacted by the rules of today, and what no database can hold (NUL, half a character) goes.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from backstory.capture.ignored_files import IgnoredFiles
from backstory.capture.privacy import Privacy
from backstory.git.boundary import ask
from backstory.git.ignore_rules import is_ignored
from backstory.hook.project_identity import resolve_place
from backstory.model import Action, Event, Kind, Where
from backstory.settings import Settings

LONGEST = 4_000
# Somebody's home folder, on whichever system.
_HOMES = re.compile(r"(?:(?<![\w.])/(?:home|Users)/|\b[A-Za-z]:[\\/]Users[\\/])[^\s/\\\"'`:;,()<>|]+")
_PATH_LIKE = re.compile(r"[^\s\"'`<>|&;(),\[\]{}=]+")
_MOST_NAMES = 200


class PortableText:
    """Makes texts of one project portable, and tells which of them name a file that is to stay."""

    def __init__(self, settings: Settings, folders: Iterable[str]) -> None:
        """`folders` are those that the project was worked on in, the main one first."""
        self._privacy = Privacy(settings)
        self._ignored = IgnoredFiles(settings.privacy_ignore_paths)
        self._roots = [root.rstrip("/\\") for root in dict.fromkeys(folders) if len(root.rstrip("/\\")) > 1]
        self._root = self._roots[0] if self._roots else ""
        known = sorted(self._roots, key=len, reverse=True)
        ends = r"(?![\w.-])"
        self._below = re.compile(
            "|".join(f"{re.escape(root)}(?:[/\\\\]|{ends})" for root in known) or r"(?!)"
        )
        home = os.path.expanduser("~").rstrip("/\\")  # noqa: PTH111 - a path that may not exist
        self._home = re.compile(f"{re.escape(home)}{ends}" if len(home) > 1 else r"(?!)")
        self._place = resolve_place(self._root) if self._root and Path(self._root).is_dir() else None

    def text(self, text: str) -> str:
        """A text as it may leave."""
        plain = text.replace("\0", "").encode("utf-8", "replace").decode()
        plain = self._below.sub(lambda found: "" if found[0][-1] in "/\\" else ".", plain)
        plain = _HOMES.sub("~", self._home.sub("~", plain))
        clean = self._privacy.text(plain)
        return clean if len(clean) <= LONGEST else clean[: LONGEST - 2].rstrip() + " …"

    def file(self, name: str) -> str:
        """A file's name as it may leave: relative to the project, or ""."""
        shown = self.text(name)
        outside = shown.startswith(("/", "~", "\\")) or ".." in re.split(r"[/\\]", shown) or shown[1:2] == ":"
        return "" if outside else shown

    def names_ignored(self, texts: Iterable[str]) -> bool:
        """Whether a text names a file that git ignores, or that the user's settings do."""
        names = dict.fromkeys(
            word.rstrip(".:!?") for text in texts for word in _PATH_LIKE.findall(text) if _is_path(word)
        )
        if len(names) > _MOST_NAMES:
            return True  # nobody looks through so many: it stays
        return any(map(self._is_ignored, filter(None, names)))

    def _is_ignored(self, name: str) -> bool:
        looked_at = Event("", "", Kind.TOOL, 0, action=Action.READ, target=name, where=Where(cwd=self._root))
        if self._ignored.hide(looked_at, {}):
            return True
        place = self._place
        if place is None or not place.common_dir or "\0" in name or "://" in name:
            return False
        path = Path(os.path.normpath(Path(place.root) / name))
        if not path.is_relative_to(place.root) or path == Path(place.root):
            return False
        return ask(place.root, lambda: is_ignored(place, path), unknown=True)


def _is_path(word: str) -> bool:
    return "/" in word or "\\" in word or "." in word.strip(".") or word.startswith(".")
