"""GitHub Copilot CLI: the hooks we install, where they and its sessions lie, and what its payloads mean.

Hooks under Claude Code's event names get payloads like Claude Code's, with a few words of their own; they
are put into Claude Code's words and read as such. They know neither prompt ids nor tool call ids, so live
capture and history meet by words and count. A sub-agent's hooks carry its own id as the session's and name
its parent. What the agent said is told by its history alone, and so are failed turns: ErrorOccurred runs for
every retry.
"""

import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from backstory.agents import claude_code
from backstory.agents.agent import HookEvent, Owned, Surface
from backstory.agents.mcp_lists import Servers, plain_entry
from backstory.agents.payload_fields import flatten_text, ident, mapping, string
from backstory.model import Event

NAME = "copilot"
LIMITS = (
    "What it said, and that a turn failed, is told by its history alone, which is read when the turn "
    "ends. It keeps nothing that was injected: a session that is taken up again is told everything again, "
    "once."
)

HOOKS = (
    HookEvent("SessionStart", timeout=15, answers=True, wakes=True),
    HookEvent("UserPromptSubmit", timeout=10, note="prompt"),
    HookEvent("PostToolUse", timeout=10),
    HookEvent("PostToolUseFailure", timeout=10),
    HookEvent("Stop", timeout=10, wakes=True),
    HookEvent("SubagentStop", timeout=10),
    HookEvent("PreCompact", timeout=10, wakes=True),
    HookEvent("SessionEnd", timeout=10, wakes=True),
)


def config_dir() -> Path:
    """Where this user's Copilot keeps its things."""
    return Path(os.environ.get("COPILOT_HOME") or Path.home() / ".copilot")


def hooks_file(project: Path | None = None) -> Path:
    """The file that is all ours; that of a project runs where Copilot trusts the folder."""
    folder = project / ".github" if project else config_dir()
    return folder / "hooks" / "backstory.json"


def history_file(session: str) -> Path:
    """Where a session's own history lies; only Stop tells it."""
    return config_dir() / "session-state" / session / "events.jsonl"


def hooks_text(commands: Mapping[str, str]) -> str:
    """The hooks file: each event's command, under the key of the shell that this system has."""
    hooks = {
        hook.name: [{"type": "command", **_in_shell(commands[hook.name]), "timeoutSec": hook.timeout}]
        for hook in HOOKS
    }
    return json.dumps({"version": 1, "hooks": hooks}, indent=2) + "\n"


def _in_shell(command: str) -> dict[str, str]:
    """On Windows the command is one of cmd.exe, and Copilot gives it to PowerShell."""
    if sys.platform == "win32":
        return {"powershell": "cmd /d /s /c '" + command.replace("'", "''") + "'"}
    return {"bash": command}


SURFACE = Surface("copilot", config_dir, hooks_file, Owned(hooks_text))
SERVERS = Servers(
    lambda project: None if project else config_dir() / "mcp-config.json",
    lambda _: ("mcpServers",),
    lambda start: {"type": "local", **plain_entry(start), "tools": ["*"]},
)


# --- from payload to events -------------------------------------------------------------------------------

# Its own names, which history has, and those of Claude Code, which it gives to hooks.
_TOOLS = {
    "bash": "Bash",
    "powershell": "PowerShell",
    "view": "Read",
    "create": "Write",
    "edit": "Edit",
    "str_replace": "Edit",
    "grep": "Grep",
    "glob": "Glob",
    "web_fetch": "WebFetch",
    "web_search": "WebSearch",
    "task": "Agent",
    "ask_user": "AskUserQuestion",
    "update_todo": "TodoWrite",
}
_INPUTS = {
    "path": "file_path",
    "file_text": "content",
    "old_str": "old_string",
    "new_str": "new_string",
}
_EXIT_CODE = re.compile(r"(?:(?<!\s)\s++)?<shellId: [^<>]{0,200} completed with exit code (-?\d+)>\s*+\Z")
_RUNNING = re.compile(
    r"(?:(?<!\s)\s++)?<[^<>]{0,400}\b(?:started in background|running)\b[^<>]{0,400}>\s*+\Z"
)
# What a sub-agent is asked stands in the call that started it, its end in SubagentStop.
_OF_A_SUBAGENT = ("UserPromptSubmit", "Stop", "PreCompact")


def not_typed(prompt: str) -> bool:
    """Whether a prompt is news of Copilot's own, such as the end of a command in the background."""
    return prompt.lstrip().startswith("<system_notification>")


def tool_name(name: str) -> str:
    """A tool's name as hooks have it."""
    return _TOOLS.get(name, name)


def tool_inputs(arguments: object) -> dict[str, object]:
    """A call's arguments under Claude Code's names."""
    return {_INPUTS.get(name, name): value for name, value in mapping(arguments).items()}


def tool_result(tool: str, text: str) -> tuple[object, str | None]:
    """What a tool gave back, as `describe` takes it: response, and error if its command failed."""
    if tool not in ("Bash", "PowerShell"):
        return text, None
    if ended := _EXIT_CODE.search(text):
        output = text[: ended.start()]
        failed = ended[1] != "0"
        return {"stdout": output}, f"Exit code {ended[1]}\n{output}" if failed else None
    if running := _RUNNING.search(text):
        return {"stdout": text[: running.start()], "backgroundTaskId": running[0]}, None
    return {"stdout": text}, None


def read_hook(event: str, payload: claude_code.Payload, at: int) -> list[Event]:
    """The events in one hook payload; `Unreadable` if it is not what its event must be."""
    event = event or string(payload.get("hook_event_name"))
    parent = ident(payload.get("parent_agent_id"))
    if (parent and event in _OF_A_SUBAGENT) or not_typed(string(payload.get("prompt"))):
        return []
    session = parent or ident(payload.get("session_id"))
    told = {**payload, "session_id": session, "source": _source(payload.get("source"))}
    if session and not payload.get("transcript_path"):
        told["transcript_path"] = str(history_file(session))
    if "tool_name" in payload:
        tool = tool_name(ident(payload.get("tool_name")))
        told |= {"tool_name": tool, "tool_input": tool_inputs(payload.get("tool_input"))}
        result = mapping(payload.get("tool_result"))
        if event == "PostToolUse":
            response, error = tool_result(tool, flatten_text(result.get("text_result_for_llm")))
            if error is None and result.get("result_type") in ("failure", "denied", "rejected"):
                error = flatten_text(result.get("text_result_for_llm"))
            told["tool_response"] = response
            if error is not None:
                event, told["error"] = "PostToolUseFailure", error
    return claude_code.read_claude_payload(NAME, event, told, at)


def _source(source: object) -> object:
    return "startup" if source == "new" else source
