"""The pages about agents and schedules, and the plugin's hooks, are those that would be generated now."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import backstory
from backstory.agents import AGENTS
from backstory.cli.setup_pages import agents_page, schedules_page

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PLUGIN = ROOT / "plugins" / "claude-code"


def test_the_page_of_agents_is_up_to_date() -> None:
    assert (DOCS / "agents.md").read_text("utf-8") == agents_page(), "run `make docs`"


def test_the_page_of_schedules_is_up_to_date_mp_29() -> None:
    """MP-29"""
    assert (DOCS / "schedules.md").read_text("utf-8") == schedules_page(), "run `make docs`"


def test_every_agent_has_its_row_and_no_path_of_this_machine_is_on_the_pages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/moved/claude")
    monkeypatch.setenv("HOME", "/home/developer")
    before = dict(os.environ)
    page = agents_page()
    assert os.environ == before
    assert all(f"| **{agent.title}** |" in page for agent in AGENTS.values())
    assert "/moved" not in page
    assert "developer" not in page + schedules_page()
    assert sys.prefix not in page + schedules_page()


def test_the_plugins_hooks_are_those_that_install_writes() -> None:
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
    assert {event: groups[0]["hooks"][0]["timeout"] for event, groups in hooks.items()} == {
        hook.name: hook.timeout for hook in AGENTS["claude-code"].hooks
    }, "run `make docs`"


def test_the_plugin_has_the_version_of_the_product() -> None:
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    assert manifest["version"] == backstory.__version__


@pytest.mark.parametrize("there", [True, False])
def test_a_hook_of_the_plugin_ends_well_whatever_is_missing(tmp_path: Path, there: bool) -> None:
    command = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]["Stop"][0]["hooks"][0][
        "command"
    ]
    ran = subprocess.run(
        ["/bin/sh", "-c", command],
        env={"HOME": str(tmp_path), "CLAUDE_PLUGIN_ROOT": str(PLUGIN if there else tmp_path / "gone")},
        input=b"{}",
        capture_output=True,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    assert list(tmp_path.iterdir()) == []
