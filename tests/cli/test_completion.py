"""`backstory completion`: the scripts, and what they are answered when somebody presses Tab."""

import os
import shutil
import subprocess
import sys

import pytest

from .memory import Memory

SHELLS = ("bash", "zsh", "fish")


def answers(memory: Memory, shell: str, line: str) -> str:
    """What the program answers to a shell's script for the last word of a line."""
    words = line.split(" ")
    asked = words[-1] if shell == "fish" else str(len(words) - 1)  # fish says the word, others its number
    memory.extra.update(_BACKSTORY_COMPLETE=f"{shell}_complete", COMP_WORDS=line, COMP_CWORD=asked)
    return memory.run().stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_asks_the_program_by_its_name(memory: Memory, shell: str) -> None:
    done = memory.ask("completion", shell)
    assert done.exit_code == 0
    assert f"_BACKSTORY_COMPLETE={shell}_complete" in done.stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_commands_options_and_choices_are_completed(memory: Memory, shell: str) -> None:
    found = answers(memory, shell, "backstory re")
    assert all(name in found for name in ("remember", "review", "rebuild", "restore", "repair"))
    assert "search" not in found
    assert "--source" in answers(memory, shell, "backstory brief --so")
    assert "compact" in answers(memory, shell, "backstory brief --source co")


def test_another_shell_is_wrong_usage(memory: Memory) -> None:
    assert memory.ask("completion", "tcsh").exit_code == 1


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_a_real_bash_completes_a_command(memory: Memory) -> None:
    script = (
        'eval "$(backstory completion bash)"\n'
        "COMP_WORDS=(backstory tim); COMP_CWORD=1; _backstory_completion backstory\n"
        'echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script], env=memory.environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "timeline\n", done.stderr


def test_no_command_is_imported_to_complete_its_name(memory: Memory) -> None:
    probe = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); from backstory.cli import main; main()"
    asked = {"_BACKSTORY_COMPLETE": "bash_complete", "COMP_WORDS": "backstory s", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", probe],
        env={**os.environ, **memory.environment, **asked},
        capture_output=True,
        text=True,
    )
    assert "plain,search" in done.stdout
    loaded = done.stderr.split()
    assert "backstory.cli.main" in loaded
    assert "backstory.cli.search" not in loaded
