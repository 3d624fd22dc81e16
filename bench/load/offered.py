"""Fifty agents at fixed times: what their hooks take, beside a plain `sh -c 'cat >f'` under the same load."""

import contextlib
import json
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.load.stage import SETTLE_SECONDS, SIZE, Figures, stage, until, workers

from backstory.hook.hook_command import hook_command
from backstory.paths import Home


@dataclass(slots=True)
class Sent:
    """What one agent's hooks took, in milliseconds: from when each was due, and from when it was started."""

    due: dict[str, list[float]] = field(default_factory=lambda: {"hook": [], "cat": []})
    own: dict[str, list[float]] = field(default_factory=lambda: {"hook": [], "cat": []})
    returned: list[str] = field(default_factory=list)
    failed: int = 0


def offered(agents: int, rate: float, events: int, figures: Figures) -> None:
    """Send all events at their times, by hook and by cat in turn, and compare."""
    with stage() as (home, project):
        scratch = home.root.parent / "scratch"
        scratch.mkdir()
        each = events // agents
        begin = time.perf_counter() + 1.0
        pace = 2 * rate  # a hook and a cat for each event
        sent = [Sent() for _ in range(agents)]
        threads = [
            threading.Thread(
                target=_agent, args=(n, each, pace, begin + n / agents / pace, home, project, scratch, s)
            )
            for n, s in enumerate(sent)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wall = time.perf_counter() - begin
        _ask_worker(home)
        drained = until(
            lambda: not list(home.spool.glob("claude-code.*")) and not workers(home), SETTLE_SECONDS
        )
        due = {kind: [ms for s in sent for ms in s.due[kind]] for kind in ("hook", "cat")}
        own = {kind: [ms for s in sent for ms in s.own[kind]] for kind in ("hook", "cat")}
        returned = [name for s in sent for name in s.returned]
        lost, doubled = _accounted(home, returned)
    figures.add(
        "offered_per_s",
        2 * len(due["hook"]) / wall,
        "processes started per second",
        f"{2 * len(due['hook']) / wall:.0f}",
    )
    # A machine that cannot keep up is late for both alike: then only the time from its own start tells.
    for since, times in (("when it was due", due), ("its own start", own)):
        for kind, name in (("hook", "capture hook"), ("cat", "sh -c 'cat >f'")):
            spread = {f"p{q}": round(_p(times[kind], q), 2) for q in (50, 90, 99)}
            figures.add(
                f"{kind}_ms_from_{since.split()[-1]}",
                spread,
                f"{name}, from {since}: p50 · p90 · p99",
                " · ".join(f"{ms:.1f} ms" for ms in spread.values()),
            )
        ratio = _p(times["hook"], 99) / _p(times["cat"], 99)
        figures.add(
            f"p99_ratio_from_{since.split()[-1]}",
            round(ratio, 2),
            f"p99 of the hook ÷ p99 of cat, from {since}",
            f"{ratio:.2f}",
            "≤ 3",
            ratio <= 3,
        )
    figures.add("sent", len(returned), "events whose hook returned", f"{len(returned):,}")
    gone = f"{lost} lost, {doubled} doubled" + ("" if drained else ", the spool was not emptied in time")
    figures.add("lost", lost, "afterwards", gone, "0, 0", lost == doubled == 0 and drained)


def _agent(
    number: int, events: int, pace: float, begin: float, home: Home, project: Path, scratch: Path, sent: Sent
) -> None:
    """One agent: hook and cat in turn, `pace` of them a second, each at its time or soon after."""
    session = f"load-{number:04d}"
    for index in range(2 * events):
        name = f"toolu_{number:04d}_{index:06d}"
        event = "Stop" if index % 48 == 46 else "PostToolUse"
        data = _payload(event, session, name, project)
        if index % 2:
            kind, command = "cat", f"cat >{scratch}/{name}"
        else:
            kind, command = "hook", hook_command(str(home.root), "claude-code", event)
        due = begin + index / pace
        time.sleep(max(0.0, due - time.perf_counter()))
        start = time.perf_counter()
        code = _sh(command, data)
        end = time.perf_counter()
        sent.due[kind].append((end - due) * 1000)
        sent.own[kind].append((end - start) * 1000)
        if kind == "hook" and event == "PostToolUse":
            if code == 0:
                sent.returned.append(name)
            else:
                sent.failed += 1
        if kind == "cat":
            Path(scratch, name).unlink(missing_ok=True)


def _sh(command: str, data: bytes) -> int:
    done = subprocess.run(
        ["/bin/sh", "-c", command], input=data, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return done.returncode


def _payload(event: str, session: str, name: str, project: Path) -> bytes:
    base: dict[str, Any] = {
        "session_id": session,
        "transcript_path": "",
        "cwd": str(project),
        "hook_event_name": event,
    }
    if event == "Stop":
        base["last_assistant_message"] = f"Done with {name}."
    else:
        text = f"{name}: " + "checked, all well. " * (SIZE // 20)
        base |= {"tool_name": "Bash", "tool_input": {"command": f"make {name}"}, "tool_use_id": name}
        base["tool_response"] = {"stdout": text, "stderr": "", "interrupted": False}
    return json.dumps(base).encode()


def _ask_worker(home: Home) -> None:
    subprocess.run([sys.executable, "-I", "-m", "backstory.worker", str(home.root)], check=False)


def _accounted(home: Home, returned: Sequence[str]) -> tuple[int, int]:
    """How many events are missing, and how many are stored more than once."""
    with contextlib.closing(sqlite3.connect(home.database)) as db:
        found = Counter(name for (name,) in db.execute("SELECT native_id FROM events WHERE kind = 'tool'"))
    return sum(name not in found for name in returned), sum(n - 1 for n in found.values())


def _p(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]
