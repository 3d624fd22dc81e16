"""What git knows of the files of a work tree: whether they changed since a time, and where they were moved.

Two calls tell of the last commits and of what is not committed. Of what lies further back each file that is
asked for is asked of git by its name, all of them together within a deadline: whoever does not know says so.
"""

import os
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_COMMITS = 400
_SECONDS = 2.0  # for one call
_FURTHER_SECONDS = 2.0  # for all that is asked beyond the last commits
_FURTHER_COMMITS = 5  # a file that was only moved, so often, says what it said
_NAMESAKES = 3  # files of one name in several folders
_MOVES = 8  # a name is followed through so many
# Takes no lock that the agent's own git would stumble over, and starts no program that a repository names.
_GIT = ("git", "--no-optional-locks", "--literal-pathspecs")
_SET = ("-c", "core.fsmonitor=false", "-c", "core.quotePath=false")
_MARK = "\x1d"
_INEXACT = 200  # so many files of one commit are compared to find what was moved and edited at once
_CHANGES = (f"--format={_MARK}%ct", "-z", "--name-status", "-M", f"-l{_INEXACT}")


@dataclass
class _Past:
    """When each file last changed in a commit, in milliseconds, and what files are called that were moved."""

    committed: dict[str, int] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    oldest: int = 0  # of the commits that were looked at; 0 if these are all


@dataclass
class _Now:
    """What differs from the last commit, and what is only moved."""

    dirty: set[str] = field(default_factory=set)
    moved: dict[str, str] = field(default_factory=dict)


class GitPast:
    """The past of one folder of a work tree, whose top is `top`."""

    def __init__(self, root: Path, top: Path) -> None:
        self._top = top
        self._within = os.path.relpath(root, top)
        self._named: dict[str, list[str]] | None = None  # files by their names without a folder
        self._left = _FURTHER_SECONDS
        self._last: dict[str, int | None] = {}  # when a file last changed; 0: not since it was asked for
        self._asked: dict[str, int] = {}  # since when that was asked
        self._went: dict[str, str | None] = {}
        log = _git(root, _SECONDS, "log", f"-n{_COMMITS}", *_CHANGES, "--", ".")
        self._known = log.done  # no git here, or no commit, is known just as well
        self._past = _read_log(log.text) if log.text is not None else None
        status = _git(
            root, _SECONDS, "status", "--porcelain=v2", "-z", "--untracked-files=all", "-M", "--", "."
        )
        self._now = _read_status(status.text or "") if status.done else None

    def changed(self, name: str, since: int) -> bool | None:
        """Whether a file that was touched may say something else than it did then; None if unknown."""
        if self._past is None and self._known:
            return True  # it is not git's
        if self._now is not None and name in self._now.dirty:
            return True
        at = self._committed(name, since)
        if at is not None and at > since:
            return True
        return None if at is None or self._now is None else False

    def moved(self, name: str, there: Callable[[str], bool]) -> str | None:
        """The name that a file has today, itself if it was not moved; None if unknown."""
        for _ in range(_MOVES):
            committed = self._past.moved.get(name, name) if self._past else name
            now = self._now.moved.get(committed, committed) if self._now else committed
            if there(now) or (self._past is None and self._known):
                return now
            if self._looked_at(committed):
                return now if self._now is not None else None
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
        return bool(self._past.oldest and self._further("log", "-n1", "--format=%H", "--", name))

    def had_lately(self, name: str) -> bool:
        """Whether the last commits, or the index, tell of a file of this name."""
        return any(name in names for names in self._lately())

    def called(self, name: str) -> str | None:
        """The one file that has this name in whatever folder, or had it; None if none or several do."""
        if self._named is None:
            self._named = {}
            listed = self._further("ls-files", "-z", "--full-name", "--", self._within)
            # who cannot name them all cannot say that it is the only one
            known = () if listed is None else (listed.split("\0"), *self._lately())
            for file in dict.fromkeys(each for names in known for each in names):
                self._named.setdefault(file.rpartition("/")[2], []).append(file)
        files = self._named.get(name, [])
        return files[0] if len(set(map(self._lately_moved, files))) == 1 else None

    def _lately(self) -> tuple[Iterable[str], ...]:
        past, now = self._past or _Past(), self._now or _Now()
        return past.committed, past.moved, now.moved

    def _lately_moved(self, name: str) -> str:
        past, now = self._past or _Past(), self._now or _Now()
        name = past.moved.get(name, name)
        return now.moved.get(name, name)

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
        log = self._further("log", "-n1", f"--since=@{since // 1000}", *_CHANGES, "--", name)
        if log is None:
            return None
        last = next(_commits(log), None)
        if last is None or not any(what == "A" for what, _, _ in last[1]):
            return last[0] if last else 0
        # new, or moved there: only to follow it tells, which takes ten times as long
        words = ("log", "--follow", f"-n{_FURTHER_COMMITS}", f"--since=@{since // 1000}", *_CHANGES)
        log = self._further(*words, "--", name)
        if log is None:
            return None
        commits = list(_commits(log))
        for at, changes in commits:
            if any(what != "R100" for what, _, _ in changes):
                return at
        return 0 if len(commits) < _FURTHER_COMMITS else None

    def _further_moved(self, name: str) -> str | None:
        """What a file is called since the commit that took its name away; itself if none did."""
        if name not in self._went:
            self._went[name] = self._move(name)
        return self._went[name]

    def _move(self, name: str) -> str | None:
        commit = self._further("log", "-n1", "--diff-filter=D", "--no-renames", "--format=%H", "--", name)
        if not commit:
            return None if commit is None else name
        log = self._further("log", "-n1", "--diff-filter=R", *_CHANGES, commit.strip())
        if log is None:
            return None
        moves = {old: new for _, changes in _commits(log) for _, old, new in changes}
        return moves.get(name, name)

    def _further(self, *words: str) -> str | None:
        """What git answers within what is left of the time for such questions; None if not."""
        if self._left <= 0:
            return None
        started = time.monotonic()
        said = _git(self._top, self._left, *words)
        self._left -= time.monotonic() - started
        return said.text


