"""The last commits with what each did to files, and the commits that touched one file.

A merge tells nothing of its own unless it differs from all its parents; where it is the same as one parent,
that parent's history is the file's history (as `git log -- file` has it).
"""

import heapq
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from backstory.git.repository import Commit, Repository
from backstory.git.tree_diff import Change


@dataclass(frozen=True, slots=True)
class Touch:
    """A commit that changed a file; `came` and `went`: the file is new in it, or was removed by it."""

    commit: Commit
    came: bool
    went: bool


def last_commits(repository: Repository, folder: bytes, count: int) -> list[tuple[int, list[Change]]]:
    """The last commits that changed a folder, the latest first: when, in milliseconds, and what they did."""
    found: list[tuple[int, list[Change]]] = []
    for commit, own, parents in _walk(repository, repository.head, folder):
        if len(found) >= count:
            break
        if own in parents or (own is None and not parents):
            continue
        prefix = folder + b"/" if folder else b""
        merge = len(parents) > 1  # what it resolved is not told, only that it did
        old = parents[0] if parents else None
        changes = [] if merge else repository.trees.changes(_tree(old), _tree(own), prefix)
        found.append((commit.at, changes))
    return found


def touches(repository: Repository, path: bytes, since: int = 0, start: str = "") -> Iterator[Touch]:
    """The commits that changed a file, the latest first, none from before `since`."""
    for commit, own, parents in _walk(repository, start or repository.head, path):
        if commit.at < since:
            return
        if own in parents or (own is None and not parents):
            continue
        yield Touch(commit, own is not None and not any(parents), own is None)


def moves(repository: Repository, commit: Commit) -> list[Change]:
    """The files that a commit moved; of a merge none are told."""
    if len(commit.parents) > 1:
        return []
    old = repository.commit(commit.parents[0]).tree if commit.parents else None
    return [change for change in repository.trees.changes(old, commit.tree) if change.old and change.alike]


def former_names(repository: Repository, path: bytes, count: int) -> list[bytes]:
    """The names that a file had before, the latest first."""
    found: list[bytes] = []
    start = repository.head
    while len(found) < count:
        came = next((touch for touch in touches(repository, path, start=start) if touch.came), None)
        old = (
            next((move.old for move in moves(repository, came.commit) if move.new == path), None)
            if came
            else None
        )
        if came is None or old is None or not came.commit.parents:
            break
        found.append(old)
        path, start = old, came.commit.parents[0]
    return found


_Item = tuple[int, str]


def _walk(
    repository: Repository, start: str, path: bytes
) -> Iterator[tuple[Commit, _Item | None, list[_Item | None]]]:
    """Commits from the latest back, each with what a path names in it and in its parents."""
    first = repository.commit(start)
    waiting, seen = [(-first.at, first.oid)], {first.oid}
    while waiting:
        commit = repository.commit(heapq.heappop(waiting)[1])
        own = repository.trees.item(commit.tree, path)
        before = [repository.commit(oid) for oid in commit.parents]
        items = [repository.trees.item(parent.tree, path) for parent in before]
        yield commit, own, items
        same = next((parent for parent, item in zip(before, items, strict=True) if item == own), None)
        for parent in before if same is None else (same,):
            if parent.oid not in seen:
                seen.add(parent.oid)
                heapq.heappush(waiting, (-parent.at, parent.oid))


def _tree(item: _Item | None) -> str | None:
    return item[1] if item and stat.S_ISDIR(item[0]) else None
