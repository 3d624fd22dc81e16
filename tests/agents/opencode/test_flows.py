"""opencode works, is remembered, and knows in its next session what happened in the last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ..headless import Run, stage
from ..loopback import Loopback
from ..model import Edit, Read, Request, Say, Shell, Task, Wait, Write
from ..twofold import assert_told_alike, leave_unread
from .driver import Opencode

pytestmark = pytest.mark.clients


def teach(agent: Opencode) -> None:
    """Work with everything in it: commands that pass and fail, a new file, an edit, a sub-agent, a thought."""
    reader = agent.project / "reader.py"
    agent.model.when(
        "Make the reader",
        Shell("echo checking"),
        Shell("ls missing-folder"),
        Write(str(reader), "SEPARATOR = ';'\n"),
        Edit(str(reader), "';'", "','"),
        Read(str(agent.project / "missing.py")),
        Task("Count the exports"),
        Say("The reader splits at commas.", thought="Commas it is, because the export has them."),
    )
    agent.model.when("Count the exports", Shell("echo seven"), Say("Seven exports."))


@dataclass
class Story:
    agent: Opencode
    first: Run
    second: Run
    again: Run
    events: list[dict[str, Any]]
    """After the first run, oldest first."""
    requests: list[Request]
    """Of the second run, side calls too."""


@pytest.fixture(scope="module")
def story(
    tmp_path_factory: pytest.TempPathFactory, opencode_program: Path, loopback: Loopback
) -> Iterator[Story]:
    """Three runs: the work, a session that asks what happened, and that session taken up again."""
    with stage(tmp_path_factory.mktemp("opencode"), loopback) as (project, model, memory):
        agent = Opencode(opencode_program, project, model, memory, loopback)
        memory.install("opencode")
        teach(agent)
        first = agent.run("Make the reader split at commas")
        events = agent.memory.timeline(agent.project)[::-1]
        model.when("Where were we", Shell("echo looking"), Task("Look there"), Say("Let me see."))
        since = len(model.requests)
        second = agent.run("Where were we?")
        requests = model.requests[since:]
        agent.memory.drained()
        model.when("And now", Say("Nothing new."))
        again = agent.run("And now?", resume=second.session)
        yield Story(agent, first, second, again, events, requests)


def test_everything_that_happened_is_captured_with_its_outcome(story: Story) -> None:
    story.first.assert_undisturbed("The reader splits at commas.")
    assert story.agent.complaints() == []
    main = [e for e in story.events if not e["subagent"]]
    told = [(e["kind"], e["action"], e["outcome"], Path(e["target"]).name) for e in main]
    assert told[:9] == [
        ("session_started", "", "", ""),
        ("prompt", "", "", ""),
        ("tool", "run", "ok", "echo checking"),
        ("tool", "run", "failed", "ls missing-folder"),
        ("tool", "write", "ok", "reader.py"),
        ("tool", "edit", "ok", "reader.py"),
        ("tool", "read", "failed", "missing.py"),
        ("tool", "delegate", "ok", "scripted sub-task"),
        ("reasoned", "", "", ""),
    ]
    assert [kind for kind, *_ in told[9:]] == ["said", "turn_ended", "session_ended"]
    assert main[1]["text"] == "Make the reader split at commas", "without the quotes of `opencode run`"
    assert main[3]["text"].startswith("Exit code 2\n")
    assert main[7]["text"] == "Seven exports."


def test_what_a_sub_agent_does_hangs_below_its_session(story: Story) -> None:
    below = [e for e in story.events if e["subagent"]]
    assert [e["kind"] for e in below] == ["tool", "said", "subagent_ended"]
    assert below[0]["target"] == "echo seven"
    assert len({e["session"] for e in story.events}) == 2


def test_the_next_session_is_told_what_the_last_one_did(story: Story) -> None:
    story.second.assert_undisturbed("Let me see.")
    assert "reader.py" in story.second.brief
    assert "Commas it is" not in story.second.brief, "thoughts are kept, not given back"


def test_every_call_of_the_session_has_the_brief_once_and_no_other_call_has_it(story: Story) -> None:
    told = {True: 0, False: 0}
    for request in story.requests:
        ours = request.is_main and "Look there" not in request.last_prompt()
        assert len(request.injections()) == (1 if ours else 0), request.last_prompt()
        told[ours] += 1
    assert told[True] == 3, "before the command, before the task, before the answer"
    assert told[False] >= 2, "the title and the sub-agent"


def test_a_session_that_is_taken_up_again_has_it_once(story: Story) -> None:
    story.again.assert_undisturbed("Nothing new.")
    assert [len(request.injections()) for request in story.again.requests] == [1]


def test_what_was_injected_is_no_event(story: Story) -> None:
    for event in story.agent.memory.timeline(story.agent.project):
        assert "backstory-notes" not in event["text"]


def test_its_history_and_its_live_capture_are_the_same_rows(agent: Opencode) -> None:
    teach(agent)
    spool = leave_unread(agent)
    agent.run("Make the reader split at commas").assert_undisturbed("The reader splits at commas.")
    told = assert_told_alike(agent, spool)
    kinds = {"prompt", "tool", "said", "reasoned", "turn_ended", "subagent_ended"}
    assert {row[1] for row in told} == kinds


def test_a_session_that_was_killed_is_in_the_next_brief(agent: Opencode) -> None:
    agent.model.when(
        "Migrate the tables", Write(str(agent.project / "schema.py"), "VERSION = 7\n"), Wait(60), Say("Done.")
    )
    working = agent.start("Migrate the tables")
    agent.model.wait_until_stalling(60)
    working.kill()
    working.communicate()

    brief = agent.memory.cli("brief", "--cwd", str(agent.project), "--agent", "opencode").stdout
    assert "schema.py" in brief
    assert "Migrate the tables" in brief


def test_after_a_compaction_the_session_gets_its_own_checkpoint(agent: Opencode) -> None:
    agent.model.when("Fill it", Write(str(agent.project / "full.py"), "\n"), Say("Filled."))
    agent.model.when("Continue if you have next steps", Say("Going on."))
    run = agent.run("Fill it [[full]]")
    run.assert_undisturbed("Going on.")
    events = agent.memory.timeline(agent.project)
    [summary] = [event for event in events if event["kind"] == "compacted"]
    assert summary["text"] == "Scripted title"
    assert [event["text"] for event in events if event["kind"] == "prompt"] == ["Fill it [[full]]"]
    assert "full.py" in run.requests[-1].injected_context()


def test_installed_for_the_user_and_for_the_project_it_tells_everything_once(agent: Opencode) -> None:
    agent.memory.cli("install", "opencode", "--yes", "--project", cwd=agent.project)
    assert (agent.project / ".opencode" / "plugins" / "backstory.js").exists()
    agent.model.when("Hello", Shell("echo once"), Say("Hello to you."))
    agent.run("Hello").assert_undisturbed("Hello to you.")
    kinds = [event["kind"] for event in agent.memory.timeline(agent.project)[::-1]]
    assert kinds == ["session_started", "prompt", "tool", "said", "turn_ended", "session_ended"]


def test_uninstall_leaves_no_trace(bare_agent: Opencode) -> None:
    before = sorted(bare_agent.memory.user_home.rglob("*"))
    bare_agent.memory.install("opencode")
    assert bare_agent.plugin.exists()
    bare_agent.memory.cli("uninstall", "opencode", "--yes")
    left = [path for path in bare_agent.memory.user_home.rglob("*") if path not in before]
    assert [path for path in left if bare_agent.memory.home not in (path, *path.parents)] == []
