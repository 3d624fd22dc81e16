"""A team's server under load: single pushes, batches, a steady hundred a second, pulls, bootstrap, memory.

    python -m bench.team.run [--seconds 10] [--devices 50] [--rows 20000] [--json]

The server is its own process on an embedded PostgreSQL, the devices are threads of a second process with a
connection each. Everything shares this machine's cores, so what the devices take is missing to the server.
"""

import argparse
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.team import desk
from tests.team.serving import command, told

WORDS = (
    *("deploy", "cache", "retry", "index", "because", "slower", "queue", "build", "runner", "parser", "yaml"),
    *("timeout", "socket", "node", "python", "rust", "migrate", "schema", "branch", "merge", "latency"),
    *("worker", "endpoint", "flag", "rollback", "cluster", "ledger", "harbour", "crane", "invoice", "tide"),
)
LIMITS = {
    "single_pushes_per_s": (300.0, "at least"),
    "batched_rows_per_s": (10_000.0, "at least"),
    "steady_push_p99_ms": (50.0, "at most"),
    "empty_pull_p50_ms": (5.0, "at most"),
    "bootstrap_10000_s": (5.0, "at most"),
    "proof_10000_ms": (5.0, "at most"),
    "search_of_2000_p99_ms": (25.0, "at most"),
    "idle_server_mb": (80.0, "at most"),
}


