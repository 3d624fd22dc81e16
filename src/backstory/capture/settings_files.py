"""Where an agent keeps what we write to, and what we write there."""

import contextlib
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import tomlkit.exceptions

from backstory.agents import AGENTS, Agent
from backstory.agents.agent import Grouped, Surface
from backstory.capture import settings_entries
from backstory.errors import UsageError
from backstory.file_reader import read_text
from backstory.hook.hook_command import hook_command, hook_command_windows
from backstory.jsonc import InvalidJson
from backstory.paths import Home
from backstory.program_lookup import find_program


def installable_agents() -> list[Agent]:
    """The agents that can be connected."""
    return [agent for agent in AGENTS.values() if agent.hooks and agent.surface is not None]


def agent_surface(agent: Agent) -> Surface:
    """Where the agent keeps what we write to."""
    if not agent.hooks or agent.surface is None:
        names = ", ".join(each.name for each in installable_agents())
        raise UsageError(f"{agent.title} has no hooks that could be installed: choose among {names}")
    return agent.surface


def is_here(agent: Agent) -> bool:
    """Whether the agent is on this machine: its program is on the PATH, or its folder or history is there."""
    where = agent_surface(agent)
    if where.folder().is_dir() or find_program(where.program) is not None:
        return True
    return agent.history is not None and agent.history.root().exists()


def settings_file(agent: Agent, project: Path | None = None) -> Path:
    """The settings that our hooks go to: the user's, or those of one project that are not committed."""
    return agent_surface(agent).settings(project).absolute()


def instructions_file(agent: Agent, project: Path | None = None) -> Path:
    """Where `install --instructions` puts its block: into the agent's own folder, or into the project."""
    folder = project or agent_surface(agent).folder()
    return folder.absolute() / agent.instructions[project is not None]


def event_command(home: Home, agent: str, event: str) -> str:
    """What the agent's settings hold for one event, with absolute paths only."""
    root = str(home.root.absolute())
    try:
        root.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"settings cannot hold the path {root!r}: choose a BACKSTORY_HOME in UTF-8"
        ) from None
    if sys.platform == "win32":
        return hook_command_windows(root, agent, event, sys.executable)
    return hook_command(root, agent, event)


def event_commands(agent: Agent, home: Home) -> dict[str, str]:
    """Each event's command."""
    return {hook.name: event_command(home, agent.name, hook.name) for hook in agent.hooks}


def wanted_entries(agent: Agent, hooks: Grouped, home: Home) -> dict[str, settings_entries.WantedHook]:
    """Each event's entry in settings that hold groups of handlers."""
    texts = event_commands(agent, home)
    return {
        hook.name: settings_entries.WantedHook(
            texts[hook.name], hook.timeout * hooks.per_second, dict(hooks.extra), hook.matcher
        )
        for hook in agent.hooks
    }


def hook_interpreter(home: Home) -> str | None:
    """The Python that the hook script names; None if there is no script."""
    try:
        line = re.search(r"^python=(.+)$", read_text(home.hook / "hook.sh"), re.MULTILINE)
        return shlex.split(line[1])[0] if line else ""
    except (OSError, ValueError):
        return None


@contextlib.contextmanager
def naming_file(file: Path) -> Iterator[None]:
    """Errors in a file's text become errors that name the file and say what to do."""
    try:
        yield
    except InvalidJson as error:
        raise _wrong(file, error.line, error.column, error.reason) from None
    except tomlkit.exceptions.ParseError as error:
        raise _wrong(file, error.line, error.col, str(error).partition(" at line ")[0]) from None


def _wrong(file: Path, line: int, column: int, reason: str) -> UsageError:
    return UsageError(f"{file}:{line}:{column}: {reason}; the file stays as it is: fix it, then try again")
