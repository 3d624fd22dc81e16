"""Gemini CLI: the hooks we install, where its settings and chats lie, and what its payloads mean.

Its hooks know neither prompt ids nor tool call ids, so live capture and its chats meet by words and count.
AfterAgent tells all that was said in a turn as one text; the chat, which is read then, has it message by
message and in its place. PreCompress runs before every model call, compression or not, so it is not hooked:
a compression is read from the chat.
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from backstory.agents.agent import Grouped, HookEvent, Surface, Unreadable
from backstory.agents.claude_code import Make, Payload
from backstory.agents.gemini_tools import tool_event
from backstory.agents.own_output import without_notes
from backstory.agents.payload_fields import (
    INPUT_LIMIT,
    flatten_text,
    head_and_tail,
    ident,
    mapping,
    path,
    string,
)
from backstory.model import Event, Kind, Outcome, Where

NAME = "gemini-cli"
LIMITS = (
    "Its chats do not tell when a turn ended, so an imported session has no ends of turns. Compressions "
    "are read from the chat, when the turn ends."
)

HOOKS = (
    HookEvent("SessionStart", timeout=15, answers=True, wakes=True),
    HookEvent("BeforeAgent", timeout=10, delivers=True, note="prompt"),
    HookEvent("AfterTool", timeout=10),
    HookEvent("AfterAgent", timeout=10, wakes=True),
    HookEvent("SessionEnd", timeout=10, wakes=True),
)


def config_dir() -> Path:
    """Where this user's Gemini CLI keeps its things."""
    return Path(os.environ.get("GEMINI_CLI_HOME") or Path.home()) / ".gemini"


def settings_file(project: Path | None = None) -> Path:
    """The settings that hooks are written to; those of a project are committed with it."""
    return (project / ".gemini" if project else config_dir()) / "settings.json"


SURFACE = Surface(
    "gemini",
    config_dir,
    settings_file,
    Grouped(per_second=1000, extra=(("name", "backstory"),), off=(("hooksConfig", "enabled"), False)),
)


# --- from payload to events -------------------------------------------------------------------------------

_INJECTED = ("<hook_context>", "</hook_context>")
_REFERENCED = "--- Content from referenced files ---"


def typed_text(text: str) -> str:
    """What the user typed: without what hooks injected, and without the files that an @ named."""
    opening, closing = _INJECTED
    while (start := text.find(opening)) >= 0:
        end = text.find(closing, start)
        text = text[:start] + (text[end + len(closing) :] if end >= 0 else "")
    return text.partition(_REFERENCED)[0].strip()


def prompt_events(text: str, make: Make) -> list[Event]:
    """The prompt, or nothing when nobody typed it."""
    words = typed_text(text)
    if not words or words.startswith("<session_context>"):
        return []
    shown = without_notes(words)
    return [make(Kind.PROMPT, text=head_and_tail(shown, INPUT_LIMIT), recalled=not shown)]


def read_hook(event: str, payload: Payload, at: int) -> list[Event]:
    """The events in one hook payload; `Unreadable` if it is not what its event must be."""
    session = ident(payload.get("session_id"))
    if not session.strip():
        raise Unreadable("no session id")
    reader = _READERS.get(event or string(payload.get("hook_event_name")))
    if reader is None:
        return []
    transcript, where = path(payload.get("transcript_path")), Where(path(payload.get("cwd")))
    return reader(payload, partial(Event, NAME, session, at=at, transcript=transcript, where=where))


def _started(payload: Payload, make: Make) -> list[Event]:
    source = ident(payload.get("source"))
    # a session that is resumed goes on in its old chat, but this early it names one that stays empty
    chat = {"transcript": ""} if source == "resume" else {}
    return [make(Kind.SESSION_STARTED, reason=source, **chat)]


def _prompted(payload: Payload, make: Make) -> list[Event]:
    prompt = payload.get("prompt")
    if not isinstance(prompt, str | list):
        raise Unreadable("no prompt")
    return prompt_events(flatten_text(prompt), make)


def _tool_used(payload: Payload, make: Make) -> list[Event]:
    name = ident(payload.get("tool_name"))
    if not name:
        raise Unreadable("no tool name")
    response = mapping(payload.get("tool_response"))
    error = response.get("error")
    failed = flatten_text(mapping(error).get("message")) or flatten_text(error) if error else None
    return [
        tool_event(
            name, mapping(payload.get("tool_input")), flatten_text(response.get("llmContent")), failed, make
        )
    ]


def _stopped(_: Payload, make: Make) -> list[Event]:
    return [make(Kind.TURN_ENDED, outcome=Outcome.OK)]


def _ended(payload: Payload, make: Make) -> list[Event]:
    return [make(Kind.SESSION_ENDED, reason=ident(payload.get("reason")))]


_READERS: dict[str, Callable[[Payload, Make], list[Event]]] = {
    "SessionStart": _started,
    "BeforeAgent": _prompted,
    "AfterTool": _tool_used,
    "AfterAgent": _stopped,
    "SessionEnd": _ended,
}
