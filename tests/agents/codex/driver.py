"""Codex as a test drives it.

Its hooks run only when somebody has trusted them: `trust` does that the way its own /hooks does, through its
app server; all other runs skip the question with the flag that Codex has for automation. What it prints for
people tells how each hook ended.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..headless import Headless
from ..memory import eventually

PLAIN = "gpt-5.5"  # calls its tools one by one
SCRIPTING = "gpt-6-sol"  # calls them from scripts, as the newer models do

CONFIG = """\
model_provider = "scripted"
check_for_update_on_startup = false
{extra}
[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false
"""
_HOOK = re.compile(r"^hook: (\w+) (\w+)$", re.M)
_EXPECTED = (
    "WARNING: proceeding, even though we could not create PATH aliases",
    "warning: `--dangerously-bypass-hook-trust` is enabled",
)


@dataclass
class Codex(Headless):
    name = "codex"
    model_name: str = PLAIN
    trusting: bool = True
    settings: str = ""

    @property
    def folder(self) -> Path:
        return Path(self.memory.extra.get("CODEX_HOME") or self.memory.user_home / ".codex")

    @property
    def hooks_file(self) -> Path:
        return self.folder / "hooks.json"

    def words(self, prompt: str, resume: str) -> list[str]:
        what = ["resume", resume] if resume else []
        flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        trust = ["--dangerously-bypass-hook-trust"] if self.trusting else []
        return ["exec", *what, "--model", self.model_name, *flags, *trust, prompt]

    def reach(self) -> dict[str, str]:
        config = self.folder / "config.toml"
        if not config.exists():
            self.settle()
        url = f'base_url = "{self.model.url}/v1"'
        config.write_text(re.sub(r'(?m)^base_url = "http://127.*"$', url, config.read_text()))
        return {"SCRIPTED_KEY": "scripted-key"}

    def settle(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        config = CONFIG.format(url=self.model.url, extra=self.settings)
        (self.folder / "config.toml").write_text(config)

    def rollouts(self) -> list[Path]:
        """Its own history, oldest first."""
        return sorted((self.folder / "sessions").glob("*/*/*/rollout-*.jsonl"))

    def sessions(self) -> list[str]:
        return [session for file in self.rollouts() if (session := _session(file))]

    def trust(self) -> None:
        """What a person does with /hooks: look at what there is, and trust it."""
        with _Server(self) as server:
            listed = server.ask("hooks/list", cwds=[str(self.project)])["data"]
            hooks = {hook["key"]: hook["currentHash"] for place in listed for hook in place["hooks"]}
            value = {key: {"trusted_hash": digest} for key, digest in hooks.items()}
            edit = {"keyPath": "hooks.state", "value": value, "mergeStrategy": "upsert"}
            server.ask("config/batchWrite", edits=[edit])

    def fork(self, session: str, prompt: str) -> str:
        """What a person does with `codex fork`: another session goes on from this one; gives its id."""
        with _Server(self) as server:
            forked = server.ask("thread/fork", threadId=session, model=self.model_name)["thread"]["id"]
            since = len(self.model.requests)
            server.ask("turn/start", threadId=forked, input=[{"type": "text", "text": prompt}])
            eventually("the fork has asked its model", lambda: len(self.model.requests) > since, 60)
        return str(forked)


def _session(file: Path) -> str:
    """Whose rollout this is; a sub-agent's is nobody's."""
    with file.open() as lines:
        told = json.loads(lines.readline())["payload"]
    return "" if told.get("parent_thread_id") else str(told["id"])


def hooks(stderr: str) -> list[tuple[str, str]]:
    """The hooks that ran, each with what Codex says of its end; SessionEnd comes too late for that."""
    return _HOOK.findall(stderr)


def complaints(stderr: str) -> list[str]:
    """What a user could have noticed of hooks."""
    warned = [line for line in stderr.splitlines() if line.lower().startswith(("warning", "error"))]
    failed = [f"{name} {end}" for name, end in hooks(stderr) if end != "Completed"]
    return [line for line in warned if not line.startswith(_EXPECTED)] + failed


class _Server:
    """Codex's app server, asked over its standard input."""

    def __init__(self, agent: Codex) -> None:
        self._process = subprocess.Popen(
            [*agent.loopback.inside(), str(agent.program), "app-server"],
            env=agent.environment(), cwd=agent.project, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._asked = 0

    def __enter__(self) -> _Server:
        self.ask("initialize", clientInfo={"name": "test", "title": "test", "version": "1"})
        self._send({"method": "initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._asked += 1
        self._send({"id": self._asked, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told = json.loads(line)
            if told.get("id") == self._asked:
                assert "result" in told, told
                result: dict[str, Any] = told["result"]
                return result
        raise AssertionError(f"no answer to {method}")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
