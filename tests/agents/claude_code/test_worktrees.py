"""Two sessions at once, in two worktrees of one repository, are one project."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..repository import git
from .claude import Claude
from .story import look_around, teach

pytestmark = pytest.mark.clients


@pytest.fixture
def worktree(project: Path) -> Path:
    folder = project.parent / "project-on-a-branch"
    git(project, "worktree", "add", "--quiet", "-b", "branch", str(folder))
    return folder


def test_a_third_session_knows_what_both_did(agent: Claude, worktree: Path) -> None:
    teach(agent, "Add a sunrise", agent.project / "sunrise.py", "It rises.")
    teach(agent, "Add a sunset", worktree / "sunset.py", "It sets.")
    sunrise = agent.start("Add a sunrise")
    sunset = agent.start("Add a sunset", cwd=worktree)
    agent.finish(sunrise).assert_undisturbed("It rises.")
    agent.finish(sunset).assert_undisturbed("It sets.")

    for folder in (agent.project, worktree):
        brief = look_around(agent, cwd=folder).brief
        assert "sunrise.py" in brief
        assert "sunset.py" in brief

    agent.memory.drained()
    status = agent.memory.status()
    assert (status["projects"], status["sessions"], status["duplicates"]) == (1, 4, 0)
