"""install and uninstall: shown before they are done, asked for, and undone without a trace."""

import json
from pathlib import Path

from .memory import AGENT, Memory


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
    assert first["agents"][0]["counts"]["add"] == again["agents"][0]["counts"]["keep"] - 1 == 11  # ten hooks, a server
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
    left = {path.name for path in worked.home.iterdir()} - {"briefs"}
    assert left == {"backstory.db"}
    assert worked.json("search", "waits in the spool when disconnected")["hits"]


def test_uninstall_of_nothing_is_fine(memory: Memory) -> None:
    done = memory.run("uninstall", "--yes")
    assert done.returncode == 0
    assert "Nothing to change" in done.stderr
    assert not memory.home.exists()
