"""An agent that runs hooks the way agents do, and a stand-in for the worker."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from backstory.capture.hook_bundle import write_hook_files
from backstory.hook import agent_facts, spool
from backstory.hook.hook_command import hook_command
from backstory.hook.project_identity import project_id, resolve_place, session_id

SHELLS = {
    name: [shutil.which(argv[0]) or "", *argv[1:]]
    for name, argv in {
        "dash": ["dash"],
        "bash": ["bash"],
        "bash-posix": ["bash", "--posix"],
        "busybox": ["busybox", "sh"],
        "ksh": ["ksh"],
        "zsh": ["zsh"],
    }.items()
    if shutil.which(argv[0])
}

TICK = 0.02  # seconds: the kernel rounds timers up to those of its clock

PAYLOAD = json.dumps(
    {"session_id": "s", "cwd": "/srv/shop", "text": "ünï\u2028"}, ensure_ascii=False
).encode()

# In the worker's place: says who it is and what it inherited, then stays for as long as it is told.
STAND_IN = """
import json, os, signal, sys, time
fds = {}
for fd in range(20):
    try:
        device = os.fstat(fd).st_rdev == os.stat("/dev/null").st_rdev
        fds[fd] = "/dev/null" if device else oct(os.fstat(fd).st_mode & 0o170000)
    except OSError:
        pass
about = {
    "pid": os.getpid(), "argv": sys.argv[1:], "cwd": os.getcwd(), "fds": fds,
    "guard": os.environ.get("BACKSTORY_GUARD"),
    "ignored": [name for name in ("SIGHUP", "SIGINT", "SIGTERM")
                if signal.getsignal(getattr(signal, name)) == signal.SIG_IGN],
}
os.setsid() if os.getpgid(0) != os.getpid() else None
with open(sys.argv[-1] + "/worker.tmp", "w") as file:
    json.dump(about, file)
os.rename(sys.argv[-1] + "/worker.tmp", sys.argv[-1] + "/worker.json")
time.sleep(float(os.environ.get("STAND_IN_SECONDS", "0")))
"""


# In the answering hook's place: the search for the project notes how long it may take, and never ends.
HANGING = """
import sys, time
sys.path.insert(0, {source!r})
from _signal import ITIMER_PROF, ITIMER_REAL, getitimer
from backstory.hook import __main__ as hook, agent_facts, project_identity
agent_facts.FACTS.update({facts!r})
def resolve(*_):
    note = open({note!r}, "w")
    note.write(f"{{getitimer(ITIMER_PROF)[0]}} {{getitimer(ITIMER_REAL)[0]}}")
    note.close()
    for _ in iter(int, 1):
        {wait}
project_identity.resolve_place = resolve
hook.main(sys.argv[2:])
"""


class Agent:
    """Runs the registered commands of one home and looks at what they left."""

    def __init__(self, home: Path, name: str = "claude-code") -> None:
        self.home = home
        self.name = name

    def command(self, event: str) -> str:
        return hook_command(str(self.home), self.name, event)

    def run(
        self,
        event: str,
        data: bytes | dict[str, Any] = b"{}",
        shell: str = "dash",
        before: str = "",
        **options: Any,
    ) -> subprocess.CompletedProcess[bytes]:
        """One hook, as an agent starts it: through a shell, payload on stdin, waiting for all its output."""
        payload = data if isinstance(data, bytes) else json.dumps(data).encode()
        argv = [*SHELLS[shell], "-c", before + self.command(event)]
        options.setdefault("env", {"PATH": ""})
        options.setdefault("cwd", "/")
        return subprocess.run(argv, input=payload, capture_output=True, timeout=60, check=False, **options)

    def hangs(self, folder: Path, wait: str = "pass") -> Path:
        """From now on the search for the project never ends; with another `wait` than to be busy, as on a disk
        that hangs.

        Gives the file in which it notes how long it may take, in processor time and on the clock.
        """
        note, script, interpreter = (folder / name for name in ("note", "hanging.py", "hanging"))
        source = str(Path(spool.__file__).parent.parent.parent)
        script.write_text(HANGING.format(source=source, note=str(note), wait=wait, facts=agent_facts.FACTS))
        # its arguments are -I -S hook.pyc answer HOME AGENT EVENT; the worker's begin with -I -m
        interpreter.write_text(
            f'#!/bin/sh\n[ "$2" = -S ] || exit 0\nshift 2\nexec "{sys.executable}" -I -S "{script}" "$@"\n'
        )
        interpreter.chmod(0o755)
        write_hook_files(self.home, str(interpreter))
        return note

    def spooled(self) -> list[str]:
        return sorted(path.name for path in (self.home / "spool").iterdir())

    def payloads(self) -> list[bytes]:
        found = (spool.read_spooled(entry.path) for entry in spool.spool_entries(str(self.home / "spool")))
        return [data for data in found if data is not None]

    def leave(self, event: str, seconds_ago: float = 0, **payload: Any) -> Path:
        """Let an event wait in the spool as if its hook had run."""
        data = json.dumps({"hook_event_name": event, **payload}).encode()
        path = Path(spool.write_spooled(str(self.home / "spool"), self.name, event, data))
        when = time.time() - seconds_ago
        os.utime(path, (when, when))
        return path

    def prepare(self, project: Path, *rows: tuple[str, str], **more: Any) -> None:
        """Write the project's prepared file; a row is (section, text)."""
        identity = resolve_place(str(project)).identity
        made = time.time_ns() // 1_000_000
        value = {
            "v": 1,
            "project": project_id(identity),
            "name": project.name,
            "made_at": made,
            "rows": [
                {"id": f"m{number:016x}", "section": section, "text": text, "at": made - 3_600_000}
                | {"agent": "codex", "session": session_id("codex", "earlier")}
                for number, (section, text) in enumerate(rows, 1)
            ],
            "notices": [],
        } | more
        (self.home / "briefs" / f"{project_id(identity)}.json").write_text(json.dumps(value))

    def start(self, project: Path, source: str = "startup", session: str = "new", **options: Any) -> str:
        """Start a session; what its model is told, or "" if nothing was printed."""
        payload = {
            "session_id": session,
            "cwd": str(project),
            "hook_event_name": "SessionStart",
            "source": source,
        }
        done = self.run("SessionStart", payload, **options)
        assert done.returncode == 0
        return context(done.stdout)


def context(output: bytes) -> str:
    """The context in an answer, which must be exactly what Codex accepts too."""
    if not output:
        return ""
    answer = json.loads(output)
    answer.pop("systemMessage", "")  # a line for the user of Claude Code; tests/hook/test_visible_line.py
    assert list(answer) == ["hookSpecificOutput"]
    assert list(answer["hookSpecificOutput"]) == ["hookEventName", "additionalContext"]
    assert answer["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    return str(answer["hookSpecificOutput"]["additionalContext"])
