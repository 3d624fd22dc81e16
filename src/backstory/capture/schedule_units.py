"""Importing on a schedule, for agents whose hooks do not always run: systemd user timers, launchd, cron.

What is written is a value first: files or a crontab, and the commands that switch them on and off. A run has
low priority and a time limit; what was missed while the machine was off is caught up, because an import goes
on where the last one stopped; machines and users do not all start at the same minute. Where no agent is, it
does nothing and succeeds; so does the container variant when the container is down.
"""

import hashlib
import os
import plistlib
import shlex
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from backstory.errors import UsageError
from backstory.paths import Home

NAME = "backstory-import"
LABEL = "org.backstory.import"
LIMIT_MINUTES = 30
KINDS = ("systemd", "launchd", "cron")
# how often: minutes, systemd's calendar, and cron's fields with the minute that this machine got
EVERY: Mapping[str, tuple[int, str, str]] = {
    "15m": (15, "*:0/15", "{minute}-59/15 * * * *"),
    "30m": (30, "*:0/30", "{minute}-59/30 * * * *"),
    "1h": (60, "*:00", "{minute} * * * *"),
    "2h": (120, "00/2:00", "{minute} */2 * * *"),
    "4h": (240, "00/4:00", "{minute} */4 * * *"),
    "6h": (360, "00/6:00", "{minute} */6 * * *"),
    "12h": (720, "00/12:00", "{minute} */12 * * *"),
    "1d": (1440, "03:00", "{minute} 3 * * *"),
}
BEGIN, END = f"# {NAME}: begin", f"# {NAME}: end"
_IN_CONTAINER = (
    """[ "$({tool} container inspect -f '{{{{.State.Running}}}}' {name} 2>/dev/null)" = true ] || exit 0; """
    """exec {tool} exec {name} backstory import"""
)


@dataclass(frozen=True, slots=True)
class Run:
    """What a schedule starts: a command and the variables it needs."""

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Files, or our lines of a crontab; how to look at it, and the commands that switch it.

    `on` follows when the files are written; `off` goes before they are written anew or removed, and `gone`
    follows that.
    """

    kind: str
    look: str
    files: Mapping[Path, str] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    on: tuple[tuple[str, ...], ...] = ()
    off: tuple[tuple[str, ...], ...] = ()
    gone: tuple[tuple[str, ...], ...] = ()


def run_here(home: Home) -> Run:
    """An import into this home, by this interpreter."""
    return Run(
        (sys.executable, "-I", "-m", "backstory.cli.scheduled_import"),
        {"BACKSTORY_HOME": str(home.root.absolute())},
    )


def run_in_container(name: str, tool: str = "docker") -> Run:
    """An import inside a container; nothing, successfully, while it is down."""
    return Run(("/bin/sh", "-c", _IN_CONTAINER.format(tool=tool, name=shlex.quote(name))))


def build_schedule(kind: str, every: str, run: Run) -> Schedule:
    """The schedule as it is written."""
    if every not in EVERY:
        raise UsageError(f"{every!r} is no interval for a schedule: choose among {', '.join(EVERY)}")
    return _KINDS[kind](every, run)


# --- systemd ----------------------------------------------------------------------------------------------


def _systemd(every: str, run: Run) -> Schedule:
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd" / "user"
    minutes, calendar, _ = EVERY[every]
    variables = "".join(f"Environment={_unit_word(f'{k}={v}')}\n" for k, v in run.environment.items())
    service = f"""\
[Unit]
Description=Backstory: import what coding agents have kept of their sessions

[Service]
Type=oneshot
{variables}ExecStart={" ".join(_unit_word(word) for word in run.words)}
Nice=19
IOSchedulingClass=idle
CPUSchedulingPolicy=idle
TimeoutStartSec={LIMIT_MINUTES}min
"""
    timer = f"""\
[Unit]
Description=Backstory: import every {every}

[Timer]
OnCalendar={calendar}
Persistent=true
RandomizedDelaySec={min(minutes // 4, 30)}min

[Install]
WantedBy=timers.target
"""
    files = {folder / f"{NAME}.service": service, folder / f"{NAME}.timer": timer}
    reload = ("systemctl", "--user", "daemon-reload")
    return Schedule(
        "systemd",
        f"systemctl --user list-timers {NAME}.timer",
        files,
        on=(reload, ("systemctl", "--user", "enable", "--now", f"{NAME}.timer")),
        off=(("systemctl", "--user", "disable", "--now", f"{NAME}.timer"),),
        gone=(reload,),
    )


def _unit_word(word: str) -> str:
    """One word of a unit file, where % and $ mean something, too."""
    for special, escaped in (("\\", "\\\\"), ('"', '\\"'), ("$", "$$"), ("%", "%%")):
        word = word.replace(special, escaped)
    return f'"{word}"'


# --- launchd ----------------------------------------------------------------------------------------------


def _launchd(every: str, run: Run) -> Schedule:
    file = Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    value = {
        "Label": LABEL,
        "ProgramArguments": list(run.words),
        "EnvironmentVariables": dict(run.environment),
        "StartInterval": EVERY[every][0] * 60,  # from when it was loaded: no two machines agree on that
        "RunAtLoad": True,
        "Nice": 19,
        "LowPriorityIO": True,
        "ProcessType": "Background",
        "StandardOutPath": os.devnull,
        "StandardErrorPath": os.devnull,
    }
    domain = f"gui/{os.getuid() if hasattr(os, 'getuid') else 501}"
    return Schedule(
        "launchd",
        f"launchctl print {domain}/{LABEL}",
        {file: plistlib.dumps(value, sort_keys=False).decode()},
        on=(("launchctl", "bootstrap", domain, str(file)),),
        off=(("launchctl", "bootout", f"{domain}/{LABEL}"),),
    )


# --- cron -------------------------------------------------------------------------------------------------


def _cron(every: str, run: Run) -> Schedule:
    minutes, _, fields = EVERY[every]
    variables = [f"{key}={value}" for key, value in run.environment.items()]
    command = shlex.join(["env", *variables, "nice", "-n", "19", *run.words]).replace("%", "\\%")
    lines = (
        BEGIN,
        f"{fields.format(minute=_minute(min(minutes, 60)))} {command} >/dev/null 2>&1",
        f"@reboot sleep {60 + _minute(60)}; {command} >/dev/null 2>&1",
        END,
    )
    return Schedule("cron", "crontab -l", lines=lines)


def _minute(below: int) -> int:
    """A minute that is this user's on this machine, so that not all start at once."""
    who = f"{socket.gethostname()}:{Path.home()}".encode()
    return int.from_bytes(hashlib.blake2b(who, digest_size=4).digest(), "big") % below


def with_lines(crontab: str, lines: tuple[str, ...]) -> str:
    """A crontab with exactly these lines of ours at its end; everybody else's stay as they are."""
    kept, ours = [], False
    for line in crontab.splitlines(keepends=True):
        ours = ours or line.rstrip("\r\n") == BEGIN
        if not ours:
            kept.append(line)
        ours = ours and line.rstrip("\r\n") != END
    text = "".join(kept)
    if not lines:
        return text
    return text + ("" if not text or text.endswith("\n") else "\n") + "".join(f"{line}\n" for line in lines)


_KINDS = {"systemd": _systemd, "launchd": _launchd, "cron": _cron}
