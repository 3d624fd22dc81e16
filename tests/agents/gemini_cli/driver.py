"""Gemini CLI as a test drives it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..headless import Headless, Run

# What it says on stderr of itself in every headless run.
_OF_ITS_OWN = (
    "YOLO mode is enabled.",
    "Ripgrep is not available.",
    "Warning: 256-color support",
    "Warning: True color",
    "Error executing tool ",
    "[STARTUP]",
)
_SETTINGS: dict[str, Any] = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False},
}


@dataclass
class Gemini(Headless):
    name = "gemini-cli"
    untold = ("turn_ended",)

    @property
    def folder(self) -> Path:
        return self.memory.user_home / ".gemini"

    @property
    def settings(self) -> Path:
        return self.folder / "settings.json"

    def words(self, prompt: str, resume: str) -> list[str]:
        taken_up = ["--resume", resume] if resume else []
        return ["-m", "gemini-2.5-flash", "--approval-mode", "yolo", "--skip-trust", *taken_up, "-p", prompt]

    def reach(self) -> dict[str, str]:
        self.settle()
        reached = {"GEMINI_API_KEY": "scripted-key", "GOOGLE_GEMINI_BASE_URL": self.model.url}
        return {**reached, "GEMINI_CLI_NO_RELAUNCH": "true"}  # it would start itself again with more memory

    def settle(self) -> None:
        """The settings of somebody who uses it, beside what stands there already."""
        self.folder.mkdir(exist_ok=True)
        there = json.loads(self.settings.read_text()) if self.settings.exists() else {}
        if not there.items() >= _SETTINGS.items():
            self.settings.write_text(json.dumps({**_SETTINGS, **there}, indent=2))

    def run(self, prompt: str, **how: Any) -> Run:
        run = super().run(prompt, **how)
        lines = run.stderr.splitlines()
        return replace(run, stderr="\n".join(line for line in lines if not line.startswith(_OF_ITS_OWN)))

    def chats(self) -> list[Path]:
        """Its sessions' files, oldest first."""
        return sorted(self.folder.glob("tmp/*/chats/session-*.jsonl"), key=lambda file: file.stat().st_mtime)

    def sessions(self) -> list[str]:
        """Oldest first, by when they last went on."""
        heads = (json.loads(chat.read_text().partition("\n")[0]) for chat in self.chats())
        return [str(head["sessionId"]) for head in heads]
