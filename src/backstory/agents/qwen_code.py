"""Qwen Code: the hooks we install, where its things lie, and what its payloads mean.

They are Claude Code's payloads with Gemini CLI's tools in them. Its own are a hook without a prompt after
every tool result, timeouts in milliseconds, no SessionEnd when it runs headless. Its chats do not carry the
prompts' ids, so live capture and chats meet by words and count; a tool call has the model's own id in both.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from backstory.agents import claude_code, gemini_tools
from backstory.agents.agent import Grouped, HookEvent, Surface, Unreadable
from backstory.agents.claude_code import Make, Payload
from backstory.agents.gemini_cli import typed_text
from backstory.agents.own_output import without_notes
from backstory.agents.payload_fields import (
    INPUT_LIMIT,
    event_maker,
    flatten_text,
    head_and_tail,
    ident,
    mapping,
    string,
)
from backstory.model import Event, Kind

NAME = "qwen-code"
LIMITS = (
    "Headless it runs no hook when a session ends: that one counts as ended when it has long been silent. "
    "It keeps nothing that was injected: a session that is taken up again is told everything again, once."
)

HOOKS = (
    HookEvent("SessionStart", timeout=15, answers=True, wakes=True),
    HookEvent("UserPromptSubmit", timeout=10, note="prompt"),
    HookEvent("PostToolUse", timeout=10),
    HookEvent("PostToolUseFailure", timeout=10),
    HookEvent("Stop", timeout=10, wakes=True),
    HookEvent("StopFailure", timeout=10, wakes=True),
    HookEvent("SubagentStop", timeout=10),
    HookEvent("PreCompact", timeout=10, wakes=True),
    HookEvent("SessionEnd", timeout=10, wakes=True),
)


def config_dir() -> Path:
    """Where this user's Qwen Code keeps its things."""
    return Path(os.environ.get("QWEN_HOME") or Path.home() / ".qwen")


def settings_file(project: Path | None = None) -> Path:
    """The settings that hooks are written to; those of a project are committed with it."""
    return (project / ".qwen" if project else config_dir()) / "settings.json"


def history_dir() -> Path:
    """Where chats lie: <folder per working directory>/chats/<session>.jsonl; sub-agents' beside them."""
    return Path(os.environ.get("QWEN_RUNTIME_DIR") or config_dir()) / "projects"


SURFACE = Surface("qwen", config_dir, settings_file, Grouped(per_second=1000))

# Tools that do what one of Claude Code's does; the others are named as in Gemini CLI.
_ALIKE = {
    "agent": "Agent",
    "task": "Agent",
    "todo_write": "TodoWrite",
    "exit_plan_mode": "ExitPlanMode",
    "ask_user_question": "AskUserQuestion",
    "web_search": "WebSearch",
}
_SHELL = "run_shell_command"
_OF_A_CALL = "-call_"


def read_hook(event: str, payload: Payload, at: int) -> list[Event]:
    """The events in one hook payload; `Unreadable` if it is not what its event must be."""
    name = event or string(payload.get("hook_event_name"))
    reader = _READERS.get(name)
    if reader is None:
        return claude_code.read_claude_payload(NAME, name, {**payload, "prompt_id": ""}, at)
    session, subagent = ident(payload.get("session_id")), ident(payload.get("agent_id"))
    if not session.strip():
        raise Unreadable("no session id")
    typed = {**payload, "agent_type": subagent.partition(_OF_A_CALL)[0]}
    return reader(payload, event_maker(NAME, session, typed, at))


def _prompted(payload: Payload, make: Make) -> list[Event]:
    submitted = payload.get("submitted_prompt", payload.get("prompt"))
    if not isinstance(submitted, str | list):
        raise Unreadable("no prompt")
    return prompt_events(flatten_text(submitted), make)


def prompt_events(text: str, make: Make) -> list[Event]:
    """The prompt, or nothing when nobody typed it."""
    words = typed_text(text)
    shown = without_notes(words)
    return [make(Kind.PROMPT, text=head_and_tail(shown, INPUT_LIMIT), recalled=not shown)] if words else []


def _tool_used(payload: Payload, make: Make) -> list[Event]:
    return [_tool(payload, flatten_text(mapping(payload.get("tool_response")).get("llmContent")), None, make)]


def _tool_failed(payload: Payload, make: Make) -> list[Event]:
    return [_tool(payload, "", flatten_text(payload.get("error")), make)]


def _tool(payload: Payload, output: str, error: str | None, make: Make) -> Event:
    name = ident(payload.get("tool_name"))
    if not name:
        raise Unreadable("no tool name")
    call = ident(payload.get("tool_call_id")) or ident(payload.get("tool_use_id"))
    interrupted = payload.get("is_interrupt") is True
    return tool_event(name, mapping(payload.get("tool_input")), output, error, call, make, interrupted)


def tool_event(
    name: str,
    inputs: Mapping[str, object],
    output: str,
    error: str | None,
    call: str,
    make: Make,
    interrupted: bool = False,
) -> Event:
    """The event of one call; `error` is what it failed with, None if it did not."""
    if name == _SHELL and error:
        output, error = error, None  # in sections, the exit code among them
    event = gemini_tools.tool_event(_ALIKE.get(name, name), inputs, output, error, make, interrupted)
    return replace(event, tool=name, native_id=call)


_READERS = {"UserPromptSubmit": _prompted, "PostToolUse": _tool_used, "PostToolUseFailure": _tool_failed}
