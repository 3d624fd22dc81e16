"""What a person asks to remember: an act like any event, and the memory it becomes, also on a rebuild."""

from backstory.model import Draft, MemoryKind

USER = "user"


def fact(event_id: str, text: str, at: int) -> Draft:
    """The memory of one such act."""
    return Draft(MemoryKind.FACT, text, text, at, (event_id,), said_by=USER, weight=2.0, auto=False)
