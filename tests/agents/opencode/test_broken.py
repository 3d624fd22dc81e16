"""Whatever becomes of our files, opencode never notices."""

from __future__ import annotations

import pytest

from ..model import Say, Shell, Write
from .driver import Opencode

pytestmark = pytest.mark.clients


def test_a_deleted_home_stays_deleted(agent: Opencode) -> None:
    agent.model.when(
        "Do it", Shell("echo one"), Write(str(agent.project / "made.py"), "\n"), Say("It is done.")
    )
    agent.memory.vanish()
    run = agent.run("Do it")
    run.assert_undisturbed("It is done.")
    assert (agent.project / "made.py").exists()
    assert run.brief == ""
    assert not agent.memory.home.exists()
    assert agent.complaints() == []


def test_without_a_shell_nothing_is_captured_and_nothing_is_said(agent: Opencode) -> None:
    if agent.loopback.notice:
        pytest.skip(agent.loopback.notice)
    agent.model.when("Hello", Write(str(agent.project / "made.py"), "\n"), Say("Hello to you."))
    agent.run("Hello", faults=("missing=/bin/sh",)).assert_undisturbed("Hello to you.")
    assert (agent.project / "made.py").exists()
    assert agent.memory.spooled() == []
    assert agent.complaints() == []
