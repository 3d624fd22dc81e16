"""Which project a folder belongs to, also when the folder is gone, and what git says of it."""

from collections.abc import Callable, Mapping
from pathlib import Path

from backstory.capture.project_claims import ProjectClaims
from backstory.git.boundary import ask
from backstory.git.repository import open_repository
from backstory.git.work_tree import shortstat
from backstory.hook.project_identity import Place, project_id, resolve_place
from backstory.model import Project, Where
from backstory.store import Store

_GIT_SECONDS = 2.0


class ProjectLookup:
    """Looks folders up, each once; short-lived, because branches move."""

    def __init__(
        self,
        store: Store,
        confirmed: Mapping[str, str],
        monorepo: tuple[str, ...],
        shown: Callable[[str], str] = str,
        marks: Path | None = None,
    ) -> None:
        self._store = store
        self._claims = ProjectClaims(store, marks)
        self._shown = shown  # what may be stored of the name of a place
        self._confirmed = dict(confirmed)
        self._monorepo = monorepo
        self._places: dict[str, Place] = {}
        self._projects: dict[str, Project] = {}
        self._wheres: dict[str, Where] = {}
        self._diffs: dict[str, str | None] = {}

    def project(self, cwd: str, at: int) -> Project:
        """The project that a folder belongs to; a folder that is gone keeps the one it had."""
        if cwd in self._projects:
            return self._projects[cwd]
        project = None if _is_dir(cwd) else self._store.projects.of_place(self._storable(cwd))
        if project is None:
            place = self._place(cwd)
            identity, name, root = map(self._storable, (place.identity, place.name, place.root))
            project = Project(project_id(place.identity), identity, name, root, at)
        self._projects[cwd] = project
        return project

    def where(self, cwd: str) -> Where:
        """The state of git in a folder, as far as plain files tell."""
        where = self._wheres.get(cwd)
        if where is None:
            place = self._place(cwd)
            where = Where(
                self._storable(cwd),
                self._storable(place.branch),
                place.commit,
                self._storable(place.worktree),
            )
            self._wheres[cwd] = where
        return where

    def diffstat(self, cwd: str) -> str | None:
        """What `git diff --shortstat` says of the work tree: "" if it is clean, None if nobody can tell."""
        place = self._place(cwd)
        root = place.root if place.git_dir else ""
        if root not in self._diffs:
            self._diffs[root] = ask(root, lambda: _shortstat(place), None) if root else None
        return self._diffs[root]

    def _storable(self, name: str) -> str:
        return self._shown(storable_name(name))

    def _place(self, cwd: str) -> Place:
        if cwd not in self._places:
            self._places[cwd] = resolve_place(cwd, self._confirmed, self._monorepo, self._claims.joined)
        return self._places[cwd]


def storable_name(name: str) -> str:
    """A name from the file system, which need not be UTF-8; what is not is written out."""
    return name if name.isascii() else name.encode("utf-8", "backslashreplace").decode()


def _is_dir(cwd: str) -> bool:
    try:
        return Path(cwd).is_dir()
    except (OSError, ValueError):
        return False


def _shortstat(place: Place) -> str | None:
    repository = open_repository(place, _GIT_SECONDS)
    return None if repository is None or not repository.head else shortstat(repository)
