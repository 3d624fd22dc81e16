"""Schedules as values: what is written for systemd, launchd and cron, and what it means."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

from backstory.capture import schedule_units as schedules
from backstory.capture.schedule_units import (
    EVERY,
    KINDS,
    Run,
    build_schedule,
    run_here,
    run_in_container,
    with_lines,
)
from backstory.errors import UsageError
from backstory.paths import Home

RUN = Run(("/opt/it's 100%/python", "-I", "-m", "backstory.scheduled"), {"BACKSTORY_HOME": "/home/$me/it's"})


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


def unit(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def test_systemd_units_have_low_priority_a_limit_catch_up_and_are_staggered_mp_29_mp_31(user: Path) -> None:
    """MP-29, MP-31"""
    made = build_schedule("systemd", "1h", RUN)

    service, timer = (unit(text) for text in made.files.values())
    assert [file.parent for file in made.files] == [user / ".config" / "systemd" / "user"] * 2
    assert (service["Nice"], service["IOSchedulingClass"], service["CPUSchedulingPolicy"]) == (
        "19",
        "idle",
        "idle",
    )
    assert service["TimeoutStartSec"] == "30min"
    assert timer["Persistent"] == "true"
    assert timer["RandomizedDelaySec"] == "15min"
    assert made.on[-1] == ("systemctl", "--user", "enable", "--now", "backstory-import.timer")
    assert made.off == (("systemctl", "--user", "disable", "--now", "backstory-import.timer"),)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd itself judges its files")
@pytest.mark.parametrize("every", EVERY)
def test_systemd_takes_the_units_and_the_calendar(every: str, tmp_path: Path) -> None:
    program = tmp_path / "it's 100%$ python"
    program.write_text("")
    program.chmod(0o755)
    made = build_schedule("systemd", every, Run((str(program), "-m", "x"), {"BACKSTORY_HOME": "/a $b % 'c'"}))
    for file, text in made.files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    judged = subprocess.run(
        ["systemd-analyze", "verify", "--user", "--man=no", *map(str, made.files)],
        capture_output=True,
        text=True,
    )

    ours = [line for line in judged.stderr.splitlines() if schedules.NAME in line]
    assert ours == []
    calendar = unit(made.files[list(made.files)[1]])["OnCalendar"]
    subprocess.run(["systemd-analyze", "calendar", calendar], check=True, capture_output=True)


def test_launchd_runs_in_the_background_and_catches_up_when_loaded_mp_29_mp_31(user: Path) -> None:
    """MP-29, MP-31"""
    made = build_schedule("launchd", "2h", RUN)

    ((file, text),) = made.files.items()
    assert file == user / "Library" / "LaunchAgents" / "org.backstory.import.plist"
    value = plistlib.loads(text.encode())
    assert value["ProgramArguments"] == list(RUN.words)
    assert value["EnvironmentVariables"] == RUN.environment
    assert value["StartInterval"] == 7200
    assert (value["Nice"], value["LowPriorityIO"], value["RunAtLoad"]) == (19, True, True)


def test_cron_lines_run_the_very_command_nicely_and_after_a_reboot_mp_29_mp_31(tmp_path: Path) -> None:
    """MP-29, MP-31"""
    program = tmp_path / "it's 100% python"
    program.write_text('#!/bin/sh\necho "$BACKSTORY_HOME" "$(ps -o ni= -p $$)" "$@" >"$0.ran"\n')
    program.chmod(0o755)
    run = Run((str(program), "-m", "x"), {"BACKSTORY_HOME": "/home/$me/it's"})
    begin, line, reboot, end = build_schedule("cron", "1h", run).lines
    assert begin.startswith("# ")
    assert end.startswith("# ")
    assert reboot.startswith("@reboot sleep ")

    minute, hours, *_, command = line.split(" ", 5)
    assert 0 <= int(minute) < 60
    assert hours == "*"
    # cron gives the shell what stands before the first unescaped %, with \% as %
    subprocess.run(["/bin/sh", "-c", command.replace("\\%", "%")], check=True)
    assert Path(f"{program}.ran").read_text().split() == ["/home/$me/it's", "19", "-m", "x"]


def test_machines_do_not_all_start_at_the_same_minute_mp_31(monkeypatch: pytest.MonkeyPatch) -> None:
    """MP-31"""
    minutes = set()
    for name in ("one", "two", "three", "four"):
        monkeypatch.setattr("socket.gethostname", lambda name=name: name)
        minutes.add(build_schedule("cron", "1h", RUN).lines[1].split()[0])
    assert len(minutes) > 1


@pytest.mark.parametrize("kind", KINDS)
def test_every_interval_is_known_to_every_kind_and_no_other(kind: str) -> None:
    for every in EVERY:
        assert build_schedule(kind, every, RUN).kind == kind
    with pytest.raises(UsageError, match="15m, 30m, 1h"):
        build_schedule(kind, "7h", RUN)


def test_the_run_names_interpreter_and_home_absolutely(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = run_here(Home(Path("memory")))
    assert run.environment == {"BACKSTORY_HOME": str(tmp_path / "memory")}
    assert os.path.isabs(run.words[0])


@pytest.mark.parametrize(("state", "ran"), [("true", True), ("false", False), ("", False)])
def test_the_container_variant_does_nothing_when_the_container_is_down_mp_32(
    tmp_path: Path, state: str, ran: bool
) -> None:
    """MP-32; `docker` is a stand-in here that answers as the real one does: no container can run in tests."""
    docker = tmp_path / "docker"
    answer = f"echo {state}" if state else "echo 'No such container' >&2; exit 1"
    docker.write_text(
        f'#!/bin/sh\nif [ "$1" = container ]; then {answer}; else echo "$@" >"$0.ran"; exit 7; fi\n'
    )
    docker.chmod(0o755)
    run = run_in_container("it's mine")

    done = subprocess.run(run.words, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True)

    assert done.returncode == (7 if ran else 0), "while it runs, its own result counts"
    assert (done.stdout, done.stderr) == (b"", b"")
    if ran:
        assert Path(f"{docker}.ran").read_text() == "exec it's mine backstory import\n"


@pytest.mark.parametrize("theirs", ["", "0 5 * * * mine\n", "MAILTO=me\n\n# c\n0 5 * * * mine", "\n"])
def test_our_lines_come_and_go_and_theirs_stay(theirs: str) -> None:
    lines = build_schedule("cron", "1h", RUN).lines
    more = with_lines(theirs, lines)
    assert more.startswith(theirs)
    assert with_lines(more, lines) == more
    assert with_lines(more + "1 1 * * * later\n", ()).rstrip("\n") == (
        theirs + ("" if not theirs or theirs.endswith("\n") else "\n") + "1 1 * * * later"
    )
    assert with_lines(more, ()).rstrip("\n") == theirs.rstrip("\n")
