"""opencode as a test drives it.

At its first start it would fetch the types for plugins from npm, and without a network it waits more than a
minute for that. A lock file that says they are there already is enough: our plugin imports nothing of them.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..clients import CLIENTS
from ..headless import Headless

QUIET = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
}


@dataclass
class Opencode(Headless):
    name = "opencode"

    @property
    def config(self) -> Path:
        return self.memory.user_home / ".config" / "opencode"

    @property
    def plugin(self) -> Path:
        return self.config / "plugins" / "backstory.js"

    @property
    def database(self) -> Path:
        return self.memory.user_home / ".local" / "share" / "opencode" / "opencode.db"

    def words(self, prompt: str, resume: str) -> list[str]:
        return ["run", *(["--session", resume] if resume else []), prompt]

    def reach(self) -> dict[str, str]:
        self.config.mkdir(parents=True, exist_ok=True)
        (self.config / "opencode.json").write_text(json.dumps(self._settings()))
        types = {"dependencies": {"@opencode-ai/plugin": CLIENTS["opencode"].version}}
        lock = {"lockfileVersion": 3, "packages": {"": types}}
        for folder in filter(Path.is_dir, (self.config, self.project / ".opencode")):
            (folder / "package.json").write_text(json.dumps(types))
            (folder / "package-lock.json").write_text(json.dumps(lock))
            (folder / "node_modules").mkdir(exist_ok=True)
        return QUIET

    def _settings(self) -> dict[str, Any]:
        model = {
            "name": "Scripted",
            "tool_call": True,
            "reasoning": True,
            "limit": {"context": 128_000, "output": 8_000},
        }
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Scripted",
            "options": {"baseURL": f"{self.model.url}/v1", "apiKey": "scripted-key"},
            "models": {"model": model},
        }
        return {
            "autoupdate": False,
            "share": "disabled",
            "snapshot": False,
            "provider": {"scripted": provider},
            "model": "scripted/model",
            "small_model": "scripted/model",
            "permission": {"bash": "allow", "edit": "allow", "external_directory": "allow"},
        }

    def complaints(self) -> list[str]:
        """What its log says against our plugin."""
        logs = (self.database.parent / "log").glob("*.log")
        lines = [line for log in logs for line in log.read_text().splitlines() if "backstory" in line.lower()]
        return [line for line in lines if "level=WARN" in line or "level=ERROR" in line]

    def sessions(self) -> list[str]:
        if not self.database.exists():
            return []
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as opened:
            top = opened.execute("SELECT id FROM session WHERE parent_id IS NULL ORDER BY time_created")
            return [str(row[0]) for row in top]
