"""How fast an agent's own history becomes searchable text, in one process, redaction included.

    python bench/import.py [--megabytes 1000] [--keep DIR] [--json]

The history is Claude Code's, generated line by line in the shapes that the client writes: prompts, thoughts,
words, tool calls with their results in both forms, edits with the whole file in them, progress, snapshots.
How often each occurs and how long it is was counted in real transcripts, of which 6.7 % was text worth
keeping; the table says how much it is here. What it says is prose and source text of this Python's standard
library; every hundredth output holds a secret. `--keep` uses what lies in DIR/history, for example real
transcripts.

  json.loads   every line parsed once by the standard library, and nothing else: what this machine can do
  cold         all of it into an empty home: found, read, redacted, stored, indexed
  again        a second import of what has not changed
  appended     one turn more in one session
  archive      the redacted, compressed copies, which the worker makes in the background

Rates are per second of CPU time of the one process, and the wall's beside them; "x" is how many times the CPU
time of json.loads. Every step runs in a process of its own, so that its memory is its own.
"""

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

from backstory.capture.importer import Importer, ImportOptions, ImportTally, trails_of
from backstory.capture.privacy import Privacy
from backstory.capture.project_lookup import ProjectLookup
from backstory.capture.transcript_archive import keep_copy
from backstory.passage_indexing import index_events
from backstory.paths import Home
from backstory.settings import Settings
from backstory.store import Store, open_store
from backstory.store.passages import BULK

SESSION_BYTES = 2_000_000
SECRET = "export API_TOKEN=ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
BEGIN = datetime(2026, 3, 2, 8, tzinfo=UTC)


