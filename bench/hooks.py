"""What a hook costs the agent that waits for it, as ratios within one interleaved run: one table.

    python bench/hooks.py [--rounds 100] [--load N] [--json]

Each round runs every case once, in another order, through `sh -c` with the command that `install` registers,
so that noise hits all alike, that of a worker just started too. A row compares the case with `sh -c true` or
with what it names (bare Python is `python -I -S -c pass`): median with median, 99th percentile with 99th
percentile (of less than 100 rounds, the slowest with the slowest). The targets are for the medians; the exit
code tells whether they are met and whether everything that has something to say said it each time.

The answering hook works on a home with 100,000 memories stored and 200 events of 4 kB in the spool, and its
answer is checked for them. The worker that it starts finds its lock held and ends; the next case waits for
that, as it would disturb it. A third home has secrets in what waits, so that redaction has something to do.
Before a tool is used there is mostly nothing to say; in a fourth home, with 200 notes, that hook gets one, or
has none for a call. The MCP server is timed from its start to the list of its tools.

With --load so many processes are busy beside it, as on a machine where everything is built at once: the
targets are then those for such a machine.
"""

import argparse
import contextlib
import itertools
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from backstory.atomic import lock
from backstory.capture.hook_bundle import MCP_SCRIPT, write_hook_files
from backstory.hook import spool
from backstory.hook.hook_command import hook_command
from backstory.hook.project_identity import project_id, resolve_place
from backstory.model import Draft, Event, Kind, MemoryKind, Project, Tier, Where
from backstory.paths import Home
from backstory.recall import prepare, ready_answers
from backstory.recall.call_literals import call_literals, filter_file
from backstory.store import open_store
from backstory.store.records import Arrival

EVENTS = 200
EVENT_BYTES = 4_096
MEMORIES = 100_000
SESSIONS = 1_000
KINDS = tuple(kind for kind in MemoryKind if kind is not MemoryKind.CHECKPOINT)
WORKER_SECONDS = 0.4
NOTES = 200
MCP_LINES = (
    ('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}', True),
    ('{"jsonrpc":"2.0","method":"notifications/initialized"}', False),
    ('{"jsonrpc":"2.0","id":1,"method":"tools/list"}', True),
)
# Put together at run time, so that scanners of this repository do not take them for leaks.
SECRETS = {
    "github-token": "gh" + "p_16C7e42F292c6912E7710c838347Ae178B4a",
    "secret": "swordfish",
    "email": "jane.doe@acme-corp.com",
}


