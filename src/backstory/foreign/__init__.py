"""Other memory tools, for people who switch: what they have kept becomes events here, each once.

Each tool is a history like an agent's (`agents/history.py`): it is found, read as lines, and stored by the
importer. The events' agent is the tool, so that everywhere it shows who says so: nothing of it was observed by
us, and nothing of it is the user's own word but the prompts.

- `claude_mem`, `cce`, `mempalace`  tools that keep a database
- `memoria`, `memory_md`            tools that keep Markdown
- `tables`   another tool's database, read and never touched
- `rows`     rows of theirs as lines, and the reader of such lines
- `pen`      what they say, written as events
- `pages`    Markdown: frontmatter, sections, days
- `folders`  the real folders behind the names that tools keep
- `recalled` events of theirs → memories, also on a rebuild
"""

from collections.abc import Mapping
from types import MappingProxyType

from backstory.agents.history import Source
from backstory.foreign import cce, claude_mem, memoria, memory_md, mempalace

__all__ = ["FOREIGN"]

FOREIGN: Mapping[str, Source] = MappingProxyType(
    {
        source.agent: source
        for source in (
            Source(claude_mem.NAME, "claude-mem", claude_mem.History(), whole=True),
            Source(cce.NAME, "code-context-engine", cce.History(), whole=True),
            Source(mempalace.NAME, "MemPalace", mempalace.History(), whole=True),
            Source(memoria.NAME, "memoria", memoria.History(), whole=True, replaces=True),
            Source(memory_md.NAME, "MEMORY.md files", memory_md.History(), whole=True, replaces=True),
        )
    }
)
