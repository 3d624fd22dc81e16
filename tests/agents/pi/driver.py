"""pi as a test drives it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ..headless import Headless

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
        return ["--provider", "scripted", "--model", "scripted", *taken_up, "-p", prompt]

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
