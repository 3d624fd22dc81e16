"""How fast the viewer is over a large memory, how small when idle, and whether its live feed keeps up.

    python -m bench.web [--events 1000000] [--kept FOLDER] [--json]

Server time is what one client measures on a connection that stays open, for each page, p50 of 20. First
content is what Chromium itself reports, if there is one. The feed is offered 200 events a second through the
spool for 20 seconds; it keeps up if the last of them is told within a second or two. Idle memory is the
server's own, a while after its start, before anything was searched. `--kept` keeps the filled home.
"""

import argparse
import http.client
import json
import math
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.web.viewer import Viewer

from backstory.embed.embedder import load_embedder
from backstory.hook import spool
from backstory.hook.project_identity import project_id
from backstory.model import Action, Draft, Event, Kind, MemoryKind, Outcome, Project, Tier, Where
from backstory.passage_indexing import index_events
from backstory.paths import Home
from backstory.search.embedding import embed_waiting
from backstory.settings import Settings
from backstory.store import Store, open_store
from backstory.store.records import Arrival
from backstory.web import server_record

PROJECTS = 50
SESSION_EVENTS = 200
WORDS = 25
ROUNDS = 20
RATE, SECONDS, AGENTS = 200, 20, 20
_KINDS = (MemoryKind.DECISION, MemoryKind.LESSON, MemoryKind.ATTEMPT, MemoryKind.PREFERENCE, MemoryKind.TURN)
BUDGETS = {"page": 60.0, "browser": 200.0, "rss": 60.0, "probe": 100.0, "lag": 2_000.0}


