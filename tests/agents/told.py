"""What a memory has stored, as live capture and import must both tell it, and how to bring them together."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from backstory.atomic import lock

from .memory import Memory

# Only hooks tell these.
_OF_HOOKS = ("session_started", "turn_ended", "session_ended", "compacting")


def uses(memory: Memory, project: Path) -> list[tuple[str, ...]]:
    """Tool calls, oldest first: action, tool, target, outcome."""
    keys = ("action", "tool", "target", "outcome")
    events: list[dict[str, Any]] = memory.timeline(project)
    return [tuple(event[key] for key in keys) for event in reversed(events) if event["kind"] == "tool"]


def told(memory: Memory, project: Path) -> Counter[tuple[str, ...]]:
    """What both tell, each row as often as it is there."""
    keys = ("session", "kind", "action", "tool", "target", "outcome", "text", "subagent")
    return Counter(
        tuple(str(event[key]) for key in keys)
        for event in memory.timeline(project)
        if event["kind"] not in _OF_HOOKS
    )


def beside(memory: Memory) -> Memory:
    """Another memory of the same user, with nothing in it."""
    return Memory(memory.home.with_name("other"), memory.user_home)


@contextmanager
def nobody_working(memory: Memory) -> Iterator[None]:
    """No worker of this memory gets anything done."""
    with lock(memory.home / "worker.lock", wait=10) as held:
        assert held
        yield


def hand_over(spool: Path, memory: Memory) -> None:
    """Let a memory find in its spool what hooks have left in another's, and wait until it is stored."""
    shutil.copytree(spool, memory.home / "spool", dirs_exist_ok=True)
    worker = [memory.python, "-I", "-m", "backstory.worker", str(memory.home)]
    subprocess.run(worker, env=memory.environment, check=True, timeout=60)
    memory.drained()
