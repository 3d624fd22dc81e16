"""Uninstalling: ours go, wherever they are, and nothing is left behind but the memory."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from backstory import jsonc
from backstory.atomic import lock
from backstory.capture import file_plan, spool_state, written_files
from backstory.capture.agent_setup import plan_uninstall, settings_file
from backstory.errors import Failed, UsageError
from backstory.paths import Home

from . import desk
from .desk import CLAUDE, THEIRS, contents, did, install, uninstall

user, home, project, file = desk.user, desk.home, desk.project, desk.file

# --- the settings -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        THEIRS,
        "{}",
        "{}\n",
        '{"model":"opus"}',
        '{\n\t"model": "opus"\n}\n',
        '\ufeff{\r\n  "model": "opus"\r\n}\r\n',
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say"}]}]}}',
        '{"a": 1, "a": 2, "hooks": {"Notification": []},}',
        '{\n  "hooks": {"Stop": [{\n    "hooks": []\n  }]}\n}\n',
    ],
)
# CCE-29
def test_uninstalling_gives_the_file_back_cce_29(home: Home, file: Path, text: str) -> None:
    file.write_bytes(text.encode())
    install(home)
    assert file.read_bytes() != text.encode()

    uninstall(home)

    assert file.read_bytes() == text.encode()


@pytest.mark.parametrize("text", ["", "\n", '{ "hooks": { } }', '{"hooks": {"Stop": []}, "model": "opus"}'])
# CCE-29
def test_what_was_empty_before_is_empty_in_meaning_afterwards_cce_29(
    home: Home, file: Path, text: str
) -> None:
    file.write_text(text)
    install(home)
    uninstall(home)

    before = json.loads(text or "{}") if text.strip() else {}
    assert json.loads(file.read_text()) == {key: value for key, value in before.items() if key != "hooks"}


# CCE-29
def test_uninstalling_removes_only_ours_and_leaves_no_empty_containers_cce_29(home: Home, file: Path) -> None:
    install(home)
    settings = json.loads(file.read_bytes())
    theirs = {"type": "command", "command": "say done"}
    settings["hooks"]["Stop"][0]["hooks"].append(theirs)
    settings["hooks"]["SessionEnd"][0]["matcher"] = "other"
    settings["hooks"]["SessionStart"].insert(0, {"matcher": "startup", "hooks": [theirs]})
    file.write_text(json.dumps(settings))

    uninstall(home)

    assert json.loads(file.read_bytes()) == {
        "hooks": {
            "SessionStart": [{"matcher": "startup", "hooks": [theirs]}],
            "Stop": [{"hooks": [theirs]}],
        }
    }


# --- everything else --------------------------------------------------------------------------------------


# CCE-34
def test_nothing_is_left_behind_but_the_memory_cce_34(home: Home, file: Path, project: Path) -> None:
    file.write_text(THEIRS)
    install(home, instructions=project / "CLAUDE.md")
    install(home, project)
    for memory in (home.database, home.settings, home.confirmed, home.briefs / "p.json"):
        memory.write_text("kept")
    home.worker_lock.write_text("")
    (home.logs / "worker.log").write_text("…")

    made = uninstall(home)

    assert contents(home.root) == {
        "backstory.db",
        "settings.toml",
        "confirmed.json",
        "briefs",
        "briefs/p.json",
    }
    assert contents(project) == set()
    assert file.read_text() == THEIRS
    assert {change.action for change in made.changes} == {"remove", "delete"}
    assert plan_uninstall(CLAUDE, home).changes == ()


# CCE-34
def test_without_a_memory_the_home_vanishes_and_so_does_what_install_had_made_cce_34(
    home: Home, file: Path, project: Path
) -> None:
    install(home)
    install(home, project)
    uninstall(home)

    assert not home.root.exists()
    assert not file.exists()
    assert contents(project) == set()
    assert file.parent.is_dir(), "that folder was there before"


def test_a_file_that_install_made_and_somebody_uses_stays(home: Home, file: Path) -> None:
    install(home)
    file.write_text(jsonc.insert(file.read_text(), (), "model", "opus"))
    uninstall(home)

    assert json.loads(file.read_bytes()) == {"model": "opus"}


def test_what_waits_in_the_spool_is_kept(home: Home) -> None:
    install(home)
    waiting = home.spool / "claude-code.Stop.1.2"
    waiting.write_bytes(b"{}\x1e")

    made = uninstall(home)

    assert "keep" in did(made, home.spool).values()
    assert contents(home.root) == {"spool", "spool/claude-code.Stop.1.2"}


def test_projects_are_remembered_and_a_deleted_or_broken_one_stops_nothing(
    home: Home, file: Path, tmp_path: Path
) -> None:
    projects = [tmp_path / name for name in ("a", "b", "c")]
    for folder in projects:
        folder.mkdir()
        install(home, folder)
    projects[0].rename(tmp_path / "moved")
    broken = settings_file(CLAUDE, projects[1])
    broken.write_text("{")

    made = uninstall(home)

    assert [change.path for change in made.changes if change.action == "warn"] == [broken]
    assert broken.read_text() == "{"
    assert contents(projects[2]) == set()
    broken.write_text("{}")
    uninstall(home)
    assert contents(projects[1]) == set()
    assert not home.root.exists()


def test_a_named_file_that_is_broken_stops_the_uninstall(home: Home, file: Path) -> None:
    install(home)
    file.write_text("{")
    with pytest.raises(UsageError, match=r"settings\.json:1:2"):
        plan_uninstall(CLAUDE, home)
    assert home.hook.exists()


def test_while_another_agent_uses_the_home_its_hook_stays(home: Home, file: Path) -> None:
    install(home)
    written_files.record_sites(
        home, "another", [written_files.Site(file.with_name("another.json"), written_files.SETTINGS)]
    )

    uninstall(home)

    assert not file.exists()
    assert (home.hook / "hook.sh").exists()


def test_a_deleted_home_is_not_brought_back_by_uninstalling(home: Home, file: Path) -> None:
    file.write_text(THEIRS)
    install(home)
    for path in sorted(home.root.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    home.root.rmdir()

    uninstall(home)

    assert file.read_text() == THEIRS
    assert not home.root.exists()


def test_a_busy_worker_is_waited_for_and_then_told(
    home: Home, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_plan, "_WORKER_SECONDS", 0.05)
    install(home)
    with lock(home.worker_lock) as held:
        assert held
        with pytest.raises(Failed, match="run the command again"):
            uninstall(home)
    assert not file.exists()
    uninstall(home)
    assert not home.root.exists()


def test_a_worker_that_has_much_to_do_makes_room_for_uninstall(home: Home, file: Path) -> None:
    install(home)
    taken, left = threading.Event(), threading.Event()

    def works_until_somebody_wants_the_lock() -> None:
        with lock(home.worker_lock):
            taken.set()
            end = time.monotonic() + 30
            while not spool_state.lock_is_wanted(home) and time.monotonic() < end:
                time.sleep(0.01)
            left.set()

    worker = threading.Thread(target=works_until_somebody_wants_the_lock)
    worker.start()
    assert taken.wait(30)
    begun = time.monotonic()
    uninstall(home)
    worker.join()
    assert left.is_set()
    assert time.monotonic() - begun < 25, "it was asked, and not waited for"
    assert not home.root.exists()


def test_a_folder_that_we_made_goes_with_the_last_file_in_it(user: Path, home: Home) -> None:
    folder = user / ".claude"
    folder.rmdir()
    install(home)
    install(home, instructions=folder / "CLAUDE.md")
    uninstall(home)
    assert not folder.exists()