def fill(store: Store, folder: Path, events: int) -> None:
    """Sessions in fifty projects, a memory for every tenth event, a summary for every session; their vectors.

    Each session has ended, or a worker would end and distil it, and put what it finds in the memories' place.
    """
    rng = random.Random(7)
    library = Path(os.__file__).parent.glob("*.py")
    words = sorted(
        {
            word
            for path in library
            for word in path.read_text("utf-8", "replace").split()
            if word.isidentifier()
        }
    )
    projects = [
        Project(project_id(f"bench{n}"), f"bench{n}", f"project {n}", str(folder / f"p{n}"), n + 1)
        for n in range(PROJECTS)
    ]
    now = time.time_ns() // 1_000_000
    for number in range(0, events, SESSION_EVENTS):
        project = projects[number // SESSION_EVENTS % PROJECTS]
        at = now - (events - number) * 2_000
        with store.transaction():
            batch = [_arrival(rng, words, project, number, index, at) for index in range(SESSION_EVENTS)]
            added = store.events.add(batch)
            session = store.events.session(added[0].session_id)
            assert session is not None
            drafts = [
                Draft(
                    _KINDS[index // 10 % 5],
                    str(index),
                    " ".join(rng.choices(words, k=15)),
                    at + index,
                    (added[index].event_id,),
                )
                for index in range(0, len(added), 10)
            ]
            files = tuple(f"src/{rng.choice(words)}.py" for _ in range(3))
            drafts.append(
                Draft(
                    MemoryKind.SUMMARY,
                    "s",
                    " ".join(rng.choices(words, k=30)),
                    at,
                    (added[0].event_id,),
                    files=files,
                )
            )
            store.memories.replace(session, drafts, Tier.RULES, "bench")
        if number % 20_000 == 0:
            _index(store)
    _index(store)


def _arrival(
    rng: random.Random, words: Sequence[str], project: Project, number: int, index: int, at: int
) -> Arrival:
    is_prompt = index % 20 == 0
    event = Event(
        ("codex", "claude-code", "opencode")[number // SESSION_EVENTS % 3],
        f"s{number}",
        Kind.PROMPT if is_prompt else Kind.TOOL if index + 1 < SESSION_EVENTS else Kind.SESSION_ENDED,
        at + index * 1_000,
        " ".join(rng.choices(words, k=WORDS)),
        action=Action.NONE if is_prompt else Action.RUN,
        target="" if is_prompt else f"make {rng.choice(words)}",
        tool="" if is_prompt else "Bash",
        outcome=Outcome.NONE if is_prompt else Outcome.OK,
        native_id=f"t{number + index}",
        where=Where(project.root, branch="main"),
    )
    return Arrival(event, project, f"{number + index:020x}")


def _index(store: Store) -> None:
    while True:
        with store.transaction():
            if not index_events(store, 4_000):
                break
    embedder = load_embedder(Settings()).embedder
    assert embedder is not None, "search by meaning needs numpy"
    embed_waiting(store, embedder, math.inf)
    store.checkpoint()


def write_wiki(home: Home) -> None:
    """The wiki of the latest project, as the worker would write it in time."""
    if not home.knowledge.exists():
        command = ("compile", "--all", "--project", f"project {PROJECTS - 1}")
        environment = {**os.environ, "BACKSTORY_HOME": str(home.root)}
        subprocess.run(
            [sys.executable, "-m", "backstory", *command], env=environment, check=True, capture_output=True
        )


def pages(viewer: Viewer) -> dict[str, str]:
    """Every page, by name."""
    wiki = next((viewer.home / "knowledge").glob("*"))
    article = next(wiki.glob("concepts/*.md"))
    session = viewer.ask("GET", "/api/sessions?limit=1").json["sessions"][0]
    memory = viewer.ask("GET", "/api/memories?limit=1").json["memories"][0]
    event = viewer.ask("GET", "/api/timeline?limit=1").json["events"][0]
    project = session["project_id"]
    return {
        "now": "/",
        "sessions": "/sessions",
        "sessions of a project": f"/sessions?project={project}",
        "session": f"/sessions/{session['id']}",
        "event": f"/events/{event['id']}",
        "memories": "/memories",
        "memory": f"/memories/{memory['id']}",
        "forget": f"/forget?handle={memory['id']}",
        "review": "/review",
        "knowledge": "/knowledge",
        "article": f"/knowledge/{wiki.name}/concepts/{article.stem}",
        "brief": "/brief",
        "health": "/health",
        "settings": "/settings",
        "search in a project": f"/search?q=parse+the+header&project={project}&nearest=1",
        "search over all": "/search?q=parse+the+header&nearest=1",
    }


def server_times(viewer: Viewer) -> dict[str, float]:
    """Milliseconds of each page, p50."""
    found = {}
    with closing(http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=120)) as connection:
        for name, path in pages(viewer).items():
            times = []
            for _ in range(ROUNDS):
                began = time.perf_counter()
                connection.request(
                    "GET", path, headers={"Authorization": f"Bearer {viewer.token}", "Accept": "text/html"}
                )
                answer = connection.getresponse()
                answer.read()
                times.append((time.perf_counter() - began) * 1000)
                assert answer.status == 200, (path, answer.status)
            found[name] = statistics.median(times)
    return found


def first_content(viewer: Viewer) -> dict[str, float]:
    """Milliseconds until the browser painted something, p50 of five; nothing without a browser."""
    from tests.browser import chromium

    found = {}
    try:
        with chromium.started() as browser:
            page = browser.new_page()
            page.goto(viewer.url + viewer.ask("POST", "/links").json["link"])
            for name, path in pages(viewer).items():
                times = []
                for _ in range(5):
                    page.goto(viewer.url + path)
                    script = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
                    page.wait_for_timeout(100)
                    times.append(float(page.evaluate(script)))
                found[name] = statistics.median(times)
    except chromium.Unavailable as reason:
        print(f"!!! no browser: {reason}", file=sys.stderr)
    return found


def feed(viewer: Viewer, home: Home, folder: Path) -> dict[str, float]:
    """Offer events at a rate; how many were told, and how late the last one was."""
    home.spool.mkdir(mode=0o700, exist_ok=True)
    total = RATE * SECONDS
    session = f"feed-{time.time_ns()}"  # a home that is kept has heard the last one's already
    left: dict[str, float] = {}

    def offer() -> None:
        began = time.perf_counter()
        for number in range(total):
            mark = f"tick-{number:05}"
            payload = {
                "session_id": f"{session}-{number % AGENTS}",
                "cwd": str(folder),
                "tool_name": "Bash",
                "tool_use_id": mark,
                "tool_input": {"command": mark},
                "tool_response": {"stdout": "ok"},
            }
            left[mark] = time.perf_counter()
            spool.write_spooled(str(home.spool), "claude-code", "PostToolUse", json.dumps(payload).encode())
            time.sleep(max(0.0, began + (number + 1) / RATE - time.perf_counter()))

    stream = viewer.listen(SECONDS * 6)
    time.sleep(1)
    writer = threading.Thread(target=offer)
    writer.start()
    lags: dict[str, float] = {}
    while len(lags) < total:
        try:
            told = stream.told()
        except (AssertionError, OSError):
            break
        now = time.perf_counter()
        for each in told:
            if each["what"] == "event" and each["text"] in left:
                lags.setdefault(each["text"], now - left[each["text"]])
    writer.join()
    stream.close()
    ordered = [lags[mark] * 1000 for mark in sorted(lags)]
    return {
        "offered": total,
        "told": len(lags),
        "lag p50 ms": statistics.median(ordered) if ordered else -1,
        "lag of the last 100, p50 ms": statistics.median(ordered[-100:]) if ordered else -1,
    }


def rss(pid: int) -> float:
    """Megabytes that a process holds."""
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def probe(home: Home) -> float:
    """Milliseconds that a port file costs behind which nobody is."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home.serving.write_text(json.dumps({"port": port, "pid": os.getpid()}), "utf-8")
    server_record.new_token(home)
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        assert server_record.running_server(home) is None
        times.append((time.perf_counter() - began) * 1000)
    home.serving.unlink()
    return max(times)


def measure(home: Home, folder: Path) -> dict[str, Any]:
    """Everything, over a filled home."""
    figures: dict[str, Any] = {"stale port file ms": probe(home)}
    viewer = Viewer(home.root)
    try:
        time.sleep(5)
        viewer.get("/")
        figures["idle MB"] = rss(viewer.process.pid)
        figures["server ms"] = server_times(viewer)
        figures["MB after searches"] = rss(viewer.process.pid)
        figures["browser ms"] = first_content(viewer)
        figures["feed"] = feed(viewer, home, folder)
    finally:
        viewer.ends()
    return figures


def main() -> int:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--kept", type=Path, help="a folder to keep the filled home in")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="backstory-web-") as scratch:
        folder = chosen.kept or Path(scratch)
        home = Home(folder / "home")
        home.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        with closing(open_store(home)) as store:
            if store.listings.table_counts()["events"] < chosen.events:
                began = time.perf_counter()
                fill(store, folder, chosen.events)
                print(f"filled in {time.perf_counter() - began:.0f} s", file=sys.stderr)
            counts = store.listings.table_counts()
        write_wiki(home)
        figures = {"stored": counts, "load of the machine": os.getloadavg()[0], **measure(home, folder)}
    if chosen.json:
        print(json.dumps(figures, indent=2))
    else:
        _print(figures)
    return 0


def _print(figures: dict[str, Any]) -> None:
    for name, value in figures.items():
        if isinstance(value, dict):
            print(name)
            for key, each in value.items():
                print(f"  {key:32} {each:12,.1f}")
        else:
            print(f"{name:34} {value:12,.1f}")


if __name__ == "__main__":
    sys.exit(main())
