"""Which project a folder belongs to, also when the folder is gone, and what git says of it."""

import os
import subprocess
from collections.abc import Mapping

from backstory.hook.identity import Place, project_id, resolve
from backstory.model import Project, Where
from backstory.store import Store

_GIT_SECONDS = 2


class Places:
    """Looks folders up, each once; short-lived, because branches move."""

    def __init__(self, store: Store, confirmed: Mapping[str, str], monorepo: tuple[str, ...]) -> None:
        self._store = store
        self._confirmed = dict(confirmed)
        self._monorepo = monorepo
        self._places: dict[str, Place] = {}
        self._projects: dict[str, Project] = {}
        self._diffs: dict[str, str | None] = {}

    def project(self, cwd: str, at: int) -> Project:
        """The project that a folder belongs to; a folder that is gone keeps the one it had."""
        if cwd in self._projects:
            return self._projects[cwd]
        project = None if os.path.isdir(cwd) else self._store.events.project_of_place(cwd)
        if project is None:
            place = self._place(cwd)
            project = Project(project_id(place.identity), place.identity, place.name, place.root, at)
        self._projects[cwd] = project
        return project

    def where(self, cwd: str) -> Where:
        """The state of git in a folder, as far as plain files tell."""
        place = self._place(cwd)
        return Where(cwd, place.branch, place.commit, place.worktree)

    def diffstat(self, cwd: str) -> str | None:
        """What `git diff --shortstat` says of the work tree: "" if it is clean, None if there is no telling."""
        place = self._place(cwd)
        root = place.root if place.common_dir else ""
        if root not in self._diffs:
            self._diffs[root] = _shortstat(root) if root else None
        return self._diffs[root]

    def _place(self, cwd: str) -> Place:
        if cwd not in self._places:
            self._places[cwd] = resolve(cwd, self._confirmed, self._monorepo)
        return self._places[cwd]


def _shortstat(root: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", root, "diff", "--shortstat", "HEAD"],
            capture_output=True,
            timeout=_GIT_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None
