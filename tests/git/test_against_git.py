"""What is read without git is what git itself says, in repositories of all sorts."""

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from backstory.git.commit_history import former_names, touches
from backstory.git.ignore_rules import is_ignored
from backstory.git.repository import Repository
from backstory.git.work_tree import is_changed, shortstat, staged_moves
from backstory.hook.project_identity import resolve_place
from tests.conftest import Git, repository

TEXT = "".join(f"line {number} of a file\n" for number in range(40))


def opened(folder: Path) -> Repository:
    return Repository(resolve_place(str(folder)), 30)


def git_says(folder: Path, git: Git) -> str:
    return git(folder, "-c", "core.fileMode=false", "diff", "--shortstat", "HEAD")


@pytest.fixture
def tree(tmp_path: Path, git: Git) -> Path:
    """A repository with folders, a link, a binary file and names that need quoting."""
    folder = repository(tmp_path / "shop", git)
    for name in ("src/a.py", "src/deep/b.py", "src/deep/c.py", "docs/ä ö.md", "top.txt", "sr", "src-x/y"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(TEXT + name)
    (folder / "picture").write_bytes(b"\0\1\2" * 100)
    (folder / "link").symlink_to("top.txt")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=More")
    return folder


def edit(folder: Path, git: Git) -> None:
    (folder / "src/a.py").write_text("first\n" + TEXT)


def stage_and_edit(folder: Path, git: Git) -> None:
    (folder / "src/a.py").write_text("first\n" + TEXT)
    git(folder, "add", ".")
    (folder / "src/a.py").write_text("first\nsecond\n" + TEXT)


def stage_and_take_back(folder: Path, git: Git) -> None:
    before = (folder / "src/a.py").read_bytes()
    (folder / "src/a.py").write_text("other\n")
    git(folder, "add", ".")
    (folder / "src/a.py").write_bytes(before)


def new_staged(folder: Path, git: Git) -> None:
    (folder / "new/deep").mkdir(parents=True)
    (folder / "new/deep/file.py").write_text("one\ntwo\n")
    git(folder, "add", ".")


def new_intended(folder: Path, git: Git) -> None:
    (folder / "later.py").write_text("one\ntwo\n")
    git(folder, "add", "--intent-to-add", "later.py")


def untracked(folder: Path, git: Git) -> None:
    (folder / "nobody.py").write_text("one\n")


def moved(folder: Path, git: Git) -> None:
    git(folder, "mv", "src/deep", "src/other")


def moved_and_edited(folder: Path, git: Git) -> None:
    git(folder, "mv", "src/deep/b.py", "moved.py")
    (folder / "moved.py").write_text(TEXT.replace("line 7 ", "seventh "))
    git(folder, "add", ".")


def deleted(folder: Path, git: Git) -> None:
    (folder / "top.txt").unlink()
    git(folder, "rm", "--quiet", "src/a.py")


def folder_for_file(folder: Path, git: Git) -> None:
    (folder / "sr").unlink()
    (folder / "sr").mkdir()
    (folder / "sr/inner").write_text("x\n")
    git(folder, "add", "--all", ".")


def binary(folder: Path, git: Git) -> None:
    (folder / "picture").write_bytes(b"\0\3" * 100)


def link_elsewhere(folder: Path, git: Git) -> None:
    (folder / "link").unlink()
    (folder / "link").symlink_to("sr")


def touched(folder: Path, git: Git) -> None:
    for path in folder.rglob("*.py"):
        os.utime(path, (1, 1))


def same_size_same_moment(folder: Path, git: Git) -> None:
    stamp = (folder / ".git/index").stat().st_mtime_ns
    text = (folder / "top.txt").read_text()
    (folder / "top.txt").write_text(text.replace("line 1 ", "LINE 1 "))
    os.utime(folder / "top.txt", ns=(stamp, stamp))


def conflict(folder: Path, git: Git) -> None:
    git(folder, "checkout", "--quiet", "-b", "theirs")
    (folder / "top.txt").write_text("theirs\n")
    git(folder, "commit", "--quiet", "-am", "theirs")
    git(folder, "checkout", "--quiet", "main")
    (folder / "top.txt").write_text("ours\n")
    git(folder, "commit", "--quiet", "-am", "ours")
    with pytest.raises(Exception, match="exit status 1"):
        git(folder, "merge", "--quiet", "theirs")


def version_4(folder: Path, git: Git) -> None:
    git(folder, "update-index", "--index-version", "4")
    edit(folder, git)
    moved(folder, git)


def assumed_unchanged(folder: Path, git: Git) -> None:
    git(folder, "update-index", "--assume-unchanged", "top.txt")
    git(folder, "update-index", "--skip-worktree", "src/a.py")
    (folder / "src/a.py").write_text("other\n")


def line_ends(folder: Path, git: Git) -> None:
    git(folder, "config", "core.autocrlf", "true")
    (folder / "top.txt").write_bytes((TEXT + "top.txt").replace("\n", "\r\n").encode())
    (folder / "src/a.py").write_bytes((TEXT + "more\n").replace("\n", "\r\n").encode())


def packed(folder: Path, git: Git) -> None:
    git(folder, "gc", "--quiet")
    edit(folder, git)


def nothing(folder: Path, git: Git) -> None: ...


STATES = [
    *(
        nothing,
        edit,
        stage_and_edit,
        stage_and_take_back,
        new_staged,
        new_intended,
        untracked,
        moved,
        deleted,
    ),
    *(moved_and_edited, folder_for_file, binary, link_elsewhere, touched, same_size_same_moment, conflict),
    *(version_4, assumed_unchanged, line_ends, packed),
]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_the_shortstat_is_gits_own(tree: Path, git: Git, state: Callable[[Path, Git], None]) -> None:
    state(tree, git)
    ours = shortstat(opened(tree))  # first: git itself refreshes the index
    assert ours == git_says(tree, git)


def test_after_any_number_of_steps_the_shortstat_is_gits_own(tree: Path, git: Git) -> None:
    dice = random.Random(7)
    for _ in range(12):
        names = [path for path in tree.rglob("*") if path.is_file() and ".git" not in path.parts]
        chosen = dice.choice(names)
        what = dice.randrange(5)
        if what == 0:
            chosen.unlink()
        elif what == 1:
            (tree / f"new{dice.random()}").write_text(f"{dice.random()}\n" * dice.randrange(1, 9))
        elif what == 2 and not chosen.is_symlink():
            shutil.move(chosen, tree / "docs" / f"moved{dice.random()}")
        else:
            chosen.write_text(f"{dice.random()}\n{TEXT}")
        if dice.random() < 0.7:
            git(tree, "add", "--all", ".")
        if dice.random() < 0.3:
            git(tree, "commit", "--quiet", "--allow-empty", "--message=Step")
        ours = shortstat(opened(tree))
        assert ours.partition(",")[0] == git_says(tree, git).partition(",")[0]


def test_a_worktree_a_submodule_and_a_shared_clone_are_read_too(tmp_path: Path, tree: Path, git: Git) -> None:
    git(tree, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    git(tree, "submodule", "--quiet", "add", str(repository(tmp_path / "library", git)), "vendor/library")
    git(tmp_path, "clone", "--quiet", "--shared", str(tree), "shared")
    for folder in (tmp_path / "linked", tree / "vendor/library", tmp_path / "shared"):
        assert shortstat(opened(folder)) == ""
        (folder / "auth.py").write_text("x = 1\ny = 2\n")
        assert shortstat(opened(folder)) == git_says(folder, git) == "1 file changed, 1 insertion(+)"


def test_one_file_is_changed_if_it_is_not_what_head_has(tree: Path, git: Git) -> None:
    (tree / "src/a.py").write_text("other\n")
    (tree / "top.txt").write_text("staged\n")
    (tree / "nobody.py").write_text("untracked\n")
    git(tree, "add", "top.txt")
    names = ("src/a.py", "top.txt", "nobody.py", "docs/ä ö.md", "src/deep/b.py")
    assert [is_changed(opened(tree), name.encode(), name.encode()) for name in names] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_what_is_moved_and_not_committed_is_known(tree: Path, git: Git) -> None:
    git(tree, "mv", "src/deep", "src/other")
    moves = {(move.old, move.new) for move in staged_moves(opened(tree))}
    assert moves == {(b"src/deep/b.py", b"src/other/b.py"), (b"src/deep/c.py", b"src/other/c.py")}


@pytest.mark.parametrize("packs", [False, True], ids=["loose", "packed"])
def test_the_commits_of_a_file_are_those_that_git_log_names(tree: Path, git: Git, packs: bool) -> None:
    for number in range(4):
        (tree / "top.txt").write_text(f"{number}\n{TEXT}")
        git(tree, "commit", "--quiet", "-am", "Top")
        git(tree, "checkout", "--quiet", "-b", f"side{number}")
        (tree / "src/a.py").write_text(f"{number}\n{TEXT}")
        git(tree, "commit", "--quiet", "-am", "Side")
        git(tree, "checkout", "--quiet", "main")
        (tree / "sr").write_text(f"{number}\n{TEXT}")
        git(tree, "commit", "--quiet", "-am", "Main")
        git(tree, "merge", "--quiet", "--no-edit", f"side{number}")
    git(tree, "mv", "top.txt", "bottom.txt")
    git(tree, "commit", "--quiet", "-m", "Moved")
    if packs:
        git(tree, "gc", "--quiet")
    read = opened(tree)
    for name in ("top.txt", "bottom.txt", "src/a.py", "sr", "docs/ä ö.md", "never"):
        ours = {touch.commit.oid for touch in touches(read, name.encode())}
        assert ours == set(git(tree, "log", "--format=%H", "--", name).split())
    assert former_names(read, b"bottom.txt", 8) == [b"top.txt"]


RULES = ("*.local.json", "/.claude/", ".claude/settings.local.json", "settings.local.json", "**/.claude/*.json",
         ".claude/*\n!.claude/settings.local.json", "other", "# settings.local.json", "claude", "/settings.local.json",
         "*", ".claude")  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("where", [".gitignore", ".git/info/exclude", ".claude/.gitignore"])
def test_a_file_is_ignored_if_git_ignores_it(tree: Path, git: Git, rule: str, where: str) -> None:
    file = tree / ".claude" / "settings.local.json"
    file.parent.mkdir()
    file.write_text("{}")
    (tree / where).write_text(rule + "\n")
    listed = git(tree, "ls-files", "--others", "--exclude-standard", "--", str(file))
    assert is_ignored(resolve_place(str(tree)), file) == (not listed)
