"""Qwen Code as a test drives it.

It tells the model of our brief in its system prompt, with the marks of a tag made harmless, so `brief` undoes
that. It says nothing of hooks, neither of those that worked nor of the others; what they left is asserted on.
"""

from __future__ import annotations

import html
import json
import re
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
QUIET = {"QWEN_CODE_SUPPRESS_YOLO_WARNING": "1", "OPENAI_API_KEY": "scripted-key", "OPENAI_MODEL": "scripted"}
_EXPECTED = "Ripgrep not available"  # the npm package brings it without the right to run
_INJECTED = re.compile(r'<qwen:([a-z-]+-context) hidden="true">(.*?)</qwen:\1>', re.S)


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


def briefs(run: Run) -> list[str]:
    """What hooks told the model, as its first request has it."""
    found = _INJECTED.finditer("\n".join(_texts(run.requests[0].body)))
    return [html.unescape(each[2]) for each in found]


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for key, one in value.items() if key != "tools" for text in _texts(one)]
    return [text for one in value for text in _texts(one)] if isinstance(value, list) else []


def complaints(run: Run) -> list[str]:
    """What a user could have noticed."""
    return [line for line in run.stderr.splitlines() if line.strip() and not line.startswith(_EXPECTED)]
