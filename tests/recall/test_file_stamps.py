"""Labels of briefs are as fresh as the files: what was prepared is held against them when it is told."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from backstory.hook import file_stamps
from backstory.hook.brief_text import Row
from backstory.recall.rows import stamped
from tests.story import House, Story

Git = Callable[..., str]
CHECK = "AssertionError: separator is wrong here"


@pytest.fixture
def files(house: House, git: Git) -> Path:
    """A project with two files that a session learned a lesson on, committed; the brief is prepared."""
    for name in ("reader.py", "writer.py"):
        (house.project / name).write_text("SEPARATOR = ','\n")
    git(house.project, "add", ".")
    git(house.project, "commit", "--quiet", "--message=All")
    learns(house.session(), "reader.py", "writer.py")
    house.works()
    house.installs()
    house.sets("worker.linger_seconds", "0")
    return house.project


def learns(story: Story, *names: str) -> None:
    story.starts().prompts("Make the reader pass").runs("python check.py", fails=f"Exit code 1\n{CHECK}")
    for name in names:
        story.edits(name, "';'", "','")
    story.runs("python check.py", "ok").stops("Done.").ends()


def told(house: House, folder: Path) -> str:
    """What the installed hook says to a session that starts there now, which is what the command says."""
    asked = house.brief(folder).text
    payload = {"session_id": "another", "cwd": str(folder), "hook_event_name": "SessionStart"}
    printed = house.fires("SessionStart", payload).stdout
    assert json.loads(printed)["hookSpecificOutput"]["additionalContext"] == asked
    return asked


def label_of(text: str) -> str:
    """The label of the lesson in a brief."""
    (line,) = [line for line in text.splitlines() if "] `python check.py` failed" in line]
    return line.rpartition(" [")[2].partition("]")[0] if "] (m" in line else ""


def test_files_that_nobody_touched_have_no_label(house: House, files: Path) -> None:
    assert label_of(told(house, files)) == ""


def test_a_file_edited_after_the_brief_was_prepared_is_told(house: House, files: Path) -> None:
    (files / "reader.py").write_text("SEPARATOR = '|' + ' '\n")
    assert label_of(told(house, files)) == file_stamps.CHANGED


def test_an_edit_that_keeps_the_size_is_told(house: House, files: Path) -> None:
    (files / "writer.py").write_text("SEPARATOR = '|'\n")
    assert label_of(told(house, files)) == file_stamps.CHANGED


def test_one_file_gone_is_a_change_and_all_of_them_are_gone(house: House, files: Path) -> None:
    (files / "reader.py").unlink()
    assert label_of(told(house, files)) == file_stamps.CHANGED
    (files / "writer.py").rename(files / "printer.py")
    assert label_of(told(house, files)) == file_stamps.GONE


def test_a_checkout_there_and_back_cries_no_wolf(house: House, files: Path, git: Git) -> None:
    git(files, "checkout", "--quiet", "-b", "other")
    (files / "reader.py").write_text("another\n")
    git(files, "commit", "--quiet", "--all", "--message=Other")
    assert label_of(told(house, files)) == file_stamps.CHANGED
    git(files, "checkout", "--quiet", "-")
    os.utime(files / "writer.py")
    assert label_of(told(house, files)) == ""


def test_another_work_tree_is_told_by_what_its_own_files_say(
    house: House, files: Path, git: Git, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    git(files, "worktree", "add", "--quiet", str(tree))
    assert label_of(told(house, tree)) == ""
    (files / "reader.py").unlink()
    assert label_of(told(house, tree)) == ""
    (tree / "reader.py").write_text("SEPARATOR = '|'\n")
    assert label_of(told(house, tree)) == file_stamps.CHANGED


def test_a_session_in_a_folder_below_is_told_of_the_same_files(house: House, files: Path) -> None:
    (files / "below").mkdir()
    (files / "reader.py").unlink()
    assert label_of(told(house, files / "below")) == file_stamps.CHANGED


def test_a_label_that_was_prepared_gives_way_to_what_is_so_now(house: House, files: Path, git: Git) -> None:
    git(files, "mv", "reader.py", "parser.py")
    house.session().starts().prompts("Something else").stops("Yes.").ends()
    house.works()
    assert label_of(told(house, files)) == "its files: moved to parser.py"
    (files / "parser.py").write_text("SEPARATOR = '|'\n")
    assert label_of(told(house, files)) == file_stamps.CHANGED
    (files / "parser.py").unlink()
    (files / "writer.py").unlink()
    assert label_of(told(house, files)) == file_stamps.GONE


def test_what_a_session_still_does_to_its_files_is_not_held_against_it(house: House, files: Path) -> None:
    story = house.session().starts().prompts("Make the loader pass")
    story.runs("python load.py", fails="Exit code 1\nValueError: the loader has no header")
    (files / "loader.py").write_text("HEADER = 1\n")
    os.utime(files / "loader.py", (1, 1))
    story.edits("loader.py", "HEADER = 0", "HEADER = 1").runs("python load.py", "ok").stops("Done.")
    house.works()
    (files / "loader.py").write_text("HEADER = 100\n")
    story.prompts("And now a longer header").edits("loader.py", "HEADER = 1", "HEADER = 100")
    (line,) = [line for line in told(house, files).splitlines() if "] `python load.py` failed" in line]
    assert "its files" not in line
    house.works()
    (files / "loader.py").unlink()
    assert file_stamps.GONE in told(house, files)


def test_a_project_whose_folder_is_gone_gets_no_labels(house: House, files: Path) -> None:
    rows = [Row("m1", "failed", "text", 0, files=("reader.py",))]
    prepared = stamped([{"files": ["reader.py"]}], str(files), 5)
    file_stamps.label_rows(rows, prepared, str(files / "nowhere"))
    assert rows[0].label == ""
    (files / "reader.py").unlink()
    file_stamps.label_rows(rows, prepared, str(files))
    assert rows[0].label == file_stamps.GONE


@pytest.mark.parametrize("kept", [None, 7, "x", {"reader.py": 7}, {"reader.py": [1]}, {"other": []}, {}])
def test_stamps_in_any_state_disturb_nothing(tmp_path: Path, kept: object) -> None:
    rows = [Row("m1", "failed", "text", 0, files=("reader.py", "a\0b", "x" * 5_000))]
    file_stamps.label_rows(rows, {"root": str(tmp_path), "files": kept}, str(tmp_path))
    assert rows[0].label == ""


def test_what_cannot_be_looked_at_counts_as_the_same(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    names = ["loop", "pipe", "x" * 5_000, "a\0b", "folder", "large"]
    (tmp_path / "folder").mkdir()
    (tmp_path / "large").write_bytes(b"x" * 100_000)
    prepared = stamped([{"files": names}], str(tmp_path), 40)
    assert prepared["files"].keys() == {"pipe", "folder", "large"}
    (tmp_path / "folder" / "new").touch()
    os.utime(tmp_path / "large", (1, 1))
    rows = [Row("m1", "failed", "text", 0, files=tuple(names))]
    file_stamps.label_rows(rows, prepared, str(tmp_path))
    assert rows[0].label == ""


def test_every_row_has_a_file_stamped_before_one_has_all_and_none_outside(tmp_path: Path) -> None:
    rows = [{"files": ["a1", "a2", "a3", "/etc/passwd"]}, {"files": ["../b0", "b1"]}, {}, {"files": ["c1"]}]
    assert list(stamped(rows, str(tmp_path), 3)["files"]) == ["a1", "c1", "a2"]
    told = [Row("m1", "failed", "text", 0, files=("a1", "../b0"))]
    prepared = {"root": str(tmp_path), "files": {"a1": [3, 3, ""]}}
    file_stamps.label_rows(told, prepared, str(tmp_path))
    assert told[0].label == file_stamps.CHANGED, "nobody looked whether all are gone"


def test_a_file_that_git_moved_to_a_name_that_is_no_text_disturbs_nothing(
    house: House, files: Path, git: Git
) -> None:
    subprocess.run([b"git", b"mv", b"reader.py", b"re\xffader.py"], cwd=files, check=True)
    house.session().starts().prompts("Something else").stops("Yes.").ends()
    house.works()
    assert label_of(told(house, files)) == file_stamps.CHANGED
