"""The agent dies in the middle of its work; nothing else does, and nothing is left over."""

from __future__ import annotations

import pytest

from ..headless import row
from ..memory import zombies_of
from .claude import Claude
from .story import begin_migration, look_around

pytestmark = [pytest.mark.clients, pytest.mark.faults]


def killed_in_mid_turn(agent: Claude) -> None:
    begin_migration(agent)
    working = agent.start("Migrate the tables to version seven")
    agent.model.wait_until_stalling()
    working.kill()
    working.communicate()


# CMEM-32
def test_cmem_32_after_kill_9_the_next_session_sees_the_unfinished_work(agent: Claude) -> None:
    """Crash recovery: no Stop, no SessionEnd, and the next session starts at once."""
    killed_in_mid_turn(agent)

    brief = look_around(agent).brief

    assert "schema.py" in brief
    row(brief, "Migrate the tables to version seven", "not finished")


def test_after_kill_9_nothing_is_lost_and_nothing_is_there_twice(agent: Claude) -> None:
    killed_in_mid_turn(agent)
    look_around(agent)
    agent.memory.drained()

    status = agent.memory.status()
    assert (status["sessions"], status["spooled"], status["quarantined"], status["duplicates"]) == (
        2,
        0,
        0,
        0,
    )
    assert any("schema.py" in hit["text"] for hit in agent.memory.search("schema.py", agent.project))


# CMEM-7
def test_cmem_7_after_kill_9_no_worker_is_left(agent: Claude) -> None:
    killed_in_mid_turn(agent)

    agent.memory.rests()
    assert "schema.py" in look_around(agent).brief


# CMEM-32
def test_cmem_32_a_working_agent_collects_no_zombies(agent: Claude) -> None:
    begin_migration(agent)
    working = agent.start("Migrate the tables to version seven")
    try:
        agent.model.wait_until_stalling()  # four hooks have run, two of them start a worker
        agent.memory.rests()
        assert zombies_of(working.pid) == []
    finally:
        working.kill()
        working.communicate()
    assert "schema.py" in look_around(agent).brief
