"""How Backstory comes into Codex and leaves it: trust, limits, no trace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .driver import Codex, complaints, hooks
from .test_flows import look_around, make_reader

pytestmark = pytest.mark.clients

LIMIT = 2_500  # tokens of additionalContext; Codex counts four bytes as one


def test_without_trust_codex_runs_as_ever_and_everybody_is_told_why(bare_agent: Codex) -> None:
    bare_agent.settle()
    bare_agent.trusting = False
    said = bare_agent.memory.cli("install", "codex", "--yes")
    assert "/hooks" in said.stdout + said.stderr

    run = look_around(bare_agent)

    assert (hooks(run.stderr), run.requests[0].injections()) == ([], [])
    assert bare_agent.memory.spooled() == []
    doctor = bare_agent.memory.cli("doctor", check=False).stdout
    assert "nobody has trusted SessionStart" in doctor
    assert "/hooks" in doctor


def test_trusted_as_a_person_does_it_hooks_run_and_doctor_is_content(agent: Codex) -> None:
    agent.trusting = False
    agent.trust()
    run = make_reader(agent)
    agent.memory.rests()

    assert {end for _, end in hooks(run.stderr)} == {"Completed"}
    assert "reader.py" in look_around(agent).brief
    assert "nobody has trusted" not in agent.memory.cli("doctor", check=False).stdout


def test_trust_outlives_another_install(agent: Codex) -> None:
    """It hangs on the command, word for word."""
    agent.trusting = False
    agent.trust()
    agent.memory.install("codex")

    assert hooks(look_around(agent).stderr)


def test_codex_home_moves_everything(bare_agent: Codex, tmp_path: Path) -> None:
    bare_agent.memory.extra["CODEX_HOME"] = str(tmp_path / "elsewhere")
    bare_agent.settle()
    bare_agent.memory.install("codex")
    assert bare_agent.hooks_file == tmp_path / "elsewhere" / "hooks.json"
    assert bare_agent.hooks_file.is_file()
    assert not (bare_agent.memory.user_home / ".codex").exists()

    make_reader(bare_agent)
    bare_agent.memory.rests()

    assert "reader.py" in look_around(bare_agent).brief
    assert bare_agent.memory.ask("import", "codex", "--dry-run")["errors"] == 0


@pytest.mark.parametrize("letter", ["x", "語", "🙂"])
def test_the_largest_brief_fits_into_what_codex_takes(agent: Codex, letter: str) -> None:
    """With a budget that allows more, too."""
    agent.memory.cli("config", "brief.max_tokens", "6000")
    agent.memory.cli("config", "brief.max_chars", "30000")
    for number in range(12):
        words = " ".join([letter * 7] * 140)
        agent.memory.cli("remember", f"{number} {words}", "--cwd", str(agent.project))
    agent.memory.rests()

    run = look_around(agent)

    (brief,) = run.requests[0].injections()
    assert len(brief.encode()) / 4 <= LIMIT
    assert len(brief.encode()) > 2_000, "it was not empty either"
    assert "Full hook output saved" not in json.dumps(run.requests[0].body)


def test_uninstalled_it_leaves_no_trace(bare_agent: Codex) -> None:
    bare_agent.settle()
    before = {file: file.read_text() for file in bare_agent.folder.rglob("*") if file.is_file()}
    bare_agent.memory.install("codex")
    assert bare_agent.hooks_file.is_file()

    bare_agent.memory.cli("uninstall", "codex", "--yes")

    after = {file: file.read_text() for file in bare_agent.folder.rglob("*") if file.is_file()}
    assert after == before
    run = look_around(bare_agent)
    assert (hooks(run.stderr), complaints(run.stderr)) == ([], [])


def test_a_home_that_was_deleted_disturbs_nobody(agent: Codex) -> None:
    agent.memory.vanish()

    run = look_around(agent)

    assert {end for _, end in hooks(run.stderr)} == {"Completed"}
    assert not agent.memory.home.exists()
