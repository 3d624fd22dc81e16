"""What a tool call of Codex comes to, told by a hook, a finished item of a rollout, or a call and its output.

Its hooks do not say how a command ended: they give the output alone, and nothing at all for a call that
failed early. So the outcome stays open until the rollout tells it. A patch touches several files and becomes
one use for each.
"""

import json
import os.path
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from backstory.agents.claude_texts import wording_id
from backstory.agents.claude_tools import Use, describe
from backstory.agents.payload_fields import OUTPUT_LIMIT, flatten_text, head_and_tail, mapping, string
from backstory.model import Action, Outcome

Inputs = Mapping[str, object]

SHELL = "Bash"
PATCH = "apply_patch"
_SHELLS = frozenset((SHELL, "exec_command", "shell", "shell_command", "local_shell", "container.exec"))

# Tools that do what one of Claude Code's does: its name there, and the field that names the target.
_ALIKE = {
    SHELL: ("Bash", "command", "command"),
    "view_image": ("Read", "path", "file_path"),
    "update_plan": ("TodoWrite", "plan", "todos"),
    "spawn_agent": ("Agent", "message", "description"),
    "web_search": ("WebSearch", "query", "query"),
}


@dataclass(frozen=True, slots=True)
class Result:
    """What a call gave back: its output, and its exit code if it said one."""

    output: object
    code: int | None = None
    failed: bool = False
    running: bool = False

    @property
    def outcome(self) -> Outcome:
        """How it ended, as far as the result tells."""
        if self.code is not None:
            return Outcome.FAILED if self.code else Outcome.OK
        return Outcome.FAILED if self.failed else Outcome.NONE


def canonical_call(name: str, namespace: str, arguments: object) -> tuple[str, Inputs]:
    """A call of a rollout under the name and with the inputs that a hook would give it."""
    inputs = _parsed(arguments)
    if name in _SHELLS and not namespace:
        return SHELL, {"command": command_line(inputs.get("cmd") or inputs.get("command"))}
    if name == PATCH:
        patch = arguments if isinstance(arguments, str) and not inputs else inputs.get("input")
        return PATCH, {"command": string(patch)}
    return (f"{namespace}__{name}" if namespace.startswith("mcp__") else name), inputs


def _parsed(arguments: object) -> Inputs:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return {}
    return mapping(arguments)


def command_line(command: object) -> str:
    """A command as a person would type it: without the shell that it is wrapped in."""
    if not isinstance(command, list):
        return string(command)
    words = [word for word in command if isinstance(word, str)]
    if len(words) == 3 and words[1] in ("-c", "-lc"):
        return words[2]
    return shlex.join(words)


# --- results ----------------------------------------------------------------------------------------------

_FRAME = re.compile(
    r"(?:Chunk ID: \w+\n)?(?:Exit code: (?P<exit>-?\d+)\n)?Wall time: [\d.]+ seconds\n"
    r"(?:Process exited with code (?P<code>-?\d+)\n)?(?P<running>Process running with session ID \d+\n)?"
    r"(?:Original token count: \d+\n)?(?:Total output lines: \d+\n)?Output:\n?"
)


def call_result(output: object) -> Result:
    """What is in the output of a call: the frame that Codex puts around it for the model is taken off."""
    if isinstance(output, dict) and "content" in output and isinstance(output.get("success"), bool | None):
        framed = call_result(output["content"])
        return replace(framed, failed=framed.failed or output.get("success") is False)
    text = flatten_text(output)
    if text.startswith('{"output":'):  # what older versions wrote
        told = _parsed(text)
        code = mapping(told.get("metadata")).get("exit_code")
        return Result(string(told.get("output")), code if isinstance(code, int) else None)
    frame = _FRAME.match(text)
    if frame is None:
        return Result(output, failed=text.startswith(("apply_patch verification failed", "unsupported call")))
    inner = call_result(text[frame.end() :])  # a patch through the shell is framed twice
    code = frame["exit"] or frame["code"]
    return Result(inner.output, int(code) if code else inner.code, inner.failed, bool(frame["running"]))


