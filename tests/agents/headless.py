"""What driving an agent without a terminal has in common: one prompt, to its end, in an environment of its own.

    first = agent.run("Write the greeting")
    agent.run("Go on", resume=first.session)
    working = agent.start("Something long")           # to be killed

A driver of one agent says which words start it (`words`), what its environment needs (`reach`), which
sessions it has kept (`sessions`), and what stands in its settings before Backstory comes (`settle`).
"""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from .loopback import Loopback
from .memory import Memory
from .model import Model, Request


@dataclass(frozen=True)
class Run:
    """A run that has ended."""

    exit_code: int
    seconds: float
    stdout: str
    stderr: str
    requests: list[Request]
    session: str

    @property
    def brief(self) -> str:
        """What the model was told of the past at the start of this run."""
        return self.requests[0].injected_context()

    def assert_undisturbed(self, answer: str) -> None:
        assert "backstory" not in self.stderr.lower(), f"the client complained:\n{self.stderr}"
        assert answer in self.stdout, f"it said {self.stdout!r} instead of {answer!r}"
        assert self.exit_code == 0, f"it ended with {self.exit_code}"


@dataclass
class Headless:
    """An agent with its model, its project and the memory of its user."""

    name = ""
    untold: ClassVar[tuple[str, ...]] = ()  # kinds of events that its history does not tell
    program: Path
    project: Path
    model: Model
    memory: Memory
    loopback: Loopback
    extra: dict[str, str] = field(default_factory=dict)

    def words(self, prompt: str, resume: str) -> list[str]:
        raise NotImplementedError

    def reach(self) -> dict[str, str]:
        """Lets the client find its model; called before each run."""
        raise NotImplementedError

    def sessions(self) -> list[str]:
        """The ids of the sessions it has kept, oldest first."""
        raise NotImplementedError

    def settle(self) -> None:
        """Writes the settings of somebody who uses it, where there have to be any."""

    def environment(self) -> dict[str, str]:
        return {**self.memory.environment, **self.reach(), **self.extra}

    def start(
        self,
        prompt: str,
        *,
        resume: str = "",
        flags: tuple[str, ...] = (),
        cwd: Path | None = None,
        faults: tuple[str, ...] = (),
    ) -> subprocess.Popen[str]:
        """Begins a run; who calls this ends it."""
        return subprocess.Popen(
            [*self.loopback.inside(*faults), str(self.program), *self.words(prompt, resume), *flags],
            env=self.environment(), cwd=cwd or self.project,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def finish(self, process: subprocess.Popen[str], since: int = 0) -> Run:
        """Waits for its end; `since` is how many requests the model had seen before it began."""
        began = time.monotonic()
        try:
            stdout, stderr = process.communicate(timeout=240)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        seconds = time.monotonic() - began
        main = [request for request in self.model.requests[since:] if request.is_main]
        kept = self.sessions()
        return Run(process.returncode, seconds, stdout, stderr, main, kept[-1] if kept else "")

    def run(self, prompt: str, **how: Any) -> Run:
        """A run to its end; `how` is as for `start`."""
        since = len(self.model.requests)
        return self.finish(self.start(prompt, **how), since)


def row(brief: str, *words: str) -> str:
    """The line of a brief that has all these words; none is a failure that shows the brief."""
    for line in brief.splitlines():
        if all(word in line for word in words):
            return line
    raise AssertionError(f"no line with {words} in this brief:\n{brief}")
