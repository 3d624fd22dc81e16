"""How fast an agent's own history becomes searchable text, in one process, redaction included.

    python bench/import.py [--megabytes 1000] [--keep DIR] [--json]

The history is Claude Code's, generated line by line in the shapes that the client writes: prompts, thoughts,
words, tool calls with their results in both forms, edits with the whole file in them, progress, snapshots and
other bookkeeping. What it says is prose and source text of this Python's standard library; every hundredth
output holds a secret. Of real transcripts (set BACKSTORY_BENCH_DATA) 6 to 7 % of the bytes are text that is
worth keeping; the table says how much it is here.

"cold" reads all of it into an empty home: found, parsed, redacted, stored, indexed. "distil" is what an import
leaves to the worker, "archive" the kept copies, which it makes in the background. "again" is a second import
of what has not changed, "appended" one turn more in one session. Rates are per second of CPU time of the one
process, and the wall's beside them. Every step runs in a process of its own, so that its memory is its own.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from backstory.agents.histories import history_of
from backstory.capture.importing import Import, Wish, trails_of
from backstory.capture.places import Places
from backstory.capture.privacy import Privacy
from backstory.paths import Home
from backstory.settings import Settings
from backstory.store import open_store

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
        topics = (folder / "pydoc_data" / "topics.py").read_text("utf-8")
        self._prose = topics.encode().decode("unicode_escape", "replace").replace("'\n", "\n").replace(" '", " ")
        self._now = BEGIN + timedelta(days=seed % 200)
        self._outputs = 0

    def session(self, size: int) -> Iterator[bytes]:
        """Lines of about so many bytes."""
        self._session, self._parent = str(self._uuid()), ""
        written = 0
        while written < size:
            for row in self._turn():
                line = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
                written += len(line)
                yield line

    def turn(self) -> list[bytes]:
        """One turn more of the session that was written last."""
        return [json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in self._turn()]

    # --- what a turn is made of ------------------------------------------------------------------------

    def _turn(self) -> Iterator[dict[str, Any]]:
        rng, prompt = self._rng, str(self._uuid())
        yield self._snapshot()
        yield self._row("user", message=_said("user", self._words(200, 1_500)), promptId=prompt)
        for _ in range(rng.randint(4, 14)):
            if rng.random() < 0.25:
                thought = {"type": "thinking", "thinking": self._words(300, 1_500), "signature": "c2ln" * 100}
                yield self._row("assistant", message=self._message(thought))
            if rng.random() < 0.5:
                yield self._row("assistant", message=self._message(_text(self._words(80, 600))))
            yield from self._used(prompt)
        yield self._row("assistant", message=self._message(_text(self._words(300, 2_000))))
        yield self._row("system", subtype="turn_duration", durationMs=rng.randint(10_000, 90_000))

    def _used(self, prompt: str) -> Iterator[dict[str, Any]]:
        rng = self._rng
        use = f"toolu_{rng.getrandbits(96):024x}"
        path = f"{self._cwd}/src/part{rng.randint(1, 60)}.py"
        name = rng.choices(("Read", "Bash", "Edit", "Grep", "Write"), (34, 34, 20, 8, 4))[0]
        shown, result, given = "", {}, {}
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
        yield self._row("assistant", message=self._message({"type": "tool_use", "id": use, "name": name, "input": given}))
        for number in range(rng.randint(0, 4) if name == "Bash" else 0):
            data = {"type": "bash_progress", "output": shown[:600], "elapsedTimeSeconds": number}
            yield self._row("progress", data=data, toolUseID=use, parentToolUseID=use)
        answer = {"tool_use_id": use, "type": "tool_result", "content": shown}
        yield self._row("user", message=_said("user", [answer]), toolUseResult=result, promptId=prompt)

    def _message(self, block: dict[str, Any]) -> dict[str, Any]:
        usage = {"input_tokens": 4, "cache_creation_input_tokens": 1_812, "cache_read_input_tokens": 56_390,
                 "output_tokens": 212, "service_tier": "standard"}  # fmt: skip
        frame = {"id": f"msg_{self._rng.getrandbits(96):024x}", "type": "message", "model": "claude-opus-5-5"}
        return frame | _said("assistant", [block]) | {"stop_reason": None, "stop_sequence": None, "usage": usage}

    def _row(self, kind: str, **own: Any) -> dict[str, Any]:
        self._now += timedelta(milliseconds=self._rng.randint(200, 4_000))
        uid, parent = str(self._uuid()), self._parent
        self._parent = uid
        return {
            "parentUuid": parent or None, "isSidechain": False, "userType": "external", "cwd": self._cwd,
            "sessionId": self._session, "version": "2.1.325", "gitBranch": "main", "type": kind, **own,
            "uuid": uid, "timestamp": self._now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }  # fmt: skip

    def _snapshot(self) -> dict[str, Any]:
        files = {f"src/part{n}.py": {"backupFileName": f"{self._rng.getrandbits(64):x}@v1", "version": 1} for n in range(8)}
        return {"type": "file-history-snapshot", "messageId": str(self._uuid()), "snapshot": {"trackedFileBackups": files}}

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
        file = place / f"{author._session}.jsonl"
        file.write_bytes(b"".join(lines))
        old = BEGIN.timestamp() + number
        os.utime(file, (old, old))
        left -= sum(map(len, lines))
        number += 1


# --- the steps, each in a process of its own ---------------------------------------------------------------


def cold(home: Home, history: Path) -> dict[str, Any]:
    """Everything into an empty home, up to the text index."""
    with_store = open_store(home)
    privacy = Privacy(Settings())
    places = Places(with_store, {}, ())
    start = _clock()
    tally = Import(with_store, privacy, places, Wish(user="bench")).bring(
        trails_of(["claude-code"], history), lambda line: None, lambda done, of: None
    )
    read = _clock()
    while True:
        with with_store.transaction():
            if not with_store.passages.index_events():
                break
    end = _clock()
    text = with_store.books.text_size()
    with_store.close()
    return {"events": tally.events, "sessions": tally.new, "text": text} | _spent(start, end) | {
        "read_cpu": read[0] - start[0], "index_cpu": end[0] - read[0]}  # fmt: skip


def again(home: Home, history: Path) -> dict[str, Any]:
    """What has not changed."""
    start = _clock()
    store = open_store(home)
    tally = Import(store, Privacy(Settings()), Places(store, {}, ()), Wish(user="bench")).bring(
        trails_of(["claude-code"], history), lambda line: None, lambda done, of: None
    )
    store.close()
    return {"skipped": tally.skipped, "events": tally.events} | _spent(start, _clock())


def appended(home: Home, history: Path) -> dict[str, Any]:
    """One turn more in one session, imported alone, in a process that has done it before."""
    store = open_store(home)
    author = Author(0, "/home/dev/project0")
    list(author.session(SESSION_BYTES))
    file = next(history.rglob(f"{author._session}.jsonl"))
    best: dict[str, Any] = {}
    for _ in range(5):
        with file.open("ab") as out:
            out.writelines(author.turn())
        start = _clock()
        tally = Import(store, Privacy(Settings()), Places(store, {}, ()), Wish(user="bench")).bring(
            trails_of(["claude-code"], file), lambda line: None, lambda done, of: None
        )
        with store.transaction():
            store.passages.index_events()
        spent = _spent(start, _clock())
        assert tally.grown == 1, tally
        if not best or spent["cpu"] < best["cpu"]:
            best = {"events": tally.events} | spent
    store.close()
    return best


STEPS = {"cold": cold, "again": again, "appended": appended}


def _clock() -> tuple[float, float]:
    return time.process_time(), time.perf_counter()


def _spent(start: tuple[float, float], end: tuple[float, float]) -> dict[str, float]:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu": end[0] - start[0], "wall": end[1] - start[1], "peak": peak}


def step(name: str, folder: Path) -> dict[str, Any]:
    """Run one step in a process of its own."""
    run = [sys.executable, __file__, "--step", name, "--keep", str(folder)]
    found: dict[str, Any] = json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
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
    first, second, third = (found[name] for name in STEPS)
    share = first["text"] / size / 1e6
    print(f"history: {size:,.0f} MB in {first['sessions']:,} sessions, {first['events']:,} events; {share:.1%} is text")
    print(f"{'':<12}{'CPU s':>9}{'MB/s':>8}{'wall s':>9}{'MB/s':>8}{'peak MB':>9}   to beat")
    rate = size / first["cpu"], size / first["wall"]
    print(f"{'cold':<12}{first['cpu']:>9.1f}{rate[0]:>8.1f}{first['wall']:>9.1f}{rate[1]:>8.1f}{first['peak']:>9.0f}   25 MB/s, 200 MB")
    print(f"{'  reading':<12}{first['read_cpu']:>9.1f}{size / first['read_cpu']:>8.1f}")
    print(f"{'  indexing':<12}{first['index_cpu']:>9.1f}{size / first['index_cpu']:>8.1f}")
    print(f"{'again':<12}{second['cpu']:>9.2f}{'':>8}{second['wall']:>9.2f}{'':>8}{second['peak']:>9.0f}   2 s")
    print(f"{'appended':<12}{third['cpu']:>9.3f}{'':>8}{third['wall']:>9.3f}{'':>8}{third['peak']:>9.0f}   0.1 s")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=1_000)
    parser.add_argument("--keep", metavar="DIR", help="use this folder, and the history in it, and leave it there")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if chosen.step:
        folder = Path(chosen.keep)
        print(json.dumps(STEPS[chosen.step](Home(folder / "home"), folder / "history")))
    elif chosen.keep:
        measure(Path(chosen.keep), chosen.megabytes, chosen.json)
    else:
        with tempfile.TemporaryDirectory(prefix="backstory-bench-") as folder:
            measure(Path(folder), chosen.megabytes, chosen.json)


if __name__ == "__main__":
    main()
