"""Copilot CLI as a test drives it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..headless import Headless

QUIET = {"COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"}


@dataclass
class Copilot(Headless):
    name = "copilot"

    @property
    def folder(self) -> Path:
        return self.memory.user_home / ".copilot"

    @property
    def hooks(self) -> Path:
        return self.folder / "hooks" / "backstory.json"

    def words(self, prompt: str, resume: str) -> list[str]:
        taken_up = [f"--resume={resume}"] if resume else []
        return ["-p", prompt, "--allow-all", "--no-color", "--silent", *taken_up]

    def reach(self) -> dict[str, str]:
        provider = {"BASE_URL": f"{self.model.url}/v1", "TYPE": "openai", "API_KEY": "scripted-key"}
        byok = {f"COPILOT_PROVIDER_{name}": value for name, value in provider.items()}
        return {**QUIET, **byok, "COPILOT_MODEL": "scripted"}

    def histories(self) -> list[Path]:
        """Its sessions' own files, by when they last went on."""
        found = self.folder.glob("session-state/*/events.jsonl")
        return sorted(found, key=lambda file: file.stat().st_mtime)

    def sessions(self) -> list[str]:
        return [file.parent.name for file in self.histories()]
