"""Whether the shell says what Python would say: real sessions, their starts and tool calls, both ways.

    python -m bench.equal_words [PROJECT …] --data DIR [--calls 400] [--sessions N]

DIR is that of `bench.work.run`. Each project's sessions are imported one after the other, as a user would. In
between a session is started in every folder that was worked in, by every shell there is: as installed, and
with the finished answers out of the way, so that Python makes the brief. Then what the next session did is
told to the hook before a tool call: as installed, where `grep` may decide that there is nothing to say, and
straight to Python. The answers are compared byte for byte, and so are the receipts of starts. Some starts
find an event that waits, or a file that has changed.

The exit code tells whether there was any difference.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.work.home import ScratchHome
from bench.work.labels import Labelled, load
from bench.work.replay import hooks

from backstory.atomic import lock
from backstory.hook.hook_command import hook_command
from backstory.hook.spool import RECEIPT
from backstory.paths import Home

SHELLS = [
    [found, *argv[1:]]
    for argv in (
        ["dash"], ["bash"], ["bash", "--posix"], ["busybox", "sh"], ["zsh"], ["ksh"], ["mksh"], ["yash"],
    )
    if (found := shutil.which(argv[0]))
]  # fmt: skip
_TOOLS = ("Bash", "Edit", "MultiEdit", "Write")


class Hooks:
    """The hooks of a home; what one leaves in the spool is taken out again: both ways find the same."""

    def __init__(self, home: Home, agent: str) -> None:
        self.home = home
        self.agent = agent

    def run(self, argv: list[str], payload: bytes, folder: str) -> tuple[bytes, dict[str, Any]]:
        """What a hook prints, and its receipt but for when it was given."""
        before = set(self.home.spool.iterdir())
        done = subprocess.run(
            argv, input=payload, capture_output=True, cwd=folder, env={"PATH": ""}, check=True
        )
        receipt: dict[str, Any] = {}
        for path in set(self.home.spool.iterdir()) - before:
            if f".{RECEIPT}." in path.name:
                receipt = json.loads(path.read_bytes()[:-1])
                receipt.pop("at", None)
            path.unlink()
        return done.stdout, receipt

    def start(self, shell: list[str], folder: str, counts: Counter[str], what: str) -> None:
        """A start, both ways."""
        payload = self._payload("SessionStart", folder, source="startup")
        argv = [*shell, "-c", hook_command(str(self.home.root), self.agent, "SessionStart")]
        with self._python_counted() as answered:
            fast = self.run(argv, payload, folder)
            by_shell = not answered()
        away = self.home.root / "ready.away"
        with contextlib.suppress(FileNotFoundError):
            self.home.ready.rename(away)
        slow = self.run(argv, payload, folder)
        with contextlib.suppress(FileNotFoundError):
            away.rename(self.home.ready)
        counts["starts"] += 1
        counts[f"starts, {what}"] += 1
        counts[f"starts, {what}, by the shell alone"] += by_shell
        if fast != slow:
            counts["starts that differ"] += 1
            print(f"{what} {shell} {folder}:\n{fast}\n{slow}\n", file=sys.stderr)

    def call(self, fields: dict[str, Any], folder: str, counts: Counter[str]) -> None:
        """A tool call that is about to be made, both ways."""
        payload = self._payload("PreToolUse", folder, **fields)
        home = str(self.home.root)
        shell = SHELLS[counts["calls"] % len(SHELLS)]
        with self._python_counted() as answered:
            fast = self.run([*shell, "-c", hook_command(home, self.agent, "PreToolUse")], payload, folder)
            counts["calls at which Python started"] += answered()
        program = f"{home}/hook/hook.pyc"
        slow = self.run(
            [sys.executable, "-I", "-S", program, "answer", home, self.agent, "PreToolUse"], payload, folder
        )
        counts["calls"] += 1
        counts["calls with a note"] += bool(slow[0])
        if fast != slow:
            counts["calls that differ"] += 1
            print(f"{str(fields)[:200]}:\n{fast}\n{slow}\n", file=sys.stderr)

    def _payload(self, event: str, folder: str, **fields: Any) -> bytes:
        base = {
            "session_id": str(uuid.uuid4()),
            "transcript_path": "/nonexistent/transcript.jsonl",
            "cwd": folder,
            "hook_event_name": event,
        }
        return json.dumps(base | fields, ensure_ascii=False, separators=(",", ":")).encode()

    @contextlib.contextmanager
    def _python_counted(self) -> Iterator[Any]:
        """Tells whether the answering program was read: its time of access is far back before."""
        program = self.home.hook / "hook.pyc"
        seen = program.stat()
        os.utime(program, ns=(1, seen.st_mtime_ns))
        yield lambda: program.stat().st_atime_ns != 1
        os.utime(program, ns=(seen.st_atime_ns, seen.st_mtime_ns))


def project(labelled: Labelled, folder: Path, calls: int, counts: Counter[str]) -> None:
    """All sessions of a project, one after the other."""
    sessions = labelled.sessions
    scratch = ScratchHome(folder, labelled.agent, sessions[:1], sessions[0].cwd)
    home = Home(folder / "home")
    at = Hooks(home, labelled.agent)
    each = max(1, calls // len(sessions))
    try:
        for number in range(1, len(sessions)):
            with lock(home.worker_lock, wait=60) as held:
                assert held
                _between(at, labelled, number, each, counts)
            scratch.add(sessions[number : number + 1])
        with lock(home.worker_lock, wait=60) as held:
            assert held
            _between(at, labelled, len(sessions), 0, counts)
    finally:
        scratch.close()


def _between(at: Hooks, labelled: Labelled, number: int, each: int, counts: Counter[str]) -> None:
    """After `number` sessions: starts in all their folders, then the calls of the next session."""
    for cwd in dict.fromkeys(session.cwd for session in labelled.sessions[:number]):
        for shell in SHELLS:
            at.start(shell, cwd, counts, "nothing waits")
        waits = at.home.spool / f"{at.agent}.UserPromptSubmit.1.{number}"
        waits.write_bytes(at._payload("UserPromptSubmit", cwd, prompt="Go on with the next step") + b"\x1e")
        at.start(SHELLS[number % len(SHELLS)], cwd, counts, "a prompt waits")
        waits.unlink()
    if number < len(labelled.sessions):
        session = labelled.sessions[number]
        # as in life it starts first, which lets notes come in a folder that is new
        at.start(SHELLS[0], session.cwd, counts, "the next session")
        told = [hook for hook in hooks(session.text) if hook.event == "PreToolUse"]
        told = [hook for hook in told if hook.fields.get("tool_name") in _TOOLS]
        for hook in told[:: max(1, len(told) // each)][:each]:
            at.call(hook.fields, session.cwd, counts)


def main() -> int:
    """Compare, print the counts, and say by the exit code whether there was a difference."""
    parser = argparse.ArgumentParser(description="Whether the shell says what Python would say.")
    parser.add_argument("projects", nargs="*")
    parser.add_argument("--data", default=os.environ.get("BACKSTORY_BENCH_DATA", ""))
    parser.add_argument("--calls", type=int, default=400, help="tool calls for each project")
    parser.add_argument("--sessions", type=int, help="of each project only the first ones")
    options = parser.parse_args()
    data = Path(options.data)
    data = data / "work" if (data / "work").is_dir() else data
    names = options.projects or sorted(path.parent.name for path in data.glob("*/gold.json"))
    if not names:
        parser.error("there are no projects: name their folder with --data")
    total: Counter[str] = Counter({"starts that differ": 0, "calls that differ": 0})
    for name in names:
        with tempfile.TemporaryDirectory(prefix="backstory-equal-") as folder:
            top = Path(folder).resolve()
            counts: Counter[str] = Counter()
            labelled = load(data / name, top / "tree")
            labelled = replace(labelled, sessions=labelled.sessions[: options.sessions])
            project(labelled, top / "scratch", options.calls, counts)
            print(name, dict(sorted(counts.items())), flush=True)
            total.update(counts)
    print("all", *(f"{key:50}{value:8}" for key, value in sorted(total.items())), sep="\n")
    return 1 if total["starts that differ"] or total["calls that differ"] else 0


if __name__ == "__main__":
    sys.exit(main())
