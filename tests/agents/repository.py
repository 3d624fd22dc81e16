"""A project under git, the user's own configuration out of reach."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def repository(folder: Path) -> Path:
    """A repository with one commit."""
    folder.mkdir()
    (folder / "README.md").write_text("# A project\n")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=Begin")
    return folder


def git(folder: Path, *words: str) -> str:
    someone = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]
    nobodys = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(
        ["git", *someone, *words],
        cwd=folder,
        env={**os.environ, **nobodys},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
