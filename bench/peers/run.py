"""Other memory tools beside ours: installed into scratch homes, given the same, in one run. One table.

    python -m bench.peers.run [--data DIR] [--project NAME] [--keep FOLDER] [--rounds 20] [--questions 30]

DIR is what bench/work takes: labelled projects with their agents' transcripts; without it, what needs real
sessions is left out. FOLDER keeps the installations for the next run. Nothing here is part of `make test`: it
needs the registries, and some minutes.

  hook         the command that the tool's own setup registers, at each tool call or, where it has none
               there, at a turn's end, the same payload of 4 kB: median and 99th percentile of the rounds, as
               ratio to `sh -c true` in the same rounds, and the most memory that it took
  idle         resident memory of what still runs three seconds later
  import       the project's transcripts, all but the last session's
  next start   characters that the last session is given without a model; how many of its needs they state
  search       questions that one of the first 2,000 printed characters answer
  lost         events whose hook had returned and that are nowhere, all its processes killed each time
  secrets      of ten seeded ones, how many can be read in its files afterwards
  MCP          characters of its list of tools

What cannot be measured says why.
"""

import argparse
import contextlib
import json
import math
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.peers.tools import TOOLS, Tool, Way, install, last_words, registered_hook
from bench.work.labels import Labelled, load

_PATIENCE = 240.0
_PRINTED = 2_000
_KILLS = 20
_CELL = 60  # characters
# A child's peak counts what its parent had before it became that program: the parent has to be small.
_WATCHED = (
    "import os, resource, sys; pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, "
    "file_actions=[(os.POSIX_SPAWN_OPEN, 1, '/dev/null', os.O_WRONLY, 0)]); os.waitpid(pid, 0); "
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)
_IDLE_SECONDS = 3.0
ROWS = (
    ("hook", "hook, median / p99 (× `sh -c true`)"),
    ("memory", "hook, most memory"),
    ("idle", "idle memory"),
    ("import", "import of one project"),
    ("start", "given to the next session, no model"),
    ("search", "questions answered"),
    ("lost", "events lost on `kill -9`"),
    ("secrets", "secrets stored, of 10 seeded"),
    ("mcp", "list of MCP tools"),
)
# Put together at run time, so that scanners of this repository do not take them for leaks.
_SEEDS = (
    "gh" + "p_16C7e42F292c6912E7710c838347Ae178B4a",
    "AK" + "IAIOSFODNN7EXAMPLF",
    "sk-" + "ant-api03-Zk3vQ9xLw2Rt8YbN5mJcHfXdPgSaVuEiOqTr7ZkLm",
    "xox" + "b-2348761239-2348761239-aBcDeFgHiJkLmNoPqRsTuVwX",
    "gl" + "pat-Qw3rTyUiOpAsDfGhJkLz",
    "sk_" + "live_51Hq8LkJ2mNvQ7rTzXb4cWd9",
    "np" + "m_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "correct-horse-battery-9471",
    "tr0mb0ne-Quartz-77-lagoon",
)


