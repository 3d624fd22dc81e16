"""What happens under load: fifty agents at once, a worker that runs for long, a memory that has become large.

    python -m bench.load [offered] [memory] [million] [--json]

offered  Fifty agents send two events a second each, at fixed times: one that is late because a hook hung is
         counted from when it was due. Between any two of them runs a plain `sh -c 'cat >f'`, so both live
         under the same load at the same time. Afterwards every event whose hook returned must be stored once.
memory   One worker takes in event after event; its memory is read while it does.
million  A memory with so many events, indexed by words and by meaning, is asked: the brief's hook, searches,
         status. --kept FOLDER leaves it there, and the next run finds it.

The figures of the issue are the defaults; --events, --worked and --stored make it smaller.
"""

import argparse
import contextlib
import itertools
import json
import math
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.drain import payloads

from backstory import settings
from backstory.app import App
from backstory.capture.hookfiles import write_hook_files, write_hook_settings
from backstory.embed.provider import means
from backstory.hook import spool
from backstory.hook.command import hook_command
from backstory.hook.identity import project_id, resolve
from backstory.model import Action, Draft, Event, Kind, MemoryKind, Outcome, Project, Tier, Where
from backstory.paths import Home
from backstory.recall import prepare
from backstory.search.embedding import embed_waiting
from backstory.settings import Settings
from backstory.store import Store, open_store
from backstory.store.protocol import Arrival

SIZE = 600
SETTLE_SECONDS = 120.0
# Waiting files up to which the feeder of `memory` lets the spool grow.
AHEAD = 1_000
# After so many events all twenty sessions that go on side by side are new ones.
RENEWED = 10_000
SAMPLES = 10
ROUNDS = 11
SESSION_EVENTS = 50
WORDS = 60
PROJECTS = 50


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `met` is None where nothing was promised."""

    what: str
    value: str
    target: str = ""
    met: bool | None = None


@dataclass(slots=True)
class Figures:
    """What was measured: as lines, and as numbers for programs."""

    rows: list[Row] = field(default_factory=list)
    numbers: dict[str, Any] = field(default_factory=dict)

    def add(
        self, key: str, number: Any, what: str, value: str, target: str = "", met: bool | None = None
    ) -> None:
        """One more figure."""
        self.numbers[key] = number
        self.rows.append(Row(what, value, target, met))


@contextlib.contextmanager
def stage(kept: Path | None = None) -> Iterator[tuple[Home, Path]]:
    """An installed home, and a project under git; in a folder that is kept, or in one that is not."""
    scratch = tempfile.TemporaryDirectory(prefix="backstory-load-")
    with scratch if kept is None else contextlib.nullcontext(str(kept)) as folder:
        top = Path(folder).resolve()
        project = top / "shop"
        (project / ".git" / "objects").mkdir(parents=True, exist_ok=True)
        (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (project / ".git" / "config").write_text(
            '[remote "origin"]\n\turl = git@github.com:example/shop.git\n'
        )
        home = Home(top / "home")
        write_hook_files(home.root)
        write_hook_settings(home.root, Settings().for_hook({}))
        try:
            yield home, project
        finally:
            _until(lambda: not _workers(home), 30)


def _until(holds: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _workers(home: Home) -> list[int]:
    """The processes that are workers of this home."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if b"backstory.worker" in words and str(home.root).encode() in words:
                    found.append(int(entry.name))
    return found


