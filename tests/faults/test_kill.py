"""kill -9 at any moment, of any worker, while hooks write: nothing is lost, nothing is stored twice."""

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from backstory.model import Kind
from tests.story import House, Story

SEED = 20_261_115
WRITERS = 4
TURNS = 25  # of each writer, five events each
KILLS = 30
STILL_SECONDS = 120  # without a hook that returned or, after the last of them, a kill: something hangs

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes through /proc"),
]


class Agent:
    """One session that runs its hooks one after the other, and knows which of them returned."""

    def __init__(self, house: House, number: int) -> None:
        self.story: Story = house.session(session=f"writer-{number}")
        self.returned: Counter[tuple[str, str]] = Counter()
        self._house = house

    def plays(self) -> None:
        self._fires("SessionStart", (Kind.SESSION_STARTED, "startup"), source="startup")
        for turn in range(TURNS):
            prompt, own = f"ask {turn}", f"p{turn}"
            self._fires("UserPromptSubmit", (Kind.PROMPT, prompt), prompt=prompt, prompt_id=own)
            for n in range(2):
                use = f"t{turn}-{n}"
                given: dict[str, Any] = {
                    "tool_name": "Bash",
                    "tool_input": {"command": use},
                    "tool_use_id": use,
                }
                self._fires("PostToolUse", (Kind.TOOL, use), **given, tool_response="x" * 3_000)
            # what has no id of its own is guarded by the receipt of its file alone
            self._fires("PreCompact", (Kind.COMPACTING, "manual"), trigger="manual")
            words = f"answer {turn}"
            self._fires("Stop", (Kind.SAID, words), prompt_id=own, last_assistant_message=words)
        self._fires("SessionEnd", (Kind.SESSION_ENDED, "other"), reason="other")

    def _fires(self, event: str, what: tuple[str, str], **fields: Any) -> None:
        done = self._house.fires(event, self.story.payload(event, **fields))
        assert done.returncode == 0
        self.returned[what] += 1

    def stored(self) -> Counter[tuple[str, str]]:
        found: Counter[tuple[str, str]] = Counter()
        for event in self._house.events(self.story):
            if event.kind is not Kind.TURN_ENDED:
                words = event.target if event.kind is Kind.TOOL else event.text or event.reason
                found[event.kind, words] += 1
        return found


class Reaper:
    """Starts workers and kills them, and those that hooks start, at random moments of their lives."""

    def __init__(self, house: House, rng: random.Random) -> None:
        self.kills = 0
        self.at_work = 0
        self._house = house
        self._rng = rng
        self._started: list[subprocess.Popen[bytes]] = []

    def strikes(self) -> None:
        run = [sys.executable, "-I", "-m", "backstory.worker", str(self._house.home.root)]
        if not self._alive():
            self._started.append(subprocess.Popen(run, stdin=subprocess.DEVNULL))
        if self._rng.random() < 0.75:  # one that holds the lock is in the middle of it
            pid = self._lock_holder(2.0)
            self.at_work += pid is not None
            time.sleep(self._rng.random() * 0.08)
        else:
            time.sleep(self._rng.random() * 0.4)
            pid = self._rng.choice(self._alive() or [0])
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                self.kills += 1

    def _alive(self) -> list[int]:
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
                state = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[0]
                if (
                    b"backstory.worker" in words
                    and str(self._house.home.root).encode() in words
                    and state != "Z"
                ):
                    found.append(int(name))
        return found

    def _lock_holder(self, seconds: float) -> int | None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, ValueError):
                pid = int(self._house.home.worker_lock.read_text())
                if pid in self._alive():
                    return pid
            time.sleep(0.005)
        return None

    def rests(self) -> None:
        for pid in self._alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in self._started:
            process.wait(10)


@pytest.fixture
def house(house: House) -> House:
    house.installs()
    house.sets("worker.linger_seconds", "0")
    return house


@pytest.fixture
def reaper(house: House) -> Iterator[Reaper]:
    reaping = Reaper(house, random.Random(SEED))
    yield reaping
    reaping.rests()


def test_every_event_whose_hook_returned_is_stored_exactly_once(house: House, reaper: Reaper) -> None:
    """CMEM-15, MEMORIA-31, CM-14."""
    agents = [Agent(house, number) for number in range(WRITERS)]
    threads = [threading.Thread(target=agent.plays) for agent in agents]
    for thread in threads:
        thread.start()
    reached, since = (0, 0), time.monotonic()
    while (playing := any(thread.is_alive() for thread in threads)) or reaper.kills < KILLS:
        reaper.strikes()
        hooks = sum(agent.returned.total() for agent in agents)
        if (here := (hooks, 0 if playing else reaper.kills)) != reached:
            reached, since = here, time.monotonic()
        still = time.monotonic() - since
        assert still < STILL_SECONDS, f"{hooks} hooks returned, {reaper.kills} kills, and then nothing more"
    reaper.rests()
    assert sum(sum(agent.returned.values()) for agent in agents) == WRITERS * (5 * TURNS + 2)
    assert reaper.at_work > KILLS / 3, "most of them should have been hit at work"

    house.works()
    assert house.spooled() == []
    for agent in agents:
        assert agent.stored() == agent.returned
    assert house.counter("quarantined") == 0
    assert house.works() == 0, "nothing was left undone"
    assert {job.state for job in house.store.jobs.all()} == {"done"}
    assert house.store.passages.unindexed() == 0
    (row,) = house.store._connection.execute("PRAGMA integrity_check").fetchall()  # type: ignore[attr-defined]
    assert row == ("ok",)
    house.close()
    with closing(sqlite3.connect(house.home.database)) as raw:
        assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
    briefs = [json.loads(path.read_text()) for path in house.home.briefs.glob("p*.json")]
    assert any(f"ask {TURNS - 1}" in json.dumps(value) for value in briefs)
