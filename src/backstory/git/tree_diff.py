"""What two trees differ in. Only folders whose ids differ are read, each within the time limit: a tree
that repeats itself a billion times fits into a kilobyte.
"""

import stat
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from backstory.git.object_store import BLOB, TREE, ObjectStore
from backstory.git.read_limit import LONGEST_NAME, OverLimit, Unavailable

_MOST_CHANGES = 200_000
_MOST_KEPT = 100_000  # items of trees that were read
_MODE_DIGITS = 6
_DEEPEST = 200
_MOST_PAIRS = 200 * 200  # so many pairs of one commit are compared to find what was moved and edited at once
_MOST_COMPARED = 8 << 20  # bytes of all of them together
_MOST_LINES = 200_000  # and lines
_NAMESAKES = 50  # so many files of the same content are looked at for one with the same name
_SIMILAR = 0.5
Item = tuple[int, str]  # the mode and the id of what a name stands for
_Text = tuple[int, "Counter[bytes]"]  # how many bytes, and how often each line


class Change(NamedTuple):
    """What happened to a file: its name before and after, and how alike both are (1.0: the same)."""

    old: bytes | None
    new: bytes | None
    alike: float = 0.0


class Trees:
    """Reads the trees of one repository; the last ones that were read are kept."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._read: dict[str, dict[bytes, Item]] = {}
        self._kept = 0

    def items(self, oid: str) -> dict[bytes, Item]:
        """What a tree holds, by name."""
        if oid not in self._read:
            if self._kept >= _MOST_KEPT:
                self._read.clear()
                self._kept = 0
            self._read[oid] = self._parsed(oid)
            self._kept += len(self._read[oid]) + 1
        return self._read[oid]

    def _parsed(self, oid: str) -> dict[bytes, Item]:
        data, at, found = self._objects.read(oid, TREE), 0, dict[bytes, Item]()
        try:
            while at < len(data):
                space = data.index(b" ", at, at + _MODE_DIGITS + 1)
                nul = data.index(b"\0", space, space + LONGEST_NAME)
                mode = data[at:space]
                if not mode.isdigit():  # `int` would take a sign, blanks and underscores
                    raise ValueError
                found[data[space + 1 : nul]] = int(mode, 8), data[nul + 1 : nul + 21].hex()
                at = nul + 21
        except ValueError as error:
            raise Unavailable(f"the tree {oid} is damaged") from error
        return found

    def item(self, tree: str, path: bytes) -> Item | None:
        """What a path names in a tree; None if nothing."""
        found: Item | None = stat.S_IFDIR, tree
        for part in path.split(b"/") if path else ():
            if found is None or not stat.S_ISDIR(found[0]):
                return None
            found = self.items(found[1]).get(part)
        return found

    def differing(
        self, old: str | None, new: str | None, folder: bytes = b"", deep: int = 0
    ) -> Iterator[tuple[bytes, Item | None, Item | None]]:
        """The files that differ, each with what it was and what it is."""
        if deep > _DEEPEST:
            raise Unavailable("the folders are nested too deep")
        before, after = (self.items(tree) if tree else {} for tree in (old, new))
        for name in sorted(before.keys() | after.keys()):
            was, now = before.get(name), after.get(name)
            if was == now:
                continue
            path = self._objects.limit.keep(folder + name)
            trees = [item[1] if item and stat.S_ISDIR(item[0]) else None for item in (was, now)]
            if any(trees):
                self._objects.limit.check()
                yield from self.differing(trees[0], trees[1], path + b"/", deep + 1)
            files = [None if tree else item for tree, item in zip(trees, (was, now), strict=True)]
            if any(files):
                yield path, files[0], files[1]

    def changes(self, old: str | None, new: str | None, folder: bytes = b"") -> list[Change]:
        """What happened to files between two trees, renames found."""
        gone, came, found = dict[bytes, Item](), dict[bytes, Item](), list[Change]()
        for number, (path, was, now) in enumerate(self.differing(old, new, folder)):
            if number > _MOST_CHANGES:
                raise Unavailable("too many files changed")
            if was and now:
                found.append(Change(path, path))
            elif was:
                gone[path] = was
            elif now:
                came[path] = now
        moves = self.renames(gone, came)
        taken = {move.old for move in moves} | {move.new for move in moves}
        found += [Change(path, None) for path in gone if path not in taken]
        found += [Change(None, path) for path in came if path not in taken]
        return found + moves

    def renames(self, gone: dict[bytes, Item], came: dict[bytes, Item]) -> list[Change]:
        """Which files that came are files that went: those with the same content, then the most alike."""
        moves = list[Change]()
        old_by_id: dict[Item, list[bytes]] = {}
        for path, item in gone.items():
            old_by_id.setdefault(item, []).append(path)
        for path, item in came.items():
            if same := old_by_id.get(item):
                self._objects.limit.check()
                moves.append(Change(_taken(same, path), path, 1.0))
        olds = gone.keys() - {move.old for move in moves}
        news = came.keys() - {move.new for move in moves}
        if 0 < len(olds) * len(news) <= _MOST_PAIRS:
            moves += self._edited(sorted(olds), sorted(news), gone | came)
        return moves

    def _edited(self, olds: list[bytes], news: list[bytes], items: dict[bytes, Item]) -> Iterator[Change]:
        texts = self._texts([*olds, *news], items)
        scored: list[tuple[float, bool, bytes, bytes]] = []
        for old in filter(texts.get, olds):
            self._objects.limit.check()
            scored += [
                (_alike(texts[old], texts[new]), _base(old) == _base(new), old, new)
                for new in filter(texts.get, news)
            ]
        scored.sort(reverse=True)
        taken: set[bytes] = set()
        for alike, _, old, new in scored:
            if alike >= _SIMILAR and old not in taken and new not in taken:
                taken |= {old, new}
                yield Change(old, new, min(alike, 0.99))

    def _texts(self, paths: list[bytes], items: dict[bytes, Item]) -> dict[bytes, _Text]:
        """The lines of files, as far as they can be read; a link or a submodule has none."""
        found, left, lines_left = dict[bytes, _Text](), _MOST_COMPARED, _MOST_LINES
        for path in paths:
            mode, oid = items[path]
            try:
                content = self._objects.read(oid, BLOB) if stat.S_ISREG(mode) else b""
            except OverLimit:
                raise
            except Unavailable:
                continue
            left -= len(content)
            lines_left -= content.count(b"\n") + content.count(b"\r")
            if left < 0 or lines_left < 0:
                break
            if content:
                found[path] = len(content), Counter(content.splitlines(keepends=True))
        return found


def _alike(old: _Text, new: _Text) -> float:
    """How much of the larger file, in bytes, the other one has too."""
    small, large = sorted((old, new), key=lambda text: text[0])
    if small[0] < large[0] * _SIMILAR:
        return 0.0
    lines = large[1]
    common = sum(len(line) * min(count, lines[line]) for line, count in small[1].items() if line in lines)
    return common / large[0]


def _taken(olds: list[bytes], new: bytes) -> bytes:
    """Take one of several files with the same content, if possible one that is called as the new one."""
    last = range(len(olds) - 1, max(-1, len(olds) - 1 - _NAMESAKES), -1)
    return olds.pop(next((at for at in last if _base(olds[at]) == _base(new)), -1))


def _base(path: bytes) -> bytes:
    return path.rpartition(b"/")[2]
