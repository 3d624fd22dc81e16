"""What a tool call of Gemini CLI comes to, by the table of Claude Code's tools.

Each of its tools does what one of Claude Code's does, under other names. Hooks and chats carry the same
answer, as text, so both go through `tool_event`. A shell command's answer is sections, "Output: …" first,
"Exit Code: …" if that was not 0, in a frame that warns of what the output may hold.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from backstory.agents.claude_tools import describe
from backstory.agents.delimiters import text_without
from backstory.agents.payload_fields import mapping
from backstory.model import Event

Inputs = Mapping[str, object]

_FRAME = re.compile(r"\A\s*<untrusted_context[^>]*>\n?(.*?)\n?</untrusted_context>\s*", re.DOTALL)
_INJECTED = ("<hook_context>", "</hook_context>")
_LABELLED = re.compile(r"(Error|Exit Code|Signal|Background PIDs|Process Group PGID): (.*)")
_BEFORE_OUTPUT = re.compile(r"\A(?:Command: .*?\nDirectory: [^\n]*\n)?(?:Output|Stdout): ", re.DOTALL)
_NOTHING = ("", "(empty)", "(none)")
_CANCELLED = "Command was cancelled by user"
_TIMED_OUT = "Command was automatically cancelled"
_MOVED = "Command moved to background"


@dataclass(frozen=True, slots=True)
class _Tool:
    """The tool of Claude Code that does the same, and how inputs are called there."""

    alike: str
    inputs: Mapping[str, str] = field(default_factory=dict)


_SEARCH = _Tool("Grep")
_EDIT = _Tool("Edit")

TOOLS: dict[str, _Tool] = {
    "run_shell_command": _Tool("Bash"),
    "read_file": _Tool("Read", {"absolute_path": "file_path"}),
    "write_file": _Tool("Write"),
    "replace": _EDIT,
    "edit": _EDIT,
    "grep_search": _SEARCH,
    "search_file_content": _SEARCH,
    "glob": _Tool("Glob"),
    "list_directory": _Tool("LS", {"dir_path": "path"}),
    "web_fetch": _Tool("WebFetch", {"prompt": "url"}),
    "google_web_search": _Tool("WebSearch"),
    "invoke_agent": _Tool("Agent"),
    "write_todos": _Tool("TodoWrite"),
    "ask_user": _Tool("AskUserQuestion"),
}


def tool_event(
    name: str,
    inputs: Inputs,
    output: str,
    error: str | None,
    make: Callable[..., Event],
    interrupted: bool = False,
) -> Event:
    """The event of one call; `error` is what it failed with, None if it did not."""
    tool = TOOLS.get(name, _Tool(name))
    inputs = {tool.inputs.get(key, key): value for key, value in inputs.items()}
    response: object = _unframed(output)
    if error is None and tool.alike == "Bash":
        response, error, stopped = _ran(_unframed(output))
        interrupted = interrupted or stopped
    elif tool.alike == "TodoWrite":
        inputs = {"todos": _todos(inputs.get("todos"))}
    elif tool.alike == "AskUserQuestion":
        name, response = tool.alike, _answers(inputs.get("questions"), output)
    use = describe(tool.alike, inputs, response, error, interrupted)
    return use.event(make, name)


def _unframed(output: str) -> str:
    output = text_without(output, *_INJECTED, blanks=True)
    framed = _FRAME.match(output)
    return framed[1] if framed else output


def _ran(output: str) -> tuple[object, str | None, bool]:
    """A command's answer as `describe` takes it: response, error, whether the user stopped it."""
    if output.startswith((_CANCELLED, _TIMED_OUT)):
        return output, output, output.startswith(_CANCELLED)
    if output.startswith(_MOVED):
        return {"stdout": "", "backgroundTaskId": output}, None, False
    lines = output.split("\n")
    told: dict[str, str] = {}
    while lines and (line := _LABELLED.fullmatch(lines[-1])) and line[1] not in told:
        told[line[1]] = line[2].strip()
        lines.pop()
    text = _BEFORE_OUTPUT.sub("", "\n".join(lines), count=1).strip()
    if text in _NOTHING:
        text = ""
    if told.get("Error", "") not in _NOTHING:
        text = f"{text}\n{told['Error']}".strip()
    for label, harmless in (("Exit Code", "0"), ("Signal", "")):
        if (value := told.get(label, "")) not in (*_NOTHING, harmless):
            return text, f"{label.capitalize()} {value}\n{text}".strip(), False
    return {"stdout": text}, None, False


def _todos(listed: object) -> list[dict[str, object]]:
    rows = listed if isinstance(listed, list) else []
    return [
        {"content": mapping(row).get("description"), "status": mapping(row).get("status")} for row in rows
    ]


def _answers(questions: object, output: str) -> object:
    """Answers are numbered like their questions."""
    try:
        answers = mapping(json.loads(output)).get("answers")
    except (ValueError, RecursionError):
        return output
    asked = questions if isinstance(questions, list) else []
    numbered = {str(number): mapping(question).get("question") for number, question in enumerate(asked)}
    return {"answers": {numbered.get(number) or number: text for number, text in mapping(answers).items()}}
