"""A home with its hook files, and an agent that runs hooks there."""

import sys
from pathlib import Path

import pytest

from backstory.capture.hook_bundle import write_hook_files

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
