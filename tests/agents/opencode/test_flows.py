"""opencode works, is remembered, and knows in its next session what happened in the last."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..loopback import Loopback
from ..model import Say, Shell, Task, Wait, Write
from ..twofold import DID, WORK, Story, on_stage, teach, tell
from .driver import Opencode

pytestmark = pytest.mark.clients


THOUGHT = "Commas it is, because the export has them."


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory, loopback: Loopback) -> Iterator[Story]:
    with on_stage(Opencode, tmp_path_factory.mktemp("opencode"), loopback) as agent:
        teach(agent, Task("Count the exports"), thought=THOUGHT)
        agent.model.when("Count the exports", Shell("echo seven"), Say("Seven exports."))
        yield tell(agent)


def test_everything_that_happened_is_captured_with_its_outcome(story: Story) -> None:
    assert story.agent.complaints() == []
    assert story.uses() == [*DID, ("run", "echo seven", "ok"), ("delegate", "scripted sub-task", "ok")]
    main = [event for event in story.events if not event["subagent"]]
    assert [event["kind"] for event in main if event["kind"] != "tool"] == [
        "session_started", "prompt", "reasoned", "said", "turn_ended", "session_ended",
    ]  # fmt: skip
    assert main[1]["text"] == WORK, "without the quotes of `opencode run`"
    assert main[3]["text"].startswith("Exit code 2\n")
    assert main[7]["text"] == "Seven exports."


def test_what_a_sub_agent_does_hangs_below_its_session(story: Story) -> None:
    below = [e for e in story.events if e["subagent"]]
    assert [e["kind"] for e in below] == ["tool", "said", "subagent_ended"]
    assert below[0]["target"] == "echo seven"
    assert len({e["session"] for e in story.events}) == 2


def test_the_next_session_is_told_of_it_once_also_when_it_is_taken_up_again(story: Story) -> None:
    story.assert_told_once("reader.py")
    assert THOUGHT not in story.second.brief, "thoughts are kept, not given back"


def test_no_other_call_is_told_of_it(story: Story) -> None:
    others = [request for request in story.requests if not request.is_main]
    assert others, "it asks for a title"
    assert [request.injections() for request in others] == [[]] * len(others)


def test_a_sub_agent_is_not_told_of_it(agent: Opencode) -> None:
    agent.memory.cli("remember", "Releases are cut on the tortoise branch", cwd=agent.project)
    agent.model.when("Survey", Task("Look there"), Say("Surveyed."))
    agent.model.when("Look there", Say("Looked."))
    agent.run("Survey the project").assert_undisturbed("Surveyed.")

    assert [len(request.injections()) for request in agent.model.main_requests("Survey")] == [1, 1]
    assert [len(request.injections()) for request in agent.model.main_requests("Look there")] == [0]


# MP-14
def test_mp_14_hooks_and_history_tell_the_same_in_either_order_and_nothing_of_ours(story: Story) -> None:
    kinds = {"prompt", "tool", "said", "reasoned", "turn_ended", "subagent_ended"}
    assert {row[1] for row in story.assert_told_alike()} == kinds


def test_a_session_that_was_killed_is_in_the_next_brief(agent: Opencode) -> None:
    agent.model.when(
        "Migrate the tables", Write(str(agent.project / "schema.py"), "VERSION = 7\n"), Wait(60), Say("Done.")
    )
    working = agent.start("Migrate the tables")
    agent.model.wait_until_stalling()
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
