"""install and uninstall: shown before they are done, asked for, and undone without a trace."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from backstory.agents import agent as known_agent
from backstory.capture.importer import ImportLine, ImportTally, Tag
from backstory.capture.settings_files import installable_agents
from backstory.cli.first_import import sessions_told

from .memory import AGENT, Memory

TRANSCRIPT = Path(__file__).parents[1] / "wire" / "samples" / "fail-subagent-resume-compact.jsonl"


def settings_of(memory: Memory) -> Path:
    return memory.user / ".claude" / "settings.json"


def test_install_named_connects_even_an_agent_that_is_not_found(memory: Memory) -> None:
    done = memory.run("install", AGENT, "--yes")
    assert done.returncode == 0
    assert "warning" in done.stderr
    assert "SessionStart" in json.loads(settings_of(memory).read_text())["hooks"]
    assert (memory.home / "hook" / "hook.sh").exists()


def test_install_without_a_name_connects_what_is_found(memory: Memory) -> None:
    assert memory.ask("install", "--yes").exit_code == 1
    (memory.user / ".claude").mkdir()
    done = memory.ask("install", "--yes")
    assert done.exit_code == 0
    assert settings_of(memory).exists()


@pytest.mark.parametrize("kept", ["opencode.db", "storage/session/p/ses_1.json"])
def test_an_agent_of_which_only_the_history_is_there_is_found(memory: Memory, kept: str) -> None:
    history = memory.user / ".local" / "share" / "opencode" / kept
    history.parent.mkdir(parents=True)
    history.touch()
    done = memory.ask("install", "--yes", "--no-import")
    assert done.exit_code == 0, done.output
    assert (memory.user / ".config" / "opencode" / "plugins" / "backstory.js").exists()


def test_a_dry_run_prints_the_change_and_makes_none(memory: Memory) -> None:
    done = memory.run("install", AGENT, "--dry-run")
    assert done.returncode == 0
    assert f"+++ {settings_of(memory)}" in done.stdout
    assert "BACKSTORY_EVENT=SessionStart" in done.stdout
    assert not settings_of(memory).exists()
    assert not memory.home.exists()


def test_install_asks_first(memory: Memory) -> None:
    for answer in (b"n\n", b"\n"):
        done = memory.run("install", AGENT, stdin=answer)
        assert done.returncode == 0
        assert "Nothing was changed" in done.stderr
        assert not settings_of(memory).exists()
    done = memory.run("install", AGENT, stdin=b"")
    assert done.returncode == 1
    assert "--yes" in done.stderr
    assert memory.run("install", AGENT, stdin=b"y\n").returncode == 0
    assert settings_of(memory).exists()


def test_a_second_install_changes_nothing_and_asks_nothing(memory: Memory) -> None:
    """CCE-27"""
    first = memory.json("install", AGENT, "--yes")
    before = settings_of(memory).read_bytes()
    again = memory.json("install", AGENT)
    assert first["changed"] is True
    assert again["changed"] is False
    hooks_and_server = len(known_agent(AGENT).hooks) + 1
    assert first["agents"][0]["counts"]["add"] == hooks_and_server
    assert again["agents"][0]["counts"]["keep"] == hooks_and_server + 1, "and the script"
    assert settings_of(memory).read_bytes() == before


def test_install_for_a_project_stays_in_the_project(memory: Memory) -> None:
    assert memory.ask("install", AGENT, "--project", "--yes").exit_code == 0
    assert (memory.project / ".claude" / "settings.local.json").exists()
    assert not settings_of(memory).exists()
    assert memory.ask("uninstall", "--yes").exit_code == 0
    assert not (memory.project / ".claude").exists()


def test_instructions_are_written_only_when_asked_for(memory: Memory) -> None:
    memory.ask("install", AGENT, "--yes")
    assert not (memory.user / ".claude" / "CLAUDE.md").exists()
    memory.ask("install", AGENT, "--yes", "--instructions")
    assert "backstory search" in (memory.user / ".claude" / "CLAUDE.md").read_text()
    memory.ask("uninstall", "--yes")
    assert not (memory.user / ".claude" / "CLAUDE.md").exists()


def test_settings_that_are_not_json_are_left_alone(memory: Memory) -> None:
    settings_of(memory).parent.mkdir()
    settings_of(memory).write_text('{"hooks": ')
    done = memory.ask("install", AGENT, "--yes")
    assert done.exit_code == 1
    assert str(settings_of(memory)) in done.stderr
    assert settings_of(memory).read_text() == '{"hooks": '


def test_uninstall_asks_shows_and_leaves_nothing_but_the_memory(worked: Memory) -> None:
    """CCE-34"""
    settings_of(worked).parent.mkdir()
    settings_of(worked).write_text('{\n  // mine\n  "model": "opus"\n}\n')
    worked.ask("install", AGENT, "--yes")
    worked.prompt("This waits in the spool when the agent is disconnected.")
    installed = settings_of(worked).read_bytes()

    shown = worked.run("uninstall", AGENT, "--dry-run")
    assert "-" in shown.stdout
    assert "BACKSTORY_EVENT=Stop" in shown.stdout
    refused = worked.run("uninstall", AGENT, stdin=b"n\n")
    assert (refused.returncode, settings_of(worked).read_bytes()) == (0, installed)

    done = worked.run("uninstall", AGENT, "--yes")
    assert done.returncode == 0
    assert settings_of(worked).read_text() == '{\n  // mine\n  "model": "opus"\n}\n'
    left = {path.name for path in worked.home.iterdir()} - {"briefs", "knowledge"}
    assert left == {"backstory.db", "spare.jsonl"}
    assert worked.json("search", "waits in the spool when disconnected")["hits"]


def test_uninstall_asks_about_connected_agents_only(worked: Memory) -> None:
    worked.ask("install", AGENT, "gemini-cli", "--yes")
    asked = worked.ask("uninstall", stdin=b"n\n")
    (question,) = [each for each in asked.stderr.split("\n") if "Disconnect" in each]
    assert f"Disconnect {AGENT}, gemini-cli?" in question
    assert worked.ask("uninstall", "--yes").exit_code == 0
    assert "Disconnect" not in worked.ask("uninstall", stdin=b"n\n").stderr


def test_imported_sub_agents_are_counted_apart(memory: Memory) -> None:
    line = ImportLine(Tag.NEW, AGENT, "s", memory.project, events=2)
    tally = ImportTally()
    for each in (line, replace(line, subagent="a"), replace(line, subagent="b", tag=Tag.GROWN)):
        tally.add(each)
    tally.add(replace(line, subagent="c", tag=Tag.SKIP))
    assert sessions_told(tally) == "1 session and its 2 sub-agents"


def test_uninstall_of_nothing_is_fine(memory: Memory) -> None:
    done = memory.run("uninstall", "--yes")
    assert done.returncode == 0
    assert "Nothing to change" in done.stderr
    assert not memory.home.exists()


# --- several agents, and their past -----------------------------------------------------------------------


@pytest.fixture
def with_a_past(memory: Memory) -> Memory:
    """A user whose Claude Code has kept a session from before Backstory."""
    kept = memory.user / ".claude" / "projects" / "-w" / "2f0d5b5c-2c59-4c0f-8d3a-1a2b3c4d5e6f.jsonl"
    kept.parent.mkdir(parents=True)
    shutil.copy(TRANSCRIPT, kept)
    return memory


def test_install_without_a_name_imports_the_past_and_ends_with_something_true(with_a_past: Memory) -> None:
    """CM-63"""
    done = with_a_past.run("install", "--yes")

    assert done.returncode == 0, done.stderr
    assert "Imported " in done.stdout
    *_, telling, check = done.stdout.rstrip("\n").split("\n")
    command = check.partition("check it: backstory ")[2].split()
    shown = with_a_past.run(*command)
    assert shown.returncode == 0
    assert telling.strip()[:40] in shown.stdout
    assert with_a_past.json("status")["events"] > 0


# CM-63
def test_a_second_install_imports_nothing_again_cm_63(with_a_past: Memory) -> None:
    first = with_a_past.json("install", "--yes")
    again = with_a_past.json("install")
    assert first["imported"]["new"] == 1
    assert again["imported"]["new"] == again["imported"]["events"] == 0
    assert again["telling"] == first["telling"] is not None


def test_a_past_that_cannot_be_read_is_told_and_the_agent_is_connected_all_the_same(memory: Memory) -> None:
    (memory.user / ".claude").mkdir()
    (memory.user / ".claude" / "projects").symlink_to("/proc/1/mem")  # a file, and nobody's to read
    done = memory.ask("install", "--yes")
    assert done.exit_code == 0
    assert "SessionStart" in json.loads(settings_of(memory).read_text())["hooks"]


def test_a_named_agent_or_no_import_leaves_the_past_alone(with_a_past: Memory) -> None:
    assert "imported" not in with_a_past.json("install", AGENT, "--yes")
    assert "imported" not in with_a_past.json("install", "--no-import")
    assert "imported" not in with_a_past.json("install", "--dry-run")
    assert with_a_past.json("install", AGENT, "--import")["imported"]["new"] == 1


def test_every_agent_that_is_found_is_connected_and_all_are_undone_mp_37(memory: Memory) -> None:
    """MP-37"""
    programs = memory.user / "programs"
    programs.mkdir()
    for agent in installable_agents():
        assert agent.surface
        (programs / agent.surface.program).write_text("#!/bin/sh\n")
        (programs / agent.surface.program).chmod(0o755)
    memory.extra["PATH"] = str(programs)
    others = {
        ".claude/settings.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "other-tool"}]}]}}',
        ".claude.json": '{"numStartups": 3, "mcpServers": {"other": {"command": "other-tool"}}}',
        ".codex/hooks.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "other-tool"}]}]}}\n',
        ".codex/config.toml": '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "other-tool"\n',
        ".config/opencode/opencode.json": '{\n  // mine\n  "mcp": {"other": {"type": "local"}}\n}\n',
        ".config/opencode/plugins/other.js": "export const Other = async () => ({})\n",
        ".gemini/settings.json": '{"hooks": {"AfterTool": [{"hooks": [{"type": "command", "command": "other-tool"}]}]}}',
        ".copilot/mcp-config.json": '{"mcpServers": {"other": {"command": "other-tool"}}}',
        ".copilot/hooks/other.json": '{"version": 1, "hooks": {}}',
        ".pi/agent/extensions/other.ts": "export default function () {}\n",
        ".qwen/settings.json": '{"mcpServers": {"other": {"command": "other-tool"}}, "theme": "x"}',
    }
    for name, text in others.items():
        (memory.user / name).parent.mkdir(parents=True, exist_ok=True)
        (memory.user / name).write_text(text)
    before = {path: path.read_bytes() for path in memory.user.rglob("*") if path.is_file()}

    told = memory.json("install", "--yes")
    assert [plan["agent"] for plan in told["agents"]] == [agent.name for agent in installable_agents()]
    assert memory.json("install")["changed"] is False
    assert memory.ask("uninstall", "--yes").exit_code == 0

    assert {path: path.read_bytes() for path in memory.user.rglob("*") if path.is_file()} == before
    assert not memory.home.exists()


def test_what_a_person_must_still_do_is_said_and_never_done_for_them(memory: Memory) -> None:
    done = memory.run("install", "codex", "--yes")
    assert done.returncode == 0
    assert "/hooks" in done.stderr
    assert "trusted_hash" not in "".join(
        path.read_text() for path in (memory.user / ".codex").rglob("*") if path.is_file()
    )


def test_an_unknown_agent_is_told_all_that_are_known(memory: Memory) -> None:
    told = memory.ask("install", "clippy", "--yes")
    assert told.exit_code == 1
    for agent in installable_agents():
        assert agent.name in told.stderr


def test_a_dry_run_lists_everything_that_would_be_written(memory: Memory) -> None:
    """CCE-34"""
    settings_of(memory).parent.mkdir()
    settings_of(memory).write_text("{}")
    shown = memory.run("install", AGENT, "--dry-run").stdout
    for path in (memory.home, memory.home / "installed.json", memory.home / "backups" / "agents"):
        assert f"{path}: " in shown


def test_agents_that_share_an_instructions_file_get_one_block_in_it(memory: Memory) -> None:
    words = ("codex", "opencode", "--project", "--instructions", "--yes")
    assert memory.ask("install", *words).exit_code == 0
    assert (memory.project / "AGENTS.md").read_text().count("backstory:begin") == 1
    assert memory.ask("uninstall", "--yes").exit_code == 0
    assert list(memory.project.iterdir()) == []


def test_instructions_go_where_each_agent_looks(memory: Memory) -> None:
    assert memory.ask("install", "copilot", "gemini-cli", "--instructions", "--yes").exit_code == 0
    for file in (".copilot/copilot-instructions.md", ".gemini/GEMINI.md"):
        assert "backstory search" in (memory.user / file).read_text()


def test_a_file_that_the_agent_itself_writes_while_a_person_reads_the_plan_is_no_trouble(
    memory: Memory,
) -> None:
    state = memory.user / ".claude.json"
    state.write_text('{"numStartups": 1}')
    asking = subprocess.Popen(
        [sys.executable, "-m", "backstory", "install", AGENT],
        env=memory.environment, cwd=memory.project,
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert asking.stdin
    assert asking.stderr
    said = b""
    while b"Connect" not in said:
        said += os.read(asking.stderr.fileno(), 1000)
    state.write_text('{"numStartups": 2}')
    _, rest = asking.communicate(b"y\n", timeout=60)

    assert asking.returncode == 0, said + rest
    settings = json.loads(state.read_text())
    assert settings["numStartups"] == 2
    assert "backstory" in settings["mcpServers"]


def test_a_plugin_that_stays_is_told(memory: Memory) -> None:
    memory.ask("install", AGENT, "--yes")
    settings = json.loads(settings_of(memory).read_text())
    settings_of(memory).write_text(json.dumps(settings | {"enabledPlugins": {"backstory@backstory": True}}))
    told = memory.ask("uninstall", AGENT, "--yes")
    assert "claude plugin uninstall" in told.stderr
