"""A storm: many sessions through the installed hook commands, as real processes, while everything is struck.

Hooks are killed, hung up and paused in the middle, workers are killed, ended, stopped and struck at their named
steps, commands and servers are killed while they back up, rebuild or answer. Afterwards every event whose hook
returned is stored exactly once, and one whose hook was struck at most once. All decisions come from one seed.

Only what died of it counts as a kill: a signal that came too late, that is ignored or that only pauses does not.
Sessions go on only as fast as the kills do, so that these meet work also on a slow machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from backstory.failpoints import STEPS
from backstory.hook import spool
from backstory.model import Kind
from tests.story import House, Story

HUNG_SECONDS = 120  # without a hook that returned or a strike: something hangs
_HOOK_SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)
_WORKER_SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGSTOP)
_WORKER_PARTS = ("drain", "transcript", "distil", "brief", "index", "daily", "compile")
# Where a process is struck: which command passes the step, none for the worker.
_STEPS: dict[str, tuple[str, ...]] = {
    **{name: () for name in STEPS if name.split(".")[0] in _WORKER_PARTS},
    "backup.copied": ("backup",),
    "backup.named": ("backup",),
    "export.line": ("export",),
    **{name: ("repair", "--yes") for name in STEPS if name.split(".")[0] in ("build", "replace")},
}
_COMMANDS = (
    ("status", "--json"),
    ("backup", "--json"),
    ("rebuild", "--json"),
    ("repair", "--yes"),
    ("search", "answer"),
    ("brief",),
    ("export",),
    ("serve", "--no-browser"),
)
_MCP = (
    {"method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}}},
    {"method": "tools/call", "params": {"name": "search", "arguments": {"query": "answer"}}},
    {"method": "tools/call", "params": {"name": "remember", "arguments": {"text": "It storms"}}},
)

What = tuple[str, str]


@dataclass(frozen=True)
class Weather:
    """How hard it storms: sessions side by side, turns of each, kills in all."""

    seed: int
    agents: int = 4
    turns: int = 100
    kills: int = 200
    each: int = 5  # of them at least so many workers, commands, and processes at a named step
    hook_share: float = 0.06  # of the hooks that are struck
    paused_share: float = 0.02  # of the others, those that are stopped and go on


@dataclass
class Tally:
    """What was done to whom: `killed` is who died of it, `shaken` who was signalled and went on."""

    hooks: int = 0
    over: bool = False  # nobody strikes any more
    hooks_may_start: threading.Event = field(default_factory=threading.Event, repr=False)
    killed: Counter[str] = field(default_factory=Counter)
    shaken: Counter[str] = field(default_factory=Counter)

    @property
    def kills(self) -> int:
        return self.killed.total()

    def killed_of(self, whom: str) -> int:
        """How many of a kind were killed: a hook, a worker, a command, a server; "at" for named steps."""
        return sum(n for name, n in self.killed.items() if whom in name.split())


class Agent:
    """One session that runs its hooks one after the other, and knows which of them returned."""

    def __init__(self, house: House, number: int, weather: Weather, tally: Tally) -> None:
        self.story: Story = house.session(session=f"writer-{number}")
        self.returned: Counter[What] = Counter()
        self.doubtful: Counter[What] = Counter()  # struck: stored once or not at all
        self.failure: BaseException | None = None
        self._house, self._weather, self._tally = house, weather, tally
        self._rng = random.Random(f"{weather.seed}/{number}")

    def plays(self) -> None:
        try:
            self._play()
        except BaseException as error:  # told by the main thread
            self.failure = error

    def _play(self) -> None:
        self._fires("SessionStart", (Kind.SESSION_STARTED, "startup"), source="startup")
        for turn in range(self._weather.turns):
            self._waits_for_kills(turn)
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

    def _waits_for_kills(self, turn: int) -> None:
        due = 0.9 * self._weather.kills * turn / self._weather.turns
        while self._tally.kills < due and not self._tally.over:
            time.sleep(0.02)

    def _fires(self, event: str, what: What, **fields: Any) -> None:
        data = json.dumps(self.story.payload(event, **fields)).encode()
        self._tally.hooks_may_start.wait()
        # its own group, as agents give it; guarded workers of its own are then not in it
        process = subprocess.Popen(
            ["sh", "-c", self._house.command(event)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "HOME": str(self._house.home.root.parent)},
            start_new_session=True,
        )
        assert process.stdin is not None
        victim = self._rng.random() < self._weather.hook_share
        half = self._rng.randrange(len(data)) if victim else len(data)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(data[:half])
            process.stdin.flush()
            if not victim and self._rng.random() < self._weather.paused_share:
                self._pauses(process)
            if victim:
                time.sleep(self._rng.random() * 0.006)
                if self._rng.random() < 0.5:
                    process.stdin.write(data[half:])
                    process.stdin.flush()
                how = self._rng.choice(_HOOK_SIGNALS)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, how)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        code = process.wait(60)
        self._tally.hooks += 1
        if victim:
            self.doubtful[what] += 1
            (self._tally.killed if code == -how else self._tally.shaken)[f"hook {how.name}"] += 1
        else:
            assert code == 0, f"a hook ended with {code}"
            self.returned[what] += 1

    def _pauses(self, process: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGSTOP)
            self._tally.shaken["hook SIGSTOP"] += 1
            time.sleep(self._rng.random() * 0.05)
            os.killpg(process.pid, signal.SIGCONT)

    def stored(self) -> Counter[What]:
        """What the store has of it."""
        found: Counter[What] = Counter()
        for event in self._house.events(self.story):
            if event.kind is not Kind.TURN_ENDED:
                words = event.target if event.kind is Kind.TOOL else event.text or event.reason
                found[event.kind, words] += 1
        return found

    def lost(self) -> Counter[What]:
        """Events whose hook returned and that are not stored."""
        return self.returned - self.stored()

    def doubled(self) -> Counter[What]:
        """Events that are stored more often than they can have happened."""
        return self.stored() - self.returned - self.doubtful


def _parent(pid: int | None) -> int:
    """Who started a process: of the one that holds the worker's lock, its supervisor."""
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


