"""A memory to ask: a home, a project, and sessions that reach it the way an agent's do, through the spool."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from backstory.app import App
from backstory.cli import cli
from backstory.hook import spool
from backstory.paths import Home

AGENT = "claude-code"
AGO = 15 * 1_000_000_000
SESSION = "26406bad-70ca-4966-95a4-fe2c157b6d24"


@dataclass
class Memory:
    """One home and one project; `run` is a real process, `ask` and `call` go through click's runner."""

    home: Path
    project: Path
    user: Path
    extra: dict[str, str] = field(default_factory=dict)
    clock: int = field(default_factory=lambda: time.time_ns() - AGO)

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the developer's own."""
        return {
            "HOME": str(self.user),
            "BACKSTORY_HOME": str(self.home),
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "BACKSTORY_TZ": "UTC",
            **self.extra,
        }

    # --- asking ----------------------------------------------------------------------------------------

    def run(
        self, *words: str, stdin: bytes = b"", cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """The command as a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "backstory", *words],
            env=self.environment,
            cwd=cwd or self.project,
            input=stdin,
            capture_output=True,
            timeout=120,
        )
        out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        assert "Traceback" not in err, err
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)

    def ask(self, *words: str, stdin: bytes | None = None, cwd: Path | None = None) -> Result:
        """The command in this process; quicker, and takes arguments that no process could be given."""
        was = Path.cwd()
        os.chdir(cwd or self.project)
        try:
            done = CliRunner().invoke(cli, list(words), input=stdin, env=self.environment)
        finally:
            os.chdir(was)
        assert "Traceback" not in done.stderr, done.stderr
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done

    def call(
        self, *words: str, stdin: bytes = b"", cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """What `run` gives, of the command in this process: where nothing depends on its being another one."""
        done = self.ask(*words, stdin=stdin, cwd=cwd)
        return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)

    def json(self, *words: str, code: int = 0) -> Any:
        """What a command prints for programs."""
        done = self.ask(*words, "--json")
        assert done.exit_code == code, done.output
        return json.loads(done.stdout)

    # --- living ----------------------------------------------------------------------------------------

    def hook(self, event: str, *, session: str = SESSION, agent: str = AGENT, **payload: Any) -> None:
        """An agent's hook leaves a payload in the spool."""
        whole = {"session_id": session, "cwd": str(self.project), "hook_event_name": event, **payload}
        self.home.mkdir(mode=0o700, exist_ok=True)
        data = json.dumps(whole, ensure_ascii=False).encode("utf-8", "surrogatepass")
        file = spool.write_spooled(str(self.home / "spool"), agent, event, data)
        self.clock += 10_000_000
        os.utime(file, ns=(self.clock, self.clock))

    def prompt(self, text: str, **more: Any) -> None:
        """A person asks for something."""
        self.hook("UserPromptSubmit", prompt=text, prompt_id=f"p-{self.clock}", **more)

    def command(self, line: str, output: str, *, failed: bool = False, **more: Any) -> None:
        """The agent runs a command."""
        used: dict[str, Any] = {
            "tool_name": "Bash",
            "tool_input": {"command": line},
            "tool_use_id": f"t-{self.clock}",
        }
        if failed:
            self.hook("PostToolUseFailure", **used, error=f"Exit code 1\n{output}", **more)
        else:
            self.hook("PostToolUse", **used, tool_response={"stdout": output, "stderr": ""}, **more)

    def worked_here(self) -> None:
        """A session that fixes a test, decides something, and ends."""
        self.hook("SessionStart", source="startup")
        self.prompt(
            "The login test fails. Fix it, and sign the tokens with RS256 because Safari rejects HS256."
        )
        self.command("pytest tests/test_login.py", "E  jwt.InvalidAlgorithmError: HS256", failed=True)
        self.command("pip install pyjwt[crypto]", "Successfully installed cryptography")
        self.command("pytest tests/test_login.py", "1 passed in 0.12s")
        self.hook(
            "Stop", last_assistant_message="The tokens are signed with RS256 now; the login test passes."
        )
        self.hook("SessionEnd", reason="prompt_input_exit")
        self.caught_up()

    def caught_up(self) -> None:
        """Everything that was spooled is stored, as a worker would have done it."""
        with App(Home(self.home)) as app:
            assert app.catch_up()

    def found(self, words: str) -> str:
        """The handle of the best hit."""
        hits = self.json("search", words)["hits"]
        assert hits, f"nothing found for {words!r}"
        return str(hits[0]["id"])
