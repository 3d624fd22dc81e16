"""Backstory as a user of an agent has it: a home, the command line, and processes that come and go."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SQLITE_MAGIC = b"SQLite format 3\0"


def eventually(what: str, holds: Callable[[], Any], seconds: float = 10) -> Any:
    """Ask until the answer is true, and give it back; fail in words."""
    deadline = time.monotonic() + seconds
    while not (answer := holds()):
        if time.monotonic() > deadline:
            raise AssertionError(f"after {seconds:g} s still not: {what}")
        time.sleep(0.05)
    return answer


@dataclass
class Memory:
    """One Backstory home. `python` is the interpreter it is installed with, `extra` what its user has set."""

    home: Path
    user_home: Path
    python: str = sys.executable
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the developer's own: a private HOME, and the home of this memory."""
        return {
            "HOME": str(self.user_home),
            "BACKSTORY_HOME": str(self.home),
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            **self.extra,
        }

    def cli(
        self, *words: str, cwd: Path | None = None, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [self.python, "-m", "backstory", *words],
            env=self.environment, cwd=cwd or self.user_home, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        if check and done.returncode != 0:
            raise AssertionError(
                f"backstory {' '.join(words)} -> {done.returncode}\n{done.stdout}\n{done.stderr}"
            )
        return done

    def ask(self, *words: str) -> Any:
        return json.loads(self.cli(*words, "--json").stdout)

    def install(self, agent: str) -> None:
        self.cli("install", agent, "--yes")
        self.hurry(1)

    def hurry(self, seconds: int = 0) -> None:
        """Its workers end sooner when they have nothing to do: whoever calls `rests` waits for that."""
        settings = self.home / "settings.toml"
        if not settings.exists():
            settings.write_text(f"[worker]\nlinger_seconds = {seconds}\n")

    def status(self) -> dict[str, Any]:
        answer: dict[str, Any] = self.ask("status")
        return answer

    def search(self, words: str, project: Path) -> list[dict[str, Any]]:
        hits: list[dict[str, Any]] = self.ask("search", words, "--cwd", str(project))["hits"]
        return hits

    def timeline(self, project: Path) -> list[dict[str, Any]]:
        """What happened there, newest first, once everything captured has been stored."""
        self.drained()
        events: list[dict[str, Any]] = self.ask("timeline", "--cwd", str(project))["events"]
        return events

    def spooled(self) -> list[Path]:
        """What hooks have left and no worker has taken."""
        spool = self.home / "spool"
        return [file for file in spool.glob("*") if file.is_file()] if spool.is_dir() else []

    def drained(self, seconds: float = 15) -> None:
        """Waits for the background worker."""
        try:
            eventually("the spool is empty", lambda: not self.spooled(), seconds)
        except AssertionError as late:
            late.add_note(
                "left: " + ", ".join(f"{f.name} ({f.stat().st_size} bytes)" for f in self.spooled())
            )
            raise

    def database(self) -> Path:
        for file in sorted(self.home.rglob("*")):
            if file.is_file():
                with file.open("rb") as opened:
                    if opened.read(16) == SQLITE_MAGIC:
                        return file
        raise AssertionError(f"no database under {self.home}")

    def workers(self) -> list[int]:
        """Interpreters that are alive now and carry this home; agents and the servers they keep are none."""
        mark = f"BACKSTORY_HOME={self.home}".encode()
        return [pid for pid in _pids() if mark in _environment(pid) and _works(_words(pid))]

    def rests(self, seconds: float = 20) -> None:
        """Waits until nothing of this memory runs any more."""
        eventually("no process of the memory is left", lambda: not self.workers(), seconds)

    def vanish(self) -> None:
        """The user deletes the whole home, hook scripts included."""
        shutil.rmtree(self.home)


def zombies_of(pid: int) -> list[str]:
    """Children of this process that ended and were never waited for."""
    found = []
    for child in _pids():
        name, _, fields = _read(child, "stat").decode(errors="replace").rpartition(")")
        if fields.split()[:2] == ["Z", str(pid)]:
            found.append(name.partition("(")[2])
    return found


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()] if Path("/proc").is_dir() else []


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def _environment(pid: int) -> list[bytes]:
    return _read(pid, "environ").split(b"\0")


def _words(pid: int) -> list[bytes]:
    return _read(pid, "cmdline").split(b"\0")


def _works(words: list[bytes]) -> bool:
    serves = b"backstory.mcp" in words or any(word.endswith(b"/backstory_mcp.py") for word in words)
    return b"python" in os.path.basename(words[0]) and not serves
