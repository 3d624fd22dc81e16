"""Every history that can be imported: those of the agents, and of tools that only write Markdown."""

from backstory.agents import AGENTS, aider, specstory
from backstory.agents.history import Source
from backstory.errors import UsageError


def histories() -> dict[str, Source]:
    """All sources by name, in the order of the agents' table."""
    agents = {
        row.name: Source(row.name, row.title, row.history, row.our_tools)
        for row in AGENTS.values()
        if row.history is not None
    }
    return {**agents, aider.NAME: aider.SOURCE, specstory.NAME: specstory.SOURCE}


def history_of(name: str) -> Source:
    """The source of that name."""
    known = histories()
    if name not in known:
        names = ", ".join([*sorted(known), "docs"])
        raise UsageError(f"nothing to import is called {name!r}: known are {names}")
    return known[name]
