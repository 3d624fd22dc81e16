"""The tools that are compared: where each comes from, and the commands that it has for what is measured.

A command is a list of words, in which {at} stands for the tool's own folder; a text in its place says why
there is none. Each tool runs with a home folder of its own, in a project of its own.
"""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

Way = list[str] | str
_NO_HOOK = "has no hooks: it stores what it is told"
_NOTHING = "nothing to ask"


@dataclass(frozen=True)
class Tool:
    """One tool. `event` is the hook that its own setup registers and that is timed here.

    `dump` prints all that it keeps, where its files are compressed. `extensions`: its SQLite must load some,
    which many Pythons cannot.
    """

    name: str
    registry: str = ""  # pip or npm; "" is ours
    package: str = ""
    setup: tuple[tuple[str, ...], ...] = ()
    hook: Way = _NO_HOOK
    event: str = "PostToolUse"
    take_in: Way = "reads no agent's transcripts"
    start: Way = _NO_HOOK
    search: Way = _NOTHING
    mcp: Way = "has no MCP server"
    dump: tuple[str, ...] = ()
    versions: tuple[str, ...] = ("3.13", "3.12", "3.11")
    extensions: bool = False


_OURS = [sys.executable, "-m", "backstory"]
_PALACE = "{at}/env/bin/mempalace"
_BASIC = "{at}/env/bin/basic-memory"
TOOLS = (
    Tool(
        "Backstory",
        setup=((*_OURS, "install", "claude-code", "--yes", "--no-import"),),
        hook=["registered"],  # what the setup wrote into the agent's settings
        take_in=[*_OURS, "import", "claude-code", "--path", "{talk}", "--min-messages", "1"],
        start=[*_OURS, "brief"],
        search=[*_OURS, "search", "{question}"],
        mcp=[*_OURS, "mcp"],
        dump=(*_OURS, "export"),
    ),
    Tool(
        "MemPalace",
        "pip",
        "mempalace",
        hook=[_PALACE, "hook", "run", "--hook", "stop", "--harness", "claude-code"],
        event="Stop",
        take_in=[_PALACE, "mine", "{talk}", "--mode", "convos"],
        start=[_PALACE, "wake-up"],
        search=[_PALACE, "search", "{question}"],
        mcp=["{at}/env/bin/mempalace-mcp"],
    ),
    Tool(
        "code-context-engine",
        "pip",
        "code-context-engine",
        setup=(("{at}/env/bin/cce", "init", "--agent", "claude"),),
        hook=["registered"],
        take_in="captures by hooks only",
        start="is told by its hook",
        mcp=["{at}/env/bin/cce", "serve"],
        extensions=True,
    ),
    Tool(
        "basic-memory",
        "pip",
        "basic-memory",
        mcp=[_BASIC, "mcp"],
        take_in="reads exports of chats, no agent's transcripts",
    ),
    Tool(
        "server-memory",
        "npm",
        "@modelcontextprotocol/server-memory",
        mcp=["{at}/node_modules/.bin/mcp-server-memory"],
    ),
    Tool("claude-mem", "npm", "claude-mem"),
    Tool("deja-vu", "pip", "deja-vu"),
)


def install(tool: Tool, at: Path, seconds: float) -> str:
    """Install a tool into its folder; "" or why that did not work."""
    at.mkdir(parents=True, exist_ok=True)
    if not tool.registry:
        return ""
    if tool.registry == "npm":
        (at / "package.json").write_text("{}")
        quiet = ("--no-audit", "--no-fund", "--loglevel=error")
        return _run(["npm", "install", *quiet, "--prefix", str(at), tool.package], at, seconds)
    reason = "no Python was found for it"
    for python in _pythons(tool):
        made = _run([python, "-m", "venv", "--clear", str(at / "env")], at, seconds)
        reason = made or _run([str(at / "env/bin/pip"), "install", "-q", tool.package], at, seconds)
        if not reason:
            return ""
    return reason


def _pythons(tool: Tool) -> list[str]:
    """The interpreters that a tool can use: those of the PATH, and the system's own."""
    found = [f"{folder}python{version}" for version in tool.versions for folder in ("", "/usr/bin/")]
    loads = "import sqlite3, sys; sys.exit(not hasattr(sqlite3.Connection, 'enable_load_extension'))"
    return [
        python
        for python in found
        if shutil.which(python)
        and not (tool.extensions and subprocess.run([python, "-c", loads], capture_output=True).returncode)
    ]


def _run(command: list[str], at: Path, seconds: float) -> str:
    try:
        done = subprocess.run(command, cwd=at, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"not installed within {seconds:.0f} s"
    except OSError as error:
        return str(error.strerror)
    return "" if done.returncode == 0 else last_words(done.stderr + done.stdout)


def last_words(text: str) -> str:
    """The line of an output that says what went wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "No matching" in line or "notarget No" in line or "Error: " in line]
    return (telling or lines or ["it says nothing"])[-1][-160:]


def registered_hook(home: Path, project: Path, event: str) -> list[str] | None:
    """The first command that a tool's setup registered for an event in Claude Code's settings."""
    files = (home / ".claude/settings.json", *sorted((project / ".claude").glob("settings*.json")))
    for file in files:
        if not file.exists():
            continue
        for group in json.loads(file.read_text()).get("hooks", {}).get(event, []):
            for hook in group["hooks"]:
                return [hook["command"], *hook["args"]] if "args" in hook else ["sh", "-c", hook["command"]]
    return None
