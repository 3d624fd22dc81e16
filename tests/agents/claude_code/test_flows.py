"""A session ends; the next one knows."""

from __future__ import annotations

import pytest

from ..headless import row
from ..model import Edit, Read, Say, Shell, Task, Write
from .claude import Claude
from .story import add_greeting, look_around

pytestmark = pytest.mark.clients


# CMEM-1
def test_cmem_1_the_next_session_starts_knowing_the_file_that_the_last_one_made(agent: Claude) -> None:
    """CMEM-32, normal flow."""
    add_greeting(agent)
    agent.memory.drained()
    assert agent.memory.status()["memories"] > 0

    assert "greeting.py" in look_around(agent).brief


# CMEM-32
def test_cmem_32_it_knows_even_when_it_starts_at_once(agent: Claude) -> None:
    """The race: the first session's last hooks have only just returned, and nobody waits for a worker."""
    agent.model.when("Touch it", Write(str(agent.project / "touched.py"), "\n"), Say("Touched."))
    agent.run("Touch it")

    assert "touched.py" in look_around(agent).brief


def test_in_a_project_without_a_past_nothing_is_said(agent: Claude) -> None:
    run = look_around(agent)

    assert run.requests[0].injections() == []
    assert [hook.stdout for hook in run.hooks if hook.event == "SessionStart"] == [""]


# CMEM-2
def test_cmem_2_the_end_of_a_turn_is_recorded_even_when_there_is_nothing_to_remember(agent: Claude) -> None:
    run = agent.run("Hello")
    assert [hook.outcome for hook in run.hooks if hook.event == "Stop"] == ["success"]
    agent.memory.drained()

    kinds = [event["kind"] for event in reversed(agent.memory.timeline(agent.project))]
    assert kinds == ["session_started", "prompt", "said", "turn_ended", "session_ended"]


# CM-13
def test_cm_13_the_worker_outlives_the_hook_and_the_agent_and_then_rests(agent: Claude) -> None:
    add_greeting(agent)

    agent.memory.drained(5)  # the agent has ended: whoever does this is not its child any more
    agent.memory.rests()
    assert agent.memory.status()["memories"] > 0


def test_the_next_session_sees_what_failed_and_what_fixed_it(agent: Claude) -> None:
    reader = agent.project / "reader.py"
    reader.write_text("SEPARATOR = ';'\n")
    (agent.project / "check_reader.py").write_text("from reader import SEPARATOR\nassert SEPARATOR == ','\n")
    agent.model.when(
        "Make the reader",
        Shell("python3 check_reader.py"),
        Read(str(reader)),
        Edit(str(reader), "';'", "','"),
        Shell("python3 check_reader.py"),
        Say("The separator was wrong."),
    )
    agent.run("Make the reader pass its check").assert_undisturbed("The separator was wrong.")

    brief = look_around(agent).brief

    row(brief, "check_reader.py", "AssertionError")
    row(brief, "check_reader.py", "reader.py")


def survey(agent: Claude) -> None:
    """A session whose only work is done by the sub-agent that it sends."""
    agent.model.when("Survey the project", Task("Count the modules"), Say("Surveyed."))
    survey_file = Write(str(agent.project / "survey.md"), "# Modules\n")
    agent.model.when("Count the modules", survey_file, Say("One module, counted."))
    agent.run("Survey the project").assert_undisturbed("Surveyed.")


def test_what_a_sub_agent_did_is_labelled_and_linked_to_who_sent_it(agent: Claude) -> None:
    survey(agent)

    events = agent.memory.timeline(agent.project)
    asked = next(event for event in events if event["kind"] == "prompt")
    written = next(event for event in events if event["target"].endswith("survey.md"))
    assert (asked["subagent"], bool(written["subagent"])) == ("", True)
    its_session = agent.memory.ask("show", written["session"])["session"]
    assert (its_session["parent"], its_session["subagent_type"]) == (asked["session"], "general-purpose")


def test_the_next_session_knows_what_a_sub_agent_did(agent: Claude) -> None:
    survey(agent)
    agent.memory.rests()

    assert "survey.md" in look_around(agent).brief


def test_what_the_agent_recalled_itself_does_not_become_memory(agent: Claude) -> None:
    add_greeting(agent)
    agent.memory.drained()
    agent.model.when("What do we have", Shell("backstory search greeting --cwd ."), Say("We have that."))

    asking = agent.run("What do we have?")
    asking.assert_undisturbed("We have that.")
    told = str(asking.requests[-1].body["messages"]).partition("tool_result")[2]
    assert "greeting.py" in told, "the agent was told what the search found"

    recalled = [event for event in agent.memory.timeline(agent.project) if event["recalled"]]
    assert [event["target"] for event in recalled if event["tool"] == "Bash"] == [
        "backstory search greeting --cwd ."
    ]
    agent.memory.rests()
    hits = agent.memory.search("greeting", agent.project)
    assert hits
    assert [hit for hit in hits if hit["session"] == recalled[0]["session"]] == []
    assert "backstory search greeting" not in look_around(agent).brief


def test_installed_twice_it_still_speaks_and_stores_once(agent: Claude) -> None:
    agent.memory.cli("install", "claude-code", "--yes", "--project", cwd=agent.project)
    add_greeting(agent)

    run = look_around(agent)

    assert len(run.requests[0].injections()) == 1
    prompts = [event for event in agent.memory.timeline(agent.project) if event["kind"] == "prompt"]
    assert len(prompts) == 2


def test_an_agent_that_the_memory_itself_started_is_left_alone(agent: Claude) -> None:
    add_greeting(agent)
    agent.memory.drained()
    agent.extra["BACKSTORY_GUARD"] = "1"

    run = look_around(agent)

    assert run.requests[0].injections() == []
    assert agent.memory.status()["sessions"] == 1
