"""A home with its hook files, a project under git, and an agent that runs hooks there."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from backstory.capture.hookfiles import write_hook_files

from .stage import STAND_IN, Agent


@pytest.fixture
def stand_in(tmp_path: Path) -> str:
    """An interpreter that runs the answering hook for real and a stand-in for the worker."""
    (tmp_path / "stand_in.py").write_text(STAND_IN)
    script = tmp_path / "python"
    script.write_text(
        f'#!/bin/sh\ncase $3 in */hook.pyc) exec "{sys.executable}" "$@" ;; esac\n'
        f'exec "{sys.executable}" "{tmp_path}/stand_in.py" "$@"\n'
    )
    script.chmod(0o755)
    return str(script)


@pytest.fixture
def agent(tmp_path: Path, stand_in: str) -> Agent:
    """An agent whose home has a name that needs quoting."""
    home = tmp_path / "it's a höme"
    write_hook_files(home, stand_in)
    return Agent(home)


@pytest.fixture
def git() -> Callable[..., str]:
    """Runs git in a folder, without anybody's configuration."""

    def run(folder: Path, *arguments: str) -> str:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "A",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.org",
        }
        options = ["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"]
        done = subprocess.run(
            ["git", *options, *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    return run


@pytest.fixture
def project(tmp_path: Path, git: Callable[..., str]) -> Path:
    """A repository with one commit and no remote."""
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "first")
    return folder
