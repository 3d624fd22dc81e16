"""install --schedule: put in place, looked at, taken out; and what it runs.

`crontab` and `systemctl` are stand-ins on the PATH that keep what they are given in a file: the real ones are
those of whoever runs the tests, and must not be touched.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from backstory.capture.schedule_units import EVERY

from .memory import Memory

CRONTAB = """#!/bin/sh
tab=$HOME/tab
case $1 in
    -l) [ -e "$tab" ] && cat "$tab" || { echo "no crontab for you" >&2; exit 1; } ;;
    -r) rm "$tab" ;;
    -) cat >"$tab" ;;
esac
"""
SYSTEMCTL = """#!/bin/sh
[ -e "$HOME/no-session" ] && { echo "no bus" >&2; exit 1; }
echo "$@" >>"$HOME/systemctl.log"
"""


@pytest.fixture
def machine(memory: Memory) -> Memory:
    """A machine with cron and without a systemd user session."""
    programs = memory.user / "programs"
    programs.mkdir()
    for name, text in (("crontab", CRONTAB), ("systemctl", SYSTEMCTL)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    (memory.user / "no-session").touch()
    memory.extra["PATH"] = f"{programs}:/usr/bin:/bin"
    return memory


def tab(memory: Memory) -> str:
    file = memory.user / "tab"
    return file.read_text() if file.exists() else ""


def test_cron_gets_our_lines_and_gives_them_back_mp_29(machine: Memory) -> None:
    """MP-29"""
    (machine.user / "tab").write_text("0 5 * * * mine\n")
    shown = machine.run("install", "--schedule", "--every", "2h", "--dry-run")
    assert "+# backstory-import: begin" in shown.stdout
    assert tab(machine) == "0 5 * * * mine\n"
    assert not machine.home.exists()

    done = machine.run("install", "--schedule", "--every", "2h", "--yes")

    assert done.returncode == 0, done.stderr
    assert "crontab -l" in done.stderr
    assert " */2 * * * " in tab(machine)
    assert tab(machine).startswith("0 5 * * * mine\n")
    assert machine.json("install", "--schedule", "--every", "2h")["changed"] is False
    assert machine.json("install", "--schedule", "--every", "1d", "--yes")["changed"] is True
    assert tab(machine).count("backstory-import: begin") == 1
    assert machine.run("install", "--schedule", "--remove", "--yes").returncode == 0
    assert tab(machine) == "0 5 * * * mine\n"


def test_a_schedule_is_asked_for_and_a_refusal_changes_nothing(machine: Memory) -> None:
    assert machine.run("install", "--schedule", stdin=b"n\n").returncode == 0
    assert tab(machine) == ""


def test_systemd_is_preferred_where_the_user_has_a_session(machine: Memory) -> None:
    (machine.user / "no-session").unlink()
    assert machine.json("install", "--schedule", "--yes")["kind"] == "systemd"

    units = machine.user / ".config" / "systemd" / "user"
    assert {file.name for file in units.iterdir()} == {"backstory-import.service", "backstory-import.timer"}
    log = (machine.user / "systemctl.log").read_text()
    assert log.endswith("--user daemon-reload\n--user enable --now backstory-import.timer\n")
    assert tab(machine) == ""

    assert machine.json("install", "--schedule", "--remove", "--yes")["changed"] is True
    assert not (machine.user / ".config").exists()
    assert "--user disable --now backstory-import.timer" in (machine.user / "systemctl.log").read_text()
    assert machine.ask("install", "--schedule", "--remove", "--yes").exit_code == 1


def test_another_kind_of_schedule_is_refused_while_one_is_kept(machine: Memory) -> None:
    assert machine.ask("install", "--schedule", "--yes").exit_code == 0
    (machine.user / "no-session").unlink()
    told = machine.ask("install", "--schedule", "--yes")
    assert told.exit_code == 1
    assert "cron keeps a schedule already" in told.stderr
    assert machine.ask("install", "--schedule", "--remove", "--yes").exit_code == 0
    assert tab(machine) == ""


def test_uninstalling_everything_takes_the_schedule_with_it(machine: Memory) -> None:
    assert machine.ask("install", "claude-code", "--yes").exit_code == 0
    assert machine.ask("install", "--schedule", "--yes").exit_code == 0
    assert machine.ask("uninstall", "claude-code", "--yes").exit_code == 0
    assert "backstory" in tab(machine), "one agent's is not the schedule's end"

    assert machine.ask("uninstall", "--yes").exit_code == 0

    assert tab(machine) == ""
    assert not machine.home.exists()


def test_a_schedule_of_another_home_is_not_touched_by_uninstalling(machine: Memory, tmp_path: Path) -> None:
    assert machine.ask("install", "--schedule", "--yes").exit_code == 0
    machine.home = tmp_path / "another"
    assert machine.ask("uninstall", "--yes").exit_code == 0
    assert "backstory" in tab(machine)


def test_a_container_is_scheduled_by_its_name(machine: Memory) -> None:
    assert machine.ask("install", "--schedule", "--container", "dev", "--yes").exit_code == 0
    assert "docker exec dev backstory import" in tab(machine)


# MP-3
def test_mp_3_without_any_scheduler_it_says_so_and_ends_in_three(machine: Memory) -> None:
    for program in (machine.user / "programs").iterdir():
        program.unlink()
    machine.extra["PATH"] = str(machine.user / "programs")
    told = machine.ask("install", "--schedule", "--yes")
    assert told.exit_code == 3
    assert "backstory import" in told.stderr
    for kind, missing in (("systemd", "systemctl"), ("cron", "crontab"), ("launchd", "launchctl")):
        told = machine.ask("install", "--schedule", "--by", kind, "--yes")
        assert (told.exit_code, f"`{missing}`" in told.stderr) == (3, True), told.stderr
    assert not machine.home.exists()


@pytest.mark.parametrize(
    "words", [("claude-code", "--schedule"), ("--remove",), ("--schedule", "--every", "7h"), ("--by", "cron")]
)
def test_words_that_do_not_go_together_are_refused(machine: Memory, words: tuple[str, ...]) -> None:
    assert machine.ask("install", *words, "--yes").exit_code == 1
    assert tab(machine) == ""


def test_all_intervals_are_in_the_help(machine: Memory) -> None:
    shown = machine.ask("install", "--help").stdout
    assert all(every in shown for every in EVERY)


# --- what it runs -----------------------------------------------------------------------------------------


def run_it(
    memory: Memory, module: str = "backstory.cli.scheduled_import"
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-I", "-m", module],
        env={"HOME": str(memory.user), "BACKSTORY_HOME": str(memory.home)},
        cwd="/",
        capture_output=True,
        timeout=120,
    )


def test_a_run_without_any_agent_is_silent_and_succeeds_mp_30(machine: Memory) -> None:
    """MP-30"""
    machine.home.mkdir(mode=0o700)
    done = run_it(machine)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_home_that_was_deleted_is_not_brought_back(machine: Memory) -> None:
    assert run_it(machine).returncode == 0
    assert not machine.home.exists()


def test_a_run_imports_what_agents_have_kept_and_only_that_once(machine: Memory) -> None:
    kept = machine.user / ".claude" / "projects" / "-w" / "2f0d5b5c-2c59-4c0f-8d3a-1a2b3c4d5e6f.jsonl"
    kept.parent.mkdir(parents=True)
    sample = Path(__file__).parents[1] / "wire" / "samples" / "fail-subagent-resume-compact.jsonl"
    kept.write_bytes(sample.read_bytes())
    machine.home.mkdir(mode=0o700)

    assert run_it(machine).returncode == 0

    def told() -> list[str]:
        """What the transcript tells; that it was never ended the worker adds when it likes."""
        events = machine.json("timeline", "--all", "--limit", "100")["events"]
        return [event["id"] for event in events if event["kind"] != "session_ended"]

    events = told()
    assert events
    assert run_it(machine).returncode == 0
    assert told() == events


def test_a_schedule_that_was_installed_under_the_modules_old_name_still_imports(machine: Memory) -> None:
    """Nobody rewrites a crontab when Backstory is upgraded."""
    kept = machine.user / ".claude" / "projects" / "-w" / "2f0d5b5c-2c59-4c0f-8d3a-1a2b3c4d5e6f.jsonl"
    kept.parent.mkdir(parents=True)
    sample = Path(__file__).parents[1] / "wire" / "samples" / "fail-subagent-resume-compact.jsonl"
    kept.write_bytes(sample.read_bytes())
    machine.home.mkdir(mode=0o700)

    assert run_it(machine, "backstory.cli.scheduled").returncode == 0

    assert machine.json("timeline", "--all")["events"]


def test_a_scheduled_run_has_low_priority_mp_31(machine: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """MP-31"""
    probe = "import os, backstory.cli.scheduled_import as s; s.App = None\ntry: s.main()\nexcept TypeError: pass\n"
    shown = subprocess.run(
        [sys.executable, "-c", probe + "import signal; print(os.nice(0), signal.alarm(0) > 0)"],
        env={**os.environ, "HOME": str(machine.user)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.split() == ["19", "True"]
