"""What driving an agent without a terminal has in common: one prompt, to its end, in an environment of its own.

    first = agent.run("Write the greeting")
    agent.run("Go on", resume=first.session)

A driver of one agent says which words start it (`words`), what its environment needs (`reach`) and which
sessions it has kept (`sessions`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .conftest import repository
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

    def start(
        self, prompt: str, *, resume: str = "", cwd: Path | None = None, faults: tuple[str, ...] = ()
    ) -> subprocess.Popen[str]:
        """Begins a run; who calls this ends it."""
        return subprocess.Popen(
            [*self.loopback.inside(*faults), str(self.program), *self.words(prompt, resume)],
            env={**self.memory.environment, **self.reach(), **self.extra}, cwd=cwd or self.project,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, prompt: str, **how: Any) -> Run:
        """A run to its end; `how` is as for `start`."""
        since, began = len(self.model.requests), time.monotonic()
        process = self.start(prompt, **how)
        try:
            stdout, stderr = process.communicate(timeout=240)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        main = [request for request in self.model.requests[since:] if request.is_main]
        kept = self.sessions()
        return Run(
            process.returncode, time.monotonic() - began, stdout, stderr, main, kept[-1] if kept else ""
        )


@contextlib.contextmanager
def stage(folder: Path, loopback: Loopback) -> Iterator[tuple[Path, Model, Memory]]:
    """A project, a model and a memory for the tests of a whole module; nothing of them is left running."""
    (folder / "home").mkdir()
    memory, model = Memory(folder / "home" / "memory", folder / "home"), Model(loopback.listen())
    try:
        yield repository(folder / "project"), model, memory
    finally:
        model.close()
        for worker in memory.workers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