@dataclass
class Stage:
    """One tool, installed: its folder, its home, its project; and what was measured of it."""

    tool: Tool
    at: Path
    talk: Path
    project: Path
    trouble: str = ""
    hook: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    cells: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        """The tool's own home folder."""
        return self.at / "home"

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the user's but the path."""
        found = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        if not self.tool.registry:
            found |= {"BACKSTORY_HOME": str(self.home / "backstory"), "PYTHONPATH": os.pathsep.join(sys.path)}
        return found | {"HOME": str(self.home)}

    def words(self, way: Sequence[str], **values: str) -> list[str]:
        """A command with its places filled in."""
        return [word.format(at=self.at, talk=self.talk, **values) for word in way]

    def run(self, words: Sequence[str], data: bytes = b"", seconds: float = _PATIENCE) -> tuple[int, str]:
        """Exit code and output of a command."""
        try:
            done = subprocess.run(
                words,
                input=data,
                cwd=self.project,
                env=self.environment,
                capture_output=True,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            return 1, f"no end within {seconds:.0f} s"
        out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        return done.returncode, out if done.returncode == 0 else err + out

    def processes(self) -> Iterator[int]:
        """Everything that runs with this home."""
        mark = f"HOME={self.home}\0".encode()
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdecimal() and mark in (entry / "environ").read_bytes() + b"\0":
                    yield int(entry.name)

    def kill(self) -> None:
        """`kill -9` of everything."""
        for pid in list(self.processes()):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def holds(self, words: Sequence[str]) -> int:
        """How many of these can be read somewhere in its files, or in what it prints of them."""
        printed = self.run(self.tool.dump)[1] if self.tool.dump else ""
        left = {word for word in words if word not in printed}
        for file in self.home.rglob("*"):
            with contextlib.suppress(OSError):
                if left and file.is_file():
                    data = file.read_bytes()
                    left -= {word for word in left if word.encode() in data}
        return len(words) - len(left)


def payload(stage: Stage, number: int, text: str) -> bytes:
    """A tool call of about 4 kB, or the end of a turn, with a text in it; its transcript says the same."""
    transcript = stage.at / "transcript.jsonl"
    line = {
        "type": "assistant",
        "message": {"role": "assistant", "content": [{"type": "text", "text": text}]},
    }
    with transcript.open("a") as file:
        file.write(json.dumps(line) + "\n")
    fields = {
        "session_id": "5f04c7c9-00be-4530-81c2-b953dc31b59b",
        "transcript_path": str(transcript),
        "cwd": str(stage.project),
        "hook_event_name": stage.tool.event,
    }
    if stage.tool.event == "PostToolUse":
        fields |= {"tool_name": "Bash", "tool_use_id": f"toolu_{random.getrandbits(96):024x}"}
        return json.dumps(
            fields
            | {
                "tool_input": {"command": f"make check-{number}"},
                "tool_response": {"stdout": f"{text}\n" + "checked, 7 assertions\n" * 160, "stderr": ""},
            }
        ).encode()
    return json.dumps(fields).encode()


# --- what is measured -------------------------------------------------------------------------------------


def prepare(tool: Tool, folder: Path, talk: Path, seconds: float) -> Stage:
    """Install a tool and set it up in a project of its own."""
    stage = Stage(tool, folder / tool.name, talk, folder / tool.name / "project")
    marker = stage.at / "installed"
    if not marker.exists():
        shutil.rmtree(stage.at, ignore_errors=True)
        stage.trouble = install(tool, stage.at, seconds)
        if stage.trouble:
            return stage
        marker.touch()
    for each in (stage.home, stage.project):
        shutil.rmtree(each, ignore_errors=True)
        each.mkdir()
    (stage.at / "transcript.jsonl").unlink(missing_ok=True)
    subprocess.run(["git", "init", "-q", str(stage.project)], check=True)
    for command in tool.setup:
        code, said = stage.run(stage.words(command))
        if code:
            stage.cells["hook"] = f"not measured, because its setup ended in this: {last_words(said)}"
            return stage
    if isinstance(tool.hook, str):
        stage.cells["hook"] = tool.hook
    else:
        found = registered_hook(stage.home, stage.project, tool.event)
        stage.hook = (found or []) if tool.hook == ["registered"] else stage.words(tool.hook)
        if not stage.hook:
            stage.cells["hook"] = "its setup registers none"
    return stage


def time_hooks(stages: Sequence[Stage], rounds: int) -> list[float]:
    """Each hook once a round, in another order each time, beside `sh -c true`; the times of that."""
    bare: list[float] = []
    for number in range(rounds):
        turn: list[Stage | None] = [None, *(stage for stage in stages if stage.hook)]
        random.shuffle(turn)
        for stage in turn:
            data = payload(stage, number, f"round {number}") if stage else b""
            begin = time.perf_counter()
            process = subprocess.Popen(
                stage.hook if stage else ["sh", "-c", "true"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=stage.project if stage else None,
                env=stage.environment if stage else None,
            )
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(data)
                process.stdin.close()
            process.wait()
            (stage.times if stage else bare).append((time.perf_counter() - begin) * 1000)
    return bare


def tell_hooks(stage: Stage, bare: Sequence[float]) -> None:
    """The two rows about hooks, and what still runs."""
    if not stage.times:
        return
    middle, worst = statistics.median(stage.times), _p99(stage.times)
    stage.cells["hook"] = (
        f"{middle:.0f} / {worst:.0f} ms ({middle / statistics.median(bare):.1f} × / "
        f"{worst / _p99(bare):.1f} ×{', at a turn’s end' if stage.tool.event == 'Stop' else ''})"
    )
    command = [sys.executable, "-I", "-S", "-c", _WATCHED, *stage.hook]
    floor = int(stage.run([*command[:5], "true"])[1].split()[-1])
    most = int(stage.run(command, payload(stage, 0, "memory"))[1].split()[-1])
    stage.cells["memory"] = f"{most / 1024:.0f} MB" if most > floor else f"under {floor / 1024:.0f} MB"
    time.sleep(_IDLE_SECONDS)
    held = 0
    pids = list(stage.processes())
    for pid in pids:
        with contextlib.suppress(OSError, StopIteration):
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            held += int(next(line for line in lines if line.startswith("VmRSS")).split()[1])
    stage.cells["idle"] = f"{held / 1024:.0f} MB in {len(pids)}" if pids else "0"


def _p99(times: Sequence[float]) -> float:
    return sorted(times)[math.ceil(len(times) * 0.99) - 1]


def kill_and_seed(stage: Stage) -> None:
    """Events that are nowhere after all processes were killed; secrets that can be read afterwards."""
    if not stage.hook:
        return
    marks = [f"mark-{number}-{random.getrandbits(48):012x}" for number in range(_KILLS)]
    for number, mark in enumerate(marks):
        stage.run(stage.hook, payload(stage, number, mark))
        stage.kill()
    seeded = "; ".join(f"export TOKEN_{n}={seed} password={seed}" for n, seed in enumerate(_SEEDS))
    stage.run(stage.hook, payload(stage, _KILLS, seeded))
    if not isinstance(stage.tool.start, str):
        stage.run(stage.words(stage.tool.start))  # as the next session does: what waits is taken in
    _settle(stage)
    kept = stage.holds(marks)
    stage.cells["lost"] = f"{_KILLS - kept} of {_KILLS}" if kept else "it stored nothing here"
    stage.cells["secrets"] = str(stage.holds(_SEEDS)) if kept else "it stored nothing here"


def _settle(stage: Stage) -> None:
    """Until nothing of it works any more; ours says so itself."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        time.sleep(1)
        if stage.tool.registry:
            return time.sleep(10)
        code, said = stage.run(stage.words([*TOOLS[0].setup[0][:3], "status", "--json"]))
        found = json.loads(said) if code == 0 else {}
        waits = (found.get("spooled"), found.get("unindexed"), (found.get("vectors") or [0, 0])[1])
        if code == 0 and not found.get("worker_running") and not any(waits):
            return None
    return None


def ask(stage: Stage, project: Labelled, questions: int) -> None:
    """Import all sessions but the last; what that one is given; what is answered."""
    tool = stage.tool
    if isinstance(tool.take_in, str):
        stage.cells |= dict.fromkeys(("import", "start", "search"), tool.take_in)
        return
    begin = time.monotonic()
    code, said = stage.run(stage.words(tool.take_in))
    if code:
        reason = f"not measured, because its import ended in this: {last_words(said)}"
        stage.cells |= dict.fromkeys(("import", "start", "search"), reason)
        return
    back = time.monotonic() - begin
    _settle(stage)
    stage.cells["import"] = f"{back:.0f} s; all by meaning after {time.monotonic() - begin:.0f} s"
    known = project.known_before(len(project.sessions) - 1)
    if not isinstance(tool.start, str):
        text = stage.run(stage.words(tool.start))[1]
        needs = project.sessions[-1].needs
        told = sum(need.fact.is_in(text) for need in needs)
        stage.cells["start"] = f"{len(text):,} characters, {told} of {len(needs)} needs"
    if not isinstance(tool.search, str):
        asked = [fact for fact in known if fact.question][:questions]
        right = sum(
            fact.is_in(stage.run(stage.words(tool.search, question=fact.question))[1][:_PRINTED])
            for fact in asked
        )
        stage.cells["search"] = f"{right} of {len(asked)}"


def list_tools(stage: Stage) -> None:
    """How much of a model's context the list of MCP tools takes."""
    way: Way = stage.tool.mcp
    if isinstance(way, str):
        stage.cells["mcp"] = way
        return
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}}
    lines = (
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    )
    process = subprocess.Popen(
        stage.words(way),
        cwd=stage.project,
        env=stage.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    signal.signal(signal.SIGALRM, lambda *_: process.kill())
    signal.alarm(90)
    stage.cells["mcp"] = "it does not answer"
    with contextlib.suppress(OSError, ValueError, KeyError):
        for line in lines:
            process.stdin.write(json.dumps(line) + "\n")
            process.stdin.flush()
        for answer in process.stdout:
            said = json.loads(answer)
            if said.get("id") == 1:
                tools = said["result"]["tools"]
                stage.cells["mcp"] = f"{len(json.dumps(tools)):,} characters, {len(tools)} tools"
                break
    signal.alarm(0)
    process.kill()
    process.communicate()


# --- the table --------------------------------------------------------------------------------------------


def table(stages: Sequence[Stage]) -> str:
    """What was seen, as Markdown; what is longer than a cell bears stands below it."""
    shown = [stage for stage in stages if not stage.trouble]
    notes: list[str] = []

    def cell(text: str) -> str:
        if len(text) <= _CELL:
            return text.replace("|", "/")
        if text not in notes:
            notes.append(text)
        return f"– ({notes.index(text) + 1})"

    lines = ["| | " + " | ".join(stage.tool.name for stage in shown) + " |", "|---" * (len(shown) + 1) + "|"]
    for key, title in ROWS:
        lines.append(f"| {title} | " + " | ".join(cell(stage.cells.get(key, "–")) for stage in shown) + " |")
    below = [f"({number}) {text}" for number, text in enumerate(notes, 1)]
    below += [f"{each.tool.name} was not installed: {each.trouble}" for each in stages if each.trouble]
    return "\n".join([*lines, "", *(f"- {text}" for text in below)])


def main() -> None:
    """Install, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    given = os.environ.get("BACKSTORY_BENCH_DATA")
    parser.add_argument("--data", type=Path, default=Path(given, "work") if given else None)
    parser.add_argument("--project", default="")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=300, help="for installing one of them")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="backstory-peers-") as made:
        folder = (args.keep or Path(made)).resolve()
        talk = Path(made, "talk")
        talk.mkdir()
        project = None
        if args.data:
            name = args.project or sorted(each.parent.name for each in args.data.glob("*/gold.json"))[0]
            project = load(args.data / name, Path(made, "source"))
            for session in project.sessions[:-1]:
                (talk / session.file).write_text(session.text, "utf-8")
        stages = [prepare(tool, folder, talk, args.seconds) for tool in TOOLS]
        ready = [stage for stage in stages if not stage.trouble]
        if project:
            here = Path(project.sessions[-1].cwd)
            for stage in ready:
                stage.project = here if not stage.tool.registry else stage.project
                ask(stage, project, args.questions)
        bare = time_hooks(ready, args.rounds)
        for stage in ready:
            tell_hooks(stage, bare)
            list_tools(stage)
            kill_and_seed(stage)
            stage.kill()
        if project:
            print(f"{project.name}: {len(project.sessions) - 1} sessions imported")
        print(table(stages))


if __name__ == "__main__":
    main()
