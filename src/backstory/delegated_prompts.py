"""Prompts that an agent gave to another agent by a command: `claude -p "…"`, `codex exec "…"`.

The client of the other agent says that its user typed them. They are the first agent's words, and the command
that holds them tells so; it is known only when it ends, often after the session that it started.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from backstory.agents import AGENTS
from backstory.model import Draft, Kind, Speaker, StoredEvent
from backstory.store import Store

_WORD = re.compile(r"\w+")
_NAMES = "|".join(re.escape(each.surface.program) for each in AGENTS.values() if each.surface)
_PROGRAM = re.compile(rf"\b(?:{_NAMES})\b")
_LEAST_WORDS = 4
_LONGEST_MS, _BEFORE_MS = 6 * 3_600_000, 600_000  # a command runs so long; one in the background ends at once


def starts_agents(command: str) -> bool:
    """Whether a command may start an agent."""
    return _PROGRAM.search(command) is not None


def started_sessions(store: Store, events: Iterable[StoredEvent]) -> list[str]:
    """The other sessions whose prompts stand in commands of these events."""
    found: dict[str, None] = {}
    for stored in events:
        event = stored.event
        if event.action == "run" and starts_agents(event.target):
            command = _words(event.target)
            prompts = store.events.prompts_between(event.at - _LONGEST_MS, event.at + _BEFORE_MS)
            found.update(
                (sid, None) for sid, text in prompts if sid != stored.session_id and _holds(command, text)
            )
    return list(found)


def whose(store: Store, session_id: str, events: Sequence[StoredEvent], drafts: list[Draft]) -> list[Draft]:
    """The drafts of a session; what rests on a prompt that a command gave is its agent's word."""
    given = {
        stored.id
        for stored in events
        if stored.event.kind is Kind.PROMPT and _is_given(store, session_id, stored)
    }
    return [
        replace(draft, said_by=Speaker.AGENT)
        if draft.said_by == Speaker.USER and not given.isdisjoint(draft.sources)
        else draft
        for draft in drafts
    ]


def _is_given(store: Store, session_id: str, stored: StoredEvent) -> bool:
    event = stored.event
    if len(_WORD.findall(event.text)) < _LEAST_WORDS:
        return False
    commands = store.events.commands_between(event.at - _BEFORE_MS, event.at + _LONGEST_MS)
    return any(
        sid != session_id and starts_agents(command) and _holds(_words(command), event.text)
        for sid, command in commands
    )


def _holds(command: str, prompt: str) -> bool:
    """Whether a prompt's words stand in a command, however it is quoted there."""
    words = _WORD.findall(prompt.lower())
    return len(words) >= _LEAST_WORDS and f" {' '.join(words)} " in command


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.lower()))} "
