"""Putting a schedule in place and taking it out, as plans; the crontab is touched by `crontab` alone.

What was put in place is remembered beside the agents' files, so that uninstalling finds it, and never touches
a schedule of another home.
"""

import contextlib
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from backstory.capture import written_files
from backstory.capture.file_plan import Change, Drafts, Plan, carry_out, unified_diff
from backstory.capture.schedule_units import BEGIN, Schedule, build_schedule, run_here, with_lines
from backstory.capture.written_files import Site
from backstory.errors import DependencyMissing, Failed
from backstory.paths import Home
from backstory.program_lookup import find_program, trusted_path

AGENT = "schedule"  # under which the list of what install wrote to knows it
_CRONTAB = Path("crontab")


def available_kind() -> str:
    """The kind of schedule that this machine has."""
    if sys.platform == "darwin":
        return "launchd"
    if find_program("systemctl") and _run(("systemctl", "--user", "show-environment")).returncode == 0:
        return "systemd"
    if find_program("crontab"):
        return "cron"
    raise DependencyMissing(
        "this machine has no systemd user session, launchd or cron: run `backstory import` by other means"
    )


@dataclass(frozen=True, slots=True)
class SchedulePlan:
    """A plan for a schedule: its files as a plan like an agent's, the crontab before and after, commands."""

    made: Schedule
    plan: Plan
    crontab: tuple[str, str]
    before: tuple[tuple[str, ...], ...]
    after: tuple[tuple[str, ...], ...]

    @property
    def changes(self) -> bool:
        """Whether anything is to be done."""
        return bool(self.plan.edited) or self.crontab[0] != self.crontab[1]

    def diff(self) -> str:
        """What would change, as a unified diff."""
        return self.plan.diff() + unified_diff("crontab", *self.crontab)


def installed_kind(home: Home) -> str:
    """The kind of the schedule that was installed for this home, or ""."""
    return next((site.kind for site in written_files.written_sites(home).get(AGENT, ())), "")


def plan_schedule(made: Schedule, home: Home) -> SchedulePlan:
    """Put a schedule in place, or bring it up to date."""
    for program in {words[0] for words in made.on}:
        if find_program(program) is None:
            raise _missing(program)
    drafts = Drafts()
    seen = written_files.written_sites(home).get(AGENT, ())
    listed: list[Site] = []
    for file, text in made.files.items():
        before = drafts.text(file)
        action = "write" if before is None else "keep" if before == text else "update"
        listed.append(written_files.site_record(file, made.kind, [*seen, *listed]))
        drafts.put(file, text, [Change(file, action, f"{made.kind} schedule")])
    tab = ("", "")
    others: list[Change] = []
    if made.lines:
        old = _crontab()
        tab = (old, with_lines(old, made.lines))
        action = "keep" if tab[0] == tab[1] else "update" if BEGIN in old else "add"
        listed.append(Site(_CRONTAB, made.kind))
        others.append(Change(_CRONTAB, action, "cron schedule"))
    there = any(text is not None for text in drafts.before.values())
    plan = Plan.of(AGENT, drafts, others, listed)
    return SchedulePlan(made, plan, tab, made.off if there else (), made.on)


def plan_unschedule(kind: str, home: Home) -> SchedulePlan:
    """Take out the schedule of that kind."""
    made = build_schedule(kind, "1h", run_here(home))
    drafts = Drafts()
    for file in made.files:
        if drafts.text(file) is not None:
            drafts.put(file, None, [Change(file, "delete", f"{kind} schedule")])
    old = _crontab() if made.lines else ""
    tab = (old, with_lines(old, ()))
    others = [Change(_CRONTAB, "remove", "cron schedule")] if tab[0] != tab[1] else []
    return SchedulePlan(made, Plan.of(AGENT, drafts, others, ()), tab, made.off, made.gone)


def carry_out_schedule(scheduling: SchedulePlan, home: Home) -> None:
    """Do it. What cannot be switched off is switched off already; what cannot be switched on is told."""
    for words in scheduling.before:
        with contextlib.suppress(Failed, DependencyMissing):
            _switch(words)
    carry_out(scheduling.plan, home)
    if scheduling.crontab[0] != scheduling.crontab[1]:
        _write_crontab(scheduling.crontab[1])
    for words in scheduling.after:
        _switch(words)


def _missing(program: str) -> DependencyMissing:
    return DependencyMissing(f"this machine has no `{program}`: choose another schedule with --by")


def _switch(words: tuple[str, ...], data: bytes = b"") -> None:
    done = _run(words, data)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        said = said or f"exit {done.returncode}"
        raise Failed(f"`{shlex.join(words)}` failed: {said}; fix that, then try again")


def _run(words: tuple[str, ...], data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    if (program := find_program(words[0])) is None:
        raise _missing(words[0])
    try:
        return subprocess.run(
            (program, *words[1:]),
            env={**os.environ, "PATH": trusted_path()},
            input=data,
            capture_output=True,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(f"`{shlex.join(words)}` cannot be run: {error}") from None


def _crontab() -> str:
    """This user's crontab; empty if there is none."""
    listed = _run(("crontab", "-l"))
    said = listed.stderr.decode("utf-8", "replace").strip()
    if listed.returncode and said and "no crontab" not in said.lower():
        raise Failed(f"the crontab cannot be read: {said}")
    return "" if listed.returncode else listed.stdout.decode("utf-8", "surrogateescape")


def _write_crontab(text: str) -> None:
    """Replace this user's crontab; one without any line is removed."""
    if text.strip():
        _switch(("crontab", "-"), text.encode("utf-8", "surrogateescape"))
    else:
        _switch(("crontab", "-r"))
