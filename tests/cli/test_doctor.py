"""doctor: every step from the hook to the brief, in order, and what to do when one is broken."""

import json
import os
import shutil
import socket
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from backstory.app import App
from backstory.atomic import lock
from backstory.doctor import State
from backstory.embed import MINILM
from backstory.paths import Home
from backstory.pipeline import Pipeline

from .memory import AGENT, Memory

STEPS = ["hooks", "worker", "channel", "model", "writable", "brief"]


@pytest.fixture
def healthy(worked: Memory) -> Memory:
    """A memory with an installed agent and one session in it."""
    assert worked.ask("install", AGENT, "--yes").exit_code == 0
    return worked


def checks(memory: Memory, code: int = 0, *words: str) -> dict[str, dict[str, Any]]:
    """The checks by name, the worst of each."""
    order = [State.OK, State.WARN, State.FAIL]
    found: dict[str, dict[str, Any]] = {}
    for check in memory.json("doctor", *words, code=code)["checks"]:
        known = found.get(check["name"])
        if known is None or order.index(check["state"]) > order.index(known["state"]):
            found[check["name"]] = check
    return found


def test_a_healthy_memory_passes_every_step_in_order(healthy: Memory) -> None:
    """CMEM-5, CM-62"""
    told = healthy.json("doctor", "--strict")
    assert told["state"] == "ok"
    assert {check["state"] for check in told["checks"]} == {"ok"}
    names = [check["name"] for check in told["checks"]]
    places = [names.index(step) for step in STEPS]
    assert places == sorted(places)
    printed = healthy.call("doctor", "--strict")
    assert printed.returncode == 0
    assert "characters, printed by the hook" in printed.stdout


def test_vectors_of_another_model_are_not_taken_for_those_of_the_one_that_is_set(healthy: Memory) -> None:
    """As long as they are not made anew, search goes by words: doctor and status say so."""
    home = Home(healthy.home)
    with lock(home.worker_lock, wait=10), App(home) as app:
        Pipeline(home, app.settings, app.store).round()
    made, waiting = healthy.json("status")["vectors"]
    assert made > 0
    assert waiting == 0
    told = checks(healthy)["search"]
    assert told["state"] == "ok"
    assert f"{MINILM}, {made} vectors" in told["found"]
    for key, value in (("provider", "openai"), ("url", "http://127.0.0.1:9"), ("model", "foo")):
        healthy.ask("config", f"embed.{key}", value)
    told = checks(healthy)["search"]
    assert told["state"] == "warn"
    assert f"the vectors are of {MINILM}" in told["found"]
    assert f"{made} of openai:foo@127.0.0.1:9 are to be made" in told["found"]
    assert healthy.json("status")["vectors"] == [0, made]


def test_a_model_is_spoken_of_only_to_who_asked_for_one(healthy: Memory) -> None:
    """CMEM-5: and whether it can be asked."""
    assert checks(healthy)["model"]["state"] == "ok", "programs are told that there is none"
    assert "model  " not in healthy.call("doctor").stdout
    healthy.ask("config", "model.provider", "anthropic")
    healthy.ask("config", "model.key_env", "NO_SUCH_API_KEY")
    told = checks(healthy)["model"]
    assert told["state"] == "warn"
    assert "NO_SUCH_API_KEY" in told["found"]
    assert healthy.ask("config", "model.key_env", "PATH").exit_code == 1, "no model is sent just any variable"
    healthy.extra["SOME_API_KEY"] = "k"
    healthy.ask("config", "model.key_env", "SOME_API_KEY")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        healthy.ask("config", "model.url", f"http://127.0.0.1:{listening.getsockname()[1]}")
        assert checks(healthy)["model"]["found"].startswith("anthropic, claude-")
        assert "anthropic, claude-" in healthy.call("doctor").stdout
        listening.settimeout(10)
        asked, _ = listening.accept()
        asked.settimeout(10)
        assert asked.recv(100) == b"", "nothing is sent: it only looks whether somebody listens"
        asked.close()


