"""The agents, one row each, and the edge where what they send becomes events.

- `agent`              what a row says: hooks, answer shape, how to read it
- `claude_code`        Claude Code: its hooks, its settings, its payloads
- `claude_transcript`  Claude Code's own history, line by line
- `claude_tools`       what a tool call comes to: action, target, text, outcome
- `claude_texts`       what a person typed, and what only looks like it
- `pairing`            tool calls and their results, brought together in order
- `ours`               telling our own words from the agent's
- `fields`             reading foreign fields without trust; cutting texts
"""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from backstory.agents import claude_code, claude_transcript, ours
from backstory.agents.agent import Agent, HistoryReader, HookEvent, Unreadable
from backstory.errors import UsageError

__all__ = ["AGENTS", "Agent", "HistoryReader", "HookEvent", "Unreadable", "agent"]

AGENTS: Mapping[str, Agent] = MappingProxyType(
    {
        row.name: row
        for row in (
            Agent(
                name=claude_code.NAME,
                title="Claude Code",
                hooks=claude_code.HOOKS,
                shape="hook_specific",
                read_hook=claude_code.read_hook,
                reader=claude_transcript.Reader,
                our_tools=ours.TOOLS,
                surface=claude_code.SURFACE,
                resume="claude --resume {session}",
                tested="2.1.325",
            ),
            # Codex takes a brief in this shape (and ignores one with a key too many); its hooks come later.
            Agent(
                name="codex",
                title="Codex",
                hooks=(),
                shape="hook_specific",
                read_hook=partial(claude_code.read, "codex"),
                reader=None,
                our_tools=ours.TOOLS,
            ),
        )
    }
)


def agent(name: str) -> Agent:
    """The agent of that name."""
    try:
        return AGENTS[name]
    except KeyError:
        known = ", ".join(sorted(AGENTS))
        raise UsageError(f"no agent is called {name!r}: known are {known}") from None
