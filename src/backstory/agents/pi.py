"""pi: the extension we install, where its things lie, and what our extension's payloads mean.

pi writes its session file as it goes, and the extension names it: what the agent said in mid-turn, its
thoughts and the commands that the user ran are read from there. The brief becomes a message of the session,
once; pi keeps it, so a session that is taken up again gets only what is new.
"""

import os
from functools import partial
from pathlib import Path

from backstory.agents import plugin_events
from backstory.agents.agent import Owned, Surface

NAME = "pi"
LIMITS = (
    "It knows no MCP servers: the agent searches with the command `backstory search`, which the brief names."
)
EXTENSION = "pi_extension.ts"
HOOKS = plugin_events.HOOKS


def agent_dir() -> Path:
    """Where this user's pi keeps its things."""
    configured = os.environ.get("PI_CODING_AGENT_DIR")
    return Path(configured).expanduser() if configured else Path.home() / ".pi" / "agent"


def extension_file(project: Path | None = None) -> Path:
    """The file that is our extension: the user's, or that of one project."""
    return (project / ".pi" if project else agent_dir()) / "extensions" / "backstory.ts"


def sessions_dir() -> Path:
    """Where session files lie: <folder per working directory>/<time>_<session>.jsonl."""
    configured = os.environ.get("PI_CODING_AGENT_SESSION_DIR")
    return Path(configured).expanduser() if configured else agent_dir() / "sessions"


SURFACE = Surface("pi", agent_dir, extension_file, Owned(partial(plugin_events.render_plugin, EXTENSION)))

read_hook = partial(plugin_events.read_plugin_payload, NAME, str.strip)
