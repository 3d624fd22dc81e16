"""One worker takes in event after event: how much memory it takes."""

import contextlib
import itertools
import os
import subprocess
import sys
import time
from pathlib import Path

from bench.drain import payloads
from bench.load.stage import SETTLE_SECONDS, SIZE, Figures, stage

from backstory.hook import spool
from backstory.store import open_store

# Waiting files up to which the feeder lets the spool grow.
AHEAD = 1_000
# After so many events all twenty sessions that go on side by side are new ones.
RENEWED = 10_000
SAMPLES = 10


def memory(events: int, figures: Figures) -> None:
    """Feed one worker, and read its memory at ten points."""
    with stage() as (home, project):
        home.spool.mkdir(mode=0o700, exist_ok=True)
        worker: subprocess.Popen[bytes] | None = None
        resident: list[int] = []
        peak, started = 0, time.perf_counter()
        for number, (event, data) in enumerate(itertools.islice(payloads(SIZE, str(project)), events), 1):
            path = home.spool / f"claude-code.{event}.4000.{10_000 + number}"
            fresh = f'"session_id": "{number // RENEWED:04d}'.encode()
            path.write_bytes(data.replace(b'"session_id": "0000', fresh, 1) + spool.TRAILER)
            if number % AHEAD and number < events:
                continue
            while worker is None or len(os.listdir(home.spool)) > (AHEAD if number < events else 0):
                if worker is None or worker.poll() is not None:
                    worker = subprocess.Popen(
                        [sys.executable, "-I", "-m", "backstory.worker", str(home.root)]
                    )
                time.sleep(0.02)
                peak = max(peak, _memory(worker.pid, "VmHWM"))
            if number % max(1, events // SAMPLES) < AHEAD:
                resident.append(_memory(worker.pid, "VmRSS"))
        assert worker is not None
        wall = time.perf_counter() - started
        worker.wait(timeout=SETTLE_SECONDS)
        with contextlib.closing(open_store(home)) as store:
            stored = store.counters.total("spooled")
            store.checkpoint()
        size = home.database.stat().st_size
    figures.add(
        "worked",
        stored,
        "events taken in by a worker",
        f"{stored:,} of {events:,}",
        f"{events:,}",
        stored == events,
    )
    figures.add(
        "worked_per_s", round(events / wall), "per second, everything included", f"{events / wall:,.0f}"
    )
    mb = [round(kilobytes / 1024) for kilobytes in resident if kilobytes]
    figures.add("resident_mb", mb, "its memory on the way, MB", " ".join(map(str, mb)))
    figures.add(
        "peak_mb", round(peak / 1024), "its peak", f"{peak / 1024:.0f} MB", "≤ 120 MB", peak / 1024 <= 120
    )
    figures.add(
        "bytes_per_event",
        round(size / max(stored, 1)),
        f"database per event of {SIZE} bytes",
        f"{size / max(stored, 1):,.0f} bytes",
    )


def _memory(pid: int, what: str) -> int:
    """A figure of a process in kilobytes; 0 if it is gone."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(f"{what}:"):
                return int(line.split()[1])
    return 0
