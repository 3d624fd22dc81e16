"""Clocks that jump, and processes that meet: each event is stored once, in order."""

import json
import os
import shutil
import subprocess
import threading
import time

import pytest

from backstory.model import Kind
from tests.story import House

from .world import fires, settled, steps, worker

pytestmark = pytest.mark.faults
LAST_PID = "/proc/sys/kernel/ns_last_pid"


@pytest.fixture
def house(house: House) -> House:
    return settled(house)


def test_clock_jumps_change_neither_the_order_nor_the_count(house: House) -> None:
    story = house.session()
    now = time.time_ns()
    hour = 3_600 * 10**9
    for number, shift in enumerate((0, -5, 3, -48, 0, 24 * 400)):
        payload = story.payload(
            "PostToolUse",
            tool_name="Bash",
            tool_input={"command": f"step {number}"},
            tool_use_id=f"t{number}",
        )
        house.leaves(json.dumps(payload).encode(), at_ns=now + shift * hour)
        house.works()
    assert steps(house, story) == [f"step {number}" for number in range(6)]
    assert max(event.at for event in house.events(story)) <= time.time_ns() // 10**6, (
        "nothing is in the future"
    )


def test_a_worker_whose_clock_jumps_does_all_of_its_work(house: House) -> None:
    """A year ahead, then back, then two days behind: no job waits for a time that was never to come."""
    story = house.told()
    for number, days in enumerate((400, 0, -2, 0)):
        story.prompts(f"Ask {number} for the blue whale").runs(f"step {number}", "ok").stops(
            f"Done {number}."
        )
        shift = f"import time; real = time.time_ns; time.time_ns = lambda: real() + {days} * 86_400 * 10**9"
        assert worker(house, shift) == 0
        assert f"Ask {number}" in house.brief().text
        assert house.spooled() == []
        assert house.left() == {"done"}, f"{days} days"
        house.close()
    assert [step for step in steps(house, story) if step] == [f"step {number}" for number in range(4)]


def test_eight_agents_restored_in_the_same_second(house: House) -> None:
    stories = [house.session() for _ in range(8)]
    fires(house, stories[0], 1)
    house.works()
    house.close()
    answers: list[subprocess.CompletedProcess[bytes]] = []
    threads = [
        threading.Thread(
            target=lambda s=story: answers.append(
                house.fires("SessionStart", s.payload("SessionStart", source="startup"))
            )
        )
        for story in stories
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.returncode for answer in answers] == [0] * 8
    assert all(b"step 1" in answer.stdout for answer in answers)
    deadline = time.monotonic() + 30
    while house.spooled() and time.monotonic() < deadline:
        time.sleep(0.1)
    for story in stories:
        assert [e.kind for e in house.events(story)].count(Kind.SESSION_STARTED) == 1


@pytest.mark.parametrize("whose", ["nobody's", "somebody else's"])
def test_a_stale_lock_holds_nobody_up(house: House, whose: str) -> None:
    """Its pid is that of a dead process, or was given to another one since."""
    dead = subprocess.Popen(["true"])
    dead.wait()
    house.home.worker_lock.write_text(str(dead.pid if whose == "nobody's" else os.getpid()))
    story = house.session()
    fires(house, story, 1)
    assert worker(house) == 0
    assert steps(house, story) == ["step 1"]


def test_pids_that_are_used_again_in_two_containers_that_share_a_home(house: House) -> None:
    """Both count from 1, and give the same pid again and again: every file would have the same name."""
    probe = ["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", f"echo 100 >{LAST_PID}"]
    if shutil.which("unshare") is None or subprocess.run(probe, capture_output=True, check=False).returncode:
        if os.environ.get("CI"):
            pytest.fail("this machine allows no pid namespace: run CI as root")
        pytest.skip("NOT TESTED: reused pids need a pid namespace of their own (run as root)")
    stories = [house.session() for _ in range(2)]
    containers = []
    for story in stories:
        lines = []
        for number in range(60):
            given = {
                "tool_name": "Bash",
                "tool_input": {"command": f"step {number}"},
                "tool_use_id": f"t{number}",
            }
            event = "Stop" if number % 20 == 19 else "PostToolUse"  # starts a worker in each of them
            payload = json.dumps(story.payload(event, **given, tool_response="ok"))
            lines.append(
                f"echo 100 >{LAST_PID}\n"
                f"printf %s '{payload}' | sh -c {shell_quoted(house.command(event))} || exit 9"
            )
        script = "\n".join(lines)
        containers.append(
            subprocess.Popen(["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", script])
        )
    assert [container.wait(120) for container in containers] == [0, 0]
    assert worker(house) == 0
    expected = sorted(f"step {number}" for number in range(60) if number % 20 != 19)
    for story in stories:
        assert sorted(step for step in steps(house, story) if step) == expected
        assert [e.kind for e in house.events(story)].count(Kind.TURN_ENDED) == 3


def shell_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
