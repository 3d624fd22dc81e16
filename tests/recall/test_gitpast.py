"""What git knows of files that many commits have passed over since."""

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from backstory.recall import gitpast
from backstory.recall.freshness import _Tree

DAY = 86_400
NOW = int(time.time())
SINCE = (NOW - 10 * DAY) * 1000  # when the memory was made
TEXT = "".join(f"line {number} of what it says\n" for number in range(30))
Commit = tuple[int, str]  # when, and what it does, as `git fast-import` reads it


def writes(name: str, text: str) -> str:
    return f"M 100644 inline {name}\ndata {len(text.encode())}\n{text}\n"


def later(count: int) -> Iterator[Commit]:
    """So many commits of the last five days that touch another file."""
    for number in range(count):
        yield NOW - 5 * DAY + number * 60, writes("other.py", f"version {number}\n")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "--quiet", "-b", "main", folder], check=True)
    return folder


def commits(folder: Path, *those: Commit) -> None:
    """Make these commits, and a work tree that was just checked out."""
    stream = "".join(
        f"commit refs/heads/main\ncommitter A <a@b.example> {at} +0000\ndata 4\nDone\n{what}\n"
        for at, what in those
    )
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=stream.encode(), check=True)
    subprocess.run(["git", "reset", "--quiet", "--hard", "main"], cwd=folder, check=True)


FIRST = (NOW - 20 * DAY, writes("queue.py", TEXT) + writes("other.py", "first\n"))
CHANGED = (NOW - 8 * DAY, writes("queue.py", "another\n"))
MOVED = (NOW - 8 * DAY, "R queue.py bus.py\n")


def test_a_file_that_changed_before_the_last_400_commits_is_not_fresh(tree: Path) -> None:
    commits(tree, FIRST, CHANGED, *later(gitpast._COMMITS + 5))
    assert _Tree(tree).state("queue.py", SINCE) == "changed since"
    assert _Tree(tree).state("queue.py", (NOW - 7 * DAY) * 1000) == "fresh", "it was, before this memory"


def test_one_memory_of_a_file_tells_nothing_of_an_older_one(tree: Path) -> None:
    commits(tree, FIRST, CHANGED, *later(gitpast._COMMITS + 5))
    both = _Tree(tree)
    assert both.state("queue.py", (NOW - 7 * DAY) * 1000) == "fresh"
    assert both.state("queue.py", SINCE) == "changed since"
    assert both.state("queue.py", (NOW - 7 * DAY) * 1000) == "fresh"


def test_a_file_that_no_commit_touched_is_fresh_after_any_number_of_them(tree: Path) -> None:
    commits(tree, FIRST, *later(gitpast._COMMITS + 5))
    assert _Tree(tree).state("queue.py", SINCE) == "fresh"


def test_a_file_that_was_moved_before_the_last_400_commits_is_where_it_went(tree: Path) -> None:
    commits(tree, FIRST, MOVED, *later(gitpast._COMMITS + 5))
    assert _Tree(tree).state("queue.py", SINCE) == "moved to bus.py"
    assert _Tree(tree).today("queue.py") == "bus.py"
    assert _Tree(tree).state("bus.py", SINCE) == "fresh", "it says what it said"


def test_a_file_that_was_moved_long_ago_and_again_lately_is_where_it_is_now(tree: Path) -> None:
    again = (NOW - DAY, "R bus.py events.py\n")
    commits(tree, FIRST, MOVED, *later(gitpast._COMMITS + 5), again)
    assert _Tree(tree).state("queue.py", SINCE) == "moved to events.py"


def test_a_file_that_was_moved_and_changed_long_ago_has_changed(tree: Path) -> None:
    changed = (NOW - 7 * DAY, writes("bus.py", "another\n"))
    commits(tree, FIRST, MOVED, changed, *later(gitpast._COMMITS + 5))
    assert _Tree(tree).state("queue.py", SINCE) == "changed since"


def test_a_file_that_was_deleted_long_ago_is_gone(tree: Path) -> None:
    commits(tree, FIRST, (NOW - 8 * DAY, "D queue.py\n"), *later(gitpast._COMMITS + 5))
    assert _Tree(tree).state("queue.py", SINCE) == "gone"
    assert _Tree(tree).state("never.py", SINCE) == "gone"


@pytest.mark.parametrize("what", [CHANGED, MOVED], ids=["changed", "moved"])
def test_what_cannot_be_read_in_time_has_no_label(
    tree: Path, monkeypatch: pytest.MonkeyPatch, what: Commit
) -> None:
    commits(tree, FIRST, what, *later(gitpast._COMMITS + 5))
    monkeypatch.setattr(gitpast, "_FURTHER_SECONDS", 0.0)
    assert _Tree(tree).state("queue.py", SINCE) == ""
    assert _Tree(tree).today("queue.py") == "queue.py"


def test_without_any_time_only_what_nobody_touched_is_fresh(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits(tree, FIRST, CHANGED)
    monkeypatch.setattr(gitpast, "_SECONDS", 0.0)
    monkeypatch.setattr(gitpast, "_STATUS_SECONDS", 0.0)
    monkeypatch.setattr(gitpast, "_FURTHER_SECONDS", 0.0)
    assert _Tree(tree).state("queue.py", SINCE) == ""
    os.utime(tree / "queue.py", (SINCE / 1000 - DAY,) * 2)
    assert _Tree(tree).state("queue.py", SINCE) == "fresh"


def test_what_is_not_committed_is_not_called_fresh_if_to_compare_it_took_too_long(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits(tree, FIRST)
    (tree / "queue.py").write_text("edited\n")
    monkeypatch.setattr(gitpast, "_STATUS_SECONDS", 0.0)
    assert _Tree(tree).state("queue.py", SINCE) == ""


def test_within_the_last_400_commits_no_file_is_asked_for_by_its_name(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits(tree, FIRST, CHANGED, MOVED, *later(300))
    monkeypatch.setattr(gitpast, "_FURTHER_SECONDS", 0.0)
    whole = _Tree(tree)
    assert [whole.state(name, SINCE) for name in ("queue.py", "bus.py", "other.py", "never.py")] == [
        "changed since",
        "changed since",
        "changed since",
        "gone",
    ]
