"""Which start gets which context: a resumed session only news, a compacted one its own checkpoint first, a
cleared one the whole brief (CMEM-20, CMEM-21)."""

from __future__ import annotations

import time

import pytest

from .claude import Claude
from .story import add_farewell, add_greeting, look_around, teach

pytestmark = pytest.mark.clients


# CMEM-20
def test_cmem_20_a_resumed_session_is_told_only_what_it_has_missed(agent: Claude) -> None:
    first = add_greeting(agent)
    add_farewell(agent)

    resumed = look_around(agent, resume=first.session)

    assert "farewell.py" in resumed.brief
    assert "greeting.py" not in resumed.brief, "that is its own work, it stands in its conversation already"


# CMEM-20
def test_cmem_20_resuming_again_and_again_piles_nothing_up(agent: Claude) -> None:
    first = add_greeting(agent)
    add_farewell(agent)
    look_around(agent, resume=first.session)

    again = look_around(agent, resume=first.session)
    and_again = look_around(agent, resume=first.session)

    assert (again.brief, and_again.brief) == ("", "")
    assert len(and_again.requests[0].injections()) == 1
    assert and_again.requests[0].injected_context().count("farewell.py") >= 1


def test_a_forked_session_is_told_only_what_the_first_one_has_missed(agent: Claude) -> None:
    first = add_greeting(agent)
    time.sleep(2)  # Claude tells a fork in whole seconds how long its context has been silent
    add_farewell(agent)

    forked = look_around(agent, resume=first.session, flags=("--fork-session",))

    assert forked.session != first.session
    assert "farewell.py" in forked.brief
    assert "greeting.py" not in forked.brief, "that stands in the conversation it was forked from"


# CMEM-21
def test_what_a_fork_inherited_is_not_stored_as_done_twice(agent: Claude) -> None:
    """The client copies the whole conversation into the fork's own transcript."""
    first = add_greeting(agent)
    look_around(agent, resume=first.session, flags=("--fork-session",))
    agent.memory.rests()

    events = agent.memory.timeline(agent.project)
    assert len([event for event in events if "greeting.py" in event["target"]]) == 2, "one write, one read"
    assert look_around(agent).brief.count("Add a greeting to the project") == 1


# CMEM-21
def test_cmem_21_a_compacted_session_gets_its_own_checkpoint_first(agent: Claude) -> None:
    first = add_greeting(agent)
    add_farewell(agent)

    compacted = agent.run("/compact", resume=first.session)
    assert compacted.exit_code == 0
    assert compacted.complaints() == []
    checkpoint = compacted.told("SessionStart:compact")
    after = look_around(agent, resume=first.session)

    assert checkpoint in after.requests[0].injected_context(), "what was injected is what the model is sent"
    own, others = checkpoint.find("greeting.py"), checkpoint.find("farewell.py")
    assert own >= 0, "the session's own work is in it"
    assert others < 0 or own < others, "and stands before what others did"
    stored = [(event["kind"], event["reason"]) for event in reversed(agent.memory.timeline(agent.project))]
    begun = stored.index(("compacting", "manual"))
    assert stored[begun : begun + 3] == [
        ("compacting", "manual"), ("session_started", "compact"), ("compacted", "manual"),
    ]  # fmt: skip


# CMEM-21
def test_cmem_21_a_cleared_session_gets_the_brief_of_the_project(agent: Claude) -> None:
    teach(agent, "Add a greeting", agent.project / "greeting.py", "The-greeting-is-there.")
    with agent.terminal() as terminal:
        terminal.ready()
        before = terminal.ask("Add a greeting")
        terminal.type("/clear")
        after = terminal.ask("Where were we")
        terminal.leave()

    assert before[0].injections() == []
    assert "greeting.py" in after[0].injected_context()
    assert "Add a greeting" not in str(after[0].body["messages"][0]), "the conversation itself is gone"
    agent.memory.drained()
    assert agent.memory.status()["sessions"] == 2
