"""The same session twice: as hooks captured it live, and as the agent's own history tells it.

One run of the client with a memory whose interpreter is gone leaves every payload in the spool, unread. Spool
and history are then given to fresh memories, in both orders, and what those hold is compared.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

from .headless import Headless
from .memory import Memory

# What only somebody who was there can tell.
_ONLY_LIVE = ("session_started", "session_ended", "compacting")

Rows = Counter[tuple[str, ...]]


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


def leave_unread(agent: Headless) -> Path:
    """From now on payloads stay in the spool, which it gives: the hook script finds no interpreter to wake."""
    script = agent.memory.home / "hook" / "hook.sh"
    lines = script.read_text().splitlines(keepends=True)
    script.write_text("".join("python=/nowhere\n" if line.startswith("python=") else line for line in lines))
    return agent.memory.home / "spool"


def fresh(agent: Headless, name: str) -> Memory:
    """Another memory of the same user."""
    return Memory(agent.memory.user_home / name, agent.memory.user_home)


def give_spool(memory: Memory, spool: Path) -> None:
    """Payloads arrive, and a worker stores them."""
    memory.home.mkdir(exist_ok=True)
    shutil.copytree(spool, memory.home / "spool", dirs_exist_ok=True)
    for mark in (memory.home / "spool").glob("*.fail"):
        mark.unlink()
    subprocess.run(
        [sys.executable, "-I", "-m", "backstory.worker", str(memory.home)],
        env=memory.environment, check=True, timeout=60,
    )  # fmt: skip
    memory.drained()


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
