"""Claude Code as a test drives it.

    first = agent.run("Write the greeting")           # headless, to its end
    agent.run("Go on", resume=first.session)
    working = agent.start("Something long")           # to be killed
    with agent.terminal() as terminal: terminal.type("/clear")

Each run has an environment of its own: private HOME, no telemetry, no updates, the scripted model as its only
peer. The stream it prints tells what every hook did, so that "undisturbed" can be asserted and not hoped for.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pexpect

from .. import headless
from ..headless import Headless
from ..memory import eventually
from ..model import Model, Request

QUIET = {
    "IS_SANDBOX": "1",  # lets root skip permission prompts
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
}
KEY = "scripted-key"


@dataclass(frozen=True)
class HookRun:
    """What the client says about one hook that it ran; the name is like `SessionStart:compact`."""

    event: str
    name: str
    outcome: str
    exit_code: int
    stdout: str
    stderr: str

    @classmethod
    def of(cls, line: dict[str, Any]) -> HookRun:
        told = (line[key] for key in ("hook_event", "hook_name", "outcome", "exit_code", "stdout", "stderr"))
        return cls(*told)

    @property
    def unnoticed(self) -> bool:
        return self.outcome == "success" and self.exit_code == 0 and not self.stderr

    @property
    def context(self) -> str:
        """What it wants the model to be told."""
        said = json.loads(self.stdout) if self.stdout.strip() else {}
        return str(said.get("hookSpecificOutput", {}).get("additionalContext", "")).strip()


@dataclass(frozen=True)
class Run(headless.Run):
    """A headless run that has ended."""

    transcripts: list[Path]

    @cached_property
    def stream(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stdout.splitlines()]

    @property
    def answer(self) -> str:
        return str(self.stream[-1].get("result", ""))

    @property
    def hooks(self) -> list[HookRun]:
        return [HookRun.of(line) for line in self.stream if line.get("subtype") == "hook_response"]

    def told(self, hook_name: str) -> str:
        """What hooks of this name, such as `SessionStart` or `SessionStart:compact`, said to the model."""
        return "\n".join(
            hook.context for hook in self.hooks if hook.name.startswith(hook_name) and hook.context
        )

    @property
    def brief(self) -> str:
        """What hooks told the model at the start of this run, word for word as its first request has it."""
        first = self.requests[0].injected_context()
        for hook in self.hooks:
            assert hook.event != "SessionStart" or hook.context in first, "the brief never reached the model"
        return self.told("SessionStart")

    def complaints(self) -> list[str]:
        """Everything a user could have noticed of hooks that failed: on the stream, and in the transcript."""
        found = [f"{hook}" for hook in self.hooks if not hook.unnoticed]
        found += [line["text"] for line in self.stream if "hook" in line.get("key", "")]
        for transcript in self.transcripts:
            for line in transcript.read_text().splitlines():
                said = json.loads(line).get("attachment", {})
                kind = said.get("type", "")
                ours = kind == "hook_system_message" and said["content"].startswith("Backstory: ")
                usual = kind in ("hook_success", "hook_additional_context")
                if kind.startswith("hook_") and not ours and not usual:
                    found.append(line)
        return found

    def assert_undisturbed(self, answer: str) -> None:
        noticed = "\n".join(self.complaints())
        assert not noticed, f"hooks were noticed:\n{noticed}"
        assert not self.stderr, f"the client complained:\n{self.stderr}"
        assert self.answer == answer, f"it said {self.answer!r} instead of {answer!r}"
        assert self.exit_code == 0, f"it ended with {self.exit_code}"


@dataclass
class Claude(Headless):
    name = "claude-code"

    def reach(self) -> dict[str, str]:
        return {**QUIET, "ANTHROPIC_BASE_URL": self.model.url, "ANTHROPIC_API_KEY": KEY}

    @property
    def settings(self) -> Path:
        return self.memory.user_home / ".claude" / "settings.json"

    def words(self, prompt: str, resume: str) -> list[str]:
        taken_up = ["--resume", resume] if resume else []
        told = ["--output-format", "stream-json", "--verbose", "--include-hook-events"]
        return ["-p", prompt, "--dangerously-skip-permissions", *told, *taken_up]

    def finish(self, process: subprocess.Popen[str], since: int = 0) -> Run:
        ended = super().finish(process, since)
        session = json.loads(ended.stdout.splitlines()[-1])["session_id"] if ended.stdout else ""
        return Run(**{**vars(ended), "session": session}, transcripts=self.transcripts(session))

    def run(self, prompt: str, **how: Any) -> Run:
        since = len(self.model.requests)
        return self.finish(self.start(prompt, **how), since)

    def transcripts(self, session: str = "*") -> list[Path]:
        """Its own history, the latest written last."""
        found = (self.memory.user_home / ".claude" / "projects").glob(f"*/{session}.jsonl")
        return sorted(found, key=lambda file: file.stat().st_mtime_ns)

    def sessions(self) -> list[str]:
        return [file.stem for file in self.transcripts()]

    @contextmanager
    def terminal(self) -> Iterator[Terminal]:
        """The interactive client on a pseudo-terminal, past its first-run questions."""
        known = {
            "hasCompletedOnboarding": True,
            "bypassPermissionsModeAccepted": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
            "projects": {str(self.project): {"hasTrustDialogAccepted": True}},
        }
        (self.memory.user_home / ".claude.json").write_text(json.dumps(known))
        words = [*self.loopback.inside(), str(self.program), "--dangerously-skip-permissions"]
        child = pexpect.spawn(
            words[0], words[1:], env={**self.environment(), "TERM": "xterm-256color"}, cwd=str(self.project),
            dimensions=(50, 160), encoding="utf-8", codec_errors="replace", timeout=20,
        )  # fmt: skip
        try:
            yield Terminal(child, self.model)
        finally:
            child.close(force=True)


@dataclass
class Terminal:
    """Somebody at the keyboard. What counts is what reached the model, not what the screen looks like."""

    child: pexpect.spawn[str]
    model: Model

    def ready(self) -> None:
        self.child.expect("bypass")  # the line under the input box
        self.rest()

    def rest(self, seconds: float = 0.4) -> None:
        """Reads the screen until it has been still for a moment."""
        while True:
            try:
                self.child.read_nonblocking(65536, timeout=seconds)
            except pexpect.TIMEOUT:
                return

    def type(self, text: str) -> None:
        self.child.send(text)
        self.rest()
        self.child.send("\r")

    def ask(self, prompt: str) -> list[Request]:
        """Types a prompt, waits for the whole turn, gives back the requests it made."""
        since = len(self.model.requests)
        self.type(prompt)

        def asked() -> list[Request]:
            self.rest(0.1)
            return [request for request in self.model.requests[since:] if request.is_main]

        eventually(f"the model was asked {prompt!r}", asked, 20)
        self.rest(0.8)
        return asked()

    def leave(self) -> None:
        self.type("/exit")
        self.child.expect(pexpect.EOF)
        self.child.close()
