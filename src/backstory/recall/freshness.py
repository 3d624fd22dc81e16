"""Whether what a memory says of files may still hold: fresh, moved, changed since, or gone.

A memory was true when its session ended. A file that was touched after that, and that git does not know to be
the same, has changed since; one that is not there is gone, unless git knows where it went. Touched alone is
not enough: a clone touches everything. Nor is a commit within the hour: it holds what the session itself had
written. Two calls of git for a project, by the worker or a command, never by a hook.
"""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from backstory.model import Memory
from backstory.store import Store

FRESH = "fresh"
CHANGED = "changed since"
GONE = "gone"
MOVED = "moved to "  # and where to
_COMMITS = 400
_SECONDS = 2.0
# Takes no lock that the agent's own git would stumble over, and starts no program that a repository names.
_GIT = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")
_GRACE_MS = 2_000
_OWN_COMMIT_MS = 3_600_000
_MARK = "\x1d"
_INEXACT = 200  # so many files of one commit are compared to find what was moved and edited at once


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
        if states & {GONE, CHANGED}:
            return CHANGED
        return ", ".join(sorted(states - {FRESH})) or FRESH

    def files(self, memory: Memory) -> tuple[str, ...]:
        """Where its files are today, or were, named from the project's folder."""
        tree = self._tree(memory.project_id) if memory.files else None
        return tuple(dict.fromkeys(map(tree.today, memory.files))) if tree else ()

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
            "--name-status",
            "-M",
            f"-l{_INEXACT}",
            "--",
            ".",
        )
        self._past = _read_log(log) if log is not None else None
        status = _git(root, "status", "--porcelain=v2", "-z", "--untracked-files=all", "-M", "--", ".")
        self._now = _read_status(status or "")

    def state(self, file: str, since: int) -> str:
        """How a file stands to what it was then."""
        name = os.path.relpath(self._root / file, self._top)
        if self._touched(name) is not None:
            return self._content(name, since)
        there = self._moved(name)
        if self._touched(there) is None:
            return GONE
        if self._content(there, since) is CHANGED:
            return CHANGED
        return MOVED + os.path.relpath(self._top / there, self._root)

    def today(self, file: str) -> str:
        """The name of a file now, from the folder: another one only if git knows that it was moved."""
        name = os.path.relpath(self._root / file, self._top)
        there = name if self._touched(name) is not None else self._moved(name)
        kept = there == name or self._touched(there) is None
        return file if kept else os.path.relpath(self._top / there, self._root)

    def _content(self, name: str, since: int) -> str:
        """Whether a file that is there says what it said then."""
        if (self._touched(name) or 0) <= since:
            return FRESH
        if self._past is None or name in self._now.dirty:
            return CHANGED
        return CHANGED if self._past.committed.get(name, 0) > since + _OWN_COMMIT_MS else FRESH

    def _touched(self, name: str) -> int | None:
        try:
            return (self._top / name).stat().st_mtime_ns // 1_000_000
        except (OSError, ValueError):
            return None

    def _moved(self, name: str) -> str:
        """The name that git knows a file by today."""
        committed = self._past.moved.get(name, name) if self._past else name
        return self._now.moved.get(committed, committed)


@dataclass
class _Past:
    """When each file last changed in a commit, in milliseconds, and what files are called that were moved."""

    committed: dict[str, int] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)


@dataclass
class _Now:
    """What differs from the last commit, and what is only moved."""

    dirty: set[str] = field(default_factory=set)
    moved: dict[str, str] = field(default_factory=dict)


def _read_log(log: str) -> _Past:
    """From the latest commit back: what was moved is known by the name that it has today."""
    past = _Past()
    today: dict[str, str] = {}
    for commit in log.split(_MARK)[1:]:
        at, *fields = commit.split("\0")
        seen = iter(each.removeprefix("\n") if not number else each for number, each in enumerate(fields))
        moves: dict[str, str] = {}
        for what, name, new in _changes(seen):
            if what.startswith("R"):
                moves[name] = today.get(new, new)
            if what != "R100":
                past.committed.setdefault(today.get(new, new), int(at) * 1000)
        for old, new in moves.items():
            if old not in past.committed:
                past.moved.setdefault(old, new)
        today |= moves
    return past


def _changes(fields: Iterator[str]) -> Iterator[tuple[str, str, str]]:
    """What happened to a file, its name, and the name it has then."""
    for what in fields:
        if what:
            name = next(fields, "")
            yield what, name, next(fields, "") if what[0] in "RC" else name


def _read_status(status: str) -> _Now:
    now = _Now()
    entries = iter(status.split("\0"))
    for entry in entries:
        match entry[:1]:
            case "1":
                now.dirty.add(entry.split(" ", 8)[-1])
            case "2":
                how, score, name = entry[2:4], *entry.split(" ", 9)[-2:]
                now.moved[next(entries, "")] = name
                if score != "R100" or how[1] != ".":
                    now.dirty.add(name)
            case "u":
                now.dirty.add(entry.split(" ", 10)[-1])
            case "?":
                now.dirty.add(entry[2:])
    return now


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
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
