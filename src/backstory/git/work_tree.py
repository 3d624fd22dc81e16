"""Which tracked files of a work tree differ from HEAD, and by how many lines.

Contents are compared as they are: no filter is run. Line ends that git changes on checkout are the same
text; a file that another filter made (Git LFS) counts as unchanged while its stamps are those of the index.
"""
# git's names are bytes, and a Path takes none.
# ruff: noqa: PTH115

import os
import stat
from dataclasses import dataclass

from backstory.git.index_file import Entry, Index
from backstory.git.object_store import BLOB, lines_changed, object_id
from backstory.git.read_limit import OverLimit, Unavailable
from backstory.git.repository import Repository
from backstory.git.tree_diff import Change, Item
from backstory.hook.regular_file import read_head

_MOST_DIFFED = 500  # files whose lines are counted
_DIFF_BYTES = 1 << 20  # of a larger file, lines are not counted
_DIFF_LINES = 50_000  # nor of one with more lines: random ones take seconds, and cannot be interrupted
_HASH_BYTES = 64 << 20  # a larger file whose stamps changed counts as changed
_CHECK_EVERY = 1024
_BINARY = 8000  # in so many bytes git looks for a NUL


@dataclass(frozen=True, slots=True)
class _State:
    """The files that differ: what they were in HEAD, and what the work tree has now (None: nothing)."""

    was: dict[bytes, Item | None]
    now: dict[bytes, Item | None]


def shortstat(repository: Repository) -> str:
    """What `git diff --shortstat HEAD` says; "" if nothing differs."""
    state = _differing(repository)
    gone = {path: item for path, item in state.was.items() if item and not state.now[path]}
    came = {path: item for path, item in state.now.items() if item and not state.was[path]}
    moves = repository.trees.renames(gone, came)
    moved = {move.old for move in moves} | {move.new for move in moves}
    changes = moves + [Change(path, path) for path in state.was if path not in moved]
    added = removed = 0
    for change in changes[:_MOST_DIFFED]:
        more, less = _lines(repository, state, change)
        added, removed = added + more, removed + less
    return _told(len(changes), added, removed)


def staged_moves(repository: Repository) -> list[Change]:
    """The files that were moved, with `git mv` or the like, and not committed yet."""
    was, now = dict[bytes, Item](), dict[bytes, Item]()
    for path, old, entry in _staged(repository):
        if old and not entry:
            was[path] = old
        elif entry and not old:
            now[path] = entry.mode, entry.oid
    return repository.trees.renames(was, now)


def is_changed(repository: Repository, path: bytes, before: bytes) -> bool:
    """Whether a file is not what HEAD has under the name `before`, or HEAD does not have it."""
    entry, tree = repository.index.entries.get(path), repository.head_tree()
    if entry is None or tree is None or repository.trees.item(tree, before) != (entry.mode, entry.oid):
        return True
    return _differs(repository, repository.index, path, entry)


def _differing(repository: Repository) -> _State:
    index, tree = repository.index, repository.head_tree()
    was, now = dict[bytes, Item | None](), dict[bytes, Item | None]()
    for path, old, entry in _staged(repository):
        was[path], now[path] = old, _found(repository, path, entry) if entry else None
    for number, (path, entry) in enumerate(index.entries.items()):
        if not number % _CHECK_EVERY:
            repository.objects.limit.check()
        if path not in was and _differs(repository, index, path, entry):
            was[path] = repository.trees.item(tree, path) if tree else None
            now[path] = _found(repository, path, entry)
    for path in [path for path, item in was.items() if now[path] == item]:
        del was[path], now[path]  # staged, and taken back
    return _State(was, now)


def _staged(repository: Repository) -> list[tuple[bytes, Item | None, Entry | None]]:
    """What differs between HEAD and the index; folders whose tree the index knows are not looked into."""
    index, trees, keep = repository.index, repository.trees, repository.objects.limit.keep
    found: list[tuple[bytes, Item | None, Entry | None]] = []
    names = sorted(index.entries)
    todo: list[tuple[bytes, str | None]] = [(b"", repository.head_tree())]
    while todo:
        folder, tree = todo.pop()
        repository.objects.limit.check()
        if tree and index.folders.get(folder) == tree:
            continue
        items = trees.items(tree) if tree else {}
        below = {name + b"/" for name, item in items.items() if stat.S_ISDIR(item[0])}
        todo += [(keep(folder + name), items[name[:-1]][1]) for name in below]
        here = names[index.below(names, folder)]
        at = 0
        while at < len(here):
            part, slash, _ = here[at][len(folder) :].partition(b"/")
            inner = folder + part + slash
            if slash and part + slash not in below:  # a folder that HEAD does not have
                within = here[index.below(here, inner)]
                found += [(path, None, index.entries[path]) for path in within]
                at += len(within)
            elif slash:
                at += len(here[index.below(here, inner)])
            else:
                entry, item = index.entries[here[at]], items.get(part)
                if item != (entry.mode, entry.oid):
                    found.append((here[at], item, entry))
                at += 1
        files = (name for name, item in items.items() if not stat.S_ISDIR(item[0]))
        found += [
            (keep(folder + name), items[name], None) for name in files if folder + name not in index.entries
        ]
    return found


