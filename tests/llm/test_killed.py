"""A worker killed while it asks a model: nothing is lost, nothing is sent twice that was answered and kept."""

import os
import signal
import subprocess
import sys

import pytest

from tests.llm.conftest import Asking, a_session
from tests.story import House

pytestmark = pytest.mark.faults


def work(house: House, strike: str = "") -> int:
    """A real worker, struck at a step."""
    house.close()
    environment = {**os.environ, "BACKSTORY_GUARD": "1", **({"BACKSTORY_STRIKE": strike} if strike else {})}
    words = [sys.executable, "-m", "backstory.worker", str(house.home.root)]
    return subprocess.run(words, env=environment, timeout=60).returncode


@pytest.mark.parametrize(("strike", "sent"), [("refine.answered", 2), ("refine.kept", 1)])
def test_killed_at_a_step_the_next_worker_goes_on(
    house: House, asking: Asking, strike: str, sent: int
) -> None:
    """CM-57: state is saved after each outcome."""
    house.sets("worker.linger_seconds", "0")
    house.sets("model.wiki", "off")
    story = a_session(house)
    asking.answers({"kind": "fact", "text": "The importer streams its rows", "lines": [1]})
    assert work(house, f"{strike}=KILL") == -signal.SIGKILL
    assert house.store.memories.of_session(story.id), "the rules' memories stand"
    assert work(house) == 0
    assert [memory.text for memory in asking.learned(story)] == ["The importer streams its rows"]
    assert len(asking.model.requests) == sent
    assert asking.job(story)[0] == "done"


def test_the_endpoint_down_for_a_worker_costs_its_patience_and_no_more(house: House, asking: Asking) -> None:
    house.sets("worker.linger_seconds", "0")
    house.sets("model.url", "http://127.0.0.1:9/v1")
    story = a_session(house)
    assert work(house) == 0
    assert house.store.memories.of_session(story.id)
    assert asking.job(story)[:2] == ("waiting", 3)
