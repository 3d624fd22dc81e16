"""The plugin for Claude Code, judged and run by the real client, alone and beside hooks in the settings."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ..model import Say, Shell
from .claude import Claude
from .story import add_greeting, look_around

pytestmark = pytest.mark.clients

ROOT = Path(__file__).parents[3]


def plugin(agent: Claude, *words: str) -> str:
    done = subprocess.run(
        [*agent.loopback.inside(), str(agent.program), "plugin", *words],
        env=agent.environment(), cwd=agent.project, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, f"claude plugin {' '.join(words)}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def with_plugin(bare_agent: Claude) -> Claude:
    """The client with the plugin from this repository's marketplace."""
    plugin(bare_agent, "marketplace", "add", str(ROOT))
    plugin(bare_agent, "install", "backstory@backstory")
    return bare_agent


@pytest.mark.parametrize("folder", ["", "plugins/claude-code"])
def test_the_client_itself_finds_nothing_wrong_with_marketplace_and_plugin(
    bare_agent: Claude, folder: str
) -> None:
    told = json.loads(plugin(bare_agent, "validate", "--strict", "--json", str(ROOT / folder)))
    assert told["success"] is True, told


def test_with_the_plugin_alone_the_next_session_knows(with_plugin: Claude) -> None:
    add_greeting(with_plugin)
    with_plugin.memory.drained()

    assert "greeting.py" in look_around(with_plugin).brief
    checks = {check["name"]: check for check in with_plugin.memory.ask("doctor")["checks"]}
    assert checks["hooks"]["state"] == "ok"


def test_plugin_and_settings_together_give_one_brief_and_store_each_event_once(with_plugin: Claude) -> None:
    with_plugin.memory.install("claude-code")
    add_greeting(with_plugin)

    run = look_around(with_plugin)

    briefs = [hook for hook in run.hooks if hook.event == "SessionStart" and hook.context]
    assert len(briefs) == 1
    assert run.requests[0].injected_context().count("<backstory-notes") == 1
    starts = [hook for hook in run.hooks if hook.event == "SessionStart"]
    assert len(starts) == 2, "both are there, and one of them steps back"
    kinds = [event["kind"] for event in reversed(with_plugin.memory.timeline(with_plugin.project))]
    assert kinds == [
        "session_started", "prompt", "tool", "tool", "said", "turn_ended", "session_ended",
        "session_started", "prompt", "said", "turn_ended", "session_ended",
    ]  # fmt: skip
    assert with_plugin.memory.status()["duplicates"] == 0


def test_where_there_is_no_backstory_the_plugin_is_not_noticed(with_plugin: Claude) -> None:
    with_plugin.extra["PATH"] = "/usr/bin:/bin"
    assert Path(sys.executable).parent not in (Path("/usr/bin"), Path("/bin"))
    with_plugin.model.when("Look", Shell("ls"), Say("Nothing here."))

    run = with_plugin.run("Look around")

    run.assert_undisturbed("Nothing here.")
    assert not with_plugin.memory.home.exists()
