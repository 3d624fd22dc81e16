"""Several pages written together or not at all.

First every page that will change is copied aside and a manifest names them all; then the pages are written,
one by one; then the manifest goes. Whoever comes next and finds a manifest takes back what was begun. A page
that somebody else has written meanwhile is left as it is: it is people's.
"""

import json
import shutil
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from backstory.atomic import make_private_dir, write_atomic, write_own
from backstory.failpoints import step
from backstory.file_reader import read_bytes
from backstory.knowledge.vault import Vault

_UNDO = ".backstory/undo"


@dataclass(slots=True)
class Changes:
    """Pages to be written, by their path in the vault; None removes one."""

    vault: Vault
    pages: dict[str, bytes | None] = field(default_factory=dict)

    def put(self, relative: str, text: str) -> None:
        """Plan a page, unless it says that already."""
        data = text.encode("utf-8", "replace")
        if self.read(relative) != data.decode():
            self.pages[relative] = data

    def read(self, relative: str) -> str | None:
        """A page as it will be; None if there will be none."""
        if relative in self.pages:
            planned = self.pages[relative]
            return None if planned is None else planned.decode()
        try:
            return read_bytes(self.vault.file(relative)).decode("utf-8", "replace")
        except OSError:
            return None

    def remove(self, relative: str) -> None:
        """Plan that a page goes."""
        self.pages[relative] = None

    def write(self) -> None:
        """Write all of it; the caller holds the vault."""
        if not self.pages:
            return
        undo = make_private_dir(self.vault.file(_UNDO))
        manifest: list[dict[str, Any]] = []
        for number, (relative, data) in enumerate(self.pages.items()):
            path = self.vault.file(relative)
            was = _content(path)
            if was is not None:
                write_own(undo / str(number), was)
            manifest.append({"page": relative, "was": was is not None, "new": _digest(data)})
        step("compile.copied")
        write_own(undo / "manifest.json", json.dumps(manifest).encode())
        step("compile.begun")
        for relative, data in self.pages.items():
            path = self.vault.file(relative)
            if data is None:
                path.unlink(missing_ok=True)
            else:
                write_atomic(path, data, keep=True)
            step("compile.page")
        (undo / "manifest.json").unlink()
        step("compile.done")
        shutil.rmtree(undo, ignore_errors=True)
        self.pages.clear()


def unfinished_pages(vault: Vault) -> list[str]:
    """The pages of a change that was begun and never finished."""
    path = vault.file(f"{_UNDO}/manifest.json")
    try:
        return [str(row["page"]) for row in json.loads(read_bytes(path))]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return []


def take_back(vault: Vault) -> list[str]:
    """Take back a change that was never finished; gives its pages. The caller holds the vault."""
    pages = unfinished_pages(vault)
    undo = vault.file(_UNDO)
    if pages:
        for number, row in enumerate(json.loads(read_bytes(undo / "manifest.json"))):
            path = vault.file(row["page"])
            now = _content(path)
            copy = undo / str(number)
            if _digest(now) != row["new"]:
                continue  # never written, or people's own by now
            if row["was"]:
                write_atomic(path, read_bytes(copy), keep=True)
            elif now is not None:
                path.unlink()
        (undo / "manifest.json").unlink()
    shutil.rmtree(undo, ignore_errors=True)
    return pages


def _content(path: Path) -> bytes | None:
    try:
        return read_bytes(path)
    except FileNotFoundError:
        return None


def _digest(data: bytes | None) -> str:
    return "" if data is None else blake2b(data, digest_size=16).hexdigest()
