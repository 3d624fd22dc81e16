"""Claude Code: the hooks we install, where its settings and transcripts lie, and what its payloads mean.

A payload becomes events here, once; past this module nobody sees its keys. Codex and others send the same
payloads under their own name, so `read_claude_payload` takes the agent's name. What is not an event for us
(an internal sub-agent, a slash command's wrapper, an empty prompt) gives none.
"""

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from backstory.agents.agent import HookEvent, Surface, Unreadable
from backstory.agents.claude_texts import compact_summary, typed_text, wording_id
from backstory.agents.claude_tools import describe
from backstory.agents.mcp_lists import Servers, plain_entry
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
from backstory.model import Event, Kind, Outcome

NAME = "claude-code"

# Stop is the durable point; a hook that runs after every tool call never starts a worker.
HOOKS = (
    HookEvent("SessionStart", timeout=15, answers=True, wakes=True),
    HookEvent("UserPromptSubmit", timeout=10, note="prompt"),
    HookEvent("PreToolUse", timeout=10, note="before", matcher="Bash|Edit|MultiEdit|Write"),
    HookEvent("PostToolUse", timeout=10),
    HookEvent("PostToolUseFailure", timeout=10, note="after"),
    HookEvent("Stop", timeout=10, wakes=True),
    HookEvent("StopFailure", timeout=10, wakes=True),
    HookEvent("SubagentStop", timeout=10),
    HookEvent("PreCompact", timeout=10, wakes=True),
    HookEvent("PostCompact", timeout=10),
    HookEvent("SessionEnd", timeout=10, wakes=True),
)


def config_dir() -> Path:
    """Where this user's Claude Code keeps its things."""
    configured = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(configured) if configured else Path.home() / ".claude"


def settings_file(project: Path | None = None) -> Path:
    """The settings that hooks are written to: the user's, or those of one project that are not committed."""
    return project / ".claude" / "settings.local.json" if project else config_dir() / "settings.json"


def history_dir() -> Path:
    """Where transcripts lie: <folder per working directory>/<session id>.jsonl."""
    return config_dir() / "projects"


SURFACE = Surface("claude", config_dir, settings_file)


def _state_file(project: Path | None) -> Path:
    """Claude Code's own state: beside its folder, or inside it if that was moved."""
    folder = config_dir()
    return folder.with_name(".claude.json") if folder == Path.home() / ".claude" else folder / ".claude.json"


SERVERS = Servers(
    _state_file,
    lambda project: ("projects", str(project), "mcpServers") if project else ("mcpServers",),
    lambda start: {"type": "stdio", **plain_entry(start)},
)


# --- from payload to events -------------------------------------------------------------------------------

Payload = Mapping[str, object]
Make = Callable[..., Event]


def read_claude_payload(agent: str, event: str, payload: Payload, at: int) -> list[Event]:
    """The events in one hook payload; `Unreadable` if it is not what its event must be."""
    session = ident(payload.get("session_id"))
    if not session.strip():
        raise Unreadable("no session id")
    reader = _READERS.get(event or string(payload.get("hook_event_name")))
    if reader is None:
        return []
    return reader(payload, event_maker(agent, session, payload, at))


read_hook = partial(read_claude_payload, NAME)


def _session_started(payload: Payload, make: Make) -> list[Event]:
    return [make(Kind.SESSION_STARTED, reason=ident(payload.get("source")))]


def _prompted(payload: Payload, make: Make) -> list[Event]:
    prompt = payload.get("prompt")
    if not isinstance(prompt, str | list):
        raise Unreadable("no prompt")
    source = ident(payload.get("source"))
    text = typed_text(flatten_text(prompt))
    if not text or source == "system":
        return []
    shown = without_notes(text)
    return [
        make(
            Kind.PROMPT,
            text=head_and_tail(shown, INPUT_LIMIT),
            native_id=wording_id(ident(payload.get("prompt_id")), text),
            reason="" if source in ("user", "sdk") else source,
            recalled=not shown,
        )
    ]


def _tool_used(payload: Payload, make: Make) -> list[Event]:
    return [_tool(payload, make, error=None)]


def _tool_failed(payload: Payload, make: Make) -> list[Event]:
    return [_tool(payload, make, error=flatten_text(payload.get("error")))]


def _tool(payload: Payload, make: Make, error: str | None) -> Event:
    name = ident(payload.get("tool_name"))
    if not name:
        raise Unreadable("no tool name")
    use = describe(
        name,
        mapping(payload.get("tool_input")),
        payload.get("tool_response"),
        error,
        payload.get("is_interrupt") is True,
    )
    return use.event(make, name, ident(payload.get("tool_use_id")))


def assistant_event(text: str, prompt_id: str, make: Make) -> Event:
    """What the assistant said. Within its prompt, whose id it carries, its words tell it apart."""
    shown = without_notes(text)
    return make(Kind.SAID, text=head_and_tail(shown, INPUT_LIMIT), native_id=prompt_id, recalled=not shown)


def _stopped(payload: Payload, make: Make) -> list[Event]:
    last = string(payload.get("last_assistant_message")).strip()
    prompt_id = ident(payload.get("prompt_id"))
    ended = make(Kind.TURN_ENDED, outcome=Outcome.OK, native_id=wording_id(prompt_id, last))
    return [assistant_event(last, prompt_id, make), ended] if last else [ended]


def _stop_failed(payload: Payload, make: Make) -> list[Event]:
    error = flatten_text(payload.get("error"))
    details = (
        flatten_text(payload.get("error_details")) or string(payload.get("last_assistant_message")) or error
    )
    return [
        make(
            Kind.TURN_FAILED,
            text=head_and_tail(details.strip(), INPUT_LIMIT),
            outcome=Outcome.FAILED,
            reason=head_and_tail(error, 200),
            native_id=ident(payload.get("prompt_id")),
        )
    ]


def _subagent_stopped(payload: Payload, make: Make) -> list[Event]:
    if not string(payload.get("agent_type")):
        return []  # the client's own helpers (compaction starts two); nobody delegated to them
    last = string(payload.get("last_assistant_message")).strip()
    native_id = wording_id(ident(payload.get("agent_id")), last)
    ended = make(Kind.SUBAGENT_ENDED, outcome=Outcome.OK, native_id=native_id)
    return [assistant_event(last, "", make), ended] if last else [ended]


def _compacting(payload: Payload, make: Make) -> list[Event]:
    return [make(Kind.COMPACTING, reason=ident(payload.get("trigger")))]


def _compacted(payload: Payload, make: Make) -> list[Event]:
    text = compact_summary(flatten_text(payload.get("compact_summary")))
    native_id = wording_id(ident(payload.get("prompt_id")), text)
    return [make(Kind.COMPACTED, text=text, reason=ident(payload.get("trigger")), native_id=native_id)]


def _session_ended(payload: Payload, make: Make) -> list[Event]:
    return [make(Kind.SESSION_ENDED, reason=ident(payload.get("reason")))]


_READERS: dict[str, Callable[[Payload, Make], list[Event]]] = {
    "SessionStart": _session_started,
    "UserPromptSubmit": _prompted,
    "PostToolUse": _tool_used,
    "PostToolUseFailure": _tool_failed,
    "Stop": _stopped,
    "StopFailure": _stop_failed,
    "SubagentStop": _subagent_stopped,
    "PreCompact": _compacting,
    "PostCompact": _compacted,
    "SessionEnd": _session_ended,
}
