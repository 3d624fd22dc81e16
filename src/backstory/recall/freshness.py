"""Whether what a memory says of files may still hold: fresh, moved, changed since, or gone.

A memory was true when its session ended. A file that was touched after that, and that git does not know to be
the same, has changed since; one that is not there is gone, unless git knows where it went. Touched alone is
not enough: a clone touches everything. Nor is a commit within the hour: it holds what the session itself had
written. What git could not be asked in time has no label: nothing is called fresh that was not looked at.
By the worker or a command, never by a hook.
"""

import os
from pathlib import Path

from backstory.model import Memory, MemoryKind
from backstory.recall.gitpast import GitPast
from backstory.store import Store

FRESH = "fresh"
CHANGED = "changed since"
GONE = "gone"
MOVED = "moved to "  # and where to
_UNKNOWN = ""
_GRACE_MS = 2_000
_OWN_COMMIT_MS = 3_600_000
_PERSON = "user"
#: Kinds that cite the files that their words name, and not those that their session changed.
_WORDED = (MemoryKind.DECISION, MemoryKind.PREFERENCE, MemoryKind.FACT)


class Freshness:
    """Looks at the work trees of projects as they are now, each once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._trees: dict[str, _Tree | None] = {}
        self._ended: dict[str, int] = {}

    def of(self, memory: Memory) -> str:
        """The label of a memory; "" if it names no files, or nobody can tell."""
        tree = self._tree(memory.project_id) if memory.files else None
        files = _ever_there(memory, tree) if tree else ()
        if tree is None or not files:
            return ""
        # notes of a person are each an act of its own, not parts of a session that ends
        since = max(memory.at, 0 if memory.agent == _PERSON else self._end(memory.session_id)) + _GRACE_MS
        states = {tree.state(file, since) for file in files}
        if memory.kind is MemoryKind.PREFERENCE:  # a wish rests on a file being there, not on what it says
            states = {FRESH if state is CHANGED else state for state in states}
        if states == {GONE}:
            return GONE
        if states & {GONE, CHANGED}:
            return CHANGED
        if moved := sorted(states - {FRESH, _UNKNOWN}):
            return ", ".join(moved)
        return _UNKNOWN if _UNKNOWN in states else FRESH

    def files(self, memory: Memory) -> tuple[str, ...]:
        """Where the files are today, or were, on whose contents it rests, named from the project's folder."""
        compared = memory.files and memory.kind is not MemoryKind.PREFERENCE
        tree = self._tree(memory.project_id) if compared else None
        return tuple(dict.fromkeys(map(tree.today, _ever_there(memory, tree)))) if tree else ()

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


def _ever_there(memory: Memory, tree: "_Tree") -> tuple[str, ...]:
    """Its files; of what only words name, those that there are or were."""
    worded = memory.kind in _WORDED or memory.agent == _PERSON
    return tuple(filter(tree.knows, memory.files)) if worded else memory.files


class _Tree:
    """One folder, and what git says of it, if it is git's."""

    def __init__(self, root: Path) -> None:
        self._root = root
        # git names files from the top of the work tree, of which the project may be a folder
        self._top = next((each for each in (root, *root.parents) if (each / ".git").exists()), root)
        self._git = GitPast(root, self._top)

    def state(self, file: str, since: int) -> str:
        """How a file stands to what it was then; "" if nobody can tell."""
        name = os.path.relpath(self._root / file, self._top)
        if self._touched(name) is not None:
            return self._content(name, since)
        there = self._moved(name)
        if there is None:
            return _UNKNOWN
        if self._touched(there) is None:
            return GONE
        if self._content(there, since) is CHANGED:
            return CHANGED
        return MOVED + os.path.relpath(self._top / there, self._root)

    def knows(self, file: str) -> bool:
        """Whether there is such a file, or git knows that there was."""
        name = os.path.relpath(self._root / file, self._top)
        return self._touched(name) is not None or self._git.had(name)

    def today(self, file: str) -> str:
        """The name of a file now, from the folder: another one only if git knows that it was moved."""
        name = os.path.relpath(self._root / file, self._top)
        there = name if self._touched(name) is not None else self._moved(name)
        kept = there is None or there == name or self._touched(there) is None
        return file if kept or there is None else os.path.relpath(self._top / there, self._root)

    def _content(self, name: str, since: int) -> str:
        """Whether a file that is there says what it said then."""
        if (self._touched(name) or 0) <= since:
            return FRESH
        changed = self._git.changed(name, since + _OWN_COMMIT_MS)
        return _UNKNOWN if changed is None else CHANGED if changed else FRESH

    def _touched(self, name: str) -> int | None:
        try:
            return (self._top / name).stat().st_mtime_ns // 1_000_000
        except (OSError, ValueError):
            return None

    def _moved(self, name: str) -> str | None:
        """The name that git knows a file by today; None if it could not be asked."""
        return self._git.moved(name, lambda each: self._touched(each) is not None)
