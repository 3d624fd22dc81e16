"""The vault of a project: one folder of Markdown under the home, which opens in Obsidian as it is.

What Backstory itself must know lies in `.backstory/`, which Obsidian does not show. No path leaves the
vault: a link that leads out of it is refused, wherever it came from.
"""

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backstory.atomic import lock, make_private_dir, read_state, write_own, write_state
from backstory.errors import Failed, SourceMissing
from backstory.file_reader import read_bytes, regular_file
from backstory.knowledge.markdown_page import slug
from backstory.model import Project
from backstory.paths import Home

State = dict[str, Any]
FORMAT = 1
SHARED = "shared"
# The folders of articles, which the index lists; the order is the order of the index.
ARTICLES = ("concepts", "connections", "qa")
_LOCK_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Vault:
    """The folder that holds a project's knowledge."""

    root: Path
    name: str

    def page(self, link: str) -> Path:
        """The file of a link such as `concepts/auth-py`; refused if it leads out of the vault."""
        return self.file(f"{link}.md")

    def file(self, relative: str) -> Path:
        """A file of the vault by its relative path."""
        path = self.root / relative
        real = os.path.realpath(path)
        if not real.startswith(os.path.realpath(self.root) + os.sep):
            raise Failed(f"{path} leads out of {self.root}: remove that link")
        return path

    def find(self, link: str) -> Path | None:
        """The page that a link leads to, whoever wrote it; None if it leads nowhere, or out of the vault."""
        name = link.strip()
        if not name or "\0" in name or Path(name).is_absolute():
            return None
        try:
            path = self.page(name)
        except Failed:
            return None
        return path if path.is_file() else None

    def read(self, link: str) -> str:
        """A page's text; "" if there is none, or none that can be read."""
        path = self.find(link)
        try:
            return read_bytes(path).decode("utf-8", "replace") if path is not None else ""
        except OSError:
            return ""

    def links(self, folder: str) -> list[str]:
        """The pages in a folder, as links, sorted."""
        place = self.root / folder
        found = sorted(place.glob("*.md")) if place.is_dir() else []
        return [f"{folder}/{path.stem}" for path in found if path.name[0] != "." and regular_file(path)]

    def articles(self) -> list[str]:
        """Every article, as a link."""
        return [link for folder in ARTICLES for link in self.links(folder)]

    def days(self) -> list[str]:
        """The days that have a log, oldest first."""
        return [link.partition("/")[2] for link in self.links("daily")]

    @property
    def own(self) -> Path:
        """What is ours and not for reading."""
        return self.root / ".backstory"

    def state(self, name: str, valid: Callable[[State], bool] = lambda value: True) -> State:
        """One of our own state files; empty if there is none, a damaged one is kept aside."""
        return read_state(self.file(f".backstory/{name}.json"), {}, valid)

    def glance(self, name: str, valid: Callable[[State], bool] = lambda value: True) -> State | None:
        """One of our own state files, left where it is: empty if there is none, None if it is damaged."""
        try:
            found = json.loads(read_bytes(self.file(f".backstory/{name}.json")))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) and (not found or valid(found)) else None

    def set_state(self, name: str, value: dict[str, Any]) -> None:
        """Write one of our own state files."""
        write_state(self.file(f".backstory/{name}.json"), value)

    @contextlib.contextmanager
    def held(self, wait: float = _LOCK_SECONDS) -> Iterator[None]:
        """The vault for one writer alone, its format brought up to date."""
        make_private_dir(self.own)
        with lock(self.own / "lock", wait=wait) as free:
            if not free:
                raise Failed(f"another process has been writing in {self.root} for {wait:.0f} s: try again")
            migrate_vault(self)
            yield


def vault_of(home: Home, project: Project) -> Vault:
    """The vault of a project: its name, and six digits of its identity, so that two names never meet."""
    return Vault(home.knowledge / f"{slug(project.name) or 'project'}-{project.id[1:7]}", project.name)


def shared_vault(home: Home) -> Vault:
    """The vault across projects."""
    return Vault(home.knowledge / SHARED, SHARED)


def migrate_vault(vault: Vault) -> bool:
    """Bring a vault's format up to date, by its owner only; True if something was written."""
    path = vault.file(".backstory/format.json")
    version = vault.state("format", _tells_format).get("version", 0)
    if version > FORMAT:
        raise Failed(f"{path} is of a newer format, which this Backstory does not know: upgrade")
    if version == FORMAT:
        return False
    if hasattr(os, "getuid") and vault.root.stat().st_uid != os.getuid():
        raise Failed(f"{vault.root} belongs to another user, who must bring it up to date")
    write_own(path, json.dumps({"version": FORMAT}).encode())
    return True


def _tells_format(state: State) -> bool:
    version = state.get("version")
    return isinstance(version, int) and not isinstance(version, bool) and version >= 0


def existing_vault(vault: Vault) -> Vault:
    """The vault, or an error that says that there is none yet."""
    if not vault.root.is_dir():
        raise SourceMissing(
            f"nothing is written down of {vault.name} yet: a session that ends begins it, "
            "or `backstory log --append`"
        )
    return vault
