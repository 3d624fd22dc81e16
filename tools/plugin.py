"""The hooks of the plugin for Claude Code, made from the agent's own row; `make docs` writes them."""

import json

from backstory.agents import AGENTS

_LAUNCHER = '"$CLAUDE_PLUGIN_ROOT/hooks/launch.sh"'


def claude_code_hooks() -> str:
    """plugins/claude-code/hooks/hooks.json: every event that `backstory install` hooks, too."""
    agent = AGENTS["claude-code"]
    hooks = {
        hook.name: [
            ({"matcher": hook.matcher} if hook.matcher else {})
            | {
                "hooks": [
                    {
                        "type": "command",
                        "command": f"trap 'exit 0' EXIT; BACKSTORY_AGENT={agent.name} "
                        f"BACKSTORY_EVENT={hook.name}; [ -r {_LAUNCHER} ] && . {_LAUNCHER}; exit 0",
                        "timeout": hook.timeout,
                    }
                ]
            }
        ]
        for hook in agent.hooks
    }
    value = {"description": "Backstory: capture each session, brief the next one", "hooks": hooks}
    return json.dumps(value, indent=2) + "\n"
