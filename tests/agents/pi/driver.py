"""pi as a test drives it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..headless import Headless

# Lets a test go back in the session's tree, which only a command of an extension can do without a screen.
BACK = """
export default (pi) => pi.registerCommand("back", {
  handler: async (_, ctx) => {
    const first = ctx.sessionManager.getBranch().find((entry) => entry.message?.role === "user")
    await ctx.navigateTree(first.id, { summarize: true })
  },
})
"""
QUIET = {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1"}


@dataclass
class Pi(Headless):
    name = "pi"
    context: int = 128_000

    @property
    def folder(self) -> Path:
        return self.memory.user_home / ".pi" / "agent"

    @property
    def extension(self) -> Path:
        return self.folder / "extensions" / "backstory.ts"

    def words(self, prompt: str, resume: str) -> list[str]:
        taken_up = ["--session", resume] if resume else []
        return ["--approve", "--provider", "scripted", "--model", "scripted", *taken_up, "-p", prompt]

    def reach(self) -> dict[str, str]:
        model = {
            "id": "scripted",
            "name": "Scripted",
            "reasoning": False,
            "input": ["text"],
            "contextWindow": self.context,
            "maxTokens": 8_000,
            "cost": dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0),
        }
        provider = {
            "baseUrl": f"{self.model.url}/v1",
            "api": "openai-completions",
            "apiKey": "scripted-key",
            "models": [model],
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "models.json").write_text(json.dumps({"providers": {"scripted": provider}}))
        return QUIET

    def files(self) -> list[Path]:
        """Its session files, oldest first."""
        return sorted((self.folder / "sessions").glob("*/*.jsonl"))

    def sessions(self) -> list[str]:
        return [file.stem.partition("_")[2] for file in self.files()]

    @contextmanager
    def remote(self) -> Iterator[Remote]:
        """pi as another program drives it, over its standard streams."""
        back = self.memory.user_home / "back.js"
        back.write_text(BACK)
        words = ["--mode", "rpc", "--provider", "scripted", "--model", "scripted", "--extension", str(back)]
        process = subprocess.Popen(
            [*self.loopback.inside(), str(self.program), *words],
            env=self.environment(), cwd=self.project,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        try:
            yield Remote(process)
            process.communicate(timeout=30)
        finally:
            process.kill()


@dataclass
class Remote:
    process: subprocess.Popen[str]

    def ask(self, kind: str, until: str = "response", **more: Any) -> dict[str, Any]:
        """Sends a command, and reads until a line of this type comes."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps({"type": kind, **more}) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            told: dict[str, Any] = json.loads(line)
            if told["type"] == "response" and not told["success"]:
                raise AssertionError(f"{kind}: {told}")
            if told["type"] == until:
                return told
        raise AssertionError(f"pi ended before {kind} was done")

    def prompt(self, message: str) -> None:
        self.ask("prompt", until="agent_settled", message=message)
