"""Latency and size with many memories, some of them in the project that is asked."""

import random
import statistics
import subprocess
import sys
import time
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from backstory.app import App
from backstory.embed.bert_tokenizer import english_words
from backstory.embed.embedder import load_embedder
from backstory.paths import Home
from backstory.search.embedding import embed_waiting
from backstory.settings import Settings
from backstory.store import open_store

_WORDS = 4_000
_ASKED = 60


def load(memories: int, in_project: int) -> list[dict[str, Any]]:
    """Fill a database with so many memories in projects of this size, and ask it."""
    projects = max(1, memories // in_project)
    with TemporaryDirectory(prefix="backstory-load-") as folder:
        home = Home(Path(folder))
        chance = random.Random(5)
        vocabulary = _vocabulary(chance)
        store = open_store(home)
        start = time.process_time()
        _fill(store, memories, projects, chance, vocabulary)
        indexed = memories / (time.process_time() - start)
        embedder = load_embedder(Settings()).embedder
        assert embedder is not None
        start = time.process_time()
        embed_waiting(store, embedder, 1e9)
        embedded = memories / (time.process_time() - start)
        store.checkpoint()
        store.close()
        size = home.database.stat().st_size
        rows = [
            {"what": f"{memories:,} memories in {projects} projects", "value": f"{size / 1e6:,.0f} MB"},
            {"what": "text index, memories a second (CPU)", "value": f"{indexed:,.0f}"},
            {"what": "vectors, memories a second (CPU)", "value": f"{embedded:,.0f}"},
        ]
        with App(home) as app:
            questions = [" ".join(chance.sample(vocabulary, 5)) for _ in range(_ASKED)]
            for what, project in (("in a project", "p0"), ("over all", None)):
                for question in questions[:5]:
                    app.search(question, project, floor=False)
                times, cpu = [], []
                for question in questions:
                    start, busy = time.perf_counter(), time.process_time()
                    app.search(question, project, floor=False)
                    times.append((time.perf_counter() - start) * 1000)
                    cpu.append((time.process_time() - busy) * 1000)
                told = f"p50 {statistics.median(times):.1f} ms (CPU {statistics.median(cpu):.1f})"
                rows.append({"what": f"warm search {what}", "value": told})
        command = [sys.executable, "-m", "backstory", "search", "--all", "--no-floor", questions[0]]
        took = []
        for _ in range(5):
            start = time.perf_counter()
            subprocess.run(command, env={"BACKSTORY_HOME": folder}, check=True, capture_output=True)
            took.append((time.perf_counter() - start) * 1000)
        rows.append({"what": "cold `backstory search --all`", "value": f"{min(took):.0f} ms (best of 5)"})
        return rows


def _vocabulary(chance: random.Random) -> list[str]:
    known = sorted(word for word in english_words() if len(word) > 3)
    return chance.sample(known, _WORDS)


def _fill(store: Any, memories: int, projects: int, chance: random.Random, vocabulary: list[str]) -> None:
    """Passages of about 400 characters whose words are as unevenly common as in real text."""
    weights = list(accumulate(1 / (n + 5) for n in range(len(vocabulary))))
    db = store._connection
    with store.transaction():
        for n in range(projects):
            db.execute("INSERT INTO projects VALUES (?, ?, ?, '', 1, 1)", (f"p{n}", f"p{n}", f"p{n}"))
    for start in range(0, memories, 1_000):  # projects take turns, as people do
        project = f"p{start // 1_000 % projects}"
        with store.transaction():
            for n in range(start, min(start + 1_000, memories)):
                session = f"s{n // 10}"
                db.execute(
                    """
                    INSERT OR IGNORE INTO sessions (id, agent, native_id, project_id, started_at, last_at)
                    VALUES (?, 'claude-code', ?, ?, 1, 1)
                    """,
                    (session, session, project),
                )
                text = " ".join(chance.choices(vocabulary, cum_weights=weights, k=60))
                store.passages.put(f"m{n}", project, session, "decision", 1_700_000_000_000 + n, text)