# --- offered load ----------------------------------------------------------------------------------------


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
        drained = _until(
            lambda: not list(home.spool.glob("claude-code.*")) and not _workers(home), SETTLE_SECONDS
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


# --- a worker that runs for long -------------------------------------------------------------------------


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
            stored = store.books.total("spooled")
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


# --- a memory that has become large ----------------------------------------------------------------------


def million(events: int, kept: Path | None, figures: Figures) -> None:
    """Store so many events, unless they are there already, then ask."""
    with stage(kept) as (home, project):
        place = resolve(str(project))
        here = Project(project_id(place.identity), place.identity, place.name, place.root, 1)
        with contextlib.closing(open_store(home)) as store:
            if store.books.table_counts()["events"] < events:
                started = time.perf_counter()
                _store_events(store, here, project, events)
                seconds = time.perf_counter() - started
                figures.add("stored", events, "events stored and indexed", f"{events:,} in {seconds:.0f} s")
            started = time.perf_counter()
            table = means(Settings()).table
            assert table is not None, "search by meaning is part of this"
            embed_waiting(store, table, math.inf, table)
            vectors = store.vectors.counts()[0]
            seconds = time.perf_counter() - started
            figures.add("vectors", vectors, "passages with vectors", f"{vectors:,}, made in {seconds:.0f} s")
            prepare.project_file(home, store, here.id)
            store.checkpoint()
        size = home.database.stat().st_size
        figures.add(
            "stored_bytes_per_event",
            round(size / events),
            "database per event, indexes included",
            f"{size / events:,.0f} bytes, {size / 1e9:.2f} GB in all",
        )
        settings.change(home, "worker.linger_seconds", "0")  # each hook below starts one, and is waited for
        _ask(home, project, here, figures)


def _store_events(store: Store, here: Project, project: Path, events: int) -> None:
    """Sessions of tool calls and prompts in fifty projects, with a memory for every tenth event; indexed.

    Their words are drawn evenly from the names in Python's library, so that each is in a few passages of a
    thousand, as words are that people search for.
    """
    rng = random.Random(1)
    words = sorted({word for path in Path(os.__file__).parent.glob("*.py") for word in _words(path)})
    others = [
        Project(project_id(f"other{n}"), f"other{n}", f"other{n}", "/x", 1) for n in range(PROJECTS - 1)
    ]
    now = time.time_ns() // 1_000_000
    for number in range(0, events, SESSION_EVENTS):
        # most of it elsewhere, as with a person who has many projects
        chosen = here if number // SESSION_EVENTS % 10 == 0 else rng.choice(others)
        at = now - (events - number) * 1_000
        with store.transaction():
            batch = []
            for index in range(min(SESSION_EVENTS, events - number)):
                text = " ".join(rng.choices(words, k=WORDS))
                kind = Kind.PROMPT if index % 10 == 0 else Kind.TOOL
                event = Event(
                    "codex", f"s{number}", kind, at + index * 1_000, text,
                    action=Action.RUN if kind is Kind.TOOL else Action.NONE,
                    tool="Bash" if kind is Kind.TOOL else "",
                    target=f"make {rng.choice(words)}" if kind is Kind.TOOL else "",
                    outcome=Outcome.OK if kind is Kind.TOOL else Outcome.NONE,
                    native_id=f"t{number + index}",
                    where=Where(str(project)),
                    body=json.dumps({"tool_response": text}),
                )  # fmt: skip
                batch.append(Arrival(event, chosen, store.events.key(event)))
            added = store.events.add(batch)
            session = store.events.session(added[0].session_id)
            assert session is not None
            drafts = [
                Draft(
                    MemoryKind.LESSON,
                    str(index),
                    " ".join(rng.choices(words, k=20)),
                    at,
                    (added[index].event_id,),
                )
                for index in range(0, len(added), 10)
            ]
            store.memories.replace(session, drafts, Tier.RULES, "bench")
        if number % 20_000 == 0:
            _index(store)
    _index(store)


def _index(store: Store) -> None:
    while True:
        with store.transaction():
            if not store.passages.index_events(4_000):
                break
    store.checkpoint()


def _words(path: Path) -> Iterator[str]:
    yield from (
        word for word in path.read_text("utf-8", "replace").split() if word.isidentifier() and len(word) > 3
    )


def _ask(home: Home, project: Path, here: Project, figures: Figures) -> None:
    python: list[float] = []
    answer: list[float] = []
    status: list[float] = []
    none: list[float] = []
    start = json.dumps(
        {"session_id": "asks", "cwd": str(project), "hook_event_name": "SessionStart", "source": "startup"}
    ).encode()
    asks_status = [sys.executable, "-m", "backstory", "status"]
    for _ in range(ROUNDS):
        python.append(_ms([sys.executable, "-I", "-S", "-c", "pass"]))
        answer.append(
            _ms(["/bin/sh", "-c", hook_command(str(home.root), "claude-code", "SessionStart")], start)
        )
        _until(lambda: not _workers(home), SETTLE_SECONDS)
        for into, root in ((status, home.root), (none, home.root.parent / "nothing")):
            into.append(_ms(asks_status, b"", {**os.environ, "BACKSTORY_HOME": str(root)}))
    ratio = statistics.median(answer) / statistics.median(python)
    figures.add(
        "brief_ratio",
        round(ratio, 2),
        "brief's hook ÷ python -I -S -c pass",
        f"{ratio:.2f}",
        "≤ 4",
        ratio <= 4,
    )
    figures.add(
        "status_ms",
        [round(statistics.median(each)) for each in (status, none)],
        "backstory status, the whole process",
        f"{statistics.median(status):,.0f} ms, of an empty home {statistics.median(none):,.0f} ms",
    )
    with App(home) as app:
        for scope, name, most in ((here.id, "in a project", 15), (None, "over everything", 130)):
            _search(app, scope, name, most, figures)


def _search(app: App, scope: str | None, name: str, most: int, figures: Figures) -> None:
    """Questions of three words. Wall time is what counts; that of the processor tells what others took."""
    rng = random.Random(2)
    words = sorted({word for path in Path(os.__file__).parent.glob("a*.py") for word in _words(path)})
    walls, cpus = [], []
    for _ in range(3 * ROUNDS):
        question = " ".join(rng.choices(words, k=3))
        wall, cpu = time.perf_counter(), time.process_time()
        app.search(question, scope)
        walls.append((time.perf_counter() - wall) * 1000)
        cpus.append((time.process_time() - cpu) * 1000)
    ms, own = statistics.median(walls), statistics.median(cpus)
    figures.add(
        f"search_{'all' if scope is None else 'project'}_ms",
        [round(ms, 1), round(own, 1)],
        f"search {name}, warm, p50",
        f"{ms:.1f} ms, {own:.1f} of them its own",
        f"≤ {most} ms",
        ms <= most,
    )


def _ms(command: list[str], data: bytes = b"", environment: dict[str, str] | None = None) -> float:
    start = time.perf_counter()
    subprocess.run(
        command, input=data, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, env=environment
    )
    return (time.perf_counter() - start) * 1000


def main() -> int:
    """Measure, print, and say by the exit code whether the targets are met."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", default=["offered", "memory", "million"], metavar="PART")
    parser.add_argument("--agents", type=int, default=50)
    parser.add_argument("--rate", type=float, default=2.0, help="events per second of each agent")
    parser.add_argument("--events", type=int, default=20_000, help="events through hooks, in `offered`")
    parser.add_argument("--worked", type=int, default=200_000, help="events through one worker, in `memory`")
    parser.add_argument("--stored", type=int, default=1_000_000, help="events to be asked, in `million`")
    parser.add_argument("--kept", type=Path, help="a folder for `million` to keep its memory in")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    figures = Figures()
    parts: dict[str, Callable[[], None]] = {
        "offered": lambda: offered(chosen.agents, chosen.rate, chosen.events, figures),
        "memory": lambda: memory(chosen.worked, figures),
        "million": lambda: million(chosen.stored, chosen.kept, figures),
    }
    for part in chosen.parts:
        if part not in parts:
            parser.error(f"there is no part {part!r}: {', '.join(parts)}")
        seen = len(figures.rows)
        parts[part]()
        for row in figures.rows[seen:] if not chosen.json else ():
            mark = {True: "ok  ", False: "MISS", None: "    "}[row.met]
            print(f"{mark} {row.what:<54}{row.value:<46}{row.target}", flush=True)
    if chosen.json:
        print(json.dumps(figures.numbers, indent=1))
    return 0 if all(row.met is not False for row in figures.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
