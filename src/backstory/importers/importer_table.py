"""The memory tools that somebody may switch from, by the names that `backstory import` takes."""

from collections.abc import Mapping
from types import MappingProxyType

from backstory.agents.history_source import Source
from backstory.importers import cce, claude_mem, memoria, memory_md, mempalace

FOREIGN: Mapping[str, Source] = MappingProxyType(
    {
        source.agent: source
        for source in (
            Source(claude_mem.NAME, "claude-mem", claude_mem.History(), whole=True, rewrites=True),
            Source(cce.NAME, "code-context-engine", cce.History(), whole=True, rewrites=True),
            Source(mempalace.NAME, "MemPalace", mempalace.History(), whole=True, rewrites=True),
            Source(memoria.NAME, "memoria", memoria.History(), whole=True, replaces=True),
            Source(memory_md.NAME, "MEMORY.md files", memory_md.History(), whole=True, replaces=True),
        )
    }
)
