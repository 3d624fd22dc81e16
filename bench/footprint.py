"""What a real project's history costs: processor time, memory and disk, for each MB of it.

    python -m bench.footprint PROJECT --data DIR [--python PATH …] [--no-vectors]

DIR is that of `bench.work.run`. The project's transcripts are imported into a scratch home by the real
command, and all processes are waited for that it leaves behind: the worker, which indexes, distils, makes
vectors and copies the transcripts. PATH is a Python in which another commit is installed, to compare it in
the same run; times are processor times, as the machine may be busy. Needs Linux, where orphans can be waited
for.
"""

import argparse
import contextlib
import ctypes
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.work.labels import Labelled, load

_SUBREAPER = 36  # prctl(2): orphans of ours become our children
_PATIENCE_SECONDS = 3_600
_TABLES = 6


@dataclass(frozen=True, slots=True)
class Footprint:
    """Seconds of processor time, megabytes of memory and of disk."""

    history: float
    command: float
    all_work: float
    peak: float
    disk: dict[str, float]
    tables: dict[str, float]


def measure(python: str, labelled: Labelled, folder: Path, vectors: bool) -> Footprint:
    """Import a project's history with the Backstory of this Python, into a home of its own."""
    user, histories, home = (folder / name for name in ("user", "histories", "home"))
    for each in (user, histories):
        each.mkdir(parents=True)
    home.mkdir(mode=0o700)
    if not vectors:
        (home / "settings.toml").write_text('[embed]\nprovider = "off"\n', "utf-8")
    for session in labelled.sessions:
        (histories / session.file).write_text(session.text, "utf-8")
    environment = {**os.environ, "HOME": str(user), "BACKSTORY_HOME": str(home)}
    before = _processor_seconds()
    words = ["import", labelled.agent, "--path", str(histories), "--min-messages", "1"]
    subprocess.run(
        [python, "-P", "-m", "backstory", *words],
        env=environment,
        cwd=labelled.sessions[0].cwd,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    command = _processor_seconds() - before
    _wait_for_orphans()
    return Footprint(
        sum(len(session.text.encode()) for session in labelled.sessions) / 1e6,
        command,
        _processor_seconds() - before,
        resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3,
        {path.name: _megabytes(path) for path in home.iterdir()},
        _largest_tables(home / "backstory.db"),
    )


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _wait_for_orphans() -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < deadline:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.5)


def _megabytes(path: Path) -> float:
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    return sum(each.stat().st_size for each in files) / 1e6


def _largest_tables(database: Path) -> dict[str, float]:
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        try:
            rows = connection.execute(
                "SELECT name, sum(pgsize) / 1e6 FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT ?", (_TABLES,)
            ).fetchall()
        except sqlite3.OperationalError:  # an SQLite without dbstat
            return {}
    return dict(rows)


def main() -> int:
    """Measure each Python's Backstory in a process of its own, so that its peak is its own, and print."""
    parser = argparse.ArgumentParser(description="What a real project's history costs.")
    parser.add_argument("project")
    parser.add_argument("--data", default=os.environ.get("BACKSTORY_BENCH_DATA", ""))
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--no-vectors", action="store_true")
    options = parser.parse_args()
    data = Path(options.data)
    data = data / "work" if (data / "work").is_dir() else data
    print(f"{'':40}{'CPU s/MB: import':>18}{'with worker':>13}{'peak MB':>9}{'disk MB/MB':>12}", flush=True)
    for python in [sys.executable, *options.python]:
        if child := os.fork():
            os.waitpid(child, 0)
            continue
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)  # of this process alone
        with tempfile.TemporaryDirectory(prefix="backstory-footprint-") as folder:
            top = Path(folder).resolve()
            labelled = load(data / options.project, top / "tree")
            found = measure(python, labelled, top / "scratch", not options.no_vectors)
        _print(python, found)
        os._exit(0)
    return 0


def _print(python: str, found: Footprint) -> None:
    disk = sum(found.disk.values())
    print(
        f"{python[-39:]:40}{found.command / found.history:18.3f}{found.all_work / found.history:13.3f}"
        f"{found.peak:9.0f}{disk / found.history:12.3f}"
    )
    for what in (found.disk, found.tables):
        parts = sorted(what.items(), key=lambda each: -each[1])
        print("   ", ", ".join(f"{name} {size:.2f}" for name, size in parts if size >= 0.01), flush=True)


if __name__ == "__main__":
    sys.exit(main())
