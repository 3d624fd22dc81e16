"""Every history that can be imported: those of the agents, and what is only imported when it is named."""

from backstory.agents import AGENTS, aider, specstory
from backstory.agents.history_source import Source
from backstory.errors import UsageError
from backstory.importers.importer_table import FOREIGN


def histories() -> dict[str, Source]:
    """All agents' sources by name, in the order of their table, and those of tools that write Markdown."""
    agents = {
        row.name: Source(row.name, row.title, row.history, row.our_tools)
        for row in AGENTS.values()
        if row.history is not None
    }
    return {**agents, aider.NAME: aider.SOURCE, specstory.NAME: specstory.SOURCE}


def history_of(name: str) -> Source:
    """The source of that name: an agent, or a memory tool that somebody switches from."""
    known = {**histories(), **FOREIGN}
    if name not in known:
        names = ", ".join([*sorted(known), "docs", "backstory"])
        raise UsageError(f"nothing to import is called {name!r}: known are {names}")
    return known[name]
