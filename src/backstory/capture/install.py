"""Connecting an agent to the memory, and disconnecting it, as plans.

Install gives every event of the agent one hook of ours, in the user's settings or in those of a project that
are not committed; where there is one already, it changes nothing. Uninstall takes out ours, wherever they
are, and with the last agent everything in the home that is not the memory.
"""

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from backstory.agents import Agent
from backstory.capture import entries, instructions, sites
from backstory.capture.hookfiles import hook_files_current
from backstory.capture.installed import Configured, installed
from backstory.capture.plan import Change, Edit, Plan, agent_backups, carry_out
from backstory.capture.sites import INSTRUCTIONS, SETTINGS, Site
from backstory.capture.surfaces import (
    SURFACES,
    command,
    instructions_file,
    interpreter,
    naming,
    settings_file,
)
from backstory.errors import SourceMissing, UsageError
from backstory.hook import spool
from backstory.paths import Home

__all__ = [
    "Change",
    "Configured",
    "Plan",
    "carry_out",
    "installed",
    "instructions_file",
    "plan_install",
    "plan_uninstall",
    "settings_file",
]

_BLOCK = "how to search the memory"


# --- install ----------------------------------------------------------------------------------------------


def plan_install(
    agent: Agent, home: Home, project: Path | None = None, instructions: Path | None = None
) -> Plan:
    """Our hooks into the settings; with `instructions`, also the block about searching into that file."""
    settings = settings_file(agent, project)
    if project is not None and not project.is_dir():
        raise SourceMissing(f"{project} is not a folder: name the project's folder")
    known = {site.file: site for site in sites.known(home).get(agent.name, ())}
    known[settings] = sites.site(settings, SETTINGS, known.values())
    edits = [_put_hooks(agent, home, settings)]
    if instructions is not None:
        block = instructions.absolute()
        known[block] = sites.site(block, INSTRUCTIONS, known.values())
        edits.append(_put_block(block))
    others = [
        Change(home.hook, _hook_files(home), "hook script and code"),
        *_warnings(agent, settings, project),
    ]
    return Plan.of(agent.name, edits, others, known.values())


def _put_hooks(agent: Agent, home: Home, file: Path) -> Edit:
    before = sites.read_text(file)
    wanted = {
        hook.name: entries.Wanted(command(home, agent.name, hook.name), hook.timeout) for hook in agent.hooks
    }
    with naming(file):
        after, done = entries.put(before or "", wanted)
        off = entries.read(after).get("disableAllHooks") is True
    changes = [Change(file, action, f"hook {event}") for event, action in done.items()]
    if off:
        changes.append(
            Change(file, "warn", f"disableAllHooks is on: {agent.title} runs no hook until it is off")
        )
    return Edit(file, before, after, tuple(changes))


def _put_block(file: Path) -> Edit:
    before = sites.read_text(file)
    after, action = instructions.put(before or "", file)
    return Edit(file, before, after, (Change(file, action, _BLOCK),))


def _hook_files(home: Home) -> str:
    """What install does to the hook's files."""
    if interpreter(home) is None:
        return "write"
    return "keep" if hook_files_current(home.root) else "update"


def _warnings(agent: Agent, settings: Path, project: Path | None) -> Iterator[Change]:
    surface = SURFACES[agent.name]
    folder = surface.folder()
    if not folder.is_dir() and shutil.which(surface.program) is None:
        found = f"no `{surface.program}` on the PATH, no folder {folder}"
        yield Change(folder, "warn", f"{agent.title} was not found ({found}); it is installed all the same")
    if project is not None and _would_be_committed(settings):
        yield Change(
            settings, "warn", "git would commit this file of one machine: add it to .git/info/exclude"
        )


def _would_be_committed(file: Path) -> bool:
    folder = next(parent for parent in file.parents if parent.is_dir())
    try:
        asked = subprocess.run(
            ["git", "check-ignore", "-q", str(file)], cwd=folder, capture_output=True, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 1  # 0: ignored; 128: no repository


# --- uninstall --------------------------------------------------------------------------------------------


def plan_uninstall(agent: Agent, home: Home, project: Path | None = None) -> Plan:
    """Ours out of the user's settings, those of `project`, and every file that install remembers.

    What waits in the spool is memory: the caller drains it first, and what is left then stays.
    """
    if not agent.hooks or agent.name not in SURFACES:
        return Plan.of(agent.name, (), (), ())
    known = sites.known(home)
    files = {site.file: site for site in known.get(agent.name, ())}
    named = [settings_file(agent), settings_file(agent, project)]
    edits, others, unreadable = [], [], []
    for file in dict.fromkeys([*named, *files]):
        site = files.get(file, Site(file, SETTINGS))
        try:
            edits.append(_take_out(site))
        except UsageError as error:
            if file in named:
                raise
            unreadable.append(site)
            others.append(Change(file, "warn", str(error)))
    last = not known.keys() - {agent.name}
    if last:
        others += _leftovers(home)
    return Plan.of(agent.name, edits, others, unreadable, last)


def _take_out(site: Site) -> Edit:
    before = after = sites.read_text(site.file)
    what: Iterable[str] = ()
    with naming(site.file):
        if before is not None and site.kind == INSTRUCTIONS:
            after, found = instructions.remove(before, site.file)
            what = [_BLOCK] if found else []
        elif before is not None:
            after, events = entries.remove(before)
            what = [f"hook {event}" for event in events]
    changes = [Change(site.file, "remove", one) for one in what]
    empty = after is not None and after.strip("\ufeff \t\r\n") in ("", "{}")
    if empty and site.made and not site.file.is_symlink():
        after = None
        changes.append(Change(site.file, "delete", "the file, which install had made"))
    return Edit(site.file, before, after, tuple(changes))


def _leftovers(home: Home) -> Iterator[Change]:
    """What in the home is not the memory. Briefs are: they are derived from it."""
    for path, what in (
        (home.hook, "hook script and code"),
        (home.logs, "logs"),
        (agent_backups(home), "copies of agents' files"),
        (home.worker_lock, "the worker's lock"),
    ):
        if path.exists():
            yield Change(path, "delete", what)
    if any(path.is_file() for path in home.spool.rglob("*")):
        waiting = len(spool.entries(str(home.spool)))
        yield Change(
            home.spool, "keep", f"{waiting} captured and not stored yet; quarantine and marks with them"
        )
    elif home.spool.exists():
        yield Change(home.spool, "delete", "the spool, which is empty")
