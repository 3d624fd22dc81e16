"""The agents, one row each, and the edge where what they send becomes events.

- `agent`                what a row says: hooks, how it takes answers, how to read it
- `mcp_lists`            where agents list MCP servers, and how an entry looks
- `claude_code`          Claude Code: its hooks, its settings, its payloads
- `claude_transcript`    Claude Code's own history, line by line
- `gemini_cli`           Gemini CLI; `gemini_history` its chats, `gemini_tools` its tools
- `copilot`              Copilot CLI; `copilot_history` its own history
- `codex`                Codex: its hooks, its payloads
- `codex_history`        Codex's own rollouts, line by line
- `codex_tools`          what a tool call of Codex comes to, however it was told
- `codex_texts`          what a person typed in Codex, summaries
- `qwen_code`            Qwen Code: its hooks, its settings, its payloads
- `qwen_history`         Qwen Code's own chats, line by line
- `opencode`             opencode: where its things lie
- `opencode_history`     opencode's sessions, from its database (`opencode_database`) or `opencode_files`
- `pi`, `pi_history`     pi: where its things lie; its session files, line by line
- `plugin_events`        what our plugins in opencode and pi send (`opencode_plugin.js`, `pi_extension.ts`)
- `plugin_tools`         what a tool call of opencode or pi comes to
- `json_lines`           what reading JSON lines has in common
- `history_source`       how an agent's own history is found and opened
- `importable_histories` every history that can be imported
- `markdown_history`     histories that are Markdown, read a session at a time
- `delimiters`           the text between two marks, found in one pass
- `aider`, `specstory`   two tools that keep nothing else
- `claude_tools`         what a tool call comes to: action, target, text, outcome
- `claude_texts`         what a person typed, and what only looks like it
- `call_pairing`         tool calls and their results, brought together in order
- `own_output`           telling our own words from the agent's
- `payload_fields`       reading foreign fields without trust; cutting texts
"""

from collections.abc import Mapping
from types import MappingProxyType

from backstory.agents import (
    claude_code,
    claude_transcript,
    codex,
    codex_history,
    copilot,
    copilot_history,
    gemini_cli,
    gemini_history,
    opencode,
    opencode_history,
    own_output,
    pi,
    pi_history,
    plugin_tools,
    qwen_code,
    qwen_history,
)
from backstory.agents.agent import Agent, Answering, HistoryReader, HookEvent, Unreadable
from backstory.agents.mcp_lists import in_settings
from backstory.errors import UsageError
from backstory.hook import agent_facts

__all__ = ["AGENTS", "Agent", "HistoryReader", "HookEvent", "Unreadable", "agent"]

AGENTS: Mapping[str, Agent] = MappingProxyType(
    {
        row.name: row
        for row in (
            Agent(
                name=claude_code.NAME,
                title="Claude Code",
                hooks=claude_code.HOOKS,
                read_hook=claude_code.read_hook,
                reader=claude_transcript.Reader,
                our_tools=own_output.TOOLS,
                answering=Answering(visible=True),
                surface=claude_code.SURFACE,
                resume="claude --resume {session}",
                tested="2.1.325",
                history=claude_transcript.HISTORY,
                servers=claude_code.SERVERS,
                instructions=("CLAUDE.md", "CLAUDE.md"),
            ),
            Agent(
                name=codex.NAME,
                title="Codex",
                hooks=codex.HOOKS,
                read_hook=codex.read_hook,
                reader=codex_history.Reader,
                our_tools=own_output.TOOLS,
                surface=codex.SURFACE,
                resume="codex resume {session}",
                tested="0.166.0",
                history=codex_history.HISTORY,
                limits=codex.LIMITS,
                answering=Answering(most_tokens=2_400),  # longer than 2,500 it shows in part
                servers=codex.SERVERS,
            ),
            Agent(
                name=gemini_cli.NAME,
                title="Gemini CLI",
                hooks=gemini_cli.HOOKS,
                read_hook=gemini_cli.read_hook,
                reader=gemini_history.Reader,
                our_tools=("mcp_backstory_*",),
                surface=gemini_cli.SURFACE,
                resume="gemini --resume {session}",
                tested="0.61.0",
                history=gemini_history.HISTORY,
                limits=gemini_cli.LIMITS,
                servers=in_settings(gemini_cli.SURFACE.settings),
                instructions=("GEMINI.md", "GEMINI.md"),
            ),
            Agent(
                name=copilot.NAME,
                title="Copilot CLI",
                hooks=copilot.HOOKS,
                read_hook=copilot.read_hook,
                reader=copilot_history.Reader,
                our_tools=("backstory-*",),
                surface=copilot.SURFACE,
                resume="copilot --resume={session}",
                tested="1.0.102",
                history=copilot_history.HISTORY,
                limits=copilot.LIMITS,
                answering=Answering(top_level=True, told_again=True),
                servers=copilot.SERVERS,
                instructions=("copilot-instructions.md", "AGENTS.md"),
            ),
            Agent(
                name=qwen_code.NAME,
                title="Qwen Code",
                hooks=qwen_code.HOOKS,
                read_hook=qwen_code.read_hook,
                reader=qwen_history.Reader,
                our_tools=own_output.TOOLS,
                surface=qwen_code.SURFACE,
                resume="qwen --resume {session}",
                tested="0.24.4",
                history=qwen_history.HISTORY,
                limits=qwen_code.LIMITS,
                answering=Answering(told_again=True),
                servers=in_settings(qwen_code.SURFACE.settings),
                instructions=("QWEN.md", "QWEN.md"),
            ),
            Agent(
                name=opencode.NAME,
                title="opencode",
                hooks=opencode.HOOKS,
                read_hook=opencode.read_hook,
                reader=None,
                our_tools=plugin_tools.OUR_TOOLS,
                surface=opencode.SURFACE,
                resume="opencode --session {session}",
                tested="1.18.33",
                history=opencode_history.HISTORY,
                limits=opencode.LIMITS,
                servers=opencode.SERVERS,
            ),
            Agent(
                name=pi.NAME,
                title="pi",
                hooks=pi.HOOKS,
                read_hook=pi.read_hook,
                reader=pi_history.Reader,
                our_tools=plugin_tools.OUR_TOOLS,
                surface=pi.SURFACE,
                resume="pi --session {session}",
                tested="0.87.1",
                history=pi_history.HISTORY,
                limits=pi.LIMITS,
            ),
        )
    }
)


def _facts(row: Agent) -> "agent_facts.Facts":
    """What hooks must know of an agent, as plain values."""
    return {
        "top_level": row.answering.top_level,
        "visible": row.answering.visible,
        "most_tokens": row.answering.most_tokens,
        "told_again": row.answering.told_again,
        "answers": [hook.name for hook in row.hooks if hook.answers],
        "delivers": [hook.name for hook in row.hooks if hook.delivers],
        "wakes": [hook.name for hook in row.hooks if hook.wakes],
        "notes": {hook.name: hook.note for hook in row.hooks if hook.note},
    }


agent_facts.FACTS.update({row.name: _facts(row) for row in AGENTS.values()})


def agent(name: str) -> Agent:
    """The agent of that name."""
    try:
        return AGENTS[name]
    except KeyError:
        known = ", ".join(sorted(AGENTS))
        raise UsageError(f"no agent is called {name!r}: known are {known}") from None