def _differs(repository: Repository, index: Index, path: bytes, entry: Entry) -> bool:
    """Whether a file is not what the index says: by its stamps, and if they differ by its content."""
    if entry.stage:
        return True
    if entry.unwatched or stat.S_IFMT(entry.mode) == 0o160000:  # a submodule has a HEAD of its own
        return False
    try:
        there = os.lstat(_path(repository, path))
    except (OSError, ValueError):
        return True
    if stat.S_IFMT(there.st_mode) != stat.S_IFMT(entry.mode):
        return True
    touched = there.st_mtime_ns
    seconds, nanoseconds = divmod(touched, 1_000_000_000)
    same_time = (seconds & 0xFFFFFFFF) == entry.seconds and entry.nanoseconds in (0, nanoseconds)
    # git may have looked before the last write of the same moment
    if same_time and there.st_size & 0xFFFFFFFF == entry.size and touched < index.written_ns:
        return False
    return _found(repository, path, entry) != (entry.mode, entry.oid)


def _found(repository: Repository, path: bytes, entry: Entry) -> Item | None:
    """What the work tree has by a name, as git would store it; None if nothing."""
    if stat.S_IFMT(entry.mode) == 0o160000:
        return entry.mode, entry.oid
    repository.objects.limit.check()
    name = _path(repository, path)
    try:
        there = os.lstat(name)
        if stat.S_ISLNK(there.st_mode):
            return stat.S_IFLNK, object_id(BLOB, os.readlink(name))
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(there.st_mode):
        return None
    mode = entry.mode if stat.S_ISREG(entry.mode) else 0o100644
    if there.st_size > _HASH_BYTES:
        return mode, ""
    content = read_head(os.fsdecode(name), _HASH_BYTES)
    oid = object_id(BLOB, content)
    if oid != entry.oid and b"\r\n" in content and object_id(BLOB, _unix(content)) == entry.oid:
        oid = entry.oid
    return mode, oid


def _lines(repository: Repository, state: _State, change: Change) -> tuple[int, int]:
    """How many lines a change added and removed; none if a side is binary, too large or not here."""
    old = _content_was(repository, state.was.get(change.old) if change.old else None)
    new = _content_now(repository, change.new) if change.new and state.now.get(change.new) else b""
    if old is None or new is None or not (_countable(old) and _countable(new)):
        return 0, 0
    if b"\r\n" not in old:
        new = _unix(new)
    repository.objects.limit.check()
    return lines_changed(old, new)


def _countable(text: bytes) -> bool:
    return b"\0" not in text[:_BINARY] and text.count(b"\n") <= _DIFF_LINES


def _content_was(repository: Repository, item: Item | None) -> bytes | None:
    if item is None:
        return b""
    try:
        content = repository.objects.read(item[1], BLOB)
    except OverLimit:
        raise
    except Unavailable:
        return None  # a partial clone has not fetched it, and we do not
    return content if len(content) <= _DIFF_BYTES else None


def _content_now(repository: Repository, path: bytes) -> bytes | None:
    name = _path(repository, path)
    try:
        if stat.S_ISLNK(os.lstat(name).st_mode):
            return os.readlink(name)
    except OSError:
        return b""
    content = read_head(os.fsdecode(name), _DIFF_BYTES + 1)
    return content if len(content) <= _DIFF_BYTES else None


def _path(repository: Repository, path: bytes) -> bytes:
    return repository.top + path


def _unix(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n")


def _told(files: int, added: int, removed: int) -> str:
    if not files:
        return ""
    parts = [f"{files} file{'s' * (files != 1)} changed"]
    if added or not removed:
        parts.append(f"{added} insertion{'s' * (added != 1)}(+)")
    if removed or not added:
        parts.append(f"{removed} deletion{'s' * (removed != 1)}(-)")
    return ", ".join(parts)
