"""What git knows of the files of a work tree: whether they changed since a time, and where they were moved.

The last commits are read once. Of what lies further back the commits of each file that is asked for are
looked up, all of them together within a time limit: what could not be read, or not in time, is unknown.
"""

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from backstory.git.boundary import ask
from backstory.git.commit_history import former_names, last_commits, moves, touches
from backstory.git.repository import Repository, open_repository
from backstory.git.tree_diff import Change
from backstory.git.work_tree import is_changed, staged_moves
from backstory.hook.project_identity import Place, resolve_place

_COMMITS = 400
_SECONDS = 2.0  # for the last commits
_STATUS_SECONDS = 2.0  # for what is not committed
_FURTHER_SECONDS = 2.0  # for all that is asked beyond the last commits
_FURTHER_COMMITS = 5  # a file that was only moved, so often, says what it said
_NAMESAKES = 3  # files of one name in several folders
_MOVES = 8  # a name is followed through so many
_T = TypeVar("_T")


@dataclass
class _Past:
    """When each file last changed in a commit, in milliseconds, and what files are called that were moved."""

    committed: dict[str, int] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    oldest: int = 0  # of the commits that were looked at; 0 if these are all


class _Allowance:
    """Time for one sort of questions, all of them together."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    def ask(self, repository: Repository | None, question: Callable[[Repository], _T]) -> _T | None:
        """The answer; None if there is no repository, or it cannot tell within what is left of the time."""
        if repository is None or self._left <= 0:
            return None
        started = time.monotonic()
        repository.allow(self._left)
        answer = ask(repository.root, lambda: question(repository), None)
        self._left -= time.monotonic() - started
        return answer


class GitPast:
    """The past of one folder of a work tree."""

    def __init__(self, root: Path, place: Place) -> None:
        within = os.path.relpath(root, place.root)
        self._within = b"" if within == "." else os.fsencode(within)
        self._named: dict[str, list[str]] | None = None  # files by their names without a folder
        self._further, self._status = _Allowance(_FURTHER_SECONDS), _Allowance(_STATUS_SECONDS)
        self._last: dict[str, int | None] = {}  # when a file last changed; 0: not since it was asked for
        self._asked: dict[str, int] = {}  # since when that was asked
        self._went: dict[str, str | None] = {}
        self._known, self._repository = _opened(place)
        self._past: _Past | None = None
        if self._repository is not None and self._repository.head:
            self._past = _Allowance(_SECONDS).ask(self._repository, self._read_commits)
            self._known = self._past is not None
        moved = self._status.ask(self._repository, _moved_now)
        self._moved_now = {} if self._repository is None and self._known else moved

    def changed(self, name: str, since: int) -> bool | None:
        """Whether a file that was touched may say something else than it did then; None if unknown."""
        if self._past is None and self._known:
            return True  # it is not git's
        before = next((old for old, new in (self._moved_now or {}).items() if new == name), name)
        names = os.fsencode(name), os.fsencode(before)
        dirty = self._status.ask(self._repository, lambda git: is_changed(git, *names))
        if dirty:
            return True
        at = self._committed(name, since)
        if at is not None and at > since:
            return True
        return None if at is None or dirty is None else False

    def moved(self, name: str, there: Callable[[str], bool]) -> str | None:
        """The name that a file has today, itself if it was not moved; None if unknown."""
        for _ in range(_MOVES):
            committed = self._past.moved.get(name, name) if self._past else name
            now = (self._moved_now or {}).get(committed, committed)
            if there(now) or (self._past is None and self._known):
                return now
            if self._looked_at(committed):
                return now if self._moved_now is not None else None
            further = self._further_moved(now)
            if further is None or further == now:
                return further
            name = further
        return None

    def had(self, name: str) -> bool:
        """Whether a commit, or the index, has or had a file of this name, as far as can be told in time."""
        if self._past is None:
            return False
        if self.had_lately(name):
            return True
        return bool(self._past.oldest and self._further.ask(self._repository, lambda git: _ever(git, name)))

    def had_lately(self, name: str) -> bool:
        """Whether the last commits, or the index, tell of a file of this name."""
        return any(name in names for names in self._lately())

    def called(self, name: str) -> str | None:
        """The one file that has this name in whatever folder, or had it; None if none or several do."""
        if self._named is None:
            self._named = {}
            listed = self._further.ask(self._repository, lambda git: _tracked(git, self._within))
            # who cannot name them all cannot say that it is the only one
            known = () if listed is None else (listed, *self._lately())
            for file in dict.fromkeys(each for names in known for each in names):
                self._named.setdefault(file.rpartition("/")[2], []).append(file)
        files = self._named.get(name, [])
        return files[0] if len(set(map(self._lately_moved, files))) == 1 else None

    def _lately(self) -> tuple[Iterable[str], ...]:
        past = self._past or _Past()
        return past.committed, past.moved, self._moved_now or {}

    def _lately_moved(self, name: str) -> str:
        name = (self._past or _Past()).moved.get(name, name)
        return (self._moved_now or {}).get(name, name)

    def _looked_at(self, name: str) -> bool:
        """Whether the last commits tell what became of a file."""
        return self._past is not None and (not self._past.oldest or name in self._past.committed)

    def _committed(self, name: str, since: int) -> int | None:
        """When a file last changed in a commit, 0 if not since then; None if unknown."""
        past = self._past
        if past is not None and (name in past.committed or since >= past.oldest):
            return past.committed.get(name, 0)
        if name not in self._last or (self._last[name] == 0 and since < self._asked[name]):
            self._last[name], self._asked[name] = self._further_committed(name, since), since
        return self._last[name]

    def _further_committed(self, name: str, since: int) -> int | None:
        return self._further.ask(self._repository, lambda git: _changed_at(git, os.fsencode(name), since))

    def _further_moved(self, name: str) -> str | None:
        """What a file is called since the commit that took its name away; itself if none did."""
        if name not in self._went:
            self._went[name] = self._further.ask(self._repository, lambda git: _went_to(git, name))
        return self._went[name]

    def _read_commits(self, repository: Repository) -> _Past:
        return _read_log(last_commits(repository, self._within, _COMMITS))


def names_before(root: Path, file: str) -> list[str]:
    """The names that a file, or one that is called so in some folder, had before, the latest first."""
    place = resolve_place(str(root))
    repository = _opened(place)[1]
    if repository is None or not repository.head:
        return []
    within = os.path.relpath(os.path.realpath(root), place.root)
    folder = b"" if within == "." else os.fsencode(within)
    listed = _Allowance(_SECONDS).ask(repository, lambda git: _tracked(git, folder)) or []
    tracked = [name for name in listed if f"/{name}".endswith(f"/{file}")][:_NAMESAKES]
    moved = _Allowance(_SECONDS).ask(repository, _moved_now) if tracked else {}
    found = [old for old, new in (moved or {}).items() if new in tracked]
    following = _Allowance(_SECONDS)
    for name in [*tracked, *found]:
        before = following.ask(repository, partial(former_names, path=os.fsencode(name), count=_MOVES))
        found += map(os.fsdecode, before or ())
    return [os.path.relpath(Path(place.root) / name, os.path.realpath(root)) for name in found]


def _opened(place: Place) -> tuple[bool, Repository | None]:
    """The repository of a place, if it can be read; and whether it is known that there is none."""
    return ask(place.root, lambda: (True, open_repository(place, _SECONDS)), (False, None))


def _read_log(commits: list[tuple[int, list[Change]]]) -> _Past:
    """From the latest commit back: what was moved is known by the name that it has today."""
    past = _Past()
    today: dict[str, str] = {}
    for at, changes in commits:
        renamed: dict[str, str] = {}
        for change in changes:
            old, new = (os.fsdecode(name or b"") for name in (change.old, change.new))
            if change.alike:
                renamed[old] = today.get(new, new)
            if change.alike < 1:
                past.committed.setdefault(today.get(new or old, new or old), at)
        for old, new in renamed.items():
            if old not in past.committed:
                past.moved.setdefault(old, new)
        today |= renamed
    if len(commits) >= _COMMITS:
        past.oldest = commits[-1][0]
    return past


def _moved_now(repository: Repository) -> dict[str, str]:
    """What files are called that were moved, and not committed yet."""
    return {
        os.fsdecode(move.old): os.fsdecode(move.new)
        for move in (staged_moves(repository) if repository.head else ())
        if move.old and move.new
    }


def _tracked(repository: Repository, folder: bytes) -> list[str]:
    """The names of all tracked files of a folder."""
    names = list(repository.index.entries)
    return list(map(os.fsdecode, names[repository.index.below(names, folder + b"/" if folder else b"")]))


def _ever(repository: Repository, name: str) -> bool:
    """Whether any commit touched a file of this name."""
    return next(touches(repository, os.fsencode(name)), None) is not None


def _changed_at(repository: Repository, path: bytes, since: int) -> int | None:
    """When a file last changed, 0 if not since then, None if it was moved too often to tell."""
    start = ""
    for _ in range(_FURTHER_COMMITS):
        last = next(touches(repository, path, since, start), None)
        if last is None:
            return 0
        moved = next((move for move in moves(repository, last.commit) if move.new == path), None)
        if not last.came or moved is None or moved.old is None or moved.alike < 1:
            return last.commit.at
        path, start = moved.old, last.commit.parents[0]
    return None


def _went_to(repository: Repository, name: str) -> str | None:
    """What a file was called after the commit that took its name away; itself if there is none."""
    path = os.fsencode(name)
    last = next((touch for touch in touches(repository, path) if touch.went), None)
    moved = moves(repository, last.commit) if last else []
    return os.fsdecode(next((move.new for move in moved if move.old == path and move.new), path))
