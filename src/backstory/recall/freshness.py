"""Whether what a memory says of files may still hold: fresh, changed since, or gone.

A memory was true when its session ended. A file that was touched after that, and that git does not know to be
the same, has changed since; one that is not there is gone. Touched alone is not enough: a clone touches
everything. Nor is a commit within the hour: it holds what the session itself had written. Two calls of git
for a project, by the worker or a command, never by a hook.
"""

import os
import subprocess
from pathlib import Path

from backstory.model import Memory
from backstory.store import Store

FRESH = "fresh"
CHANGED = "changed since"
GONE = "gone"
_COMMITS = 400
_SECONDS = 2.0
# Takes no lock that the agent's own git would stumble over, and starts no program that a repository names.
_GIT = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")
_GRACE_MS = 2_000
_OWN_COMMIT_MS = 3_600_000
_MARK = "\x1d"


class Freshness:
    """Looks at the work trees of projects as they are now, each once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._trees: dict[str, _Tree | None] = {}
        self._ended: dict[str, int] = {}

    def of(self, memory: Memory) -> str:
        """The label of a memory; "" if it names no files, or nobody can tell."""
        tree = self._tree(memory.project_id) if memory.files else None
        if tree is None:
            return ""
        since = max(memory.at, self._end(memory.session_id)) + _GRACE_MS
        states = {tree.state(file, since) for file in memory.files}
        if states == {GONE}:
            return GONE
        return FRESH if states == {FRESH} else CHANGED

    def _tree(self, project_id: str) -> "_Tree | None":
        if project_id not in self._trees:
            project = self._store.projects.get(project_id)
            root = Path(project.root) if project and project.root else None
            self._trees[project_id] = _Tree(root) if root and root.is_dir() else None
        return self._trees[project_id]

    def _end(self, session_id: str) -> int:
        if session_id not in self._ended:
            self._ended[session_id] = self._store.events.last_spoke(session_id)
        return self._ended[session_id]


class _Tree:
    """One folder, and what git says of it, if it is git's."""

    def __init__(self, root: Path) -> None:
        self._root = root
        # git names files from the top of the work tree, of which the project may be a folder
        self._top = next((each for each in (root, *root.parents) if (each / ".git").exists()), root)
        log = _git(
            root,
            "log",
            f"-n{_COMMITS}",
            f"--format={_MARK}%ct",
            "-z",
            "--name-only",
            "--no-renames",
            "--",
            ".",
        )
        self._committed = _last_commits(log) if log is not None else None
        status = _git(root, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--", ".")
        self._dirty = {entry[3:] for entry in (status or "").split("\0")}

    def state(self, file: str, since: int) -> str:
        """How a file stands to what it was then."""
        path = self._root / file
        try:
            touched = path.stat().st_mtime_ns // 1_000_000
        except (OSError, ValueError):
            return GONE
        if touched <= since:
            return FRESH
        name = os.path.relpath(path, self._top)
        if self._committed is None or name in self._dirty:
            return CHANGED
        return CHANGED if self._committed.get(name, 0) > since + _OWN_COMMIT_MS else FRESH


def _last_commits(log: str) -> dict[str, int]:
    """When each file was last committed, in milliseconds."""
    found: dict[str, int] = {}
    for commit in log.split(_MARK)[1:]:
        at, *names = commit.split("\0")
        for name in names:
            if name:
                found.setdefault(name.removeprefix("\n"), int(at) * 1000)
    return found


def _git(root: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            [*_GIT, "-C", str(root), *words],
            env={name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            capture_output=True,
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return os.fsdecode(done.stdout) if done.returncode == 0 else None