class Case:
    """One thing to time: a command line, what it reads, and what is to be done before and after."""

    def __init__(
        self, argv: list[str], data: bytes = b"", pause: float = 0.0, folder: Path | None = None
    ) -> None:
        self.argv = argv
        self.folder = folder
        self.data = data
        self.pause = pause
        self.times: list[float] = []
        self.output = b""
        self.answers = 0

    def run(self) -> None:
        """Time it once, the way an agent runs it: pipes on both sides, waiting for its end."""
        start = time.perf_counter()
        process = subprocess.Popen(
            self.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(self.data)
            process.stdin.close()
        self.output = process.stdout.read()
        code = process.wait()
        self.times.append((time.perf_counter() - start) * 1000)
        self.answers += bool(self.output)
        process.stdout.close()
        assert code == 0, f"{self.argv} exited {code}"
        time.sleep(self.pause)

    @property
    def ms(self) -> float:
        """The median."""
        return statistics.median(self.times)

    @property
    def p99(self) -> float:
        """The 99th percentile: of fewer than 100 times, the longest."""
        return sorted(self.times)[math.ceil(len(self.times) * 0.99) - 1]


class ServerStart(Case):
    """The MCP server from its start to the list of its tools, asked for as clients do."""

    def run(self) -> None:
        start = time.perf_counter()
        process = subprocess.Popen(
            self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert process.stdin is not None
        assert process.stdout is not None
        for line, answered in MCP_LINES:
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            self.output = process.stdout.readline() if answered else self.output
        self.times.append((time.perf_counter() - start) * 1000)
        process.stdin.close()
        assert process.wait() == 0
        process.stdout.close()


def payload(event: str, project: Path, size: int, number: int, **more: Any) -> bytes:
    """A payload of Claude Code's of about `size` bytes."""
    base = {
        "session_id": "5f04c7c9-00be-4530-81c2-b953dc31b59b",
        "transcript_path": "/nonexistent/transcript.jsonl",
        "cwd": str(project),
        "hook_event_name": event,
        **more,
    }
    if "ToolUse" in event:
        base |= {"tool_name": "Bash", "tool_use_id": f"toolu_{number:024}", "duration_ms": 46}
        base["tool_input"] = {"command": f"make check-{number}", "description": "Run one of the checks"}
    if event == "PostToolUse":
        lines = (
            f"src/module_{number}.py:{line}: checked, {line * 7} assertions" for line in itertools.count(1)
        )
        text = ""
        while len(text) < size - 500:
            text += next(lines) + "\n" if size < 100_000 else next(lines) * 500 + "\n"
        base["tool_response"] = {"stdout": text[: max(size - 500, 0)], "stderr": "", "interrupted": False}
    elif event == "PostToolUseFailure":
        base["error"] = f"Exit code 2\nmake: *** [Makefile:9: check-{number}] Error 1\n" + "detail " * (
            size // 8
        )
    elif event == "UserPromptSubmit" and "prompt" not in more:
        base["prompt"] = f"Request {number}: make the discount rule work for orders of {number} items. " * (
            size // 80
        )
    return json.dumps(base).encode()


def leave_events(home: Path, project: Path) -> None:
    """Let 200 events of 4 kB wait: each tenth a prompt, each fifth a failure."""
    for number in range(EVENTS):
        event = "UserPromptSubmit" if number % 10 == 0 else "PostToolUse"
        event = "PostToolUseFailure" if number % 5 == 3 else event
        data = payload(event, project, EVENT_BYTES, number)
        path = home / "spool" / f"claude-code.{event}.100.{1000 + number}"
        path.write_bytes(data + spool.TRAILER)
        os.utime(path, (time.time() - EVENTS + number,) * 2)


def store_memories(home: Path, project: Path) -> None:
    """Store 100,000 memories in a thousand sessions, and prepare the brief as the worker does."""
    place = resolve_place(str(project))
    shop = Project(project_id(place.identity), place.identity, place.name, place.root, 1)
    now = time.time_ns() // 1_000_000
    each = MEMORIES // SESSIONS
    with contextlib.closing(open_store(Home(home))) as store:
        for number in range(SESSIONS):
            at = now - number * 3_600_000
            agent = "codex" if number else "claude-code"
            event = Event(
                agent, f"s{number}", Kind.PROMPT, at, "round the discount", where=Where(str(project))
            )
            with store.transaction():
                added = store.events.add([Arrival(event, shop, store.events.key(event))])[0]
                session = store.events.session(added.session_id)
                assert session is not None
                drafts = [
                    Draft(
                        KINDS[index % len(KINDS)],
                        f"{index}",
                        f"{KINDS[index % len(KINDS)]} {number}.{index}: the discount is rounded per order",
                        at,
                        (added.event_id,),
                    )
                    for index in range(each)
                ]
                store.memories.replace(session, drafts, Tier.RULES, "bench")
        prepare.project_file(Home(home), store, shop.id)
        assert store.listings.table_counts()["memories"] == MEMORIES


def finish_answers(home: Path, stored: Path, project: Path) -> None:
    """Finish the answer to a plain start as the worker does, from what is stored in another home."""
    pid = project_id(resolve_place(str(project)).identity)
    with contextlib.closing(open_store(Home(stored))) as store:
        ready_answers.write_answers(Home(home), store, pid)
    assert list(Home(home).ready.glob("p*"))


def leave_secrets(home: Path, project: Path) -> None:
    """Let a prompt with three kinds of secrets wait as the newest."""
    token, password, mail = SECRETS.values()
    data = json.loads(payload("UserPromptSubmit", project, 400, EVENTS))
    data["prompt"] = f"Push it with {token} and tell {mail}.\npassword: {password}\n" + data["prompt"]
    path = home / "spool" / "claude-code.UserPromptSubmit.100.2000"
    path.write_bytes(json.dumps(data).encode() + spool.TRAILER)


def leave_notes(home: Path, project: Path) -> None:
    """200 notes, each on a command that failed, with the flags that a worker leaves for them."""
    pid = project_id(resolve_place(str(project)).identity)
    notes = [
        {"id": f"m{n:014x}", "section": "lesson", "at": 1, "agent": "codex", "session": "s1"}
        | {"text": f'`make check-{n}` failed: "rule {n} is missing" → fixed by editing rules/{n}.mk'}
        for n in range(NOTES)
    ]
    value = {
        "v": 1, "project": pid, "name": "shop", "notes": notes,
        "commands": {f"make check-{n}": [note["id"]] for n, note in enumerate(notes)},
        "edits": {}, "errors": {},
    }  # fmt: skip
    at = Path(f"{home}/briefs/at{project}")
    for folder in (home / "briefs" / "notes", at):
        folder.mkdir(parents=True)
    (home / "briefs" / "notes" / f"{pid}.json").write_text(json.dumps(value))
    Home(home).call_literals.write_bytes(filter_file(call_literals(value)))
    for kind in ("prompt", "before", "after"):
        (at / f".{kind}").touch()


@contextlib.contextmanager
def stage() -> Iterator[tuple[Path, Path, Path, Path, Path]]:
    """Homes to capture into, with events waiting, with secrets in them, with notes; a project under git.

    The one with notes has the brief that the one with events has, too, finished; nothing waits in it.
    """
    with tempfile.TemporaryDirectory(prefix="backstory-bench-") as folder:
        top = Path(folder).resolve()
        project = top / "shop"
        git = project / ".git"
        (git / "objects").mkdir(parents=True)
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        (git / "config").write_text('[remote "origin"]\n\turl = git@github.com:example/shop.git\n')
        capture, answering, secretive, noting = (
            top / name for name in ("capture", "answering", "secretive", "noting")
        )
        for home in (capture, answering, secretive, noting):
            write_hook_files(home)
        leave_notes(noting, project)
        leave_events(answering, project)
        leave_events(secretive, project)
        leave_secrets(secretive, project)
        store_memories(answering, project)
        shutil.copytree(answering / "briefs", secretive / "briefs", dirs_exist_ok=True)
        for brief in (answering / "briefs").glob("p*.json"):
            shutil.copy(brief, noting / "briefs")
        finish_answers(noting, answering, project)
        with contextlib.ExitStack() as locks:
            for home in (answering, secretive, noting):
                assert locks.enter_context(lock(home / "worker.lock"))
            yield capture, answering, secretive, noting, project


def measure(rounds: int, load: int) -> dict[str, Any]:
    """Run all cases, with so many busy processes beside them, and give the figures."""
    with stage() as (capture, answering, secretive, noting, project), busy(load):

        def hook(home: Path, event: str) -> list[str]:
            return ["/bin/sh", "-c", hook_command(str(home), "claude-code", event)]

        def tool(size: int) -> Case:
            return Case(hook(capture, "PostToolUse"), payload("PostToolUse", project, size, 1))

        start = payload("SessionStart", project, 0, 0, source="startup").replace(b"5f04c7c9", b"ffffffff")
        cases = {
            "sh": Case(["/bin/sh", "-c", "true"]),
            "capture_600b": tool(600),
            "capture_4k": tool(4_096),
            "capture_1m": tool(1_000_000),
            "capture_10m": tool(10_000_000),
            "python": Case([sys.executable, "-I", "-S", "-c", "pass"]),
        }
        before = payload("PreToolUse", project, 0, 7)
        other = before.replace(b"make check-7", b"git log --oneline -5")
        cases |= {
            "before_silent": Case(hook(capture, "PreToolUse"), before, folder=project),
            "before_other": Case(hook(noting, "PreToolUse"), other, folder=project),
            "before_says": Case(hook(noting, "PreToolUse"), before, folder=project),
            "mcp": ServerStart([sys.executable, "-I", "-S", str(noting / "hook" / MCP_SCRIPT)]),
            "start": Case(hook(noting, "SessionStart"), start, pause=WORKER_SECONDS, folder=project),
            "start_by_python": Case(
                hook(noting, "SessionStart"),
                start.replace(b'"startup"', b'"clear"'),
                pause=WORKER_SECONDS,
                folder=project,
            ),
            "answer": Case(hook(answering, "SessionStart"), start, pause=WORKER_SECONDS),
            "answer_redacts": Case(hook(secretive, "SessionStart"), start, pause=WORKER_SECONDS),
        }
        kept = {path.name for path in (secretive / "spool").iterdir()}
        order, chance = list(cases.values()), random.Random(rounds)
        for _ in range(rounds):
            chance.shuffle(order)
            for case in order:
                case.run()
            for home, keep in ((capture, set()), (noting, set()), (answering, kept), (secretive, kept)):
                for path in (home / "spool").iterdir():
                    if path.name not in keep:
                        path.unlink()
        check_answer(cases["answer"].output)
        check_redacted(cases["answer_redacts"].output.decode())
        assert b"rules/7.mk" in cases["before_says"].output
        assert b"Open threads" in cases["start"].output
        assert cases["start"].output == cases["start_by_python"].output
        assert b'"timeline"' in cases["mcp"].output
        assert cases["before_silent"].output == cases["before_other"].output == b""
    ms = {name: case.ms for name, case in cases.items()}
    return {
        "rounds": rounds,
        "python": sys.version.split()[0],
        "given": {name: cases[name].answers for name in ANSWERS},
        "ms": {name: [round(case.ms, 2), round(case.p99, 2)] for name, case in cases.items()},
        "ratios": {
            name: [round(value / base, 2) for value, base in ((case.ms, to.ms), (case.p99, to.p99))]
            for name, _, unit, _ in TABLE
            for case, to in ((cases[name], cases[unit]),)
        },
        "ms_per_mb": round((ms["capture_10m"] - ms["capture_4k"]) / 10, 2),
        "brief_chars": len(json.loads(cases["answer"].output)["hookSpecificOutput"]["additionalContext"]),
    }


def check_answer(output: bytes) -> None:
    """The brief holds what waits: the newest prompt and failures in their words, the rest in a digest."""
    text = json.loads(output)["hookSpecificOutput"]["additionalContext"]
    for wanted in (
        "Request 190",
        "check-198",
        "Error 1",
        "check-199",
        f"{EVENTS} events",
        "Open threads",
    ):
        assert wanted in text, f"the brief lacks {wanted!r}:\n{text}"


def check_redacted(text: str) -> None:
    """None of the secrets is in the brief, and their marks are."""
    for name, secret in SECRETS.items():
        assert secret not in text, f"the brief holds {secret!r}:\n{text}"
        assert f"[redacted:{name}]" in text, f"the brief lacks the mark of {name}:\n{text}"


# The cases that have something to say.
ANSWERS = ("start", "start_by_python", "before_says", "answer", "answer_redacts")
# The case, in words, what it is compared with, and at most how many times that its median may take.
TABLE = (
    ("start", "SessionStart, nothing waiting", "sh", 4.0),
    ("before_other", f"PreToolUse, {NOTES} notes in the project, none for it", "sh", 3.0),
    ("capture_600b", "capture hook, 0.6 kB", "sh", 2.0),
    ("capture_4k", "capture hook, 4 kB", "sh", 2.0),
    ("mcp", "MCP server to its list of tools", "python", 1.3),
    ("start_by_python", "SessionStart after /clear, which Python answers", "python", 4.0),
    ("answer", f"SessionStart, {EVENTS} events waiting", "python", 4.0),
    ("answer_redacts", "the same, with secrets in what it shows", "python", 4.0),
    ("before_says", "PreToolUse with a note to say", "python", 4.0),
    ("before_silent", "PreToolUse in a project without notes", "capture_600b", 1.5),
)
NAMES = {"sh": "sh -c true", "python": "bare Python", "capture_600b": "capture hook"}
MS_PER_MB = 1.5
# On a machine where many other processes are busy.
LOADED = {"start": 6.0}


@contextlib.contextmanager
def busy(processes: int) -> Iterator[None]:
    """So many processes that never rest, until the block ends."""
    argv = [sys.executable, "-I", "-S", "-c", "while True: pass"]
    running = [subprocess.Popen(argv) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def main() -> int:
    """Measure, print, and say by the exit code whether the targets are met."""
    parser = argparse.ArgumentParser(description="What a hook costs the agent that waits for it.")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--load", type=int, default=0, help="so many busy processes beside it")
    options = parser.parse_args()
    figures = measure(options.rounds, options.load)
    goals = {name: LOADED.get(name, math.inf) if options.load else goal for name, _, _, goal in TABLE}
    met = {name: figures["ratios"][name][0] <= goal for name, goal in goals.items()}
    met["given"] = all(count == options.rounds for count in figures["given"].values())
    met["ms_per_mb"] = bool(options.load) or figures["ms_per_mb"] <= MS_PER_MB
    if options.json:
        print(json.dumps(figures | {"load": options.load, "met": met}, indent=1))
    else:
        report(figures, goals, met, options.load)
    return 0 if all(met.values()) else 1


def report(figures: dict[str, Any], goals: dict[str, float], met: dict[str, bool], load: int) -> None:
    """The table, and below it the times that it was made from."""
    beside = f", {load} busy processes beside it" if load else ""
    print(f"{figures['rounds']} interleaved rounds, Python {figures['python']}{beside}")
    print(f"     {'':52}{'p50':>7}{'p99':>7}{'target':>8}")
    for name, label, unit, _ in TABLE:
        middle, slow = figures["ratios"][name]
        goal = f"{goals[name]:8.1f}" if goals[name] < math.inf else f"{'–':>8}"
        print(f"{_mark(met[name])} {label:52}{middle:7.2f}{slow:7.2f}{goal} × {NAMES[unit]}")
    label = "capture hook, ms more per MB"
    print(f"{_mark(met['ms_per_mb'])} {label:52}{figures['ms_per_mb']:7.2f}{'':7}{MS_PER_MB:8.1f} ms")
    given, wanted = sum(figures["given"].values()), figures["rounds"] * len(ANSWERS)
    print(f"{_mark(met['given'])} {'briefs and notes given':52}{given:7,}{'':7}{wanted:8,}")
    print("ms, p50 and p99: ", end="")
    print(", ".join(f"{name} {middle:.1f} {slow:.1f}" for name, (middle, slow) in figures["ms"].items()))


def _mark(met: bool) -> str:
    return "ok  " if met else "MISS"


if __name__ == "__main__":
    sys.exit(main())