def test_a_model_that_nobody_can_reach_is_not_ok(healthy: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """It said `ok` for a program that is not on the PATH, and for an address that refuses."""
    healthy.ask("config", "model.provider", "codex")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    told = checks(healthy)["model"]
    assert (told["state"], "no program codex on PATH" in told["found"]) == ("warn", True)
    with socket.create_server(("127.0.0.1", 0)) as once:
        closed = f"http://127.0.0.1:{once.getsockname()[1]}/v1"
    healthy.ask("config", "model.provider", "openai")
    for url, why in ((closed, "takes no connection"), ("http://:x/", "takes no connection")):
        healthy.ask("config", "model.url", url)
        told = checks(healthy)["model"]
        assert (told["state"], why in told["found"]) == ("warn", True), url
        assert "model.provider off" in told["todo"]


def test_doctor_leaves_nothing_behind(healthy: Memory) -> None:
    before = healthy.json("status")
    checks(healthy)
    assert healthy.json("status") == before
    assert list((healthy.home / "spool").iterdir()) == []


def test_everything_that_is_not_ok_says_what_to_do(memory: Memory) -> None:
    for check in memory.json("doctor", code=2)["checks"]:
        assert check["state"] == "ok" or check["todo"]


def test_without_an_install_the_hooks_are_missing(memory: Memory) -> None:
    found = checks(memory, 2)
    assert found["home"]["state"] == found["hooks"]["state"] == "fail"
    assert "backstory install" in found["hooks"]["todo"]
    assert found["brief"]["state"] == "ok"
    assert not memory.home.exists()


def test_a_missing_hook_is_named(healthy: Memory) -> None:
    file = healthy.user / ".claude" / "settings.json"
    settings = json.loads(file.read_text())
    del settings["hooks"]["Stop"]
    file.write_text(json.dumps(settings))
    hooks = checks(healthy, 2)["hooks"]
    assert "Stop" in hooks["found"]
    assert "SessionStart" not in hooks["found"]


def test_hooks_of_another_home_are_named(healthy: Memory, tmp_path: Path) -> None:
    healthy.home = tmp_path / "another"
    assert "another home" in checks(healthy, 2)["hooks"]["found"]


def test_settings_of_the_agent_that_are_broken_are_named(healthy: Memory) -> None:
    (healthy.user / ".claude" / "settings.json").write_text("{")
    assert "settings.json" in checks(healthy, 2)["hooks"]["found"]


def test_a_missing_script_fails_the_script_and_the_channel(healthy: Memory) -> None:
    (healthy.home / "hook" / "hook.sh").unlink()
    found = checks(healthy, 2)
    assert found["hook script"]["state"] == found["channel"]["state"] == "fail"


def test_an_outdated_script_deserves_attention(healthy: Memory) -> None:
    (healthy.home / "hook" / "stamp").write_text("older\n")
    assert checks(healthy)["hook script"]["state"] == "warn"
    assert healthy.ask("doctor", "--strict").exit_code == 1
    assert healthy.ask("install", "--yes").exit_code == 0
    assert checks(healthy)["hook script"]["state"] == "ok"


def test_an_interpreter_that_moved_is_found(healthy: Memory) -> None:
    script = healthy.home / "hook" / "hook.sh"
    lines = [
        "python='/gone/bin/python'" if x.startswith("python=") else x for x in script.read_text().split("\n")
    ]
    script.write_text("\n".join(lines))
    found = checks(healthy, 2)
    assert "/gone/bin/python" in found["interpreter"]["found"]
    assert found["brief"]["state"] == "fail"


def test_a_spool_that_cannot_be_written_fails_the_channel(healthy: Memory) -> None:
    shutil.rmtree(healthy.home / "spool")
    (healthy.home / "spool").write_text("in the way")
    assert checks(healthy, 2)["channel"]["state"] == "fail"


def test_a_stale_spool_failed_hooks_and_quarantine_deserve_attention(healthy: Memory) -> None:
    healthy.prompt("This waits.")
    old = time.time() - 3600
    for path in (healthy.home / "spool").glob(f"{AGENT}.*"):
        os.utime(path, (old, old))
    (healthy.home / "spool" / f"{AGENT}.Stop.1.2.write.fail").touch()
    quarantine = healthy.home / "spool" / "quarantine"
    quarantine.mkdir()
    (quarantine / "x.reason").write_text("not json")
    found = checks(healthy)
    assert found["spool"]["state"] == found["failed hooks"]["state"] == found["quarantine"]["state"] == "warn"


def test_a_worker_at_work_is_no_fault(healthy: Memory) -> None:
    from backstory.atomic import lock

    with lock(healthy.home / "worker.lock") as held:
        assert held
        found = checks(healthy)
    assert "at work" in found["worker"]["found"]
    assert found["channel"]["state"] == "ok"


def test_an_open_home_deserves_attention(healthy: Memory) -> None:
    healthy.home.chmod(0o755)
    home = checks(healthy)["home"]
    assert home["state"] == "warn"
    assert "chmod 700" in home["todo"]


def test_unreadable_settings_deserve_attention(healthy: Memory) -> None:
    (healthy.home / "settings.toml").write_text("[brief\n")
    assert checks(healthy)["settings"]["state"] == "warn"


def test_an_unknown_time_zone_deserves_attention(healthy: Memory) -> None:
    healthy.extra["BACKSTORY_TZ"] = "Mars/Olympus"
    assert "Mars/Olympus" in checks(healthy)["settings"]["found"]


def test_a_corrupt_database_fails_and_the_hook_still_answers(healthy: Memory) -> None:
    (healthy.home / "backstory.db").write_bytes(b"this is no database " * 500)
    for suffix in ("-wal", "-shm"):
        (healthy.home / f"backstory.db{suffix}").unlink(missing_ok=True)
    found = checks(healthy, 2)
    assert found["database"]["state"] == "fail"
    assert "backstory repair" in found["database"]["todo"]
    assert "characters" in found["brief"]["found"]


def test_damage_inside_the_database_is_found(healthy: Memory) -> None:
    path = healthy.home / "backstory.db"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    with path.open("r+b") as file:
        file.seek(40_960)
        file.write(b"\xff" * 4096)
    found = checks(healthy, 2)
    assert "fail" in (found["database"]["state"], found["integrity"]["state"])


def test_a_database_of_a_newer_backstory_fails(healthy: Memory) -> None:
    with sqlite3.connect(healthy.home / "backstory.db") as db:
        db.execute("PRAGMA user_version = 999")
    db.close()
    assert "upgrade" in checks(healthy, 2)["database"]["todo"]


def test_a_locked_database_fails_its_step(healthy: Memory) -> None:
    with sqlite3.connect(healthy.home / "backstory.db", isolation_level=None) as db:
        db.execute("BEGIN IMMEDIATE")
        found = checks(healthy, 2)
        db.execute("ROLLBACK")
    db.close()
    assert "locked" in found["writable"]["found"]


def test_an_agent_that_works_without_being_heard_deserves_attention(healthy: Memory) -> None:
    history = healthy.user / ".claude" / "projects" / "-shop"
    history.mkdir(parents=True)
    file = history / "session.jsonl"
    file.write_text("{}\n")
    later = time.time() + 7200
    os.utime(file, (later, later))
    captured = checks(healthy)["captured"]
    assert captured["state"] == "warn"
    assert "wrote its own history" in captured["found"]


def test_a_history_that_was_imported_whole_is_no_alarm(healthy: Memory) -> None:
    """Copied from another machine, or imported a day later: its file is newer than all that it tells."""
    history = healthy.user / ".claude" / "projects" / "-shop"
    history.mkdir(parents=True)
    rows = (
        {"type": kind, "uuid": f"u{n}", "sessionId": "s-old", "cwd": str(healthy.project)}
        | {"timestamp": "2026-01-05T10:00:00Z", "message": {"role": kind, "content": f"Words {n}"}}
        for n, kind in enumerate(("user", "assistant", "user"))
    )
    file = history / "s-old.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    later = time.time() + 7200
    os.utime(file, (later, later))
    assert checks(healthy)["captured"]["state"] == "warn"
    healthy.ask("import", "claude-code", "--min-messages", "1")
    assert checks(healthy)["captured"]["state"] == "ok"


def test_parked_work_deserves_attention(healthy: Memory) -> None:
    with sqlite3.connect(healthy.home / "backstory.db") as db:
        db.execute("UPDATE jobs SET state = 'parked', last_error = 'it broke' WHERE kind = 'distil'")
    db.close()
    assert "it broke" in checks(healthy)["jobs"]["found"]


def test_a_project_file_that_was_not_confirmed_deserves_attention(healthy: Memory) -> None:
    (healthy.project / ".backstory.toml").write_text('project = "acme/secrets"\n')
    project = checks(healthy)["project"]
    assert project["state"] == "warn"
    assert "config --confirm" in project["todo"]
    healthy.ask("config", "--confirm")
    assert checks(healthy)["project"]["state"] == "ok"


def test_an_empty_project_has_an_empty_brief(healthy: Memory, tmp_path: Path) -> None:
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    found = checks(healthy, 0, "--cwd", str(fresh))
    assert found["brief"]["state"] == "ok"
    assert found["brief"]["found"].startswith("empty")


def test_the_recursion_guard_does_not_blind_the_doctor(healthy: Memory) -> None:
    healthy.extra["BACKSTORY_GUARD"] = "1"
    assert checks(healthy)["channel"]["state"] == "ok"


# --- the agents' own programs -----------------------------------------------------------------------------


def with_program(memory: Memory, name: str, says: str) -> None:
    """A program of that name, first on the PATH, which prints a version."""
    folder = memory.user / "programs"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\necho '{says}'\n")
    (folder / name).chmod(0o755)
    memory.extra["PATH"] = f"{folder}{os.pathsep}{memory.environment['PATH']}"


@pytest.mark.parametrize(
    ("says", "state"),
    [
        ("2.1.325 (Claude Code)", "ok"),
        ("2.1.99 (Claude Code)", "ok"),
        ("v2.2.0-beta.1", "warn"),
        ("3.0", "warn"),
        ("no idea", "warn"),
    ],
)
def test_a_client_that_is_newer_than_the_newest_tested_is_told(
    healthy: Memory, says: str, state: str
) -> None:
    with_program(healthy, "claude", says)
    assert checks(healthy)["version"]["state"] == state


def test_a_client_that_is_not_there_or_hangs_is_no_trouble(
    healthy: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    healthy.extra["PATH"] = "/nowhere"
    assert "version" not in checks(healthy)
    monkeypatch.setattr("backstory.doctor.agent_clients._SECONDS", 0.2)
    with_program(healthy, "claude", "'; exec sleep 30 #")
    assert "does not tell" in checks(healthy)["version"]["found"]


def test_codex_hooks_that_never_ran_are_told_with_how_to_trust_them(healthy: Memory) -> None:
    assert healthy.ask("install", "codex", "--yes").exit_code == 0
    told = checks(healthy)["hooks run"]
    assert told["state"] == "warn"
    assert "Codex" in told["found"]
    assert "/hooks" in told["todo"]

    healthy.hook("Stop", agent="codex", session="0199", last_assistant_message="Here I am.")
    assert "hooks run" not in checks(healthy)
    healthy.caught_up()
    assert "hooks run" not in checks(healthy)


def test_an_mcp_server_of_another_home_is_told(healthy: Memory) -> None:
    assert "MCP server" not in checks(healthy)
    state = healthy.user / ".claude.json"
    state.write_text(state.read_text().replace(str(healthy.home), "/another/home"))
    told = checks(healthy)["MCP server"]
    assert told["state"] == "warn"
    assert "backstory install claude-code" in told["todo"]


def test_the_plugin_alone_counts_as_connected(healthy: Memory) -> None:
    file = healthy.user / ".claude" / "settings.json"
    file.write_text(json.dumps({"enabledPlugins": {"backstory@somewhere": True}}))
    assert checks(healthy)["hooks"]["state"] == "ok"
    file.write_text(json.dumps({"enabledPlugins": {"backstory@somewhere": False}}))
    assert checks(healthy, 2)["hooks"]["state"] == "fail"
