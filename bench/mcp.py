"""What the MCP server costs an agent: its start, its memory, its answers, and whether a backlog delays them.

    python -m bench.mcp [--rounds 15] [--json]

Start is from starting the process, as agents are told to, to the list of its tools (`initialize`,
`notifications/initialized`, `tools/list`), beside a bare `python -I -S -c pass` in the same round. Memory is
the server's resident set after the list of tools, before anything was searched. Then one question is asked
again and again: with nothing else to do; while fifty turns wait and somebody holds the worker's lock; and
while a worker takes in and distils fifty turns after fifty.
Last, sentences are remembered: with nothing else to do, while somebody holds the worker's lock, and while
somebody writes to the database and does not come to an end.
"""

import argparse
import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.mcp.server import Server
from tests.story import House

from backstory.atomic import lock

QUESTION = "why did the harbour crane stop?"
TURNS = 50
LIMITS = {"start_ms": 60.0, "start_ratio": 1.3, "rss_mb": 20.0}


def turns(house: House, count: int = TURNS) -> None:
    """So many turns of a session lie in the spool."""
    story = house.session().starts()
    for n in range(count):
        story.prompts(f"Turn {n}: the harbour crane stops, because the belt {n} is worn")
        story.runs(f"make crane{n}", fails="belt slipped").edits(f"crane{n}.py").runs(
            f"make crane{n}", "moved"
        )
        story.stops(f"Crane {n} moves again.")


def asked(server: Server, rounds: int) -> list[float]:
    """How long answers to a question take, in ms."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        server.call("search", query=QUESTION)
        times.append((time.perf_counter() - start) * 1000)
    return times


def remembered(server: Server, rounds: int, about: str) -> list[float]:
    """How long it takes to keep a sentence, in ms."""
    times = []
    for n in range(rounds):
        start = time.perf_counter()
        server.call("remember", text=f"The {about} belt number {n} is kept in the shed")
        times.append((time.perf_counter() - start) * 1000)
    return times


@contextmanager
def written(house: House) -> Iterator[None]:
    """Somebody writes to the database, and does not come to an end."""
    with closing(sqlite3.connect(house.home.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def started(house: House, rounds: int) -> tuple[list[float], list[float], list[float]]:
    """Start to the list of tools and bare Python, in ms; the server's memory in MB."""
    starts, bare, memory = [], [], []
    for _ in range(rounds):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)
        bare.append((time.perf_counter() - begin) * 1000)
        begin = time.perf_counter()
        server = Server(house.home.root, house.project)
        server.ask("initialize", protocolVersion="2025-06-18")
        server.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        server.ask("tools/list")
        starts.append((time.perf_counter() - begin) * 1000)
        status = Path(f"/proc/{server.process.pid}/status").read_text("ascii")
        memory.append(int(status.split("VmRSS:")[1].split()[0]) / 1024)
        server.ends()
    return starts, bare, memory


@contextmanager
def worked(house: House) -> Iterator[None]:
    """A worker takes in and distils, again and again, as long as it lasts."""
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            turns(house)
            subprocess.run([sys.executable, "-I", "-m", "backstory.worker", str(house.home.root)], check=True)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def main() -> int:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description="What the MCP server costs")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    middle: Callable[[list[float]], float] = statistics.median
    with tempfile.TemporaryDirectory(prefix="backstory-mcp-") as folder:
        project = Path(folder, "harbour")
        project.mkdir()
        house = House(Path(folder, "home"), project)
        house.sets("worker.linger_seconds", "0")
        house.installs()
        turns(house)
        house.works()
        house.close()
        starts, bare, memory = started(house, chosen.rounds)
        server = Server(house.home.root, project)
        first = asked(server, 1)
        alone = asked(server, chosen.rounds)
        turns(house)
        with lock(house.home.worker_lock, wait=10):
            waiting = asked(server, chosen.rounds)
        with worked(house):
            busy = asked(server, 4 * chosen.rounds)
        free = remembered(server, chosen.rounds, "spare")
        with lock(house.home.worker_lock, wait=60):
            held = remembered(server, chosen.rounds, "red")
            with written(house):
                stuck = remembered(server, chosen.rounds, "blue")
        server.ends()
    figures = {
        "start_ms": round(middle(starts), 1),
        "start_ratio": round(middle(starts) / middle(bare), 2),
        "rss_mb": round(middle(memory), 1),
        "first_search_ms": round(first[0], 1),
        "search_ms": round(middle(alone), 1),
        "search_with_backlog_ms": round(middle(waiting), 1),
        "search_beside_worker_ms": [round(middle(busy), 1), round(max(busy), 1)],
        "remember_ms": round(middle(free), 1),
        "remember_beside_worker_ms": [round(middle(held), 1), round(max(held), 1)],
        "remember_beside_writer_ms": [round(middle(stuck), 1), round(max(stuck), 1)],
    }
    if chosen.json:
        print(json.dumps(figures))
        return 0
    for name, told in figures.items():
        limit = f"  (limit {LIMITS[name]:g})" if name in LIMITS else ""
        print(f"{name:28}{told}{limit}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
