"""How fast the spool becomes stored events, in one process, redaction included.

    python -m bench.drain [--events 6000] [--rounds 3] [--big [MB]] [--json]

Payloads are those of a Claude Code session at work (commands, files read and changed, prompts, stops), filled
up to their size with source text of this Python's standard library; every hundredth holds a secret. "drain"
is listing, reading, redacting, storing and removing the files; "whole round" adds distilling, briefs and the
text index. Rates are per second of CPU time of the one process, and the wall's beside them; the best of the
rounds counts, as everything that disturbs only makes it slower. `--big` fills the spool with that many
megabytes and shows how much memory the process took.
"""

import argparse
import dataclasses
import json
import os
import random
import resource
import string
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from backstory.capture.drain import Drain
from backstory.capture.privacy import Privacy
from backstory.capture.project_lookup import ProjectLookup
from backstory.hook import spool
from backstory.paths import Home
from backstory.pipeline import Pipeline
from backstory.settings import Settings
from backstory.store import Store, open_store

SMALL = 600
LARGE = 4_500
SECRET = "export API_TOKEN=ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SESSIONS = 20
TURN = 12  # events from prompt to stop
BIG_MB = 200


@dataclasses.dataclass
class Result:
    """One measurement."""

    what: str
    events: int
    megabytes: float
    cpu: float
    wall: float

    def line(self) -> str:
        """The row of the table."""
        return (
            f"{self.what:<34}{self.events:>8,}{self.megabytes:>9.1f}"
            f"{self.events / self.cpu:>12,.0f}{self.megabytes / self.cpu:>9.1f}"
            f"{self.events / self.wall:>12,.0f}{self.megabytes / self.wall:>9.1f}"
        )


def payloads(size: int, cwd: str, seed: int = 1) -> Iterator[tuple[str, bytes]]:
    """Event names and payloads of several sessions side by side, about `size` bytes each, without end."""
    rng = random.Random(seed)
    text = _source()
    number = 0
    while True:
        session = f"0000{number // TURN % SESSIONS:04d}-8a3c-4c0e-9d83-2f8d3b1c9a10"
        prompt_id = f"{number // TURN:08d}-70ca-4966-95a4-fe2c157b6d24"
        base: dict[str, Any] = {
            "session_id": session,
            "transcript_path": "",
            "cwd": cwd,
            "prompt_id": prompt_id,
            "permission_mode": "default",
        }
        name, own, fill = _step(number, cwd)
        start = rng.randrange(len(text) - 2 * size)
        room = max(40, size - len(json.dumps(base | own)) - 30)
        piece = text[start : start + room]
        own[fill] = _filled(own[fill], f"{SECRET}\n{piece[60:]}" if number % 100 == 99 else piece)
        yield name, json.dumps(base | {"hook_event_name": name} | own).encode()
        number += 1


def _step(number: int, cwd: str) -> tuple[str, dict[str, Any], str]:
    """The name, the fields and the field to fill of one event of a turn."""
    place = number % TURN
    use = {"tool_use_id": f"toolu_01{_letters(number)}", "duration_ms": 46}
    if place == 0:
        return "UserPromptSubmit", {"prompt": ""}, "prompt"
    if place == TURN - 1:
        return "Stop", {"stop_hook_active": False, "last_assistant_message": ""}, "last_assistant_message"
    if place % 3 == 0:
        path = {"file_path": f"{cwd}/src/part{number % 40}.py"}
        return (
            "PostToolUse",
            {"tool_name": "Read", "tool_input": path, **use, "tool_response": ""},
            "tool_response",
        )
    command = {
        "command": f"python -m pytest tests/test_part{number % 40}.py -q",
        "description": "Run the tests",
    }
    given = {"tool_name": "Bash", "tool_input": command, **use}
    if place % 5 == 0:
        return "PostToolUseFailure", given | {"error": "", "is_interrupt": False}, "error"
    return (
        "PostToolUse",
        given | {"tool_response": {"stdout": "", "stderr": "", "interrupted": False}},
        "tool_response",
    )


def _letters(number: int) -> str:
    """Twenty-two letters and digits, as the agent's ids have them."""
    rng = random.Random(number)
    return "".join(rng.choices(string.ascii_letters + string.digits, k=22))


def _filled(field: Any, piece: str) -> Any:
    return field | {"stdout": piece} if isinstance(field, dict) else piece