class Reaper:
    """Starts workers and commands, and strikes them at random moments and at their named steps."""

    def __init__(self, house: House, weather: Weather, tally: Tally) -> None:
        self._house, self._tally = house, tally
        self._rng = random.Random(f"{weather.seed}/reaper")
        self._started: list[subprocess.Popen[bytes]] = []
        self._deck: list[str] = []

    def strikes(self) -> None:
        """One blow."""
        roll = self._rng.random()
        if roll < 0.45:
            self._at_a_step()
        elif roll < 0.87:
            self._at_random()
        elif roll < 0.96:
            self._a_command()
        else:
            self._a_server()
        self._started = [process for process in self._started if process.poll() is None]

    def _at_a_step(self) -> None:
        """A worker or a command that dies by itself at a named step, if it gets there; all steps in turn."""
        if not self._deck:
            self._deck = self._rng.sample(list(_STEPS), len(_STEPS))
        name, time_ = self._deck.pop(), self._rng.choice((1, 1, 2, 4))
        words = _STEPS[name]
        strike = {"BACKSTORY_STRIKE": f"{name}=KILL@{1 if words else time_}"}
        if words:
            struck = self._start([sys.executable, "-m", "backstory", *words], strike)
        else:
            struck = self._successor(**strike, BACKSTORY_COMPILE_INTERVAL_MIN="0")
        with contextlib.suppress(subprocess.TimeoutExpired):
            if struck.wait(20) == -signal.SIGKILL:
                self._tally.killed[f"{'command' if words else 'worker'} at {name}"] += 1

    def _successor(self, **environment: str) -> subprocess.Popen[bytes]:
        """A worker that goes on where the others were killed; no hook starts another one before it has the lock."""
        self._tally.hooks_may_start.clear()
        try:
            for pid in self.alive():
                self._kills(pid, signal.SIGKILL)
            worker = self._worker(**environment)
            while worker.poll() is None and _parent(self._lock_holder(0)) != worker.pid:
                time.sleep(0.01)
        finally:
            self._tally.hooks_may_start.set()
        return worker

    def _at_random(self) -> None:
        if not self.alive():
            self._worker()
        pid = self._lock_holder(1.0) if self._rng.random() < 0.75 else None
        time.sleep(self._rng.random() * (0.08 if pid else 0.3))
        pid = pid or self._rng.choice(self.alive() or [0])
        if not pid:
            return
        how = self._rng.choice(_WORKER_SIGNALS)
        self._kills(pid, how)
        if how is signal.SIGSTOP:
            time.sleep(self._rng.random() * 0.3)
            self._kills(pid, self._rng.choice((signal.SIGCONT, signal.SIGKILL)))

    def _kills(self, pid: int, how: signal.Signals) -> None:
        """Signal a worker; SIGHUP it ignores, and two others only let it rest and go on."""
        if pid not in self.alive():
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, how)
            deadly = how in (signal.SIGKILL, signal.SIGTERM)
            (self._tally.killed if deadly else self._tally.shaken)[f"worker {how.name}"] += 1

    def _a_command(self) -> None:
        words = self._rng.choice(_COMMANDS)
        command = self._start([sys.executable, "-m", "backstory", *words])
        try:
            command.wait(self._rng.random() * 1.2)
        except subprocess.TimeoutExpired:
            command.kill()
            command.wait()
            self._tally.killed[f"command {words[0]}"] += 1

    def _a_server(self) -> None:
        """An MCP server, in the middle of its answers."""
        server = self._start([sys.executable, "-I", "-m", "backstory.mcp"], stdin=subprocess.PIPE)
        assert server.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            for number, request in enumerate(_MCP):
                server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, **request}).encode() + b"\n")
            server.stdin.flush()
            time.sleep(self._rng.random() * 0.8)
        if server.poll() is None:
            server.kill()
            self._tally.killed["server mcp"] += 1
        server.wait()
        with contextlib.suppress(BrokenPipeError):
            server.stdin.close()

    def _worker(self, **environment: str) -> subprocess.Popen[bytes]:
        run = [sys.executable, "-I", "-m", "backstory.worker", str(self._house.home.root)]
        return self._start(run, environment)

    def _start(
        self,
        words: list[str],
        environment: Mapping[str, str] = MappingProxyType({}),
        stdin: int = subprocess.DEVNULL,
    ) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            words,
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._house.project,
            env={**os.environ, "BACKSTORY_HOME": str(self._house.home.root), **environment},
        )
        self._started.append(process)
        return process

    def alive(self) -> list[int]:
        """Workers of this home that live."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
                state = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[0]
                ours = b"backstory.worker" in words and str(self._house.home.root).encode() in words
                if ours and state != "Z":
                    found.append(int(name))
        return found

    def _lock_holder(self, seconds: float) -> int | None:
        deadline = time.monotonic() + seconds
        while True:
            with contextlib.suppress(OSError, ValueError):
                pid = int(self._house.home.worker_lock.read_text())
                if pid in self.alive():
                    return pid
            if time.monotonic() >= deadline:
                return None
            time.sleep(0.005)

    def rests(self) -> None:
        """Nothing of it is left."""
        for pid in self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in self._started:
            process.kill()
            process.wait(10)


@dataclass
class Aftermath:
    """What is left when it is over."""

    agents: list[Agent]
    tally: Tally
    seconds: float

    @property
    def events(self) -> int:
        """How many hooks returned."""
        return sum(agent.returned.total() for agent in self.agents)

    @property
    def lost(self) -> Counter[What]:
        return sum((agent.lost() for agent in self.agents), Counter())

    @property
    def doubled(self) -> Counter[What]:
        return sum((agent.doubled() for agent in self.agents), Counter())


def rages(house: House, weather: Weather) -> Aftermath:
    """Let it storm over a house, then give its memory the time to take everything in."""
    house.installs()
    house.sets("worker.linger_seconds", "0")
    tally = Tally()
    tally.hooks_may_start.set()
    agents = [Agent(house, number, weather, tally) for number in range(weather.agents)]
    reaper = Reaper(house, weather, tally)
    threads = [threading.Thread(target=agent.plays) for agent in agents]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    reached, since = (0, 0), began
    try:
        while any(thread.is_alive() for thread in threads) or not _enough(tally, weather):
            reaper.strikes()
            if (here := (tally.hooks, tally.kills)) != reached:
                reached, since = here, time.monotonic()
            still = time.monotonic() - since
            assert still < HUNG_SECONDS, f"{tally} and then nothing more (seed {weather.seed})"
    finally:
        tally.over = True
        for thread in threads:
            thread.join()
        reaper.rests()
    for agent in agents:
        if agent.failure is not None:
            raise agent.failure
    _age_what_was_left_unfinished(house)
    rested = time.monotonic() + HUNG_SECONDS
    while house.works():  # a round has its limits of time
        assert time.monotonic() < rested, f"there is always more to do (seed {weather.seed})"
    return Aftermath(agents, tally, time.monotonic() - began)


def _enough(tally: Tally, weather: Weather) -> bool:
    spread = all(tally.killed_of(whom) >= weather.each for whom in ("worker", "command", "at"))
    return spread and tally.kills >= weather.kills


def _age_what_was_left_unfinished(house: House) -> None:
    """Files of hooks that were killed lie in the spool until nobody can be writing them any more."""
    long_ago = time.time() - 3_600
    for entry in spool.spool_entries(str(house.home.spool)):
        if spool.read_spooled(entry.path) is None:
            os.utime(entry.path, (long_ago, long_ago))
