"""The hook's files and the command that runs them."""

import os
import stat
import sys
from pathlib import Path

import pytest

from backstory.capture.hook_bundle import write_hook_files
from backstory.hook.hook_command import hook_command

from .stage import PAYLOAD, SHELLS, Agent

every_shell = pytest.mark.parametrize("shell", sorted(SHELLS))


def test_the_script_is_executable_and_refreshed_when_its_body_changes(agent: Agent, stand_in: str) -> None:
    # CCE-31
    script = agent.home / "hook" / "hook.sh"
    assert stat.S_IMODE(script.stat().st_mode) == 0o700
    assert write_hook_files(agent.home, stand_in) is False
    body = script.read_bytes()
    script.write_bytes(body + b"# edited\n")
    assert write_hook_files(agent.home, stand_in) is True
    assert script.read_bytes() == body
    assert write_hook_files(agent.home, "/other/python") is True
    assert b"'/other/python'" in script.read_bytes()


def test_a_lost_or_outdated_bundle_is_made_again(agent: Agent, stand_in: str) -> None:
    bundle, stamp = agent.home / "hook" / "hook.pyc", agent.home / "hook" / "stamp"
    bundle.unlink()
    assert write_hook_files(agent.home, stand_in) is True
    stamp.write_text("made by another version\n")
    assert write_hook_files(agent.home, stand_in) is True
    assert write_hook_files(agent.home, stand_in) is False


def test_whatever_the_umask_the_files_are_their_owners(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        write_hook_files(tmp_path / "home", sys.executable)
    finally:
        os.umask(old)
    for path in (tmp_path / "home").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


@pytest.mark.parametrize(
    "name", ["plain", "two words", "it's", 'a "b"', "$HOME `x` \\", "höme", "new\nline", "-x", "*"]
)
@every_shell
def test_paths_are_quoted_for_the_shell(tmp_path: Path, stand_in: str, shell: str, name: str) -> None:
    # CCE-32
    agent = Agent(tmp_path / name)
    write_hook_files(agent.home, stand_in)
    agent.run("PostToolUse", PAYLOAD, shell)
    assert agent.payloads() == [PAYLOAD]


def test_the_command_is_one_line_with_absolute_paths_and_never_guesses_the_agent() -> None:
    # CM-51
    command = hook_command("/data/back story", "claude-code", "Stop")
    assert command == (
        "trap 'exit 0' EXIT; BACKSTORY_AGENT=claude-code BACKSTORY_EVENT=Stop; "
        "[ -r '/data/back story/hook/hook.sh' ] && . '/data/back story/hook/hook.sh'; exit 0"
    )
    for bad in ("claude code", "x;y", "", "../x", "a.b"):
        with pytest.raises(ValueError, match="letters, digits"):
            hook_command("/data", bad, "Stop")
