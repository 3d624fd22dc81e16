"""One repository, opened to be read: HEAD's commit, the objects, the index, within a time limit."""

import os
from dataclasses import dataclass
from pathlib import Path

from backstory.git.index_file import Index, read_index
from backstory.git.object_store import COMMIT, ObjectStore, is_id
from backstory.git.read_limit import ReadLimit, Unavailable
from backstory.git.tree_diff import Trees
from backstory.hook.project_identity import Place
from backstory.hook.regular_file import read_head

_SHALLOW = 1 << 20
_MOST_PARENTS = 64
_MOST_KEPT = 4096  # commits that were read
_SECONDS_DIGITS = 11  # until the year 5138


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: its tree, its parents as far as they are here, and when it was committed, in milliseconds."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    at: int


class Repository:
    """What git keeps about one work tree; `head` is "" before the first commit."""

    def __init__(self, place: Place, seconds: float) -> None:
        if not _owned(place):
            raise Unavailable("the repository belongs to another user")
        self.root = place.root
        self.top = os.fsencode(place.root) + b"/"
        self.head = place.commit
        self._index_path = Path(place.git_dir) / "index"
        self.objects = ObjectStore(Path(place.common_dir) / "objects", ReadLimit(seconds))
        self.trees = Trees(self.objects)
        shallow = read_head(str(Path(place.common_dir) / "shallow"), _SHALLOW)
        self._shallow = frozenset(shallow.decode("ascii", "replace").split())
        self._index: Index | None = None
        self._commits: dict[str, Commit] = {}

    def allow(self, seconds: float) -> None:
        """Begin a new question, which may take so long."""
        self.objects.limit = ReadLimit(seconds)

    @property
    def index(self) -> Index:
        """The index, read once."""
        if self._index is None:
            self._index = read_index(self._index_path, self.objects.limit)
        return self._index

    def head_tree(self) -> str | None:
        """The tree of HEAD; None before the first commit."""
        return self.commit(self.head).tree if self.head else None

    def commit(self, oid: str) -> Commit:
        """A commit by its id."""
        if oid not in self._commits:
            if len(self._commits) >= _MOST_KEPT:
                self._commits.clear()
            self._commits[oid] = self._parsed(oid)
        return self._commits[oid]

    def _parsed(self, oid: str) -> Commit:
        tree, parents, at = "", list[str](), 0
        head = self.objects.read(oid, COMMIT).partition(b"\n\n")[0]
        for line in head.decode("utf-8", "replace").split("\n"):
            key, _, value = line.partition(" ")
            if key == "tree":
                tree = value
            elif key == "parent":
                parents.append(value)
            elif key == "committer":
                at = _milliseconds(value.rpartition("> ")[2].partition(" ")[0])
        if len(parents) > _MOST_PARENTS or not all(map(is_id, (tree, *parents))):
            raise Unavailable(f"the commit {oid} is damaged")
        return Commit(oid, tree, () if oid in self._shallow else tuple(parents), at)


def _milliseconds(seconds: str) -> int:
    """The time of a commit; 0 if it is none that a clock could have shown."""
    plausible = len(seconds) <= _SECONDS_DIGITS and seconds.isascii() and seconds.isdigit()
    return int(seconds) * 1000 if plausible else 0


def open_repository(place: Place, seconds: float) -> Repository | None:
    """The repository of a place; None if there is none. Raises `Unavailable` if it cannot be read safely."""
    return Repository(place, seconds) if place.git_dir else None


def _owned(place: Place) -> bool:
    """Whether the repository is this user's own; git, too, does not read another user's by default."""
    if not hasattr(os, "geteuid"):
        return True
    try:
        owners = {Path(each).stat().st_uid for each in (place.git_dir, place.common_dir, place.root)}
    except OSError:
        return False
    return owners == {os.geteuid()}
