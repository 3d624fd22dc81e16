"""The way in: an agent's settings, the script they name, its interpreter, the spool, the worker."""

import json
import os
import shlex
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from backstory.agents import Agent, claude_code
from backstory.app import App
from backstory.atomic import lock
from backstory.capture import hook_bundle, quarantine
from backstory.capture.agent_setup import installed_hooks
from backstory.capture.settings_files import hook_interpreter, installable_agents, is_here
from backstory.doctor.check import Check, fail, ok, warn
from backstory.errors import UsageError
from backstory.file_reader import read_text
from backstory.hook import spool
from backstory.hook.hook_command import hook_command

PROBE = "Doctor"  # an event that no agent has: the drain finds nothing in it
_SECONDS = 20
_STALE_SECONDS = 60
_INSTALL = "run `backstory install"


def hooks(app: App, folder: Path) -> Iterator[tuple[Check, str]]:
    """The agents' own settings; beside each check the agent's name if its hooks are there."""
    found: list[tuple[Check, str]] = []
    absent: list[Agent] = []
    for agent in installable_agents():
        try:
            states = installed_hooks(agent, app.home, folder)
        except UsageError as error:
            found.append((fail("hooks", f"{agent.title}: {error}", "fix that file, then try again"), ""))
            continue
        wrong = [state for state in states if state.state != "configured"]
        if not wrong:
            found.append((ok("hooks", f"{agent.title}: all {len(states)} are configured"), agent.name))
        elif all(state.state == "missing" for state in states):
            absent.append(agent)
        else:
            events = ", ".join(state.event for state in wrong)
            check = fail("hooks", f"{agent.title}: {events}: {wrong[0].why}", f"{_INSTALL} {agent.name}`")
            found.append((check, agent.name))
    yield from found
    if not found:
        names = " or ".join(agent.title for agent in absent)
        yield fail("hooks", f"no agent is connected here ({names})", f"{_INSTALL}`"), ""
    for agent in absent if found else ():
        if is_here(agent):
            yield warn("hooks", f"{agent.title} is not connected", f"{_INSTALL} {agent.name}`"), ""


def script(app: App) -> Iterator[Check]:
    """The files that hooks run, and the interpreter that they name."""
    path = app.home.hook / "hook.sh"
    compiled = app.home.hook / "hook.pyc"
    if not path.is_file() or not compiled.is_file():
        missing = path if not path.is_file() else compiled
        yield fail("hook script", f"{missing} is missing", f"{_INSTALL}`")
        return
    python = hook_interpreter(app.home) or ""
    if not os.access(path, os.R_OK | os.X_OK):
        yield fail("hook script", f"{path} cannot be run", f"run `chmod 700 {shlex.quote(str(path))}`")
    elif not hook_bundle.hook_files_current(app.home.root, python):
        yield warn("hook script", f"{path} is of another version of Backstory or Python", f"{_INSTALL}`")
    else:
        yield ok("hook script", f"{path}, current")
    if not os.access(python, os.X_OK):
        yield fail("interpreter", f"{python or 'none'} is gone", f"{_INSTALL}`: it writes the present one")
    elif problem := _cannot(python, "-I", "-c", "import backstory.worker_loop"):
        yield fail("interpreter", f"{python} cannot run Backstory: {problem}", f"{_INSTALL}`")
    else:
        yield ok("interpreter", python)


def worker(app: App) -> Iterator[Check]:
    """The worker: at work, resting, or hanging on its lock."""
    try:
        with lock(app.home.worker_lock) as free:
            pid = "" if free else read_text(app.home.worker_lock)
    except OSError as error:
        yield fail("worker", f"its lock cannot be taken: {error}", "make the home writable")
        return
    yield ok(
        "worker", f"at work, process {pid}" if pid else "not running; the next hook that has work starts it"
    )


def spooled(app: App) -> Iterator[Check]:
    """What waits, what failed, what could not be read."""
    entries = spool.spool_entries(str(app.home.spool))
    oldest = time.time() - entries[0].mtime_ns / 1e9 if entries else 0
    if oldest > _STALE_SECONDS:
        found = f"{len(entries)} events wait, the oldest for {oldest / 60:.0f} min"
        yield warn("spool", found, "run `backstory timeline`, which takes them in; doctor shows why none did")
    else:
        yield ok("spool", f"{len(entries)} events wait")
    marks = sorted(app.home.spool.glob("*.fail"))
    if marks:
        reasons = sorted({parsed[2] for mark in marks if (parsed := spool.parse_fail(mark.name))})
        yield warn(
            "failed hooks",
            f"{len(marks)} hooks could not do their work: {', '.join(reasons)}",
            f"look at disk space and {app.home.logs / 'hook.log'}; the next worker counts the marks",
        )
    held = quarantine.quarantined_files(app.home)
    if held:
        yield warn(
            "quarantine",
            f"{len(held)} payloads could not be read, the last: {held[-1][1]}",
            f"look into {app.home.quarantine}; they are kept for {quarantine.KEPT_DAYS} days",
        )


