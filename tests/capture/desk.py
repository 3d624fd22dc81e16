"""A user with Claude Code and settings of their own, a memory, and a project; installing and uninstalling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backstory import jsonc
from backstory.agents import AGENTS
from backstory.capture.agent_setup import Plan, carry_out, plan_install, plan_uninstall
from backstory.paths import Home

CLAUDE = AGENTS["claude-code"]
EVENTS = [hook.name for hook in CLAUDE.hooks]
THEIRS = """\
{
    // how I like it
    "model": "opus",
    "hooks": {
        "Stop": [
            {"matcher": "", "hooks": [{"type": "command", "command": "say done"}]}, // loud
        ],
        /* nothing else yet */
    },
    "env": {"A": "é"}
}
"""


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with a home folder and Claude Code's folder in it."""
    folder = tmp_path / "user"
    (folder / ".claude").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "it's the memory")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def file(user: Path) -> Path:
    """The user's settings."""
    return user / ".claude" / "settings.json"


def install(home: Home, project: Path | None = None, instructions: Path | None = None) -> Plan:
    made = plan_install(CLAUDE, home, project, instructions)
    carry_out(made, home)
    return made


def uninstall(home: Home, project: Path | None = None) -> Plan:
    made = plan_uninstall(CLAUDE, home, project)
    carry_out(made, home)
    return made


def handlers(file: Path, event: str) -> list[dict[str, Any]]:
    groups = jsonc.parse(file.read_text("utf-8")).value["hooks"][event]
    return [handler for group in groups for handler in group["hooks"]]


def did(made: Plan, path: Path) -> dict[str, str]:
    return {change.what: change.action for change in made.changes if change.path == path}


def contents(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}
