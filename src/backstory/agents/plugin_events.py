"""What our plugins in opencode and pi send, and the events that they and the histories both make.

The two agents have no shell hooks. A plugin file of ours listens inside them and hands each event to the same
script, as a payload of our own making, close to Claude Code's. Whatever the agent has an id for carries it
(`message_id`, `tool_use_id`), and the histories hold the same ids: a turn's end is known by the message that
ended it. So a session captured live and read again from history meets in the same rows.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from backstory.agents.agent import HookEvent, Unreadable
from backstory.agents.own_output import without_notes
from backstory.agents.payload_fields import (
    INPUT_LIMIT,
    SUMMARY_LIMIT,
    event_maker,
    flatten_text,
    head_and_tail,
    ident,
    mapping,
    string,
)
from backstory.agents.plugin_tools import tool_event
from backstory.model import Event, Kind, Outcome

HOOKS = (
    HookEvent("SessionStart", timeout=15, answers=True, wakes=True),
    HookEvent("UserPromptSubmit", timeout=10),
    HookEvent("PostToolUse", timeout=10),
    HookEvent("PostToolUseFailure", timeout=10),
    HookEvent("Stop", timeout=10, wakes=True),
    HookEvent("StopFailure", timeout=10, wakes=True),
    HookEvent("PreCompact", timeout=10, wakes=True),
    HookEvent("PostCompact", timeout=10),
    HookEvent("SessionEnd", timeout=10, wakes=True),
)

Payload = Mapping[str, object]
Make = Callable[..., Event]


# --- events, made alike from payloads and from histories --------------------------------------------------


def prompt_events(make: Make, text: str, message: str) -> list[Event]:
    """What somebody typed; nothing if there are no words in it."""
    text = text.strip()
    if not text:
        return []
    shown = without_notes(text)
    return [make(Kind.PROMPT, text=head_and_tail(shown, INPUT_LIMIT), native_id=message, recalled=not shown)]


def speech_events(make: Make, kind: Kind, text: str, part: str) -> list[Event]:
    """What the agent said or thought."""
    text = text.strip()
    if not text:
        return []
    shown = without_notes(text)
    return [make(kind, text=head_and_tail(shown, INPUT_LIMIT), native_id=part, recalled=not shown)]


def turn_end_event(make: Make, message: str, subagent: bool, interrupted: bool = False) -> Event:
    """The end of a turn, or of what a sub-agent was asked for."""
    kind = Kind.SUBAGENT_ENDED if subagent else Kind.TURN_ENDED
    outcome = Outcome.INTERRUPTED if interrupted else Outcome.OK
    return make(kind, outcome=outcome, reason="interrupted" if interrupted else "", native_id=message)


def turn_failure_event(make: Make, error: str, details: str, message: str) -> Event:
    """A turn that an error ended."""
    return make(
        Kind.TURN_FAILED,
        text=head_and_tail((details or error).strip(), INPUT_LIMIT),
        outcome=Outcome.FAILED,
        reason=head_and_tail(error, 200),
        native_id=message,
    )


def compaction_events(make: Make, summary: str, trigger: str, entry: str) -> list[Event]:
    """What was kept of a conversation that grew too long, or of a branch that was left."""
    text = without_notes(summary.strip())
    return [make(Kind.COMPACTED, text=head_and_tail(text, SUMMARY_LIMIT), reason=trigger, native_id=entry)]


# --- payloads ---------------------------------------------------------------------------------------------


def render_plugin(template: str, commands: Mapping[str, str]) -> str:
    """A plugin file: the template of this name with each event's command in it."""
    text = Path(__file__).with_name(template).read_text("utf-8")
    return text.replace("@COMMANDS@", json.dumps(dict(commands), indent=2))


def read_plugin_payload(
    agent: str, typed: Callable[[str], str], event: str, payload: Payload, at: int
) -> list[Event]:
    """The events in one payload of a plugin of ours; `typed` gives what was typed of a prompt."""
    session = ident(payload.get("session_id"))
    if not session.strip():
        raise Unreadable("no session id")
    reader = _READERS.get(event or string(payload.get("hook_event_name")))
    if reader is None:
        return []
    if isinstance(prompt := payload.get("prompt"), str):
        payload = {**payload, "prompt": typed(prompt)}
    return reader(payload, event_maker(agent, session, payload, at))


def _message(payload: Payload) -> str:
    return ident(payload.get("message_id"))


def _session_started(payload: Payload, make: Make) -> list[Event]:
    source = "resume" if payload.get("resumed") is True else ident(payload.get("source"))
    return [make(Kind.SESSION_STARTED, reason=source)]


def _prompted(payload: Payload, make: Make) -> list[Event]:
    if not isinstance(prompt := payload.get("prompt"), str):
        raise Unreadable("no prompt")
    branch = "branch" if payload.get("branched") is True else ""
    return prompt_events(partial(make, reason=branch), prompt, _message(payload))


def _tool(payload: Payload, make: Make, failure: bool) -> list[Event]:
    name = ident(payload.get("tool_name"))
    if not name:
        raise Unreadable("no tool name")
    error = string(payload.get("error")) if failure else None
    output, call = flatten_text(payload.get("tool_response")), ident(payload.get("tool_use_id"))
    stopped = payload.get("is_interrupt") is True
    return [tool_event(name, mapping(payload.get("tool_input")), output, error, make, call, stopped)]


def _said(payload: Payload, make: Make) -> list[Event]:
    """The words of one message, each part under its own id where parts have ids."""
    part = ident(payload.get("part_id")) or _message(payload)
    thought = speech_events(make, Kind.REASONED, string(payload.get("thinking")), part)
    return thought + speech_events(make, Kind.SAID, string(payload.get("last_assistant_message")), part)


def _stopped(payload: Payload, make: Make) -> list[Event]:
    interrupted = payload.get("is_interrupt") is True
    subagent = bool(ident(payload.get("agent_id")))
    return [*_said(payload, make), turn_end_event(make, _message(payload), subagent, interrupted)]


def _stop_failed(payload: Payload, make: Make) -> list[Event]:
    error = flatten_text(payload.get("error"))
    return [turn_failure_event(make, error, flatten_text(payload.get("error_details")), _message(payload))]


def _compacting(payload: Payload, make: Make) -> list[Event]:
    return [make(Kind.COMPACTING, reason=ident(payload.get("trigger")))]


def _compacted(payload: Payload, make: Make) -> list[Event]:
    summary = string(payload.get("compact_summary"))
    return compaction_events(make, summary, ident(payload.get("trigger")), _message(payload))


def _session_ended(payload: Payload, make: Make) -> list[Event]:
    return [make(Kind.SESSION_ENDED, reason=ident(payload.get("reason")))]


_READERS: dict[str, Callable[[Payload, Make], list[Event]]] = {
    "SessionStart": _session_started,
    "UserPromptSubmit": _prompted,
    "PostToolUse": partial(_tool, failure=False),
    "PostToolUseFailure": partial(_tool, failure=True),
    "AssistantSaid": _said,
    "Stop": _stopped,
    "SubagentStop": _stopped,
    "StopFailure": _stop_failed,
    "PreCompact": _compacting,
    "PostCompact": _compacted,
    "SessionEnd": _session_ended,
}
