"""The same sessions twice: as hooks captured them live, and as the agent's own history tells them.

While an agent works through a `Story` no worker gets anything done, so that every payload stays in the spool.
Spool and history are then given to fresh memories, in both orders, and what those hold is compared.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from backstory.atomic import lock

from .conftest import program, remembering
from .headless import Headless, Run
from .loopback import Loopback
from .memory import Memory
from .model import Model, Request, Say, Shell
from .repository import repository

# What only somebody who was there can tell.
_ONLY_LIVE = ("session_started", "session_ended", "compacting")
_OURS = ("backstory-notes", "Notes that Backstory kept")

Rows = Counter[tuple[str, ...]]
Driver = TypeVar("Driver", bound=Headless)


@dataclass
class Story:
    """Three runs of one agent: some work, a session that asks what happened, and that one taken up again."""

    agent: Any
    first: Run
    second: Run
    again: Run
    spool: Path
    """All that hooks have left."""
    requests: list[Request]
    """Of the second run, side calls too."""
    events: list[dict[str, Any]]
    """What was stored of the first run, oldest first."""

    def uses(self) -> list[tuple[str, str, str]]:
        """Its tool calls: action, target without its folder, outcome."""
        return [
            (event["action"], event["target"].removeprefix(f"{self.agent.project}/"), event["outcome"])
            for event in self.events
            if event["kind"] == "tool"
        ]

    def assert_told_alike(self) -> Rows:
        """Hooks and history give the same rows once, in either order, and nothing that we had injected."""
        rows = assert_told_alike(self.agent, self.spool)
        ours = [row for row in rows if any(words in text for words in _OURS for text in row)]
        assert ours == [], "what was injected came back as if somebody had said it"
        return rows

    def assert_told_once(self, of: str) -> None:
        """The second session was told of something, in each request once, and still once when taken up again."""
        assert of in self.second.brief
        for request in (*self.second.requests, *self.again.requests):
            assert [of in brief for brief in request.injections()] == [True]
        assert self.again.session == self.second.session != self.first.session


@contextmanager
def on_stage(driver: type[Driver], folder: Path, loopback: Loopback) -> Iterator[Driver]:
    """An agent and its memory for the tests of a whole module; nothing of them is left running."""
    with remembering(folder / "home") as memory:
        model = Model(loopback.listen())
        try:
            agent = driver(program(driver.name), repository(folder / "project"), model, memory, loopback)
            agent.settle()
            memory.install(agent.name)
            yield agent
        finally:
            model.close()


def tell(agent: Headless, prompt: str, answer: str) -> Story:
    """The story in which the agent does first what this prompt asks for."""
    with nobody_working(agent.memory):
        first = agent.run(prompt)
        first.assert_undisturbed(answer)
        agent.model.when("Where were we", Shell("echo looking"), Say("Let me see."))
        since = len(agent.model.requests)
        second = agent.run("Where were we?")
        second.assert_undisturbed("Let me see.")
        requests = agent.model.requests[since:]
        agent.model.when("And now", Say("Nothing new."))
        again = agent.run("And now?", resume=second.session)
        again.assert_undisturbed("Nothing new.")
        spool = agent.memory.home.with_name("spooled")
        shutil.copytree(agent.memory.home / "spool", spool)
    work(agent.memory)
    events = agent.memory.timeline(agent.project)[::-1]
    later = [at for at, event in enumerate(events) if event["kind"] == "session_started"][1]
    return Story(agent, first, second, again, spool, requests, events[:later])


@contextmanager
def nobody_working(memory: Memory) -> Iterator[None]:
    """No worker of this memory gets anything done."""
    with lock(memory.home / "worker.lock", wait=10) as held:
        assert held
        yield


def work(memory: Memory) -> None:
    """A worker stores what hooks have left."""
    worker = [memory.python, "-I", "-m", "backstory.worker", str(memory.home)]
    subprocess.run(worker, env=memory.environment, check=True, timeout=60)
    memory.drained()


def spooling(agent: Headless, runs: Callable[[], object]) -> Path:
    """Runs the agent while nobody works, and gives the spool with all that its hooks have left."""
    with nobody_working(agent.memory):
        runs()
        spool = agent.memory.home.with_name("spooled")
        shutil.copytree(agent.memory.home / "spool", spool)
    return spool


def rows(memory: Memory) -> Rows:
    """All events of a memory, without times and places, and without what only live capture knows."""
    question = """
        SELECT s.native_id, e.kind, e.action, e.tool, e.target, e.outcome, e.text, e.native_id
        FROM events e JOIN sessions s ON s.id = e.session_id
    """
    with closing(sqlite3.connect(memory.database())) as opened:
        found = [tuple(map(str, row)) for row in opened.execute(question)]
    # the drain puts what the work tree looked like where a turn's end has no target
    return Counter(
        (*row[:4], "" if row[1] == "turn_ended" else row[4], *row[5:])
        for row in found
        if row[1] not in _ONLY_LIVE
    )


def fresh(agent: Headless, name: str) -> Memory:
    """Another memory of the same user."""
    return Memory(agent.memory.user_home / name, agent.memory.user_home)


def give_spool(memory: Memory, spool: Path) -> None:
    """Payloads arrive, and a worker stores them."""
    memory.home.mkdir(exist_ok=True)
    shutil.copytree(spool, memory.home / "spool", dirs_exist_ok=True)
    for mark in (memory.home / "spool").glob("*.fail"):
        mark.unlink()
    work(memory)


def give_history(memory: Memory, agent: Headless) -> None:
    """The agent's own history is imported."""
    memory.cli("import", agent.name, "--min-messages", "0", "--again")


def assert_told_alike(agent: Headless, spool: Path) -> Rows:
    """Live capture, import, and both in either order give the same rows, each once; gives them."""
    live, imported, first_live, first_imported = (
        fresh(agent, name) for name in ("live", "imported", "first-live", "first-imported")
    )
    give_spool(live, spool)
    give_history(imported, agent)
    give_spool(first_live, spool)
    give_history(first_live, agent)
    give_history(first_imported, agent)
    give_spool(first_imported, spool)
    told = rows(live)
    assert told
    for memory in (imported, first_live, first_imported):
        other = rows(memory)
        assert other == told, f"{memory.home.name}: more {other - told}, less {told - other}"
    return told