def channel(app: App, agent: str) -> Iterator[Check]:
    """Whether the hook that the agent runs really leaves its payload in the spool."""
    if os.name != "posix":
        yield warn("channel", "not tried on this system", "look at `backstory status` after a session")
        return
    payload = json.dumps({"session_id": "doctor", "hook_event_name": PROBE, "cwd": os.sep}).encode()
    command = hook_command(str(app.home.root), agent, PROBE)
    try:
        with lock(app.home.worker_lock, wait=2):  # else a worker might take it before it is seen
            run = _run("/bin/sh", "-c", command, payload=payload)
            arrived = _take_away(app, run.pid)
    except (OSError, subprocess.TimeoutExpired) as error:
        yield fail("channel", f"the hook cannot be run: {error}", f"{_INSTALL}`")
        return
    if payload in arrived and not run.code and not run.printed:
        yield ok("channel", f"a payload sent through the hook reached the spool in {run.ms:.0f} ms")
        return
    said = run.printed.decode("utf-8", "replace") or f"exit {run.code}, nothing in the spool"
    yield fail(
        "channel", f"a payload sent through the hook was lost: {said}", f"look at disk space; {_INSTALL}"
    )


def answer(app: App, folder: Path, expected: str) -> Check:
    """Whether the installed answering hook prints the brief that the product makes."""
    payload = json.dumps({"cwd": str(folder), "source": "startup"}).encode()
    words = ("answer", str(app.home.root), claude_code.NAME, "SessionStart")
    try:
        run = _run(
            hook_interpreter(app.home) or "python",
            "-I",
            "-S",
            str(app.home.hook / "hook.pyc"),
            *words,
            payload=payload,
        )
        _take_away(app, run.pid)
        printed = json.loads(run.printed or b"{}")
        text = str(printed.get("hookSpecificOutput", {}).get("additionalContext", ""))
    except (OSError, ValueError, AttributeError, subprocess.TimeoutExpired) as error:
        return fail("brief", f"the answering hook cannot be run: {error}", f"{_INSTALL}`")
    if expected and not text:
        log = app.home.logs / "hook.log"
        return fail("brief", "the hook printed nothing, though there is a brief", f"look at {log}")
    if not text:
        return ok("brief", f"empty: nothing is known here yet; the hook took {run.ms:.0f} ms")
    return ok("brief", f"{len(text)} characters, printed by the hook in {run.ms:.0f} ms")


@dataclass(frozen=True, slots=True)
class _Run:
    pid: int
    code: int
    printed: bytes
    error: bytes
    ms: float


def _run(*command: str, payload: bytes = b"") -> _Run:
    """Run something as bare as an agent may; above all, without the recursion guard."""
    kept = ("HOME", "TMPDIR", "LANG", "SYSTEMROOT")
    bare = {name: os.environ[name] for name in kept if name in os.environ}
    started = time.perf_counter()
    with subprocess.Popen(
        command, env=bare, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            printed, error = process.communicate(payload, _SECONDS)
        except BaseException:
            process.kill()
            raise
    return _Run(process.pid, process.returncode, printed, error, (time.perf_counter() - started) * 1000)


def _take_away(app: App, pid: int) -> list[bytes]:
    """Remove what a process of ours left in the spool; gives the payloads."""
    found = []
    for entry in spool.spool_entries(str(app.home.spool)):
        if entry.name.pid == pid and entry.name.ppid == os.getpid():
            found.append(spool.read_spooled(entry.path) or b"")
            Path(entry.path).unlink(missing_ok=True)
    for mark in app.home.spool.glob(f"*.{os.getpid()}.{pid}.*fail"):
        mark.unlink(missing_ok=True)
    return found


def _cannot(*command: str) -> str:
    """Why a command cannot be run, in its last line, or ""."""
    try:
        run = _run(*command)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    last = run.error.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return "" if run.code == 0 else last or f"exit {run.code}"
