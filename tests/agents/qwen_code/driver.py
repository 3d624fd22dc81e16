"""Qwen Code as a test drives it.

It says nothing of hooks, neither of those that worked nor of the others; what they left is asserted on.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..headless import Headless, Run

SETTINGS: dict[str, Any] = {
    "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False},
}
QUIET = {
    "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
    "QWEN_CODE_NO_RELAUNCH": "true",  # it would start itself again with more memory
    "OPENAI_API_KEY": "scripted-key",
    "OPENAI_MODEL": "scripted",
}
_EXPECTED = "Ripgrep not available"  # the npm package brings it without the right to run


@dataclass
class Qwen(Headless):
    name = "qwen-code"

    @property
    def folder(self) -> Path:
        return Path(self.memory.extra.get("QWEN_HOME") or self.memory.user_home / ".qwen")

    @property
    def settings(self) -> Path:
        return self.folder / "settings.json"

    def words(self, prompt: str, resume: str) -> list[str]:
        taken_up = ["--resume", resume] if resume else []
        return ["--approval-mode", "yolo", "--auth-type", "openai", *taken_up, "-p", prompt]

    def settle(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.settings.write_text(json.dumps(SETTINGS, indent=2))

    def reach(self) -> dict[str, str]:
        if not self.settings.exists():
            self.settle()
        return {**QUIET, "OPENAI_BASE_URL": f"{self.model.url}/v1"}

    def chats(self) -> list[Path]:
        """Its own history, the latest written last."""
        found = (self.folder / "projects").glob("*/chats/*.jsonl")
        return sorted(found, key=lambda file: file.stat().st_mtime_ns)

    def sessions(self) -> list[str]:
        return [file.stem for file in self.chats()]


def complaints(run: Run) -> list[str]:
    """What a user could have noticed."""
    return [line for line in run.stderr.splitlines() if line.strip() and not line.startswith(_EXPECTED)]
