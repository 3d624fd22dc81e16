"""A copy of the vault in the repository, for those who want it there; it touches no file but its own.

A list beside the pages says which files are ours and what we wrote into them. A file that is not on it, or
that somebody has changed since, is left as it is, and so is whatever a link leads to. Facts about the user
and reports stay at home.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import blake2b
from pathlib import Path, PurePosixPath

from backstory.atomic import write_atomic
from backstory.errors import Failed, UsageError
from backstory.failpoints import step
from backstory.file_reader import read_bytes
from backstory.knowledge.markdown_page import links_in
from backstory.knowledge.vault import Vault
from backstory.model import Project

LIST = ".backstory-export.json"
_NOT_OURS = b"\0"
_AT_HOME = ("reports/*", "facts/user-*")


@dataclass(frozen=True, slots=True)
class Exported:
    """What a copy did: pages written, removed, and left alone because they are somebody else's."""

    folder: str
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def folder_for(project: Project, rows: Sequence[str]) -> str:
    """The folder that the setting names for a project, as `project=folder`; "" if there is none."""
    for row in rows:
        wanted, _, folder = row.rpartition("=")
        if any(fnmatchcase(word, wanted.strip()) for word in (project.id, project.identity, project.name)):
            return folder.strip()
    return ""


def export_vault(vault: Vault, root: Path, folder: str) -> Exported:
    """Copy the pages of a vault into a folder of the repository at `root`; the caller holds the vault."""
    base = _checked(root, folder)
    known = _listed(base / LIST)
    pages = _pages(vault)
    written, removed, left = [], [], []
    ours: dict[str, list[str]] = {}
    for name in sorted(pages.keys() | known.keys()):
        new = pages.get(name)
        now = _content(base, name)
        mine = new is not None and now == new
        if now is not None and not mine and _digest(now) not in known.get(name, ()):
            left.append(name)
        elif new is not None:
            ours[name] = [_digest(new)]
            if not mine:
                written.append(name)
        elif now is not None:
            removed.append(name)
    _make_folder(base, "")
    # a kill in between must not make our own pages look like somebody's: the list knows both contents first
    both = {name: sorted({*known.get(name, ()), *ours.get(name, ())}) for name in known.keys() | ours.keys()}
    _put(base / LIST, both)
    for name in written:
        _make_folder(base, name)
        write_atomic(base / name, pages[name], 0o644)
        step("vault.copied")
    for name in removed:
        (base / name).unlink(missing_ok=True)
    _put(base / LIST, ours)
    return Exported(str(base), tuple(written), tuple(removed), tuple(left))


def exported_to(project: Project, rows: Sequence[str]) -> tuple[Path, str] | None:
    """Where the setting says that a project's vault is copied to, with its folder; None if it was not yet."""
    folder = folder_for(project, rows)
    try:
        base = _checked(Path(project.root), folder) if folder else None
    except (Failed, UsageError):
        return None
    return (base, folder) if base is not None and _listed(base / LIST) else None


def exported_pages(base: Path) -> Iterator[tuple[str, str, bool]]:
    """The pages on our list that are there, with their texts, and whether they are still as we wrote them."""
    for name, digests in sorted(_listed(base / LIST).items()):
        data = _content(base, name)
        if data is not None and data != _NOT_OURS:
            yield name, data.decode("utf-8", "replace"), _digest(data) in digests


def _checked(root: Path, folder: str) -> Path:
    """The folder, if it lies in the repository as written: no way out, no link on the way, not git's own."""
    parts = PurePosixPath(folder.replace("\\", "/")).parts
    if (
        not parts
        or Path(folder).is_absolute()
        or any(part in ("..", "/") or part[:1] == "~" for part in parts)
    ):
        raise UsageError(f"{folder!r} is no folder of a repository: name one, such as docs/knowledge")
    if any(part.casefold() == ".git" for part in parts):
        raise UsageError(f"{folder!r} is git's own: name another folder, such as docs/knowledge")
    if not root.is_absolute() or not root.is_dir():
        raise Failed(f"the folder of the project, {root}, is not there: nothing is exported")
    base = root.joinpath(*parts)
    for place in (base, *base.parents):
        if place == root:
            break
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise Failed(f"{place} is a link or a file: nothing is exported through it, name another folder")
    return base


def _pages(vault: Vault) -> dict[str, bytes]:
    """What is exported, by its name; rows that link to what stays at home are left out."""
    every = {
        path.relative_to(vault.root).as_posix(): path
        for path in sorted(vault.root.rglob("*.md"))
        if path.is_file() and not path.is_symlink()
    }
    shown = {
        name: path for name, path in every.items() if not any(part[:1] == "." for part in name.split("/"))
    }
    home = {name[:-3] for name in shown if any(fnmatchcase(name, glob) for glob in _AT_HOME)}
    found = {}
    for name, path in shown.items():
        if name[:-3] not in home and vault.find(name[:-3]) is not None:
            text = read_bytes(path).decode("utf-8", "replace")
            kept = [row for row in text.splitlines(keepends=True) if home.isdisjoint(links_in(row))]
            found[name] = "".join(kept).encode()
    return found


def _content(base: Path, name: str) -> bytes | None:
    """What stands in a page's place: None if nothing does; what is no file of its own is never ours."""
    path = base / name
    inside = [place for place in path.parents if base in place.parents]
    if path.is_symlink() or any(place.is_symlink() for place in inside):
        return _NOT_OURS
    try:
        return read_bytes(path)
    except FileNotFoundError:
        return None
    except OSError:
        return _NOT_OURS


def _make_folder(base: Path, name: str) -> None:
    place = (base / name).parent if name else base
    place.mkdir(parents=True, exist_ok=True)


def _listed(path: Path) -> dict[str, list[str]]:
    """Our list; empty if there is none that can be read. A name on it that leads out is none of ours."""
    if path.is_symlink():
        raise Failed(f"{path} is a link: nothing is exported, remove it")
    try:
        found = json.loads(read_bytes(path))
    except (OSError, ValueError, RecursionError):
        return {}
    rows = found if isinstance(found, dict) else {}
    return {
        name: [one for one in digests if isinstance(one, str)]
        for name, digests in rows.items()
        if isinstance(digests, list) and name.endswith(".md") and not _leads_out(name)
    }


def _leads_out(name: str) -> bool:
    return os.path.normpath(name) != name or name.startswith(("/", "..", "~")) or "\\" in name or "\0" in name


def _put(path: Path, listed: dict[str, list[str]]) -> None:
    write_atomic(path, (json.dumps(listed, indent=1, sort_keys=True) + "\n").encode(), 0o644)


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