def finished_call(item: Mapping[str, object]) -> tuple[str, Inputs, Result] | None:
    """The call behind a finished item of a rollout; None if it is none, or its call and output tell more."""
    failed = item.get("status") in ("failed", "declined")
    match item.get("type"):
        case "CommandExecution":
            code = item.get("exit_code")
            told = Result(item.get("aggregated_output"), code if isinstance(code, int) else None, failed)
            return SHELL, {"command": command_line(item.get("command"))}, told
        case "FileChange":
            output = item.get("stderr") if failed else item.get("stdout")
            return PATCH, {"changes": item.get("changes")}, Result(output, 1 if failed else 0)
        case "McpToolCall":
            name = f"mcp__{string(item.get('server'))}__{string(item.get('tool'))}"
            error = mapping(item.get("error")).get("message")
            return name, mapping(item.get("arguments")), Result(error or item.get("result"), int(failed))
    return None


# --- uses -------------------------------------------------------------------------------------------------


def tool_uses(name: str, inputs: Inputs, told: Result, call_id: str, cwd: str) -> list[tuple[str, Use]]:
    """What a call did, each with an id that is the same however it was told."""
    if name == PATCH:
        return list(_patched(inputs, told, call_id, cwd))
    like, given, wanted = _ALIKE.get(name, (name, "", ""))
    meant = {wanted: inputs.get(given)} if wanted else inputs
    error = flatten_text(told.output) if told.outcome is Outcome.FAILED else None
    use = describe(like, meant, told.output, error, interrupted=False)
    if name == SHELL:
        failed = told.outcome is Outcome.FAILED and not use.text.strip()
        text = f"Exit code {told.code}" if failed and told.code is not None else use.text
        return [(call_id, replace(use, text=text, outcome=told.outcome))]
    return [(call_id, replace(use, outcome=Outcome.NONE) if told.running else use)]


@dataclass(frozen=True, slots=True)
class _Change:
    """What a patch does to one file; `lines` begin with + or -."""

    kind: str
    path: str
    lines: tuple[str, ...] = ()


def _patched(inputs: Inputs, told: Result, call_id: str, cwd: str) -> Iterator[tuple[str, Use]]:
    changes = inputs.get("changes")
    listed = list(_listed(changes)) if isinstance(changes, dict) else list(_sections(inputs.get("command")))
    outcome = told.outcome
    error = flatten_text(told.output) if outcome is Outcome.FAILED else ""
    if not listed:
        yield call_id, Use(Action.EDIT, "", head_and_tail(error, OUTPUT_LIMIT), outcome, recalled=False)
    for change in listed:
        target = os.path.normpath(os.path.join(cwd, change.path)) if cwd else change.path  # noqa: PTH118
        action = Action.WRITE if change.kind == "add" else Action.EDIT
        text = error or _shown(change)
        yield (
            wording_id(call_id, target),
            Use(action, target, head_and_tail(text, OUTPUT_LIMIT), outcome, recalled=False),
        )


def _shown(change: _Change) -> str:
    if change.kind == "add":
        return "\n".join(line[1:] for line in change.lines)
    return "\n".join(f"{line[0]} {line[1:]}" for line in change.lines) or f"{change.kind}d"


_FILE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.*\S)\s*")
_MOVED = "*** Move to: "


def _sections(patch: object) -> Iterator[_Change]:
    """The files of a patch in Codex's own form."""
    kind, name, lines = "", "", list[str]()
    for line in string(patch).splitlines():
        if header := _FILE.fullmatch(line):
            if name:
                yield _Change(kind, name, tuple(lines))
            kind, name, lines = header[1].lower(), header[2], []
        elif line.startswith(_MOVED):
            name = line.removeprefix(_MOVED).strip()
        elif line.startswith(("+", "-")):
            lines.append(line)
    if name:
        yield _Change(kind, name, tuple(lines))


def _listed(changes: Mapping[str, object]) -> Iterator[_Change]:
    """The files of a change that a rollout has recorded."""
    for name, change in changes.items():
        told = mapping(change)
        kind = string(told.get("type")) or "update"
        if kind == "add":
            lines = [f"+{line}" for line in string(told.get("content")).splitlines()]
        else:
            _, _, hunks = string(told.get("unified_diff")).partition("@@")
            lines = [line for line in hunks.splitlines() if line.startswith(("+", "-"))]
        yield _Change(kind, string(told.get("move_path")) or str(name), tuple(lines))
