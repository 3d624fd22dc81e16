"""Where an agent keeps what we write to, and what we write there."""

import contextlib
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from backstory.agents import AGENTS, Agent
from backstory.capture import instructions
from backstory.errors import UsageError
from backstory.hook.command import hook_command, hook_command_windows
from backstory.jsonc import InvalidJson
from backstory.paths import Home

SURFACES = {agent.name: agent.surface for agent in AGENTS.values() if agent.surface is not None}


def settings_file(agent: Agent, project: Path | None = None) -> Path:
    """The settings that our hooks go to: the user's, or those of one project that are not committed."""
    if not agent.hooks or agent.name not in SURFACES:
        raise UsageError(f"{agent.title} cannot be installed yet, its hooks come later: try claude-code")
    return SURFACES[agent.name].settings(project).absolute()


def instructions_file(agent: Agent, project: Path | None = None) -> Path:
    """Where `install --instructions` puts its block: beside the user's settings, or into the project."""
    folder = project or settings_file(agent).parent
    return folder.absolute() / instructions.file_name(agent.name)


def command(home: Home, agent: str, event: str) -> str:
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


def interpreter(home: Home) -> str | None:
    """The Python that the hook script names; None if there is no script."""
    try:
        line = re.search(r"^python=(.+)$", (home.hook / "hook.sh").read_text("utf-8"), re.MULTILINE)
        return shlex.split(line[1])[0] if line else ""
    except (OSError, ValueError):
        return None


@contextlib.contextmanager
def naming(file: Path) -> Iterator[None]:
    """Errors in a file's text become errors that name the file and say what to do."""
    try:
        yield
    except InvalidJson as error:
        place = f"{file}:{error.line}:{error.column}"
        raise UsageError(
            f"{place}: {error.reason}; the file stays as it is: mend it, then try again"
        ) from None
