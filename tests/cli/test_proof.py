"""Proof of capture: the agent's own history is the witness; gaps are told, and can be filled."""

import json
import os
import sqlite3
import time
import uuid
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from backstory import worker_loop
from backstory.app import App
from backstory.paths import Home

from .memory import AGENT, Memory

MINUTES = 600


@pytest.fixture
def installed(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """Claude Code was connected an hour ago; the worker of these tests has the user's own environment."""
    assert memory.ask("install", AGENT, "--yes").exit_code == 0
    hour_ago = time.time() - 3_600
    os.utime(memory.home / "installed.json", (hour_ago, hour_ago))
    for name, value in memory.environment.items():
        monkeypatch.setenv(name, value)
    return memory


def transcript(memory: Memory, session: str, prompts: int = 3, ago: float = MINUTES) -> Path:
    """What Claude Code itself writes of a session: prompts, each with a command and an answer."""
    folder = memory.user / ".claude" / "projects" / "-shop"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{session}.jsonl"
    at = time.time() - ago

    def row(kind: str, content: Any, **more: Any) -> str:
        stamp = datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
        base = {"type": kind, "uuid": str(uuid.uuid4()), "sessionId": session, "timestamp": stamp}
        message = {"role": kind, "content": content}
        return json.dumps({**base, "cwd": str(memory.project), "message": message, **more})

    lines = []
    for n in range(prompts):
        lines.append(row("user", f"Do thing {n}", promptId=f"p{n}"))
        call = {"type": "tool_use", "id": f"toolu_{n}", "name": "Bash", "input": {"command": f"make {n}"}}
        lines.append(row("assistant", [call]))
        result = {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": "done"}
        lines.append(row("user", [result], toolUseResult={"stdout": "done", "stderr": ""}))
        lines.append(row("assistant", [{"type": "text", "text": f"Did thing {n}."}]))
    file.write_text("".join(f"{line}\n" for line in lines))
    os.utime(file, (at, at))
    return file


def hooks_of(memory: Memory, session: str, prompts: int) -> None:
    """What its hooks sent of the first prompts."""
    memory.hook("SessionStart", session=session, source="startup")
    for n in range(prompts):
        memory.hook("UserPromptSubmit", session=session, prompt=f"Do thing {n}", prompt_id=f"p{n}")
        memory.hook(
            "PostToolUse",
            session=session,
            tool_name="Bash",
            tool_input={"command": f"make {n}"},
            tool_use_id=f"toolu_{n}",
            tool_response={"stdout": "done", "stderr": ""},
        )
    memory.caught_up()


def proof(memory: Memory, *words: str) -> dict[str, Any]:
    done = memory.ask("doctor", *words, "--json")
    found = [check for check in json.loads(done.stdout)["checks"] if check["name"] == "proof"]
    return found[-1] if found else {}


def test_a_session_that_was_captured_whole_is_proved(installed: Memory) -> None:
    transcript(installed, "whole", 3)
    hooks_of(installed, "whole", 3)
    check = proof(installed)
    assert check["state"] == "ok"
    assert "all 6 prompts and tool calls of the latest session are stored" in check["found"]


def test_a_gap_is_counted_named_and_filled(installed: Memory) -> None:
    transcript(installed, "holes", 5)
    hooks_of(installed, "holes", 2)
    check = proof(installed)
    assert check["state"] == "warn"
    assert "6 of 10 prompts and tool calls" in check["found"]
    assert "holes" in check["found"]
    assert "--fix" in check["todo"]
    assert proof(installed, "--fix")["state"] == "ok"
    events = installed.json("timeline", "--limit", "100")["events"]
    assert sum(event["kind"] == "prompt" for event in events) == 5, "each of them once"


def test_what_was_forgotten_or_is_ignored_is_no_gap(installed: Memory) -> None:
    transcript(installed, "gone", 2)
    hooks_of(installed, "gone", 2)
    installed.json("forget", "--text", "thing 1", "--yes")
    assert proof(installed)["state"] == "ok"
    transcript(installed, "secret", 2)
    installed.ask("config", "privacy.ignore_projects", str(installed.project))
    assert proof(installed).get("state", "ok") == "ok"


def test_what_is_from_before_the_installation_is_no_gap(installed: Memory) -> None:
    transcript(installed, "before", 2, ago=7_200)
    hooks_of(installed, "other", 1)
    assert proof(installed) == {}


def test_the_next_brief_says_in_one_line_that_capture_was_dead(installed: Memory) -> None:
    """Sessions that the agent had, and of which no hook ever ran."""
    for name in ("dead-1", "dead-2"):
        transcript(installed, name, 2)
    hooks_of(installed, "heard", 1)
    worker_loop.run_rounds(Home(installed.home), linger=0)
    text = installed.ask("brief").stdout
    [line] = [line for line in text.splitlines() if "recorded nothing" in line]
    assert "2 sessions of claude-code" in line
    assert "backstory doctor" in line
    assert any("recorded nothing" in problem for problem in installed.json("status")["problems"])
    installed.ask("doctor", "--fix")
    assert "recorded nothing" not in installed.ask("brief").stdout
    assert installed.json("search", "thing 1")["hits"]


def test_fix_mends_permissions_and_the_hooks_files(installed: Memory) -> None:
    hooks_of(installed, "some", 1)
    installed.home.chmod(0o755)
    (installed.home / "backstory.db").chmod(0o644)
    (installed.home / "hook" / "hook.sh").unlink()
    done = installed.call("doctor", "--fix", "--strict")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("mended:") == 2
    assert [p for p in installed.home.rglob("*") if p.stat().st_mode & 0o077] == []
    assert "mended" not in installed.call("doctor", "--fix").stdout


def test_fix_takes_away_what_interrupted_work_left_and_only_that(installed: Memory) -> None:
    hooks_of(installed, "some", 1)
    installed.call("backup")
    old, fresh = installed.home / "backups" / "x.12.part", installed.home / "backups" / "y.13.part"
    stale = installed.home / "briefs" / ".p1.json.abcd1234"
    for path in (old, fresh, stale):
        path.write_text("half")
    for path in (old, stale):
        os.utime(path, (1, 1))
    before = {p for p in installed.home.rglob("*") if p.is_file()}
    installed.call("doctor", "--fix")
    after = {p for p in installed.home.rglob("*") if p.is_file()}
    gone = {p.name for p in before - after if not p.name.startswith("backstory.db-")}
    assert gone == {old.name, stale.name}


def test_fix_tries_parked_jobs_again(installed: Memory) -> None:
    hooks_of(installed, "some", 1)
    with closing(sqlite3.connect(installed.home / "backstory.db")) as db:
        db.execute("UPDATE jobs SET state = 'parked', attempts = 5 WHERE kind = 'distil'")
        db.commit()
    assert "failed, the first: distil" in installed.call("doctor").stdout
    assert "tried again, 0 failed again" in installed.call("doctor", "--fix").stdout
    assert installed.json("status")["jobs"].get("parked", 0) == 0


@pytest.mark.parametrize("left", [None, b""])
def test_a_database_that_was_wiped_is_noticed(installed: Memory, left: bytes | None) -> None:
    """Deleted or emptied by whatever: capture goes on in a new one, but not without a word."""
    for number in range(3):
        hooks_of(installed, f"session {number}", 3)
    installed.ask("backup")
    assert "backstory restore" not in installed.call("doctor").stdout
    database = installed.home / "backstory.db"
    for path in installed.home.glob("backstory.db*"):
        path.unlink()
    if left is not None:
        database.write_bytes(left)
    assert "backstory restore" in installed.call("doctor").stdout
    hooks_of(installed, "after", 1)
    installed.ask("timeline")
    said = installed.call("doctor").stdout
    assert "backstory restore" in said
    installed.ask("restore", "--yes")
    assert "backstory restore" not in installed.call("doctor").stdout


def test_fix_builds_a_missing_index_again(installed: Memory) -> None:
    installed.hook(
        "UserPromptSubmit", session="some", prompt="Do the thing that needs more than thirty letters"
    )
    installed.caught_up()
    with App(Home(installed.home)) as app, app.store.transaction():
        mark = app.store.meta.get("indexed_events")
        app.store.passages.clear()
        app.store.meta.set("indexed_events", mark)
        assert app.store.passages.search(['"thing"'], None, 5) == []
    assert installed.call("doctor").returncode == 2
    assert installed.call("doctor", "--fix").returncode == 0
    with App(Home(installed.home)) as app:
        assert app.store.passages.search(['"thing"'], None, 5)


def test_mp_25_fix_never_repairs(installed: Memory) -> None:
    """MP-25: a damaged database is told, and not touched."""
    hooks_of(installed, "some", 2)
    database = installed.home / "backstory.db"
    installed.call("status")
    data = bytearray(database.read_bytes())
    data[4096 * 4 : 4096 * 9] = b"\xff" * 4096 * 5
    database.write_bytes(data)
    done = installed.call("doctor", "--fix")
    assert done.returncode == 2
    assert "backstory repair" in done.stdout
    assert database.read_bytes() == data
    assert not (installed.home / "backups").exists()
