"""Whatever becomes of our files, pi never notices."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from ..model import Say, Shell, Write
from .driver import Pi

pytestmark = pytest.mark.clients


def work_undisturbed(agent: Pi, **how: tuple[str, ...]) -> str:
    """Gives what the session was told."""
    agent.model.when(
        "Do it", Shell("echo one"), Write(str(agent.project / "made.py"), "\n"), Say("It is done.")
    )
    run = agent.run("Do it", **how)
    run.assert_undisturbed("It is done.")
    assert (agent.project / "made.py").exists()
    return run.brief


def test_a_deleted_home_stays_deleted(agent: Pi) -> None:
    agent.memory.vanish()
    assert work_undisturbed(agent) == ""
    assert not agent.memory.home.exists()


def test_without_a_shell_nothing_is_captured_and_nothing_is_said(agent: Pi, tmp_path: Path) -> None:
    if agent.loopback.notice:
        pytest.skip(agent.loopback.notice)
    _, node, script, _ = shlex.split(agent.program.read_text().splitlines()[-1])
    launcher = tmp_path / "pi"  # its own is a shell script
    launcher.write_text(
        f"#!{sys.executable} -IS\nimport os, sys\nos.execv({node!r}, [{node!r}, {script!r}, *sys.argv[1:]])\n"
    )
    launcher.chmod(0o755)
    agent.program = launcher
    agent.model.when("Hello", Say("Hello to you."))
    agent.run("Hello", faults=("missing=/bin/sh",)).assert_undisturbed("Hello to you.")
    assert agent.memory.spooled() == []


def test_a_home_that_cannot_be_written_is_no_reason_to_complain(agent: Pi) -> None:
    if agent.loopback.notice:
        pytest.skip(agent.loopback.notice)
    told = work_undisturbed(agent, faults=(f"readonly={agent.memory.home}",))
    assert "could not write" in told, "the user is not left in the dark"


def test_an_answer_that_is_no_json_is_no_brief(agent: Pi) -> None:
    (agent.memory.home / "hook" / "hook.sh").write_text("echo 'not an answer'; exit 3\n")
    assert work_undisturbed(agent) == ""
