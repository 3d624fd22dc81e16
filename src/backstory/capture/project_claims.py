"""Whether a repository may be the project that it claims to be by its remote.

Anybody can write another project's remote into a `.git/config` and pack it into an archive. So a repository
joins a project that is known already only if it has something that a mere claim has not: a commit that the
project's own folders were at, or a HEAD that one of those has too. Or if the user confirmed it. The first
repository to claim a project is that project, and one that belonged to it before still does.
"""

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from backstory.atomic import write_own
from backstory.git.boundary import ask
from backstory.git.object_store import ObjectStore
from backstory.git.read_limit import ReadLimit
from backstory.hook.project_identity import Place, join_mark, project_id, resolve_place
from backstory.store import Store

_SECONDS = 1.0
_COMMITS = 200
_OTHERS = 8  # repositories of the project that are looked into


class ProjectClaims:
    """Decides claims, each once. `marks` is the folder in which the hook finds what was decided."""

    def __init__(self, store: Store, marks: Path | None) -> None:
        self._store = store
        self._marks = marks
        self._decided: dict[tuple[str, str], bool] = {}

    def joined(self, place: Place, identity: str) -> bool:
        """Whether a repository is the project that it claims to be."""
        key = place.own, identity
        if key not in self._decided:
            self._decided[key] = self._decide(place, identity)
            if self._decided[key] and self._marks is not None:
                with contextlib.suppress(OSError):  # a command may look at a home that it cannot write
                    _mark(self._marks, place.own, identity)
        return self._decided[key]

    def _decide(self, place: Place, identity: str) -> bool:
        if self._marks is not None and (self._marks / join_mark(place.own, identity)).exists():
            return True
        if any(other == identity and fine for (_, other), fine in self._decided.items()):
            first = False  # another one has just come, and is not stored yet
        else:
            first = not self._store.projects.places_of(project_id(identity))
        if first:
            return True
        others = self._repositories(identity)
        if any(other.own == place.own for other in others):
            return True
        commits = self._store.projects.commits_of(project_id(identity), _COMMITS)
        return place.own == place.common_dir and ask(
            place.root, lambda: _proven(place, commits, others), False
        )

    def _repositories(self, identity: str) -> list[Place]:
        """The repositories that belong to a project already, as far as they are there."""
        found: dict[str, Place] = {}
        for path in self._store.projects.places_of(project_id(identity)):
            if os.path.isdir(path):  # noqa: PTH112 - no error for a name that is too long
                place = resolve_place(path)
                found.setdefault(place.own, place)
        return list(found.values())


def publish_joined(store: Store, marks: Path, confirmed: dict[str, str], monorepo: tuple[str, ...]) -> None:
    """Mark all repositories that belong to projects already, once: without the folder every claim counts."""
    if marks.is_dir():
        return
    made = marks.with_name("joined.new")
    made.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path, project in store.projects.places():
        place = resolve_place(path, confirmed, monorepo)
        if project_id(place.identity) == project and place.own != place.identity:
            _mark(made, place.own, place.identity)
    made.replace(marks)


def _mark(folder: Path, own: str, identity: str) -> None:
    mark = folder / join_mark(own, identity)
    if folder.is_dir() and not mark.exists():
        write_own(mark, b"")


def _proven(place: Place, commits: Iterable[str], others: Sequence[Place]) -> bool:
    """Whether a repository has a commit of a project, or one of the project's has its HEAD."""
    own = _objects(place)
    if any(map(own.has_commit, commits)):
        return True
    if not place.commit or not own.has_commit(place.commit):
        return False
    return any(_has(other, place.commit) for other in others[:_OTHERS] if other.common_dir)


def _objects(place: Place) -> ObjectStore:
    return ObjectStore(Path(place.common_dir) / "objects", ReadLimit(_SECONDS), borrowed=False)


def _has(place: Place, commit: str) -> bool:
    return ask(place.root, lambda: _objects(place).has_commit(commit), False)