class Author:
    """Writes transcripts; the same seed writes the same ones."""

    def __init__(self, seed: int, cwd: str) -> None:
        self._rng = random.Random(seed)
        self._cwd = cwd
        folder = Path(os.__file__).parent
        sources = sorted(folder.glob("*.py"))
        self._code = "".join(path.read_text("utf-8", "replace") for path in sources)[: 1 << 21]
        self._prose = "\n".join(topics.values())
        self._now = BEGIN + timedelta(days=seed % 200)
        self._outputs = 0

    def session(self, size: int) -> Iterator[bytes]:
        """Lines of about so many bytes."""
        self.session_id, self._parent = str(self._uuid()), ""
        written = 0
        while written < size:
            for row in self._turn():
                line = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
                written += len(line)
                yield line

    def goes_on(self, session: str) -> None:
        """What is written next belongs to this session, much later."""
        self.session_id, self._parent = session, ""
        self._now += timedelta(days=100)

    def turn(self) -> list[bytes]:
        """One turn more of the session that was written last."""
        return [json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in self._turn()]

    # --- what a turn is made of ------------------------------------------------------------------------

    def _turn(self) -> Iterator[dict[str, Any]]:
        rng, prompt = self._rng, str(self._uuid())
        yield self._snapshot()
        yield self._row("user", message=_said("user", self._words(200, 1_500)), promptId=prompt)
        for _ in range(rng.randint(4, 14)):
            if rng.random() < 0.07:
                thought = {"type": "thinking", "thinking": self._words(300, 1_500), "signature": "c2ln" * 100}
                yield self._row("assistant", message=self._message(thought))
            if rng.random() < 0.55:
                yield self._row("assistant", message=self._message(_text(self._words(80, 600))))
            yield from self._used(prompt)
        yield self._row("assistant", message=self._message(_text(self._words(150, 1_000))))
        yield self._row("system", subtype="turn_duration", durationMs=rng.randint(10_000, 90_000))

    def _used(self, prompt: str) -> Iterator[dict[str, Any]]:
        rng = self._rng
        use = f"toolu_{rng.getrandbits(96):024x}"
        path = f"{self._cwd}/src/part{rng.randint(1, 60)}.py"
        name = rng.choices(("Read", "Bash", "Edit", "Grep", "Write"), (34, 34, 20, 8, 4))[0]
        shown = ""
        result: dict[str, Any] = {}
        given: dict[str, Any] = {}
        if name == "Read":
            content = self._source(2_000, 14_000)
            numbered = "\n".join(f"{n:>6}\t{text}" for n, text in enumerate(content.splitlines(), 1))
            given, shown = {"file_path": path}, numbered
            result = {"type": "text", "file": {"filePath": path, "content": content, "numLines": 80}}
        elif name == "Bash":
            shown = self._output(100, 9_000)
            given = {"command": f"python -m pytest {path} -q -x", "description": "Run the tests"}
            result = {"stdout": shown, "stderr": "", "interrupted": False, "isImage": False}
        elif name == "Edit":
            old, new = self._source(100, 900), self._source(100, 900)
            given = {"file_path": path, "old_string": old, "new_string": new}
            shown = f"The file {path} has been updated.\n{new}"
            patch = [{"oldStart": 1, "newStart": 1, "lines": [f"-{t}" for t in old.splitlines()]}]
            result = given | {"originalFile": self._source(4_000, 16_000), "structuredPatch": patch}
        elif name == "Grep":
            shown = "\n".join(f"{self._cwd}/src/part{n}.py" for n in range(rng.randint(1, 40)))
            given, result = {"pattern": "def main"}, {"filenames": shown.split("\n"), "mode": "files"}
        else:
            content = self._source(1_000, 6_000)
            given, shown = {"file_path": path, "content": content}, f"File created at {path}"
            result = {"type": "create", "filePath": path, "content": content}
        yield self._row(
            "assistant", message=self._message({"type": "tool_use", "id": use, "name": name, "input": given})
        )
        for number in range(rng.randint(0, 4) if name == "Bash" else 0):
            data = {"type": "bash_progress", "output": shown[:600], "elapsedTimeSeconds": number}
            yield self._row("progress", data=data, toolUseID=use, parentToolUseID=use)
        answer = {"tool_use_id": use, "type": "tool_result", "content": shown}
        yield self._row("user", message=_said("user", [answer]), toolUseResult=result, promptId=prompt)

    def _message(self, block: dict[str, Any]) -> dict[str, Any]:
        usage = {"input_tokens": 4, "cache_creation_input_tokens": 1_812, "cache_read_input_tokens": 56_390,
                 "output_tokens": 212, "service_tier": "standard"}  # fmt: skip
        frame = {"id": f"msg_{self._rng.getrandbits(96):024x}", "type": "message", "model": "claude-opus-5-5"}
        return (
            frame | _said("assistant", [block]) | {"stop_reason": None, "stop_sequence": None, "usage": usage}
        )

    def _row(self, kind: str, **own: Any) -> dict[str, Any]:
        self._now += timedelta(milliseconds=self._rng.randint(200, 4_000))
        uid, parent = str(self._uuid()), self._parent
        self._parent = uid
        return {
            "parentUuid": parent or None, "isSidechain": False, "userType": "external", "cwd": self._cwd,
            "sessionId": self.session_id, "version": "2.1.325", "gitBranch": "main", "type": kind, **own,
            "uuid": uid, "timestamp": self._now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }  # fmt: skip

    def _snapshot(self) -> dict[str, Any]:
        files = {
            f"src/part{n}.py": {"backupFileName": f"{self._rng.getrandbits(64):x}@v1", "version": 1}
            for n in range(8)
        }
        return {
            "type": "file-history-snapshot",
            "messageId": str(self._uuid()),
            "snapshot": {"trackedFileBackups": files},
        }

    def _uuid(self) -> uuid.UUID:
        return uuid.UUID(int=self._rng.getrandbits(128), version=4)

    def _words(self, least: int, most: int) -> str:
        return self._piece(self._prose, least, most)

    def _source(self, least: int, most: int) -> str:
        return self._piece(self._code, least, most)

    def _output(self, least: int, most: int) -> str:
        self._outputs += 1
        text = self._piece(self._code, least, most)
        return f"{text}\n{SECRET}\n" if self._outputs % 100 == 0 else text

    def _piece(self, text: str, least: int, most: int) -> str:
        length = self._rng.randint(least, most)
        start = self._rng.randrange(len(text) - length)
        return text[start : start + length].strip() or "nothing"


