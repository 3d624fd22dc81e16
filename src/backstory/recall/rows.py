"""A memory as a row that hooks tell: who decided, who wants, what was noted."""

from typing import Any

from backstory.model import Memory, MemoryKind

Row = dict[str, Any]
REASON_CHARS = 200


def row(section: str, memory: Memory, label: str = "") -> Row:
    """The row of a memory in a section of a brief, or among the notes; `label` says how it stands today."""
    text = memory.text
    if memory.kind is MemoryKind.DECISION:
        who = {"user": "The user decided", "assistant": "The agent decided"}.get(memory.said_by, "Decided")
        text = f"{who}: {text}"
        if memory.reason and memory.reason not in text:
            text = f"{text} ({_cut(memory.reason, REASON_CHARS).rstrip('.')})"
    elif memory.kind is MemoryKind.PREFERENCE:
        text = f"The user wants: {text}"
    elif memory.kind is MemoryKind.FACT:
        text = f"{'Told to remember' if memory.said_by == 'user' else 'Noted'}: {text}"
    if label:
        text = f"{text} [{label}]"
    return {
        "id": memory.id,
        "section": section,
        "text": text,
        "at": memory.at,
        "agent": memory.agent,
        "session": memory.session_id,
    }


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