def names_before(root: Path, file: str) -> list[str]:
    """The names that a file, or one that is called so in some folder, had before, the latest first."""
    top = next((each for each in (root, *root.parents) if (each / ".git").exists()), root)
    listed = _git(root, _SECONDS, "ls-files", "-z", "--full-name", "--", ".").text or ""
    tracked = [name for name in listed.split("\0") if f"/{name}".endswith(f"/{file}")][:_NAMESAKES]
    status = _git(top, _SECONDS, "status", "--porcelain=v2", "-z", "-M").text if tracked else ""
    found = [old for old, new in _read_status(status or "").moved.items() if new in tracked]
    for name in [*tracked, *found]:
        log = _git(top, _SECONDS, "log", "--follow", f"-n{_MOVES}", "--diff-filter=R", *_CHANGES, "--", name)
        for _, changes in _commits(log.text or ""):
            found += [old for _, old, _ in changes]
    return [os.path.relpath(top / name, root) for name in found]


def _read_log(log: str) -> _Past:
    """From the latest commit back: what was moved is known by the name that it has today."""
    past = _Past()
    today: dict[str, str] = {}
    commits = list(_commits(log))
    for at, changes in commits:
        moves: dict[str, str] = {}
        for what, name, new in changes:
            if what.startswith("R"):
                moves[name] = today.get(new, new)
            if what != "R100":
                past.committed.setdefault(today.get(new, new), at)
        for old, new in moves.items():
            if old not in past.committed:
                past.moved.setdefault(old, new)
        today |= moves
    if len(commits) >= _COMMITS:
        past.oldest = commits[-1][0]
    return past


def _commits(log: str) -> Iterator[tuple[int, list[tuple[str, str, str]]]]:
    """The commits of a log, each with its time in milliseconds and what it did to files."""
    for commit in log.split(_MARK)[1:]:
        at, *fields = commit.split("\0")
        seen = iter(each.removeprefix("\n") if not number else each for number, each in enumerate(fields))
        yield int(at) * 1000, list(_changes(seen))


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


@dataclass(frozen=True, slots=True)
class _Said:
    """What git said, None if it failed; `done` unless there was no time for it."""

    text: str | None
    done: bool = True


def _git(root: Path, seconds: float, *words: str) -> _Said:
    try:
        done = subprocess.run(
            [*_GIT, *_SET, "-C", str(root), *words],
            env={name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            capture_output=True,
            timeout=seconds,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _Said(None, done=False)
    except OSError:
        return _Said(None)
    return _Said(done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None)
