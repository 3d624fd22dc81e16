"""A memory with a million events, indexed by words and by meaning: how quickly it answers."""

import contextlib
import json
import math
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.load.stage import SETTLE_SECONDS, Figures, stage, until, workers

from backstory import settings
from backstory.app import App
from backstory.embed.embedder import load_embedder
from backstory.hook.hook_command import hook_command
from backstory.hook.project_identity import project_id, resolve_place
from backstory.model import Action, Draft, Event, Kind, MemoryKind, Outcome, Project, Tier, Where
from backstory.passage_indexing import index_events
from backstory.paths import Home
from backstory.recall import prepare
from backstory.search.embedding import embed_waiting
from backstory.settings import Settings
from backstory.store import Store, open_store
from backstory.store.records import Arrival

ROUNDS = 11
SESSION_EVENTS = 50
WORDS = 60
PROJECTS = 50


def million(events: int, kept: Path | None, figures: Figures) -> None:
    """Store so many events, unless they are there already, then ask."""
    with stage(kept) as (home, project):
        place = resolve_place(str(project))
        here = Project(project_id(place.identity), place.identity, place.name, place.root, 1)
        with contextlib.closing(open_store(home)) as store:
            if store.listings.table_counts()["events"] < events:
                started = time.perf_counter()
                _store_events(store, here, project, events)
                seconds = time.perf_counter() - started
                figures.add("stored", events, "events stored and indexed", f"{events:,} in {seconds:.0f} s")
            started = time.perf_counter()
            embedder = load_embedder(Settings()).embedder
            assert embedder is not None, "search by meaning is part of this"
            embed_waiting(store, embedder, math.inf)
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
        settings.change_setting(
            home, "worker.linger_seconds", "0"
        )  # each hook below starts one, and is waited for
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
                if index == SESSION_EVENTS - 1:
                    kind, text = Kind.SESSION_ENDED, ""
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
            if not index_events(store, 4_000):
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
        until(lambda: not workers(home), SETTLE_SECONDS)
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
