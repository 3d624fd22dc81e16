"""Makes docs/example-vault: a day of ten sessions on three projects, replayed through real hooks.

    example_vault.py            write it
    example_vault.py --check    exit 1 if it is not what would be written

The events go through the hook commands that an agent runs, as processes; then a worker's shift stores,
distils, logs and compiles. Only the clock is set: to the day that is told. So the same vault comes out.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from example_day import DAY, SESSIONS, Session, Step

from backstory import clock, settings, worker_loop
from backstory.app import App
from backstory.atomic import lock
from backstory.capture.hook_bundle import write_hook_files
from backstory.hook.hook_command import hook_command
from backstory.knowledge_base import KnowledgeBase
from backstory.paths import Home

ROOT = Path(__file__).resolve().parent.parent
VAULT = ROOT / "docs" / "example-vault"
EVENING = f"{DAY}T19:00"
_SECONDS_A_STEP = 75


def moment(text: str) -> int:
    """UTC nanoseconds of a time such as 2026-11-16T19:00."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 10**9


class Day:
    """A scratch home, and the agents that work in it."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "home")
        self.projects = folder / "projects"
        self.home.root.mkdir(mode=0o700)
        write_hook_files(self.home.root)
        settings.change_setting(self.home, "time.zone", "UTC")
        settings.change_setting(self.home, "worker.linger_seconds", "0")
        for name in sorted({session.project for session in SESSIONS}):
            place = self.projects / name
            place.mkdir(parents=True)
            for words in (
                ("init", "-q", "-b", "main"),
                ("remote", "add", "origin", f"https://git.example/acme/{name}.git"),
            ):
                subprocess.run(["git", *words], cwd=place, check=True, env=self._environment)

    @property
    def _environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home.root.parent), "GIT_CONFIG_NOSYSTEM": "1"}

    def replay(self) -> None:
        """Every session's hooks; a held lock keeps workers away until the files have the day's times."""
        with lock(self.home.worker_lock) as held:
            assert held
            for number, session in enumerate(SESSIONS):
                self._session(number, session)

    def _session(self, number: int, session: Session) -> None:
        sid = str(uuid.UUID(int=(0xEA5 << 100) + number))
        at = moment(f"{DAY}T{session.at}")
        events = [("SessionStart", {"source": "startup"})]
        for step in session.steps:
            events += _hooks(session.agent, step, f"{number}-{len(events)}")
        if session.agent == "claude-code":
            events.append(("SessionEnd", {"reason": "prompt_input_exit"}))
        for event, payload in events:
            place = self.projects / session.project
            whole = {
                "session_id": sid,
                "cwd": str(place),
                "hook_event_name": event,
                "transcript_path": "",
                **payload,
            }
            before = set(self.home.spool.glob("*")) if self.home.spool.is_dir() else set()
            subprocess.run(
                ["sh", "-c", hook_command(str(self.home.root), session.agent, event)],
                input=json.dumps(_with_paths(whole, place)).encode(),
                env=self._environment,
                cwd=place,
                check=True,
                capture_output=True,
            )
            for path in set(self.home.spool.glob("*")) - before:
                if path.is_file():
                    os.utime(path, ns=(at, at))
            at += _SECONDS_A_STEP * 10**9

    def write_down(self) -> None:
        """A worker's shift at the end of the day, then a question, a fact, a line, and a check."""
        evening = moment(EVENING) // 10**6
        clock.now_ms = lambda: evening
        worker_loop.run_rounds(self.home, 0)
        with App(self.home) as app:
            library = KnowledgeBase(app)
            shop = app.project_at(self.projects / "shop")
            fact = app.remember("Releases are cut from main every Tuesday", self.projects / "shop")
            library.keep_fact(shop, fact, "project", "Release day")
            library.append(shop, ["the coupon service moves to eu-west on Wednesday"], "standup", at="18:30")
            for project in app.projects():
                library.compile(project)
            library.ask(shop, "why do we sign tokens with RS256?", file_back=True)
            for project in app.projects():
                library.lint(project, structural=True, mend=True)


def _hooks(agent: str, step: Step, number: str) -> list[tuple[str, dict[str, Any]]]:
    """The hooks of one step, as the agent would call them."""
    use = f"toolu_{number}"
    bash = {"tool_name": "Bash", "tool_input": {"command": step.text}, "tool_use_id": use}
    match step.kind, agent:
        case "asked", _:
            return [("UserPromptSubmit", {"prompt": step.text, "prompt_id": f"prompt-{number}"})]
        case "said", _:
            return [("Stop", {"stop_hook_active": False, "last_assistant_message": step.text})]
        case "failed", "claude-code":
            return [
                ("PostToolUseFailure", {**bash, "error": f"Exit code 1\n{step.more}", "is_interrupt": False})
            ]
        case (("ran" | "failed"), "claude-code"):
            return [("PostToolUse", {**bash, "tool_response": {"stdout": step.more, "stderr": ""}})]
        case (("ran" | "failed"), _):
            return [("PostToolUse", {**bash, "tool_response": step.more})]
        case _, "claude-code":
            old, _, new = step.more.partition("→")
            given = {
                "file_path": f"{{cwd}}/{step.text}",
                "old_string": old.strip(),
                "new_string": new.strip(),
            }
            used = {
                "tool_name": "Edit",
                "tool_input": given,
                "tool_use_id": use,
                "tool_response": {"filePath": given["file_path"]},
            }
            return [("PostToolUse", used)]
        case _:
            patch = f"*** Begin Patch\n*** Update File: {step.text}\n@@\n+{step.more}\n*** End Patch\n"
            used = {
                "tool_name": "apply_patch",
                "tool_input": {"command": patch},
                "tool_use_id": use,
                "tool_response": "Done",
            }
            return [("PostToolUse", used)]


def _with_paths(payload: dict[str, Any], place: Path) -> dict[str, Any]:
    return json.loads(json.dumps(payload).replace("{cwd}", str(place)))  # type: ignore[no-any-return]


def make(folder: Path) -> dict[str, bytes]:
    """The pages of the day, by their path; without what is Backstory's own."""
    os.environ["BACKSTORY_TZ"] = "UTC"
    day = Day(folder)
    day.replay()
    day.write_down()
    found = {}
    for path in sorted(day.home.knowledge.rglob("*.md")):
        inside = path.relative_to(day.home.knowledge)
        found[inside.as_posix()] = path.read_bytes()
    return found


def main(arguments: list[str]) -> int:
    """Write the vault, or check it."""
    # a worker that `remember` woke may still be at work there
    with tempfile.TemporaryDirectory(prefix="backstory-vault-", ignore_cleanup_errors=True) as folder:
        pages = make(Path(folder))
    there = {path.relative_to(VAULT).as_posix(): path.read_bytes() for path in sorted(VAULT.rglob("*.md"))}
    if "--check" in arguments:
        for name in sorted(pages.keys() | there.keys()):
            if pages.get(name) != there.get(name):
                print(f"docs/example-vault/{name} is stale: run tools/example_vault.py", file=sys.stderr)
        return 0 if pages == there else 1
    shutil.rmtree(VAULT, ignore_errors=True)
    for name, data in pages.items():
        path = VAULT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    print(f"wrote {len(pages)} pages to {VAULT.relative_to(ROOT)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
