"""Whose word a memory is told as: the one place where words become somebody's, for briefs, notes and pages."""

from backstory.model import Memory, MemoryKind, Speaker, speaker

_LEADS = {
    (MemoryKind.DECISION, Speaker.USER): "The user decided",
    (MemoryKind.DECISION, Speaker.AGENT): "The agent decided",
    (MemoryKind.DECISION, Speaker.NOBODY): "Decided",
    (MemoryKind.PREFERENCE, Speaker.USER): "The user wants",
    (MemoryKind.PREFERENCE, Speaker.AGENT): "The agent says that the user wants",
    (MemoryKind.FACT, Speaker.USER): "Told to remember",
    (MemoryKind.FACT, Speaker.AGENT): "The agent noted",
    (MemoryKind.FACT, Speaker.NOBODY): "Noted",
}


def told_as(memory: Memory) -> str:
    """The words that lead a memory in; "" where none are needed, because rules observed it."""
    who = speaker(memory.said_by)
    if who is Speaker.TOOL:
        return "A tool or page said"
    noted = who is Speaker.AGENT and memory.agent == Speaker.USER  # an agent's own `remember`
    return _LEADS.get((memory.kind, who), "The agent noted" if noted else "")
