"""The same sessions twice: as hooks captured them live, and as the agent's own history tells them.

While an agent works through a `Story` no worker gets anything done, so that every payload stays in the spool.
Spool and history are then given to fresh memories, in both orders, and what those hold is compared.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from backstory.atomic import lock

from .conftest import program, remembering
from .headless import Headless, Run
from .loopback import Loopback
from .memory import Memory
from .model import Edit, Model, Read, Request, Say, Shell, Step, Write
from .repository import repository

# What only somebody who was there can tell.
_ONLY_LIVE = ("session_started", "session_ended", "compacting")
_OURS = ("backstory-notes", "Notes that Backstory kept")

WORK, DONE = "Make the reader split at commas", "The reader splits at commas."
DID = [
    ("run", "echo größer", "ok"),
    ("run", "ls missing-folder", "failed"),
    ("write", "reader.py", "ok"),
    ("edit", "reader.py", "ok"),
    ("read", "missing.py", "failed"),
]
ASKED, ASKED_AGAIN = "Where were we?", "And now?"

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
        for run, prompt in ((self.second, ASKED), (self.again, ASKED_AGAIN)):
            asked = [request for request in run.requests if prompt in request.last_prompt()]
            told = [[of in brief for brief in request.injections()] for request in asked]
            assert told == [[True]] * len(asked), f"{told}: {run.brief}"
            assert asked
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


def teach(agent: Headless, *more: Step, thought: str = "") -> None:
    """Work with everything in it: commands that pass and fail, a new file, an edit, a file that is missing."""
    reader = str(agent.project / "reader.py")
    say_after(
        agent,
        Shell("echo größer"),
        Shell("ls missing-folder"),
        Write(reader, "SEPARATOR = ';'\n"),
        Edit(reader, "';'", "','"),
        Read(str(agent.project / "missing.py")),
        *more,
        thought=thought,
    )


def say_after(agent: Headless, *steps: Step, thought: str = "") -> None:
    """The work is these steps, and then its last words."""
    agent.model.when(WORK, *steps, Say(DONE, thought))


def make_reader(agent: Headless) -> None:
    """A session that does the work."""
    teach(agent)
    agent.run(WORK).assert_undisturbed(DONE)


def look_around(agent: Headless, **how: str) -> Run:
    """A session that only asks."""
    agent.model.when(ASKED, Say("Let me see."))
    run = agent.run(ASKED, **how)
    run.assert_undisturbed("Let me see.")
    return run


def tell(agent: Headless, prompt: str = WORK, answer: str = DONE) -> Story:
    """The story in which the agent does first what this prompt asks for."""
    with spooling(agent) as spool:
        first = agent.run(prompt)
        first.assert_undisturbed(answer)
        agent.model.when(ASKED, Shell("echo looking"), Say("Let me see."))
        since = len(agent.model.requests)
        second = agent.run(ASKED)
        second.assert_undisturbed("Let me see.")
        requests = agent.model.requests[since:]
        agent.model.when(ASKED_AGAIN, Say("Nothing new."))
        again = agent.run(ASKED_AGAIN, resume=second.session)
        again.assert_undisturbed("Nothing new.")
    work(agent.memory)
    events = agent.memory.timeline(agent.project)[::-1]
    later = [at for at, event in enumerate(events) if event["kind"] == "session_started"][1]
    return Story(agent, first, second, again, spool, requests, events[:later])


@contextmanager
def spooling(agent: Headless) -> Iterator[Path]:
    """Nobody works meanwhile; afterwards all that hooks have left is in the folder that this gives, too."""
    spool = agent.memory.home.with_name("spooled")
    with nobody_working(agent.memory):
        yield spool
        shutil.copytree(agent.memory.home / "spool", spool)


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


def rows(memory: Memory, agent: Headless) -> Rows:
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
        if row[1] not in (*_ONLY_LIVE, *agent.untold)
    )


def fresh(agent: Headless, name: str) -> Memory:
    """Another memory of the same user."""
    other = Memory(agent.memory.user_home / name, agent.memory.user_home)
    other.home.mkdir(mode=0o700)
    other.hurry()
    return other


def give_spool(memory: Memory, spool: Path) -> None:
    """Payloads arrive, and a worker stores them."""
    shutil.copytree(spool, memory.home / "spool", dirs_exist_ok=True)
    for mark in (memory.home / "spool").glob("*.fail"):
        mark.unlink()
    work(memory)


def give_history(memory: Memory, agent: Headless) -> None:
    """The agent's own history is imported."""
    memory.cli("import", agent.name, "--min-messages", "0", "--again")


def assert_told_alike(agent: Headless, spool: Path) -> Rows:
    """Live capture, import, and both in either order give the same rows, each once; gives them."""
    live, imported = fresh(agent, "live"), fresh(agent, "imported")
    give_spool(live, spool)
    told = rows(live, agent)
    assert told
    give_history(imported, agent)
    _assert_same(rows(imported, agent), told, "history alone")
    give_history(live, agent)
    _assert_same(rows(live, agent), told, "hooks, then history")
    give_spool(imported, spool)
    _assert_same(rows(imported, agent), told, "history, then hooks")
    return told


def _assert_same(found: Rows, told: Rows, how: str) -> None:
    assert found == told, f"{how}: more {found - told}, less {told - found}"
