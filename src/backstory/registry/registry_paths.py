"""Which files and which session are meant: a flag beats the environment, and that beats the default."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from backstory.paths import Home

DEFAULT_NAME = "default"
_NAME = "NANOCLAW_SESSION_NAME"
# An agent's own id of the session that runs; the first that is set and not empty.
_IDS = ("CLAUDE_SESSION_ID", "CLAUDE_CODE_SESSION_ID")


@dataclass(frozen=True, slots=True)
class Places:
    """The state file, the sentinel, and the host's database if it has one."""

    state: Path
    sentinel: Path
    database: Path | None

    @property
    def lock(self) -> Path:
        """The lock that every writer of the state file takes."""
        return self.state.with_name(f"{self.state.name}.lock")


def registry_places(
    home: Home,
    state: str | None = None,
    sentinel: str | None = None,
    database: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Places:
    """The files by flag, by `BACKSTORY_STATE`, `BACKSTORY_SENTINEL` and `BACKSTORY_DB`, or in the home."""
    named = database or environment.get("BACKSTORY_DB")
    return Places(
        Path(state or environment.get("BACKSTORY_STATE") or home.root / "session-state.json"),
        Path(sentinel or environment.get("BACKSTORY_SENTINEL") or home.root / "session-bootstrapped"),
        Path(named) if named else None,
    )


def session_name(environment: Mapping[str, str] = os.environ) -> str:
    """What the host calls the session that runs."""
    return environment.get(_NAME) or DEFAULT_NAME


def session_id(environment: Mapping[str, str] = os.environ) -> str:
    """The agent's own id of the session that runs, or ""."""
    return next((found for name in _IDS if (found := environment.get(name, "").strip())), "")
