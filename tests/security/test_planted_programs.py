"""A program that a repository or another user planted on the PATH is never started."""

import os
import stat
import sys
from pathlib import Path

import pytest

from backstory.agents import AGENTS
from backstory.doctor import agent_clients
from backstory.program_lookup import find_program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="plants a shell script")


def plant(folder: Path, proof: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "claude"
    program.write_text(f"#!/bin/sh\ntouch '{proof}'\necho 9.9.9\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    (root / "src").mkdir()
    monkeypatch.chdir(root / "src")
    return root


@pytest.mark.parametrize(
    "entry", [".", "", "bin", "../bin", "{root}/bin", "{root}/src/../bin", "{link}", "{open}"]
)
def test_a_planted_program_is_neither_found_nor_run(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    proof, open_folder, link = tmp_path / "proof", tmp_path / "open", tmp_path / "link"
    for folder in (repository / "bin", repository / "src", repository / "src" / "bin", open_folder):
        plant(folder, proof)
    open_folder.chmod(0o777)
    link.symlink_to(repository / "bin")
    monkeypatch.setenv("PATH", entry.format(root=repository, link=link, open=open_folder))
    assert find_program("claude") is None
    assert agent_clients._version(AGENTS["claude-code"]) is None
    assert not proof.exists()


def test_the_users_own_program_is_found_behind_a_planted_one(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(repository / "bin", tmp_path / "proof")
    own = plant(tmp_path / "own", tmp_path / "own-proof")
    monkeypatch.setenv("PATH", os.pathsep.join([".", str(repository / "bin"), str(own.parent)]))
    assert find_program("claude") == str(own)
    assert stat.S_IMODE(own.parent.stat().st_mode) & stat.S_IWOTH == 0


def test_programs_below_the_home_count_while_the_home_is_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = plant(tmp_path / ".local" / "bin", tmp_path / "proof")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(own.parent))
    monkeypatch.chdir(tmp_path)
    assert find_program("claude") == str(own)
