"""What only Qwen Code does; what it does as others do stands in `tests/agents/test_flows.py`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..headless import Run
from ..model import Edit, Say, Shell, Task, Write
from ..twofold import assert_told_alike, spooling
from .driver import Qwen, complaints

pytestmark = pytest.mark.clients


def undisturbed(run: Run, answer: str) -> Run:
    assert complaints(run) == []
    assert (run.exit_code, run.stdout.strip()) == (0, answer)
    return run


def teach(agent: Qwen) -> None:
    (agent.project / "check.py").write_text("from reader import SEPARATOR\nassert SEPARATOR == '|'\n")
    agent.model.when(
        "Make the reader",
        Shell("echo größer"),
        Write(str(agent.project / "reader.py"), "SEPARATOR = ';'\n"),
        Edit(str(agent.project / "reader.py"), "';'", "','"),
        Edit(str(agent.project / "reader.py"), "nowhere", "x"),
        Shell("python3 check.py"),
        Say("The reader is there."),
    )


def make_reader(agent: Qwen) -> Run:
    teach(agent)
    return undisturbed(agent.run("Make the reader"), "The reader is there.")


def look_around(agent: Qwen, **how: str) -> Run:
    agent.model.when("Where were we", Say("Let me see."))
    return undisturbed(agent.run("Where were we?", **how), "Let me see.")


def test_a_session_is_told_what_was_stored_and_again_when_it_is_resumed_since_it_kept_nothing(
    agent: Qwen,
) -> None:
    make_reader(agent)
    agent.memory.rests()
    first = look_around(agent)
    agent.memory.rests()

    again = look_around(agent, resume=first.session)

    assert again.session == first.session
    for run in (first, again):
        (brief,) = run.requests[0].injections()
        assert "reader.py" in brief
        assert "AssertionError" in brief
        assert "Where were we" not in brief, "what it said itself is in its context"


def test_a_sub_agents_chat_tells_what_its_hooks_tell(agent: Qwen) -> None:
    agent.model.when("Survey the project", Task("Count the modules"), Say("Surveyed."))
    agent.model.when("Count the modules", Shell("exit 5"), Say("One module."))
    with spooling(agent) as spool:
        assert agent.run("Survey the project").exit_code == 0

    rows = assert_told_alike(agent, spool)

    assert [row[4] for row in rows if row[0].partition("/")[2] and row[5] == "failed"] == ["exit 5"]


def test_qwen_home_moves_everything(bare_agent: Qwen, tmp_path: Path) -> None:
    bare_agent.memory.extra["QWEN_HOME"] = str(tmp_path / "elsewhere")
    bare_agent.settle()
    bare_agent.memory.install("qwen-code")
    assert "backstory" in bare_agent.settings.read_text()
    make_reader(bare_agent)
    bare_agent.memory.rests()

    assert bare_agent.memory.ask("import", "qwen-code", "--again")["errors"] == 0
    assert "reader.py" in json.dumps(bare_agent.memory.timeline(bare_agent.project))
    assert not (bare_agent.memory.user_home / ".qwen").exists()


def test_uninstalled_it_leaves_no_trace(bare_agent: Qwen) -> None:
    bare_agent.settle()
    before = bare_agent.settings.read_text()
    bare_agent.memory.install("qwen-code")
    assert json.loads(bare_agent.settings.read_text())["hooks"]

    bare_agent.memory.cli("uninstall", "qwen-code", "--yes")

    assert bare_agent.settings.read_text() == before
    assert look_around(bare_agent).requests[0].injections() == []


def test_a_home_that_was_deleted_disturbs_nobody(agent: Qwen) -> None:
    agent.memory.vanish()

    look_around(agent)

    assert not agent.memory.home.exists()