def _source() -> str:
    """Half a megabyte of real text that every machine has."""
    files = sorted(Path(os.__file__).parent.glob("*.py"))
    return "".join(path.read_text("utf-8", "replace") for path in files)[: 1 << 19]


def fill(home: Home, cwd: str, size: int, events: int = 0, megabytes: float = 0.0) -> tuple[int, float]:
    """Write that many events, or that much, into the spool; how many and how much it became."""
    home.spool.mkdir(parents=True, exist_ok=True)
    written, total = 0, 0
    now = time.time_ns() - 10**9
    for number, (event, data) in enumerate(payloads(size, cwd)):
        if (events and number >= events) or (megabytes and total >= megabytes * 1e6):
            break
        path = home.spool / f"claude-code.{event}.4000.{10_000 + number}"
        path.write_bytes(data + spool.TRAILER)
        os.utime(path, ns=(now + number * 1_000, now + number * 1_000))
        written, total = written + 1, total + len(data)
    return written, total / 1e6


def drained(home: Home, store: Store) -> None:
    """The drain alone."""
    places = ProjectLookup(store, {}, (), Privacy(Settings()).place)
    drain = Drain(home, Settings(), store, places)
    for batch in drain.batches():
        drain.release(batch)


def whole_round(home: Home, store: Store) -> None:
    """Everything that a worker does."""
    Pipeline(home, Settings(), store).round()


def measured(what: str, size: int, events: int, rounds: int, run: Callable[[Home, Store], None]) -> Result:
    """The best of several runs, each in a fresh home."""
    best: Result | None = None
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="backstory-bench-") as folder:
            home, project = Home(Path(folder) / "home"), Path(folder) / "project"
            project.mkdir()
            count, megabytes = fill(home, str(project), size, events)
            store = open_store(home)
            cpu, wall = time.process_time(), time.perf_counter()
            run(home, store)
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            stored = store.counters.total("spooled")
            left = len(list(home.spool.iterdir()))
            store.close()
        assert (stored, left) == (count, 0), (stored, left)
        if best is None or cpu < best.cpu:
            best = Result(what, count, megabytes, cpu, wall)
    assert best is not None
    return best


def big(megabytes: float, folder: str) -> None:
    """Drain a large spool in this process and say how much memory it took."""
    home = Home(Path(folder) / "home")
    store = open_store(home)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall = time.perf_counter()
    drained(home, store)
    wall = time.perf_counter() - wall
    events = store.counters.total("stored")
    store.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        json.dumps({"events": events, "megabytes": megabytes, "wall": wall, "peak": peak, "before": before})
    )


def big_in_a_process(megabytes: float) -> dict[str, float]:
    """The same in a process of its own, whose memory nothing else has touched."""
    with tempfile.TemporaryDirectory(prefix="backstory-bench-") as folder:
        project = Path(folder) / "project"
        project.mkdir()
        _, written = fill(Home(Path(folder) / "home"), str(project), LARGE, megabytes=megabytes)
        run = [sys.executable, "-m", "bench.drain", "--in-folder", folder, "--big", str(written)]
        done = subprocess.run(run, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=6_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--big", type=float, nargs="?", const=BIG_MB, metavar="MB")
    parser.add_argument("--in-folder", help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if chosen.in_folder:
        big(chosen.big, chosen.in_folder)
        return
    results = [
        measured("drain, 0.6 kB", SMALL, chosen.events, chosen.rounds, drained),
        measured("drain, 4.5 kB", LARGE, chosen.events, chosen.rounds, drained),
        measured("whole round, 0.6 kB", SMALL, chosen.events, 1, whole_round),
        measured("whole round, 4.5 kB", LARGE, chosen.events, 1, whole_round),
    ]
    memory = big_in_a_process(chosen.big) if chosen.big else None
    if chosen.json:
        print(json.dumps({"rates": [dataclasses.asdict(result) for result in results], "big": memory}))
        return
    print(f"{'':<34}{'events':>8}{'MB':>9}{'events/s':>12}{'MB/s':>9}{'wall ev/s':>12}{'MB/s':>9}")
    for result in results:
        print(result.line())
    print(f"{'to beat (drain)':<34}{'':>17}{4_500:>12,}{6.0:>9}")
    if memory:
        print(
            f"\nspool of {memory['megabytes']:.0f} MB, {memory['events']:,} events: {memory['wall']:.1f} s, "
            f"peak {memory['peak'] / 1024:.0f} MB, {memory['before'] / 1024:.0f} MB before it began; "
            "to beat: 150 MB"
        )


if __name__ == "__main__":
    main()
