"""What Codex keeps itself, and what its hooks tell: the same rows, once."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ..model import Edit, Say, Shell, Task, Wait, Write
from ..model.script import Tool
from ..twofold import assert_told_alike, spooling, tell
from .driver import SCRIPTING, Codex

pytestmark = pytest.mark.clients


def teach(agent: Codex) -> None:
    both = "*** Begin Patch\n*** Add File: b.py\n+B = 1\n*** Delete File: README.md\n*** End Patch\n"
    agent.model.when(
        "Work through it",
        Shell("echo größer"),
        Write(str(agent.project / "a.py"), "A = 1\n"),
        Edit(str(agent.project / "a.py"), "A = 1", "A = 2"),
        Tool("apply_patch", {"input": both}),
        Shell("ls /nowhere"),
        Shell("exit 4"),
        Say("Worked through."),
    )


# MP-14, MP-22
def test_mp_14_hooks_and_rollouts_tell_the_same_in_either_order_and_nothing_of_ours(agent: Codex) -> None:
    teach(agent)
    story = tell(agent, "Work through it", "Worked through.")

    story.assert_told_once("a.py")
    assert "backstory-notes" in agent.rollouts()[-1].read_text(), "Codex keeps what we injected"
    rows = story.assert_told_alike()

    ends = sorted((row[1], row[2], Path(row[4]).name, row[5]) for row in rows if row[1] == "tool")
    assert ends == [
        ("tool", "edit", "README.md", "ok"),
        ("tool", "edit", "a.py", "ok"),
        ("tool", "run", "echo größer", "ok"),
        ("tool", "run", "echo looking", "ok"),
        ("tool", "run", "exit 4", "failed"),
        ("tool", "run", "nowhere", "failed"),
        ("tool", "write", "a.py", "ok"),
        ("tool", "write", "b.py", "ok"),
    ]


def test_so_do_those_of_a_model_that_calls_tools_from_scripts(agent: Codex) -> None:
    agent.model_name = SCRIPTING
    file = agent.project / "a.py"
    agent.model.when("Work", Write(str(file), "A = 1\n"), Shell("exit 4"), Say("Worked."))
    with spooling(agent) as spool:
        assert agent.run("Work").exit_code == 0

    rows = assert_told_alike(agent, spool)

    assert sorted(row[5] for row in rows if row[1] == "tool") == ["failed", "ok"]


def survey(agent: Codex) -> None:
    """A session whose only work is done by a sub-agent; it waits for it."""
    agent.model_name = "unknown-model"  # has the tools for it, and gpt-5.5 has not
    agent.model.when("Survey the project", Task("Count the modules"), Shell("sleep 2"), Say("Surveyed."))
    agent.model.when(
        "Count the modules",
        Shell("exit 5"),
        Write(str(agent.project / "survey.md"), "# Modules\n"),
        Say("One module, counted."),
    )


def test_a_sub_agent_is_labelled_linked_and_known_to_have_failed(agent: Codex) -> None:
    survey(agent)
    agent.run("Survey the project")
    agent.memory.rests()

    events = agent.memory.timeline(agent.project)
    asked = [event for event in events if event["kind"] == "prompt"]
    failed = next(event for event in events if event["target"] == "exit 5")
    assert [event["text"] for event in asked] == ["Survey the project"], "its task is no prompt"
    assert (failed["outcome"], bool(failed["subagent"])) == ("failed", True)
    its_session = agent.memory.ask("show", failed["session"])["session"]
    assert (its_session["parent"], its_session["subagent_type"]) == (asked[0]["session"], "default")


def test_a_sub_agents_rollout_tells_what_its_hooks_tell(agent: Codex) -> None:
    survey(agent)
    with spooling(agent) as spool:
        assert agent.run("Survey the project").exit_code == 0

    rows = assert_told_alike(agent, spool)

    assert [row[4] for row in rows if row[0].partition("/")[2] and row[5] == "failed"] == ["exit 5"]


# MP-15
def test_mp_15_a_session_that_grew_is_read_on(agent: Codex) -> None:
    agent.model.when("One", Say("First."))
    agent.model.when("Two", Shell("exit 2"), Say("Second."))
    bare = agent.memory
    first = agent.run("One")
    bare.rests()
    agent.run("Two", resume=first.session)
    bare.rests()

    kinds = [event["kind"] for event in reversed(bare.timeline(agent.project))]
    turn = ["prompt", "said", "turn_ended", "session_ended"]
    assert kinds == ["session_started", *turn, "session_started", "prompt", "tool", *turn[1:]]
    assert bare.ask("import", "codex", "--again")["errors"] == 0
    assert [event["kind"] for event in reversed(bare.timeline(agent.project))] == kinds


def test_a_compaction_is_announced_and_its_summary_kept(agent: Codex) -> None:
    agent.model.when("Begin", Say("Begun."))
    first = agent.run("Begin the long work")
    agent.memory.rests()
    agent.model.when("Summarize", Say("The work is half done."))
    agent.model.when("CONTEXT CHECKPOINT", Say("The work is half done."))
    agent.model.when("Go on", Say("Gone on."))
    config = agent.folder / "config.toml"
    config.write_text("model_auto_compact_token_limit = 50\n" + config.read_text())
    agent.run("Go on", resume=first.session)
    agent.memory.rests()

    events = agent.memory.timeline(agent.project)
    assert "compacting" in {event["kind"] for event in events}
    (summary,) = [event["text"] for event in events if event["kind"] == "compacted"]
    assert "Another language model" not in summary


def test_a_command_left_running_is_known_to_have_failed_in_the_end(agent: Codex) -> None:
    slow = {"cmd": "sleep 1; exit 6", "yield_time_ms": 250}
    agent.model.when("Start it", Tool("exec_command", slow), Shell("sleep 2"), Say("Started."))
    agent.run("Start it")
    agent.memory.rests()

    (slow_one,) = [e for e in agent.memory.timeline(agent.project) if e["target"] == "sleep 1; exit 6"]
    assert slow_one["outcome"] == "failed"


def test_a_session_that_was_killed_in_mid_turn_is_read_as_far_as_it_came(agent: Codex) -> None:
    agent.model.when("Migrate", Shell("echo one"), Wait(60), Say("never"))
    working = agent.start("Migrate the tables")
    agent.model.wait_until_stalling()
    time.sleep(0.5)
    working.kill()
    working.communicate()

    agent.memory.cli("import", "codex", "--min-messages", "0")

    events = agent.memory.timeline(agent.project)
    assert [event["target"] for event in events if event["kind"] == "tool"] == ["echo one"]
