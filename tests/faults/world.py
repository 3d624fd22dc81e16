"""Real hooks, workers and commands, for tests in which the world around them breaks."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from tests.story import House, Story


def settled(house: House) -> House:
    """With its hooks installed, and workers that end at once."""
    house.installs()
    house.sets("worker.linger_seconds", "0")
    return house


def worker(house: House, code: str = "") -> int:
    """A worker's process; `code` is run before it."""
    start = (
        f"{code}\nfrom backstory.worker import main; import sys; sys.exit(main([{str(house.home.root)!r}]))"
    )
    return subprocess.run(
        [sys.executable, "-c", start], stdin=subprocess.DEVNULL, timeout=120, check=False
    ).returncode


def command(house: House, *words: str, under: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """A command; never a traceback."""
    done = subprocess.run(
        [*under, sys.executable, "-m", "backstory", *words],
        cwd=house.project,
        env={**os.environ, "BACKSTORY_HOME": str(house.home.root)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def told_by_doctor(house: House, what: str) -> str:
    """The line that it prints about something."""
    return next(line for line in command(house, "doctor").stdout.splitlines() if what in line)


def fires(house: House, story: Story, *numbers: int) -> None:
    for number in numbers:
        given = {
            "tool_name": "Bash",
            "tool_input": {"command": f"step {number}"},
            "tool_use_id": f"t{number}",
        }
        done = house.fires("PostToolUse", story.payload("PostToolUse", **given, tool_response="ok"))
        assert (done.returncode, done.stdout) == (0, b"")


def steps(house: House, story: Story) -> list[str]:
    return [event.target for event in house.events(story)]


def mounts_allowed() -> bool:
    run = ["unshare", "--mount", "true"]
    return (
        shutil.which("unshare") is not None
        and subprocess.run(run, capture_output=True, check=False).returncode == 0
    )
