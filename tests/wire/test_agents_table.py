"""The table of agents: what we install, and for how long an agent waits for it."""

import pytest

from backstory.agents import AGENTS, agent
from backstory.agents.claude_code import config_dir, history_dir, settings_file
from backstory.agents.own_output import is_our_tool
from backstory.errors import UsageError


def test_every_row_is_sound() -> None:
    for name, row in AGENTS.items():
        assert row.name == name
        assert agent(name) is row
        assert len({hook.name for hook in row.hooks}) == len(row.hooks)
        for hook in row.hooks:
            assert hook.name.isalnum()  # it becomes part of a file's name
            assert 0 < hook.timeout <= 15
            assert hook.wakes or not hook.answers, "a hook that answers starts the worker"


def test_an_unknown_agent_is_refused_with_the_known_names() -> None:
    with pytest.raises(UsageError, match="claude-code, codex"):
        agent("clippy")


# CM-1
def test_cm_1_the_hooks_of_claude_code_have_short_explicit_timeouts() -> None:
    timeouts = {hook.name: hook.timeout for hook in agent("claude-code").hooks}
    assert timeouts["SessionStart"] <= 15
    assert timeouts["PreCompact"] <= 10
    assert timeouts["SessionEnd"] <= 10
    assert set(timeouts) == {
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop",
        "StopFailure", "SubagentStop", "PreCompact", "PostCompact", "SessionEnd",
    }  # fmt: skip


def test_tool_hooks_never_wake_the_worker_and_stops_always_do() -> None:
    wakes = {hook.name for hook in agent("claude-code").hooks if hook.wakes}
    assert {"SessionStart", "Stop", "StopFailure", "SessionEnd"} <= wakes
    assert not {"PostToolUse", "PostToolUseFailure"} & wakes


def test_settings_lie_where_claude_code_looks(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    assert str(settings_file()) == f"{tmp_path}/settings.json"
    assert str(history_dir()) == f"{tmp_path}/projects"
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    assert config_dir().name == ".claude"
    assert settings_file(config_dir()).parts[-2:] == (".claude", "settings.local.json")


@pytest.mark.parametrize("name", ["mcp__backstory__search", "mcp__plugin_backstory_backstory__get"])
def test_our_own_tools_are_known_by_name(name: str) -> None:
    assert is_our_tool(name)
    assert not is_our_tool("mcp__other__backstory")


def test_no_session_is_taken_up_by_a_command_that_its_id_changes() -> None:
    """An imported one may be called like an option: whoever copies the command would give it."""
    for each in AGENTS.values():
        assert each.resume_command("--dangerously-skip-permissions") == ""
        if each.resume:
            assert each.resume_command("a; rm -rf ~") == each.resume.format(session="'a; rm -rf ~'")
