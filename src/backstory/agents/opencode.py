"""opencode: the plugin we install, where its things lie, and what our plugin's payloads mean.

The plugin tells of a session as it goes: prompts, tools, each text and each thought as it is complete, turns
that end, compactions. It gives the brief to every call of the session's model, in the system prompt, because
opencode keeps no injected message; a session that is taken up again has none in its context.
"""

import os
import re
from functools import partial
from pathlib import Path

from backstory.agents import plugin_events
from backstory.agents.agent import HookEvent, Owned, Surface
from backstory.agents.mcp_lists import Servers

NAME = "opencode"
LIMITS = (
    "It keeps nothing that was injected: every call of the model is given the brief anew, once. Of a copy "
    "of its database that has a write-ahead log and no index of it, reading makes the index; where "
    "opencode itself keeps it, nothing is touched."
)
PLUGIN = "opencode_plugin.js"

HOOKS = (
    *plugin_events.HOOKS,
    HookEvent("AssistantSaid", timeout=10),
    HookEvent("SubagentStop", timeout=10),
)


def config_dir() -> Path:
    """Where this user's opencode is configured."""
    configured = os.environ.get("OPENCODE_CONFIG_DIR")
    if configured:
        return Path(configured)
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "opencode"


def plugin_file(project: Path | None = None) -> Path:
    """The file that is our plugin: the user's, or that of one project."""
    return (project / ".opencode" if project else config_dir()) / "plugins" / "backstory.js"


def data_dir() -> Path:
    """Where opencode keeps its sessions: a database, before that JSON files."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "opencode"


def history_place() -> Path:
    """The database that OPENCODE_DB names, else the folder that holds it and the older layouts."""
    named = os.environ.get("OPENCODE_DB", "")
    return data_dir() / named if named and named != ":memory:" else data_dir()


SURFACE = Surface("opencode", config_dir, plugin_file, Owned(partial(plugin_events.render_plugin, PLUGIN)))


def _config_file(project: Path | None) -> Path | None:
    commented = config_dir() / "opencode.jsonc"
    return None if project else commented if commented.exists() else config_dir() / "opencode.json"


SERVERS = Servers(
    _config_file,
    lambda _: ("mcp",),
    lambda start: {
        "type": "local",
        "command": [start.program, *start.arguments],
        "environment": dict(start.environment),
        "enabled": True,
    },
)

# `opencode run 'a b'` puts an argument with a space in it between quotes, and a \ before each quote in it.
_ONE_ARGUMENT = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)


def typed_text(text: str) -> str:
    """A prompt as it was typed."""
    text = text.strip()
    if quoted := _ONE_ARGUMENT.fullmatch(text):
        return quoted[1].replace('\\"', '"')
    return text


read_hook = partial(plugin_events.read_plugin_payload, NAME, typed_text)
