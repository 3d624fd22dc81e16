"""Asked in a folder of no known project, commands say so and name the known ones."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .memory import Memory
from .test_install import with_a_past as with_a_past


@pytest.mark.parametrize("words", [("brief",), ("review",), ("search", "login test")])
def test_an_unknown_folder_is_told_which_projects_are_known(
    worked: Memory, tmp_path: Path, words: tuple[str, ...]
) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    told = worked.ask(*words, cwd=other).stderr
    assert f"Nothing is known of {other}. 1 other project known, the latest:" in told
    (line,) = [each for each in told.split("\n") if "&&" in each]
    assert line.startswith(f"cd {worked.project} && backstory {words[0]}")
    done = subprocess.run(
        ["sh", "-c", line], env=worked.environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip(), done.stderr
    assert worked.json(*words, "--cwd", str(other)) is not None


def test_a_project_whose_folder_is_gone_is_named_by_an_option(worked: Memory, tmp_path: Path) -> None:
    shutil.rmtree(worked.project)
    told = worked.ask("brief", cwd=tmp_path).stderr
    assert f"backstory brief --cwd {worked.project}" in told


def test_in_a_known_project_nothing_else_is_named(worked: Memory) -> None:
    assert "other project" not in worked.ask("search", "zzyzx quux").stderr


def test_install_ends_with_how_to_see_what_was_learned(with_a_past: Memory) -> None:
    done = with_a_past.run("install", "--yes")
    last = done.stderr.rstrip("\n").split("\n")[-1]
    assert last.startswith("See what was learned: `")
    assert "backstory brief" in last
    assert os.path.isabs(last.partition("--cwd ")[2].rstrip("`") or last.partition("cd ")[2])
