"""Sharing without a server: one reviewed Markdown file per memory under `.backstory/shared/` of a repository.

Whoever can commit can write such a file, so it is read only after the user has confirmed it for that clone
(`backstory config --confirm`), as a claim of whom it names, and never as the user's word. A file that is gone
takes its memory along.
"""

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path

from backstory import clock
from backstory.atomic import write_atomic
from backstory.capture.confirmed_folders import confirmed_projects
from backstory.capture.privacy import Privacy
from backstory.file_reader import UnusableFile, read_bytes
from backstory.front_matter import front_matter, split_front_matter
from backstory.hook.project_identity import project_id
from backstory.hook.regular_file import read_head
from backstory.hook.remote_url import config_values
from backstory.model import Project
from backstory.paths import Home
from backstory.settings import Settings
from backstory.share.incoming_rows import GIT, shared_memory
from backstory.share.outgoing_rows import Outgoing, rows_to_share
from backstory.store import Store
from backstory.store.job_queue import BRIEF, SUPERSEDE
from backstory.team_wire import Refused, Row, read_row, wire_id

FOLDER = ".backstory/shared"
SUFFIX = f"/{FOLDER}"
NO_MORE = "-"  # before the project of files that the user does not want to be read any more
_KEY = b"backstory.git"  # the same for everybody: the files are for all who have the repository
_MOST, _LONGEST = 500, 16_384
_CONFIG = 65_536
_WHY = "\n\nWhy: "
_SLUG = re.compile(r"[^a-z0-9]+")


def file_wire(local_id: str) -> str:
    """The id that a memory has in a file."""
    return wire_id(_KEY, local_id)


def files_to_write(
    store: Store, settings: Settings, project: Project, level: str, root: Path, author: str
) -> dict[Path, str]:
    """The files of what may leave a project, with what each would say; those that are there already not."""
    folder = root / FOLDER
    there = {name.stem.rpartition("-")[2] for name in folder.glob("*.md")} if folder.is_dir() else set()
    chosen = rows_to_share(store, settings, project, level, False, file_wire)
    return {folder / _name(each): _page(each, author) for each in chosen.rows if each.row.id[:8] not in there}


def write_files(pages: dict[Path, str]) -> None:
    """Write the files, readable like any other of the repository."""
    for path, text in pages.items():
        write_atomic(path, text.encode(), mode=0o644)


def author_name(root: Path) -> str:
    """What git knows the user as here, "" if nothing."""
    for path in (
        root / ".git/config",
        Path("~/.gitconfig").expanduser(),
        Path("~/.config/git/config").expanduser(),
    ):
        config = read_head(str(path), _CONFIG).decode("utf-8", "replace")
        if name := config_values(config, "user", "name").get("", ""):
            return name
    return ""


def _name(each: Outgoing) -> str:
    slug = _SLUG.sub("-", str(each.row.body["text"]).lower()).strip("-")[:48].strip("-")
    return f"{each.row.kind}-{slug}-{each.row.id[:8]}.md"


def _page(each: Outgoing, author: str) -> str:
    body = each.row.body
    fields = {
        "backstory": 1,
        "id": each.row.id,
        "kind": each.row.kind,
        "author": author,
        "said_by": body["said_by"],
        "at": each.row.at,
        "matter": body["matter"],
        "files": body["files"],
    }
    return front_matter(fields) + f"{body['text']}{_WHY + body['reason'] if body['reason'] else ''}\n"


# --- reading ----------------------------------------------------------------------------------------------


def read_confirmed(home: Home, settings: Settings, store: Store) -> int:
    """Take in the files of every clone that the user has confirmed; gives how many memories changed."""
    clean = Privacy(settings).text
    folders: dict[str, list[Path]] = {}
    for place, identity in confirmed_projects(home).items():
        if place.replace("\\", "/").endswith(SUFFIX):
            found = folders.setdefault(identity.removeprefix(NO_MORE), [])
            found += [Path(place)] if not identity.startswith(NO_MORE) else []
    projects = [(store.projects.get(project_id(identity)), places) for identity, places in folders.items()]
    return sum(_take_in(store, project, places, clean) for project, places in projects if project)


def _take_in(store: Store, project: Project, folders: Sequence[Path], clean: Callable[[str], str]) -> int:
    """Make what the files say the memories of that origin, if they have changed since."""
    pages = [page for folder in folders for page in _pages(folder)]
    digest = blake2b("\0".join(pages).encode("utf-8", "replace"), digest_size=16).hexdigest()
    key = f"shared_files:{project.id}"
    if store.meta.get(key) == digest:
        return 0
    own = {file_wire(mid) for mid in store.memories.own_ids(project.id)}
    read = [(row, author) for row, author in map(_row, pages) if row is not None and row.id not in own]
    rows = [shared_memory(row, author, GIT, clean) for row, author in read]
    found = {row.id: row for row in rows if row is not None}
    with store.transaction():
        gone = [mid for mid in store.others.ids_of(project.id, GIT) if mid not in found]
        store.others.remove(gone)
        for row in found.values():
            store.others.put(project.id, row)
        store.meta.set(key, digest)
        store.jobs.ask(SUPERSEDE, project.id, clock.now_ms())
        store.jobs.ask(BRIEF, project.id, clock.now_ms())
    return len(gone) + len(found)


def _pages(folder: Path) -> list[str]:
    """The texts of the files, in the order of their names; what is no regular file is left out."""
    try:
        names = sorted(path for path in folder.iterdir() if path.suffix == ".md" and not path.is_symlink())
    except OSError:
        return []
    found = []
    for path in names[:_MOST]:
        try:
            found.append(read_bytes(path, _LONGEST).decode("utf-8", "replace"))
        except (OSError, UnusableFile):
            continue
    return found


def _row(page: str) -> tuple[Row | None, str]:
    """What a file says, as a row, and whom it names as its author."""
    fields, text = split_front_matter(page)
    said, _, reason = text.strip().partition(_WHY)
    files = fields.get("files")
    value = {
        "id": fields.get("id"),
        "kind": fields.get("kind"),
        "state": "current",
        "at": fields.get("at"),
        "body": {
            "text": " ".join(said.replace("\0", "").split()),
            "reason": " ".join(reason.replace("\0", "").split()),
            "files": files if isinstance(files, list) else [],
            "said_by": fields.get("said_by") or "",
            "matter": fields.get("matter") or "",
        },
    }
    try:
        return read_row(value), str(fields.get("author") or "")
    except Refused:
        return None, ""
