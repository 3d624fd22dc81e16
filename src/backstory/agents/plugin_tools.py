"""What a tool call of opencode or pi comes to, in the words of the table of Claude Code's tools.

Both name their tools in small letters and mostly alike, but not the tools' arguments. Hooks and histories
carry the same fields, so both go through `tool_event`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from backstory.agents.claude_tools import Use, describe
from backstory.agents.delimiters import text_between
from backstory.model import Event

OUR_TOOLS = ("backstory_*", "mcp__backstory__*")

_OUR_PREFIXES = tuple(glob.rstrip("*") for glob in OUR_TOOLS)
_EXITED = re.compile(
    r"(?:(?<!\s)\s++)?Command exited with code (\d+)\s*+\Z"
)  # how pi ends the output of a failed command
_STOPPED = ("Tool execution aborted", "Command aborted", "Operation aborted")
_TASK_RESULT = ("<task_result>", "</task_result>")  # opencode's frame
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Tool:
    alike: str
    """The tool of Claude Code that does the same."""
    renamed: Mapping[str, str] = field(default_factory=dict)


_FILE = {"filePath": "file_path", "path": "file_path"}
_EDIT = {
    **_FILE,
    "oldString": "old_string",
    "newString": "new_string",
    "oldText": "old_string",
    "newText": "new_string",
}

TOOLS: dict[str, _Tool] = {
    "bash": _Tool("Bash"),
    "powershell": _Tool("PowerShell"),
    "read": _Tool("Read", _FILE),
    "write": _Tool("Write", _FILE),
    "edit": _Tool("Edit", _EDIT),
    "multiedit": _Tool("MultiEdit", _EDIT),
    "patch": _Tool("Edit", {"patchText": "new_string"}),
    "apply_patch": _Tool("Edit", {"patchText": "new_string"}),
    "grep": _Tool("Grep"),
    "glob": _Tool("Glob"),
    "find": _Tool("Glob"),
    "list": _Tool("LS"),
    "ls": _Tool("LS"),
    "webfetch": _Tool("WebFetch"),
    "websearch": _Tool("WebSearch"),
    "codesearch": _Tool("WebSearch"),
    "task": _Tool("Agent"),
    "todowrite": _Tool("TodoWrite"),
    "question": _Tool("AskUserQuestion"),
}


def tool_event(
    name: str,
    inputs: Mapping[str, object],
    output: str,
    error: str | None,
    make: Callable[..., Event],
    native_id: str,
    interrupted: bool = False,
) -> Event:
    """The event of one call; `error` is what it failed with, None if it did not."""
    use = _use(name, inputs, output, error, interrupted)
    ours = name.startswith(_OUR_PREFIXES)
    return (replace(use, recalled=True) if ours else use).event(make, name, native_id)


def _use(name: str, inputs: Mapping[str, object], output: str, error: str | None, interrupted: bool) -> Use:
    tool = TOOLS.get(name, _Tool(name))
    given = _renamed(inputs, tool.renamed)
    if error is not None:
        interrupted = interrupted or error.startswith(_STOPPED) or error.endswith(_STOPPED)
        if code := _EXITED.search(error):
            error = f"Exit code {code[1]}\n{error[: code.start()]}".strip()
    if tool.alike == "Agent" and (framed := text_between(output, *_TASK_RESULT)) is not None:
        output = framed.removeprefix("\n").removesuffix("\n")
    use = describe(tool.alike, given, output, error, interrupted)
    if not use.target and (files := _PATCHED.findall(str(given.get("new_string", "")))):
        return replace(use, target=files[0].strip())
    return use


def _renamed(value: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    """The arguments, and those of each edit in a list of edits, under the names that the table knows."""
    return {
        names.get(key, key): [_renamed(each, names) if isinstance(each, dict) else each for each in item]
        if isinstance(item, list)
        else item
        for key, item in value.items()
    }
