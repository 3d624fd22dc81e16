"""A host: the files that it keeps beside its agents, and the command as it calls it."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from backstory.cli import cli
from tests.cli.conftest import _logging_as_it_was  # noqa: F401 - a command sends its log to a file


@dataclass
class Host:
    """A folder with a state file, a sentinel and a database; `command` is a process."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def state(self) -> Path:
        return self.root / "session-state.json"

    @property
    def sentinel(self) -> Path:
        return self.root / "session_bootstrapped"

    @property
    def database(self) -> Path:
        return self.root / "messages.db"

    def keeps(self, *ids: str | None) -> None:
        """The host's database, with these sessions."""
        with closing(sqlite3.connect(self.database)) as db:
            db.execute("CREATE TABLE sessions (group_folder TEXT, session_id TEXT)")
            db.executemany("INSERT INTO sessions VALUES ('main', ?)", [(sid,) for sid in ids])
            db.commit()

    def command(self, *words: str) -> tuple[list[str], dict[str, str]]:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root / "user"),
            "BACKSTORY_HOME": str(self.root / "home"),
            "BACKSTORY_STATE": str(self.state),
            "BACKSTORY_SENTINEL": str(self.sentinel),
            "BACKSTORY_DB": str(self.database),
            **self.environment,
        }
        return [sys.executable, "-m", "backstory", "session", *words], environment

    def runs(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The command in this process; those that run at the same time are processes of `command`."""
        command, environment = self.command(*words)
        nobodys = dict.fromkeys(("CLAUDE_SESSION_ID", "CLAUDE_CODE_SESSION_ID", "NANOCLAW_SESSION_NAME"))
        done = CliRunner().invoke(cli, command[3:], env={**nobodys, **environment})
        assert "Traceback" not in done.stderr, done.stderr
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return subprocess.CompletedProcess(command, done.exit_code, done.stdout, done.stderr)

    def registers(self, *words: str) -> dict[str, Any]:
        done = self.runs("register", *words)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("\n") == 1
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def needs_bootstrap(self) -> bool:
        done = self.runs("needs-bootstrap")
        answer = json.loads(done.stdout)
        assert set(answer) == {"needs_bootstrap", "reason"}
        assert answer["reason"]
        assert done.returncode == (0 if answer["needs_bootstrap"] else 1)
        return bool(answer["needs_bootstrap"])

    def written(self) -> dict[str, Any]:
        whole: dict[str, Any] = json.loads(self.state.read_text())
        return whole


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path, {"CLAUDE_SESSION_ID": "claude-1"})
