"""Whether an agent's hooks stand as install leaves them, event by event."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from backstory.agents import Agent
from backstory.capture import entries, sites
from backstory.capture.surfaces import command, interpreter, naming, settings_file
from backstory.hook.command import quote_sh
from backstory.paths import Home


@dataclass(frozen=True, slots=True)
class Configured:
    """How an event's hook stands: "configured", "missing" or "differs", and why."""

    event: str
    state: str
    why: str = ""


def installed(agent: Agent, home: Home, project: Path | None = None) -> list[Configured]:
    """For each event whether a session in `project` would run our hook, and from this home."""
    commands: list[tuple[str, str]] = []
    broken = _broken(home)
    for file in dict.fromkeys([settings_file(agent), settings_file(agent, project)]):
        with naming(file):
            settings = entries.read(sites.read_text(file) or "")
        commands += [(entry.event, entry.handler["command"]) for entry in entries.ours(settings)]
        if settings.get("disableAllHooks") is True:
            broken = f"disableAllHooks is on in {file}"
    return [
        _state(hook.name, [each for event, each in commands if event == hook.name], agent, home, broken)
        for hook in agent.hooks
    ]


def _state(event: str, commands: Iterable[str], agent: Agent, home: Home, broken: str) -> Configured:
    if not commands:
        return Configured(event, "missing", "there is no hook of ours")
    if command(home, agent.name, event) in commands:
        return Configured(event, "differs" if broken else "configured", broken)
    root = str(home.root.absolute())
    same_home = any(root in each or quote_sh(root)[:-1] in each for each in commands)
    return Configured(event, "differs", "it has an older form" if same_home else "it is of another home")


def _broken(home: Home) -> str:
    python = interpreter(home)
    if python is None:
        return f"the hook's files in {home.hook} are missing"
    return "" if os.access(python, os.X_OK) else f"the interpreter of the hook is gone: {python}"