def _said(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def _text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def write_history(folder: Path, megabytes: float) -> None:
    """A history of so many megabytes, as the client lays it out."""
    left, number = megabytes * 1e6, 0
    while left > 0:
        author = Author(number, f"/home/dev/project{number % 12}")
        place = folder / f"-home-dev-project{number % 12}"
        place.mkdir(parents=True, exist_ok=True)
        lines = list(author.session(min(SESSION_BYTES, int(left) + 1)))
        file = place / f"{author.session_id}.jsonl"
        file.write_bytes(b"".join(lines))
        old = BEGIN.timestamp() + number
        os.utime(file, (old, old))
        left -= sum(map(len, lines))
        number += 1


# --- the steps, each in a process of its own ---------------------------------------------------------------

Found = dict[str, float]


def parsed(home: Home, history: Path) -> Found:
    """What the standard library's parser takes for the same lines."""
    start = _clock()
    for path in sorted(history.rglob("*.jsonl")):
        with path.open("rb") as file:
            for line in file:
                json.loads(line)
    return _spent(start)


def cold(home: Home, history: Path) -> Found:
    """Everything into an empty home, up to the text index."""
    shutil.rmtree(home.root, ignore_errors=True)
    start = _clock()
    store = open_store(home)
    tally = _bring(store, history)
    read = _spent(start)["cpu"]
    while True:
        with store.transaction():
            if not index_events(store, BULK):
                break
    spent = _spent(start)
    text = sum(len(f"{e.event.target}{e.event.text}".encode()) for e in store.events.latest(None, 0, 10**9))
    store.close()
    return {"events": tally.events, "sessions": tally.new, "text": text, "read": read, **spent}


def again(home: Home, history: Path) -> Found:
    """What has not changed."""
    start = _clock()
    store = open_store(home)
    tally = _bring(store, history)
    spent = _spent(start)
    store.close()
    assert (tally.new, tally.grown, tally.events) == (0, 0, 0), tally
    return {"skipped": tally.skipped, **spent}


def appended(home: Home, history: Path) -> Found:
    """One turn more in one session, in a process that is warm; the best of five."""
    store = open_store(home)
    file = next(iter(sorted(history.rglob("*.jsonl"))))
    author = Author(file.stat().st_size, "/home/dev/project0")  # what was appended before is not said again
    author.goes_on(file.stem)
    best: Found = {}
    for _ in range(5):
        with file.open("ab") as out:
            out.writelines(author.turn())
        start = _clock()
        tally = _bring(store, file)
        with store.transaction():
            index_events(store)
        spent = _spent(start)
        assert tally.grown == 1, tally
        best = min(best or spent, spent, key=lambda found: found["wall"])
    store.close()
    return best


def archived(home: Home, history: Path) -> Found:
    """Copies of a tenth of it."""
    store, privacy = open_store(home), Privacy(Settings())
    start = _clock()
    size = sum(keep_copy(home, store, privacy, str(path)) for path in sorted(history.rglob("*.jsonl"))[::10])
    spent = _spent(start)
    store.close()
    kept = sum(path.stat().st_size for path in home.transcripts.iterdir())
    return {"size": size / 1e6, "kept": kept / 1e6, **spent}


STEPS = {"json.loads": parsed, "cold": cold, "again": again, "archive": archived, "appended": appended}


def _bring(store: Store, place: Path) -> ImportTally:
    importer = Importer(store, Privacy(Settings()), ProjectLookup(store, {}, ()), ImportOptions(user="bench"))
    return importer.bring(trails_of(["claude-code"], place), lambda line: None, lambda done, of: None)


def _clock() -> tuple[float, float]:
    return time.process_time(), time.perf_counter()


def _spent(start: tuple[float, float]) -> Found:
    cpu, wall = _clock()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu": cpu - start[0], "wall": wall - start[1], "peak": peak}


def step(name: str, folder: Path) -> Found:
    """Run one step in a process of its own."""
    run = [sys.executable, __file__, "--step", name, "--keep", str(folder)]
    found: Found = json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
    return found


def measure(folder: Path, megabytes: float, as_json: bool) -> None:
    """Everything, printed."""
    history = folder / "history"
    if not history.exists():
        write_history(history, megabytes)
    size = sum(path.stat().st_size for path in history.rglob("*.jsonl")) / 1e6
    found = {name: step(name, folder) for name in STEPS}
    if as_json:
        print(json.dumps({"megabytes": size, **found}))
        return
    first, base = found["cold"], found["json.loads"]["cpu"]
    share = first["text"] / size / 1e6
    print(
        f"history: {size:,.0f} MB in {first['sessions']:,.0f} sessions, {first['events']:,.0f} events; "
        f"{share:.1%} of it is text that is kept"
    )
    print(f"{'':<12}{'CPU s':>9}{'MB/s':>8}{'wall s':>9}{'MB/s':>8}{'peak MB':>9}{'x':>7}   to beat")
    goals = {"cold": "25 MB/s, 200 MB", "again": "2 s", "appended": "0.1 s"}
    for name, took in found.items():
        through = {"again": 0.0, "appended": 0.0, "archive": took.get("size", 0.0)}.get(name, size)
        rates = [f"{through / took[key]:.1f}" if through else "" for key in ("cpu", "wall")]
        ratio = f"{took['cpu'] / base * size / through:.1f}" if through else ""
        print(
            f"{name:<12}{took['cpu']:>9.3f}{rates[0]:>8}{took['wall']:>9.3f}{rates[1]:>8}{took['peak']:>9.0f}"
            f"{ratio:>7}   {goals.get(name, '')}"
        )
    copies = found["archive"]
    print(f"of cold, reading took {first['read']:.1f} s of CPU, the text index the rest")
    print(f"a copy takes {copies['kept'] / copies['size']:.0%} of its source")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=1_000)
    parser.add_argument(
        "--keep", metavar="DIR", help="use this folder, and the history in it, and leave it there"
    )
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if chosen.step:
        folder = Path(chosen.keep)
        print(json.dumps(STEPS[chosen.step](Home(folder / "home"), folder / "history")))
    elif chosen.keep:
        measure(Path(chosen.keep), chosen.megabytes, chosen.json)
    else:
        with tempfile.TemporaryDirectory(prefix="backstory-bench-") as scratch:
            measure(Path(scratch), chosen.megabytes, chosen.json)


if __name__ == "__main__":
    main()