class Connection:
    """A device with one connection that stays open."""

    def __init__(self, address: str, token: str) -> None:
        self.http = http.client.HTTPConnection(str(urlsplit(address).netloc), timeout=120)
        self.head = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def asks(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        self.http.request(method, path, None if body is None else json.dumps(body).encode(), self.head)
        answer = self.http.getresponse()
        data = answer.read()
        assert answer.status == 200, data[:200]
        found: dict[str, Any] = json.loads(data)
        return found


def body(number: int) -> dict[str, Any]:
    rng = random.Random(number)
    text = f"Decision {number}: we " + " ".join(rng.choice(WORDS) for _ in range(22))
    reason = "it was " + " ".join(rng.choice(WORDS) for _ in range(9))
    files = [f"src/{rng.choice(WORDS)}/{rng.choice(WORDS)}.py"]
    return desk.row(number, text, reason=reason, files=files, agent="claude-code", seen=2).as_json()


def push(*numbers: int, project: str = desk.SHOP) -> dict[str, Any]:
    return {"wire": 1, "project": project, "rows": [body(number) for number in numbers], "bury": []}


@contextmanager
def server(folder: Path) -> Iterator[tuple[str, str, "subprocess.Popen[str]"]]:
    """Address, the owner's token, the process."""
    environ = {**os.environ, "BACKSTORY_HOME": str(folder / "home")}
    called = command("--embedded", str(folder / "team"), "--listen", "127.0.0.1:0")
    process = subprocess.Popen(called, stdout=subprocess.PIPE, text=True, env=environ)
    try:
        found = told(process)
        assert found.invitation
        first = Connection(found.address, "")
        token = str(
            first.asks("POST", "/v1/join", {"invite": found.invitation.rpartition("/")[2], "device": "o"})[
                "token"
            ]
        )
        yield found.address, token, process
    finally:
        process.terminate()
        process.communicate()


def together(devices: list[Connection], seconds: float, work: Callable[[Connection, int], None]) -> int:
    """How often `work` was done, by all of them, until the time is over."""
    until = time.monotonic() + seconds
    done = [0] * len(devices)

    def loop(number: int) -> None:
        while time.monotonic() < until:
            work(devices[number], number)
            done[number] += 1

    threads = [threading.Thread(target=loop, args=(number,)) for number in range(len(devices))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done)


def steady(devices: list[Connection], seconds: float, each_s: float, first: int) -> list[float]:
    """Milliseconds of each push, counted from when it was due: waiting is not hidden."""
    took: list[float] = []
    begun = time.monotonic()

    def loop(number: int) -> None:
        rng = random.Random(number)
        at = begun + rng.random() * each_s
        count = 0
        while at < begun + seconds:
            time.sleep(max(0.0, at - time.monotonic()))
            devices[number].asks("POST", "/v1/push", push(first + number * 10_000 + count))
            took.append((time.monotonic() - at) * 1000)
            count += 1
            at += each_s

    threads = [threading.Thread(target=loop, args=(number,)) for number in range(len(devices))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(took)


def memory_mb(pid: int) -> float:
    """Proportional set size of a process and all it started: shared pages are counted once."""
    total = 0
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            total += int(line.split()[1])
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return total / 1024 + sum(memory_mb(int(child)) for child in children)


def processor_s(pid: int) -> float:
    """Processor time of a process and all that it started, also of those that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return own + sum(processor_s(int(child)) for child in children)


def measure(address: str, token: str, pids: tuple[int, int], chosen: argparse.Namespace) -> dict[str, float]:
    owner = Connection(address, token)
    owner.asks("POST", "/v1/projects", {"project": desk.SHOP})
    time.sleep(2)
    found = {"idle_server_mb": memory_mb(pids[0]), "idle_postgres_mb": memory_mb(pids[1])}
    devices = []
    for number in range(chosen.devices):
        made = owner.asks("POST", "/v1/invites", {"name": "owner", "role": "member"})["invite"]
        time.sleep(0.05)
        joined = None
        while joined is None:
            try:
                joined = Connection(address, "").asks(
                    "POST", "/v1/join", {"invite": made, "device": f"d{number}"}
                )
            except AssertionError:  # 429: joining is slow by design
                time.sleep(2)
        devices.append(Connection(address, str(joined["token"])))
    took = steady(devices, chosen.seconds, chosen.devices / 100, 50_000_000)
    found |= {"steady_push_p50_ms": took[len(took) // 2], "steady_push_p99_ms": took[len(took) * 99 // 100]}
    found["steady_pushes"] = len(took)
    counts = [0] * len(devices)

    def single(device: Connection, number: int) -> None:
        counts[number] += 1
        device.asks("POST", "/v1/push", push(10_000_000 + number * 10_000 + counts[number]))

    begun, busy = time.monotonic(), [processor_s(pid) for pid in pids]
    done = together(devices[:8], chosen.seconds, single)
    found["single_pushes_per_s"] = done / (time.monotonic() - begun)
    for name, before, pid in zip(("server", "postgres"), busy, pids, strict=True):
        found[f"push_{name}_processor_ms"] = (processor_s(pid) - before) * 1000 / done
    batches = [
        push(*range(at, at + 500), project="github.com/acme/batch") for at in range(0, chosen.rows, 500)
    ]
    owner.asks("POST", "/v1/projects", {"project": "github.com/acme/batch"})
    begun, busy = time.monotonic(), [processor_s(pid) for pid in pids]
    for batch in batches:
        owner.asks("POST", "/v1/push", batch)
    found["batched_rows_per_s"] = chosen.rows / (time.monotonic() - begun)
    for name, before, pid in zip(("server", "postgres"), busy, pids, strict=True):
        found[f"row_{name}_processor_us"] = (processor_s(pid) - before) * 1e6 / chosen.rows
    begun = time.monotonic()
    cursor, more, rows = 0, True, 0
    while more and rows < 10_000:
        page = owner.asks(
            "POST", "/v1/pull", {"wire": 1, "project": "github.com/acme/batch", "cursor": cursor}
        )
        cursor, more, rows = page["cursor"], page["more"], rows + len(page["rows"])
    found["bootstrap_rows"] = rows
    found["bootstrap_10000_s"] = (time.monotonic() - begun) * 10_000 / rows
    asked = {"wire": 1, "project": "github.com/acme/batch", "cursor": cursor}
    owner.asks("POST", "/v1/pull", asked)
    found["empty_pull_of_10000_p50_ms"] = median_ms(lambda: owner.asks("POST", "/v1/pull", asked))
    owner.asks("POST", "/v1/projects", {"project": "github.com/acme/small"})
    owner.asks("POST", "/v1/push", push(*range(200), project="github.com/acme/small"))
    small = {"wire": 1, "project": "github.com/acme/small", "cursor": 200}
    owner.asks("POST", "/v1/pull", small)
    found["empty_pull_p50_ms"] = median_ms(lambda: owner.asks("POST", "/v1/pull", small))
    found["proof_10000_ms"] = found["empty_pull_of_10000_p50_ms"] - found["empty_pull_p50_ms"]
    owner.asks("POST", "/v1/projects", {"project": "github.com/acme/medium"})
    for at in range(0, 2_000, 500):
        owner.asks("POST", "/v1/push", push(*range(at, at + 500), project="github.com/acme/medium"))
    for name, project in (
        ("of_2000", "github.com/acme/medium"),
        (f"of_{chosen.rows}", "github.com/acme/batch"),
    ):
        found |= search_ms(owner, project, name)
    return found


def search_ms(owner: Connection, project: str, name: str, times: int = 100) -> dict[str, float]:
    """Questions of three words, each of them in about every fourth row: the worst sort."""
    rng, took = random.Random(5), []
    for _ in range(times):
        query = " ".join(rng.sample(WORDS, 3))
        begun = time.perf_counter()
        owner.asks("POST", "/v1/search", {"project": project, "query": query, "limit": 10})
        took.append((time.perf_counter() - begun) * 1000)
    took.sort()
    return {f"search_{name}_p50_ms": took[times // 2], f"search_{name}_p99_ms": took[times * 99 // 100 - 1]}


def median_ms(work: Callable[[], object], times: int = 60) -> float:
    took = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        took.append((time.perf_counter() - begun) * 1000)
    return statistics.median(took)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--devices", type=int, default=50)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bs-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with server(folder) as (address, token, process):
            database = int((folder / "team" / "postgres" / "postmaster.pid").read_text().split()[0])
            found = measure(address, token, (process.pid, database), chosen)
    if chosen.json:
        print(json.dumps(found))
        return 0
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for name, value in found.items():
        limit, how = LIMITS.get(name, (None, ""))
        fair = limit is None or (value >= limit if how == "at least" else value <= limit)
        print(
            f"{name:28} {value:10,.1f}  {f'{how} {limit:,.0f}' if limit else ''}  {'' if fair else 'MISSED'}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
