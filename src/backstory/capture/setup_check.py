"""Whether an agent's hooks stand as install leaves them, event by event."""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from backstory.agents import Agent
from backstory.agents.agent import Owned
from backstory.capture import settings_entries, written_files
from backstory.capture.settings_files import (
    agent_surface,
    event_command,
    event_commands,
    hook_interpreter,
    naming_file,
    settings_file,
)
from backstory.hook.hook_command import quote_sh
from backstory.paths import Home


@dataclass(frozen=True, slots=True)
class Configured:
    """How an event's hook stands: "configured", "missing" or "differs", and why."""

    event: str
    state: str
    why: str = ""


def installed_hooks(agent: Agent, home: Home, project: Path | None = None) -> list[Configured]:
    """For each event whether a session in `project` would run our hook, and from this home."""
    hooks = agent_surface(agent).hooks
    files = list(dict.fromkeys([settings_file(agent), settings_file(agent, project)]))
    if isinstance(hooks, Owned):
        return _of_file(agent, hooks, home, files)
    found: list[tuple[str, str]] = []
    broken = _broken(home)
    for file in files:
        with naming_file(file):
            settings = settings_entries.parse_settings(written_files.read_text(file) or "")
        found += [(entry.event, entry.handler["command"]) for entry in settings_entries.our_entries(settings)]
        if settings_entries.has_our_plugin(settings):
            found += [(hook.name, event_command(home, agent.name, hook.name)) for hook in agent.hooks]
        if off := settings_entries.switched_off(settings, hooks):
            broken = f"{off} in {file}"
    return [
        _state(hook.name, [each for event, each in found if event == hook.name], agent, home, broken)
        for hook in agent.hooks
    ]


def _of_file(agent: Agent, hooks: Owned, home: Home, files: Iterable[Path]) -> list[Configured]:
    """A file that is all ours stands as a whole or not at all."""
    texts = [
        text for file in files if settings_entries.bears_our_mark(text := written_files.read_text(file) or "")
    ]
    if not texts:
        state, why = "missing", "there is no hook of ours"
    elif hooks.render(event_commands(agent, home)) in texts:
        state, why = "configured", ""
    else:
        state, why = "differs", _differs(texts, home)
    if state == "configured" and (broken := _broken(home)):
        state, why = "differs", broken
    return [Configured(hook.name, state, why) for hook in agent.hooks]


def _state(event: str, found: list[str], agent: Agent, home: Home, broken: str) -> Configured:
    if not found:
        return Configured(event, "missing", "there is no hook of ours")
    if event_command(home, agent.name, event) in found:
        return Configured(event, "differs" if broken else "configured", broken)
    return Configured(event, "differs", _differs(found, home))


def _differs(found: Iterable[str], home: Home) -> str:
    root = str(home.root.absolute())
    forms = (root, quote_sh(root)[:-1], *(json.dumps(form)[1:-1] for form in (root, quote_sh(root)[:-1])))
    same_home = any(form in each for each in found for form in forms)
    return "it has an older form, or was changed by hand" if same_home else "it is of another home"


def _broken(home: Home) -> str:
    python = hook_interpreter(home)
    if python is None:
        return f"the hook's files in {home.hook} are missing"
    return "" if os.access(python, os.X_OK) else f"the interpreter of the hook is gone: {python}"
