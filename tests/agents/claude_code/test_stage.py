"""The stage itself, proven with a stand-in hook before anything of ours is on it."""

from __future__ import annotations

import json
import shlex

import pytest

from ..model import Read, Say, Shell, Task, Write
from .claude import Claude

pytestmark = pytest.mark.clients

BRIEF = "a-word-only-the-stand-in-says"


def hook(command: str) -> list[dict[str, object]]:
    return [{"hooks": [{"type": "command", "command": command}]}]


def stand_in(agent: Claude, **hooks: str) -> None:
    said = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": BRIEF}}
    events = {"SessionStart": f"echo {shlex.quote(json.dumps(said))}", **hooks}
    agent.settings.parent.mkdir()
    agent.settings.write_text(
        json.dumps({"hooks": {event: hook(command) for event, command in events.items()}})
    )


def test_the_client_does_what_the_model_says_and_the_model_is_told_what_a_hook_says(
    bare_agent: Claude,
) -> None:
    stand_in(bare_agent)
    file = bare_agent.project / "greeting.txt"
    bare_agent.model.when(
        "greeting", Write(str(file), "hello\n"), Read(str(file)), Shell("ls"), Say("It is there.")
    )

    run = bare_agent.run("Write the greeting")

    run.assert_undisturbed("It is there.")
    assert file.read_text() == "hello\n"
    assert run.brief == BRIEF
    assert len(run.requests) == 4


def test_directives_in_the_prompt_work_without_rules(bare_agent: Claude) -> None:
    file = bare_agent.project / "note.txt"

    run = bare_agent.run(
        f"Go [[write:{file}|one]] [[edit:{file}|one|two]] [[shell:cat {file}]] [[say:edited]]"
    )

    assert (run.exit_code, run.answer, file.read_text()) == (0, "edited", "two")


def test_a_sub_agent_has_a_conversation_of_its_own(bare_agent: Claude) -> None:
    bare_agent.model.when("delegate", Task("count the files"), Say("Delegated."))
    bare_agent.model.when("count the files", Shell("ls | wc -l"), Say("One."))

    run = bare_agent.run("Please delegate")

    assert run.answer == "Delegated."
    assert len(bare_agent.model.main_requests("count the files")) == 2


def test_a_failing_hook_is_seen_by_these_tests(bare_agent: Claude) -> None:
    """Otherwise every `assert_undisturbed` would mean nothing."""
    stand_in(
        bare_agent, Stop="echo oops >&2; exit 1", PostToolUse="exit 2", SessionEnd="echo late >&2; exit 2"
    )
    bare_agent.model.when("work", Shell("true"), Say("Worked."))

    run = bare_agent.run("Some work")

    assert {hook.event for hook in run.hooks if not hook.unnoticed} == {"Stop", "PostToolUse"}
    assert "oops" in "\n".join(run.complaints())
    assert "late" in run.stderr


def test_nothing_but_loopback_can_be_reached(bare_agent: Claude) -> None:
    if bare_agent.loopback.notice:
        pytest.skip(bare_agent.loopback.notice)

    run = bare_agent.run("Look [[shell:cat /proc/net/dev]] [[say:seen]]")

    devices = str(run.requests[-1].body["messages"][-1]["content"])
    assert "lo:" in devices
    assert "eth" not in devices


def test_the_interactive_client_clears_into_a_new_session(bare_agent: Claude) -> None:
    stand_in(bare_agent)
    with bare_agent.terminal() as terminal:
        terminal.ready()
        before = terminal.ask("Hello")
        terminal.type("/clear")
        after = terminal.ask("Hello again")
        terminal.leave()

    assert BRIEF in before[0].injected_context()
    assert BRIEF in after[0].injected_context()
    assert len(after[0].body["messages"]) == len(before[0].body["messages"])
