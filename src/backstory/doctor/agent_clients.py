"""The agents' own programs: do their hooks run, and are they newer than what was tested?"""

import os
import re
import subprocess
from collections.abc import Iterator, Sequence

from backstory.agents import AGENTS, Agent
from backstory.app import App
from backstory.capture.agent_setup import stale_server
from backstory.capture.settings_files import settings_file
from backstory.doctor.check import Check, ok, warn
from backstory.hook import spool
from backstory.program_lookup import find_program, trusted_path

_SECONDS = 20
_VERSION = re.compile(r"(?<!\d)\d+(?:\.\d+)+")


def client_checks(app: App, connected: Sequence[str]) -> Iterator[Check]:
    """For each connected agent: whether a person must still let its hooks run, and its version."""
    ran, folders = _ran(app), _folders(app)
    for agent in (AGENTS[name] for name in connected):
        if agent.surface and agent.surface.after and agent.name not in ran:
            why = agent.surface.waits(settings_file(agent)) or "none was ever seen to run"
            yield warn("hooks run", f"{agent.title}: hooks are in place, but {why}", agent.surface.after)
        if (check := _version(agent, folders)) is not None:
            yield check
        if stale := stale_server(agent, app.home):
            found = f"{agent.title} starts the MCP server of another home or interpreter, by {stale}"
            yield warn("MCP server", found, f"run `backstory install {agent.name}`")


def _folders(app: App) -> list[str]:
    return app.store.projects.folders() if app.home.database.exists() else []


def _ran(app: App) -> set[str]:
    """The agents of which a hook has ever reached us."""
    waiting = {entry.name.agent for entry in spool.spool_entries(str(app.home.spool))}
    if not app.home.database.exists():
        return waiting
    return waiting | {agent for _, agent, _, name, _ in app.store.counters.since() if name == "spooled"}


def _version(agent: Agent, folders: Sequence[str] = ()) -> Check | None:
    """How the program on the PATH compares with the newest that our tests ran."""
    program = find_program(agent.surface.program, folders) if agent.surface else None
    if program is None or not agent.tested:
        return None
    said = _says(program, trusted_path(folders))
    version = _VERSION.search(said)
    if version is None:
        return warn("version", f"{agent.title} does not tell its version", f"run `{program} --version`")
    if version_numbers(version[0]) > version_numbers(agent.tested):
        return warn(
            "version",
            f"{agent.title} {version[0]} is newer than {agent.tested}, the newest that was tested",
            "what it sends that is unknown is passed over; look whether a newer Backstory is out",
        )
    return ok("version", f"{agent.title} {version[0]}; {agent.tested} is the newest that was tested")


def _says(program: str, path: str) -> str:
    """What the program prints for its version; it must not talk to us, nor heed the current project."""
    try:
        done = subprocess.run(
            [program, "--version"],
            env={**os.environ, "PATH": path, "BACKSTORY_GUARD": "1"},
            cwd=os.sep,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout or done.stderr).decode("utf-8", "replace")


def version_numbers(version: str) -> tuple[int, ...]:
    """A version's numbers, to be compared; whatever stands around them does not count."""
    found = _VERSION.search(version)
    return tuple(int(number) for number in found[0].split(".")) if found else ()
