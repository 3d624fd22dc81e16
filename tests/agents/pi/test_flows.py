"""pi works, is remembered, and knows in its next session what happened in the last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ..headless import Run, stage
from ..loopback import Loopback
from ..model import Edit, Read, Say, Shell, Wait, Write
from ..twofold import assert_told_alike, leave_unread
from .driver import Pi

pytestmark = pytest.mark.clients


def teach(agent: Pi) -> None:
    """Work with everything in it: commands that pass and fail, a new file, an edit, a thought."""
    reader = agent.project / "reader.py"
    agent.model.when(
        "Make the reader",
        Shell("echo checking"),
        Shell("ls missing-folder"),
        Write(str(reader), "SEPARATOR = ';'\n"),
        Edit(str(reader), "';'", "','"),
        Read(str(agent.project / "missing.py")),
        Say("The reader splits at commas.", thought="Commas it is, because the export has them."),
    )


@dataclass
class Story:
    agent: Pi
    first: Run
    second: Run
    again: Run
    events: list[dict[str, Any]]
    """After the first run, oldest first."""


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory, pi_program: Path, loopback: Loopback) -> Iterator[Story]:
    """Three runs: the work, a session that asks what happened, and that session taken up again."""
    with stage(tmp_path_factory.mktemp("pi"), loopback) as (project, model, memory):
        agent = Pi(pi_program, project, model, memory, loopback)
        memory.install("pi")
        teach(agent)
        first = agent.run("Make the reader split at commas")
        events = agent.memory.timeline(agent.project)[::-1]
        model.when("Where were we", Shell("echo looking"), Say("Let me see."))
        second = agent.run("Where were we?")
        agent.memory.drained()
        model.when("And now", Say("Nothing new."))
        again = agent.run("And now?", resume=second.session)
        yield Story(agent, first, second, again, events)


def test_everything_that_happened_is_captured_with_its_outcome(story: Story) -> None:
    story.first.assert_undisturbed("The reader splits at commas.")
    told = [(e["kind"], e["action"], e["outcome"], Path(e["target"]).name) for e in story.events]
    assert told[:1] == [("session_started", "", "", "")]
    assert told[1:7] == [
        ("prompt", "", "", ""),
        ("tool", "run", "ok", "echo checking"),
        ("tool", "run", "failed", "ls missing-folder"),
        ("tool", "write", "ok", "reader.py"),
        ("tool", "edit", "ok", "reader.py"),
        ("tool", "read", "failed", "missing.py"),
    ]
    assert sorted(kind for kind, *_ in told[7:]) == ["reasoned", "said", "session_ended", "turn_ended"]
    failed = next(e for e in story.events if e["outcome"] == "failed")
    assert failed["text"].startswith("Exit code 2\n")
    thought = next(e for e in story.events if e["kind"] == "reasoned")
    assert thought["text"] == "Commas it is, because the export has them."


def test_the_next_session_is_told_what_the_last_one_did(story: Story) -> None:
    story.second.assert_undisturbed("Let me see.")
    assert "reader.py" in story.second.brief
    assert "Commas it is" not in story.second.brief, "thoughts are kept, not given back"


def test_the_brief_stands_in_the_conversation_once_also_when_it_is_taken_up_again(story: Story) -> None:
    story.again.assert_undisturbed("Nothing new.")
    for request in [*story.second.requests, *story.again.requests]:
        assert len(request.injections()) == 1


def test_what_was_injected_is_no_event(story: Story) -> None:
    for event in story.agent.memory.timeline(story.agent.project):
        assert "backstory-notes" not in event["text"]


def test_its_history_and_its_live_capture_are_the_same_rows(agent: Pi) -> None:
    teach(agent)
    spool = leave_unread(agent)
    agent.run("Make the reader split at commas").assert_undisturbed("The reader splits at commas.")
    told = assert_told_alike(agent, spool)
    assert {row[1] for row in told} == {"prompt", "tool", "said", "reasoned", "turn_ended"}


def test_a_session_that_was_killed_is_in_the_next_brief(agent: Pi) -> None:
    agent.model.when(
        "Migrate the tables", Write(str(agent.project / "schema.py"), "VERSION = 7\n"), Wait(60), Say("Done.")
    )
    working = agent.start("Migrate the tables")
    agent.model.wait_until_stalling()
    working.kill()
    working.communicate()

    brief = agent.run("Where were we?").brief
    assert "schema.py" in brief
    assert "Migrate the tables" in brief


def test_after_a_compaction_the_session_gets_its_own_checkpoint(agent: Pi) -> None:
    teach(agent)
    (agent.folder / "settings.json").parent.mkdir(parents=True, exist_ok=True)
    (agent.folder / "settings.json").write_text('{"compaction": {"enabled": true, "keepRecentTokens": 1}}')
    first = agent.run("Make the reader split at commas")
    agent.model.when("Fill it", Say("Filled."))
    agent.run("Fill it [[full]]", resume=first.session)
    agent.memory.drained()
    kinds = [event["kind"] for event in agent.memory.timeline(agent.project)]
    assert kinds.count("compacting") == 1
    assert kinds.count("compacted") == 1
    agent.model.when("Go on", Say("Going on."))
    after = agent.run("Go on", resume=first.session)
    assert "reader.py" in after.brief


def test_installed_for_the_user_and_for_the_project_it_tells_everything_once(agent: Pi) -> None:
    agent.memory.cli("install", "pi", "--yes", "--project", cwd=agent.project)
    assert (agent.project / ".pi" / "extensions" / "backstory.ts").exists()
    agent.model.when("Hello", Shell("echo once"), Say("Hello to you."))
    agent.run("Hello").assert_undisturbed("Hello to you.")
    kinds = [event["kind"] for event in agent.memory.timeline(agent.project)[::-1]]
    assert kinds == ["session_started", "prompt", "tool", "said", "turn_ended", "session_ended"]


def test_uninstall_leaves_no_trace(bare_agent: Pi) -> None:
    before = sorted(bare_agent.memory.user_home.rglob("*"))
    bare_agent.memory.install("pi")
    assert bare_agent.extension.exists()
    bare_agent.memory.cli("uninstall", "pi", "--yes")
    left = [path for path in bare_agent.memory.user_home.rglob("*") if path not in before]
    assert [path for path in left if bare_agent.memory.home not in (path, *path.parents)] == []
