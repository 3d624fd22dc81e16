"""A scratch home in which earlier sessions were imported and Claude Code's hooks are installed.

Everything goes through the real program and the installed hook commands, as for a user.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.work.answers import Answers
from bench.work.labels import Session

_SESSION = "5c0e0000-0000-4000-8000-000000000002"
_PATIENCE_SECONDS = 300
_TIMEOUT_SECONDS = 60
_CALM = 3  # so often in a row nothing waits: then all is taken in


class ScratchHome:
    """One home; `close` removes it."""

    def __init__(
        self,
        folder: Path,
        agent: str,
        earlier: Sequence[Session],
        cwd: str,
        answers: Answers | None = None,
        by_meaning: bool = True,
    ) -> None:
        self._folder, self._cwd, self._answers = folder, cwd, answers
        self._by_meaning = by_meaning
        user, histories = folder / "user", folder / "histories"
        user.mkdir(parents=True)
        histories.mkdir()
        self._environment = {
            **os.environ,
            "HOME": str(user),
            "BACKSTORY_HOME": str(folder / "home"),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        self._agent, self._histories = agent, histories
        self.run("install", "claude-code", "--yes", "--no-import")
        if not by_meaning:
            self.run("config", "embed.provider", "off")
        if answers is not None:
            if answers.wait:
                self._set(timeout_seconds=str(int(answers.wait) + _TIMEOUT_SECONDS))
            self._set(url=answers.url, imported="on", wiki="off", provider="openai")
        self.add(earlier)
        self._hooks = json.loads((user / ".claude" / "settings.json").read_text("utf-8"))["hooks"]

    def add(self, sessions: Sequence[Session]) -> None:
        """Import further sessions, and wait until everything is taken in."""
        for session in sessions:
            (self._histories / session.file).write_text(session.text, "utf-8")
        self.run("import", self._agent, "--path", str(self._histories), "--min-messages", "1")
        self._settle()

    @contextmanager
    def as_it_is(self) -> Iterator[None]:
        """Whatever happens in the block leaves no trace; no model is asked meanwhile."""
        self._wait_for_worker()
        kept = self._folder.with_name(self._folder.name + "-kept")
        shutil.copytree(self._folder, kept, symlinks=True)
        self._set(provider="off")
        try:
            yield
        finally:
            self.close()
            kept.rename(self._folder)

    def moves_to(self, cwd: str) -> None:
        """Work in another folder from now on."""
        self._cwd = cwd

    def _set(self, **values: str) -> None:
        for key, value in values.items():
            self.run("config", f"model.{key}", value)

    def run(self, *words: str) -> str:
        """What a command prints."""
        done = subprocess.run(
            [sys.executable, "-m", "backstory", *words],
            env=self._environment,
            cwd=self._cwd,
            capture_output=True,
            text=True,
        )
        return done.stdout

    def fire(self, event: str, fields: dict[str, Any]) -> str:
        """What the installed hooks say to an event of a session that runs here."""
        payload = json.dumps(
            {
                "session_id": _SESSION,
                "transcript_path": str(self._folder / "none.jsonl"),
                "cwd": self._cwd,
                "permission_mode": "default",
                "hook_event_name": event,
                **fields,
            }
        )
        said = [
            self._said(hook, payload)
            for group in self._hooks.get(event, [])
            if _matches(group.get("matcher") or "", fields.get("tool_name", ""))
            for hook in group["hooks"]
        ]
        return "\n".join(filter(None, said))

    def _said(self, hook: dict[str, Any], payload: str) -> str:
        command = [hook["command"], *hook["args"]] if "args" in hook else ["sh", "-c", hook["command"]]
        done = subprocess.run(
            command, input=payload, env=self._environment, cwd=self._cwd, capture_output=True, text=True
        )
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            return done.stdout.strip()
        return str((answer.get("hookSpecificOutput") or {}).get("additionalContext") or "")

    def _settle(self) -> None:
        """Wait until everything is taken in, distilled, indexed and has its vectors."""
        answers = self._answers
        patience = _PATIENCE_SECONDS + (answers.wait if answers else 0)
        deadline, calm = time.monotonic() + patience, 0
        while calm < _CALM and time.monotonic() < deadline:
            found = self._status()
            vectors = found.get("vectors", [0, 0])[1] if self._by_meaning else 0
            waiting = [found.get("spooled"), found.get("unindexed"), vectors]
            if answers is not None:
                waiting.append(self._is_asking() and not answers.missing)
            calm = 0 if found.get("worker_running") or any(waiting) else calm + 1
            time.sleep(0.3)
        if calm < _CALM:
            print("the scratch home is not ready: what follows is too low", file=sys.stderr)

    def _status(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(self.run("status", "--json"))
        except ValueError:
            return {}
        return found

    def _is_asking(self) -> bool:
        """Whether a model is to be asked, or is being asked."""
        try:
            jobs = json.loads(self.run("jobs", "--json"))["jobs"]
        except ValueError:
            return True
        return any(job["kind"] == "refine" and job["state"] != "parked" for job in jobs)

    def _wait_for_worker(self) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while self._status().get("worker_running") and time.monotonic() < deadline:
            time.sleep(0.3)

    def close(self) -> None:
        """Remove everything, once no worker writes there any more."""
        self._wait_for_worker()
        shutil.rmtree(self._folder, ignore_errors=True)


def _matches(matcher: str, tool: str) -> bool:
    return not matcher or matcher == "*" or not tool or re.fullmatch(matcher, tool) is not None
