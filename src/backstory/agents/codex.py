"""Codex: the hooks we install, where its things lie, and what its payloads mean.

They are Claude Code's payloads with a turn's id in place of a prompt's. What is its own: the outcome of a
tool is not told (see `codex_tools`), a sub-agent's task arrives as a prompt, a turn that fails or is
interrupted arrives not at all; its rollouts fill those gaps. Hooks run only after a person has trusted them,
and a SessionEnd hook has three seconds.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from backstory.agents import claude_code
from backstory.agents.agent import HookEvent, Surface, Unreadable
from backstory.agents.codex_texts import typed_text
from backstory.agents.codex_tools import call_result, tool_uses
from backstory.agents.mcp_lists import Servers, plain_entry
from backstory.agents.payload_fields import ident, mapping, path, string
from backstory.file_reader import read_text
from backstory.model import Event, Kind, Where

NAME = "codex"
LIMITS = (
    "No hook tells how a command ended, that a patch or a turn failed, or what was said in mid-turn: its "
    "rollout does, which is read when the turn ends. A session that starts in that very moment is told "
    "what was done, and not yet how it ended."
)

HOOKS = (
    HookEvent("SessionStart", timeout=15, answers=True, wakes=True),
    HookEvent("UserPromptSubmit", timeout=10, note="prompt"),
    HookEvent("PreToolUse", timeout=10, note="before", matcher="Bash"),
    HookEvent("PostToolUse", timeout=10),
    HookEvent("Stop", timeout=10, wakes=True),
    HookEvent("SubagentStop", timeout=10),
    HookEvent("PreCompact", timeout=10, wakes=True),
    HookEvent("SessionEnd", timeout=3, wakes=True),
)


def config_dir() -> Path:
    """Where this user's Codex keeps its things."""
    configured = os.environ.get("CODEX_HOME")
    return Path(configured) if configured else Path.home() / ".codex"


def hooks_file(project: Path | None = None) -> Path:
    """The file that hooks are written to: the user's, or that of one project, which Codex must trust."""
    return (project / ".codex" if project else config_dir()) / "hooks.json"


def sessions_dir() -> Path:
    """Where rollouts lie: <year>/<month>/<day>/rollout-<time>-<session>.jsonl."""
    return config_dir() / "sessions"


def untrusted_hooks(hooks: Path) -> str:
    """Why Codex does not run the hooks of that file: nobody has trusted them, as far as its settings tell."""
    try:
        settings = tomllib.loads(read_text(config_dir() / "config.toml"))
    except (OSError, ValueError):
        settings = {}
    state = mapping(mapping(settings.get("hooks")).get("state"))
    trusted = {key for key, value in state.items() if mapping(value).get("trusted_hash")}
    asleep = [hook.name for hook in HOOKS if not any(key.startswith(_key(hooks, hook)) for key in trusted)]
    return f"nobody has trusted {', '.join(asleep)} yet, and Codex does not run them" if asleep else ""


def _key(hooks: Path, hook: HookEvent) -> str:
    """How the settings name a hook, without its place among others."""
    return f"{hooks}:{re.sub('(?<=.)(?=[A-Z])', '_', hook.name).lower()}:"


SURFACE = Surface(
    "codex",
    config_dir,
    hooks_file,
    after="Codex runs no hook that you have not trusted, and says nothing about it: start `codex`, type "
    "/hooks, read the commands of Backstory and trust them; when a command changes, it asks again.",
    waits=untrusted_hooks,
)
SERVERS = Servers(
    lambda project: hooks_file(project).with_name("config.toml"), lambda _: ("mcp_servers",), plain_entry
)

Payload = Mapping[str, object]


def read_hook(event: str, payload: Payload, at: int) -> list[Event]:
    """The events in one hook payload; `Unreadable` if it is not what its event must be."""
    name = event or string(payload.get("hook_event_name"))
    turn = ident(payload.get("turn_id"))
    if name == "UserPromptSubmit":
        if ident(payload.get("agent_id")):
            return []  # a sub-agent's task; it is in the call that started it
        if isinstance(asked := payload.get("prompt"), str):
            payload = {**payload, "prompt": typed_text(asked)}
    if name == "PostToolUse" and ident(payload.get("session_id")).strip():
        return _used(payload, at)
    events = claude_code.read_claude_payload(NAME, name, {**payload, "prompt_id": turn}, at)
    if name == "SubagentStop":
        return [replace(each, native_id=turn) if each.kind is Kind.SAID else each for each in events]
    return events


def _used(payload: Payload, at: int) -> list[Event]:
    tool = ident(payload.get("tool_name"))
    if not tool:
        raise Unreadable("no tool name")
    cwd, subagent = path(payload.get("cwd")), ident(payload.get("agent_id"))
    told = call_result(payload.get("tool_response"))
    make = partial(
        Event,
        NAME,
        ident(payload.get("session_id")),
        Kind.TOOL,
        at,
        tool=tool,
        transcript=path(payload.get("transcript_path")),
        where=Where(cwd),
        subagent=subagent,
        subagent_type=ident(payload.get("agent_type")) if subagent else "",
    )
    call, inputs = ident(payload.get("tool_use_id")), mapping(payload.get("tool_input"))
    return [
        make(
            text=use.text,
            action=use.action,
            target=use.target,
            outcome=use.outcome,
            native_id=native_id,
            recalled=use.recalled,
        )
        for native_id, use in tool_uses(tool, inputs, told, call, cwd)
    ]
