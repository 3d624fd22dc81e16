"""pi works, is remembered, and knows in its next session what happened in the last."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..loopback import Loopback
from ..model import Say, Shell, Wait, Write
from ..twofold import DID, WORK, Story, on_stage, teach, tell
from .driver import Pi

pytestmark = pytest.mark.clients


THOUGHT = "Commas it is, because the export has them."


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory, loopback: Loopback) -> Iterator[Story]:
    with on_stage(Pi, tmp_path_factory.mktemp("pi"), loopback) as agent:
        teach(agent, thought=THOUGHT)
        yield tell(agent)


def test_everything_that_happened_is_captured_with_its_outcome(story: Story) -> None:
    assert story.uses() == DID
    kinds = [event["kind"] for event in story.events if event["kind"] != "tool"]
    assert kinds[:2] == ["session_started", "prompt"]
    assert sorted(kinds[2:]) == ["reasoned", "said", "session_ended", "turn_ended"]
    failed = next(e for e in story.events if e["outcome"] == "failed")
    assert failed["text"].startswith("Exit code 2\n")
    thought = next(e for e in story.events if e["kind"] == "reasoned")
    assert thought["text"] == THOUGHT


def test_the_next_session_is_told_of_it_once_also_when_it_is_taken_up_again(story: Story) -> None:
    story.assert_told_once("reader.py")
    assert THOUGHT not in story.second.brief, "thoughts are kept, not given back"


# MP-14
def test_mp_14_hooks_and_history_tell_the_same_in_either_order_and_nothing_of_ours(story: Story) -> None:
    assert {row[1] for row in story.assert_told_alike()} == {
        "prompt", "tool", "said", "reasoned", "turn_ended",
    }  # fmt: skip


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
    first = agent.run(WORK)
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
