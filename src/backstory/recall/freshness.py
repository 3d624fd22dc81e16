"""Whether what a memory says of files may still hold: fresh, moved, changed since, or gone.

A memory was true when its session ended. A file that was touched after that, and that git does not know to be
the same, has changed since; one that is not there is gone, unless git knows where it went. Touched alone is
not enough: a clone touches everything. Nor is a commit within the hour: it holds what the session itself had
written. What git could not be asked in time has no label: nothing is called fresh that was not looked at.
A file is named from the folder that its session worked in, or from the project's root; by its name alone, if
git knows no other one that is called so.
By the worker or a command, never by a hook.
"""

import os
from pathlib import Path

from backstory.hook.project_identity import resolve_place
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
        self._folders: dict[str, str] = {}

    def of(self, memory: Memory) -> str:
        """The label of a memory; "" if it names no files, or nobody can tell."""
        tree = self._tree(memory.project_id) if memory.files else None
        files = self._meant(memory, tree) if tree else ()
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
        return tuple(dict.fromkeys(map(tree.today, self._meant(memory, tree)))) if tree else ()

    def _meant(self, memory: Memory, tree: "_Tree") -> tuple[str, ...]:
        """Its files, named from the project's root; of what only words name, those that there are or were."""
        folder = tree.within(self._folder(memory))
        worded = memory.kind in _WORDED or memory.agent == _PERSON
        places = (tree.place(file, folder, alone=worded) for file in memory.files)
        if worded:
            return tuple(filter(None, places))
        return tuple(
            place or os.path.normpath(os.path.join(folder, file))  # noqa: PTH118 - a name, no path yet
            for place, file in zip(places, memory.files, strict=True)
        )

    def _folder(self, memory: Memory) -> str:
        """Where its session worked; of a person's note, where it was said."""
        by_note = memory.agent == _PERSON
        key = memory.id if by_note else memory.session_id
        if key not in self._folders:
            if by_note:
                kept = memory if memory.sources else self._store.memories.kept(memory.id)
                said = self._store.events.event(kept.sources[0]) if kept and kept.sources else None
                self._folders[key] = said.event.where.cwd if said else ""
            else:
                session = self._store.events.session(memory.session_id)
                self._folders[key] = session.cwd if session else ""
        return self._folders[key]

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
        self._root = root.resolve()
        # git names files from the top of the work tree, of which the project may be a folder
        place = resolve_place(str(root))
        self._top = Path(place.root)
        self._git = GitPast(self._root, place)
        self._places: dict[tuple[str, str, bool], str | None] = {}

    def state(self, file: str, since: int) -> str:
        """How a file stands to what it was then; "" if nobody can tell."""
        name = self._name(file)
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

    def within(self, folder: str) -> str:
        """A folder as it is named from the root; "" if it lies elsewhere."""
        for each in (Path(folder), Path(folder).resolve()) if folder else ():
            if each.is_relative_to(self._root):
                return each.relative_to(self._root).as_posix()
        return ""

    def place(self, file: str, folder: str, alone: bool) -> str | None:
        """What a file is called from the root that is named in a folder: of that folder, or of the root.

        `alone`: nothing but its name tells of it, so it may be of long ago, or the only one of that name.
        None if there is no such file, and git knows of none.
        """
        key = (file, folder, alone)
        if key not in self._places:
            inside = self.within(file) if Path(file).is_absolute() else file
            inner = inside if inside != file else os.path.normpath(f"{folder or '.'}/{file}")
            self._places[key] = self._place(inside, inner, alone) if inside else None
        return self._places[key]

    def _place(self, file: str, inner: str, alone: bool) -> str | None:
        if self._is_there(inner) or self._git.had_lately(self._name(inner)):
            return inner
        # to ask git for what lies further back takes long: only if there is nothing else
        if self._is_there(file) or self._git.had_lately(self._name(file)):
            return file
        for name in dict.fromkeys((inner, file)) if alone else ():
            if self._git.had(self._name(name)):
                return name
        only = self._git.called(file) if alone and "/" not in file else None
        return os.path.relpath(self._top / only, self._root) if only else None

    def _is_there(self, file: str) -> bool:
        return self._touched(self._name(file)) is not None

    def _name(self, file: str) -> str:
        """What git calls a file that is named from the root."""
        return os.path.relpath(self._root / file, self._top)

    def today(self, file: str) -> str:
        """The name of a file now, from the folder: another one only if git knows that it was moved."""
        name = self._name(file)
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
