"""A transcript as the hook events that its agent would have sent, in order. Claude Code's and Codex'.

The agent does not react: what a hook says cannot change what follows.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_FAILED = re.compile(r"exit(?:ed with)? code:? ([1-9]\d*)", re.IGNORECASE)
_NOT_TYPED = ("<", "Caveat:", "[Request interrupted", "# AGENTS")
Row = dict[str, Any]


class Hook(NamedTuple):
    """One hook event: the transcript's line, the event's name, and the fields of its payload."""

    line: int
    event: str
    fields: Row


def hooks(transcript: str) -> Iterator[Hook]:
    """All hook events of a session but its start and its end."""
    player = _Player()
    for number, line in enumerate(transcript.splitlines(), 1):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if row.get("type") == "response_item":
            yield from player.codex(number, row.get("payload") or {})
        elif (
            row.get("type") in ("user", "assistant") and not row.get("isSidechain") and not row.get("isMeta")
        ):
            yield from player.claude(number, row)


def first_prompt(transcript: str) -> str:
    """What the user typed first."""
    return next((h.fields["prompt"] for h in hooks(transcript) if h.event == "UserPromptSubmit"), "")


class _Player:
    """Remembers which calls wait for a result, how many prompts there were, and what was said last."""

    def __init__(self) -> None:
        self._calls: dict[str, Row] = {}
        self._prompts = 0
        self._said = ""

    def codex(self, line: int, item: Row) -> Iterator[Hook]:
        kind, call = item.get("type"), item.get("call_id")
        if kind == "message" and item.get("role") == "user":
            yield from self._prompted(line, _text(item.get("content")))
        elif kind == "function_call":
            self._calls[str(call)] = fields = _call("Bash", {"command": _command(item)}, call)
            yield Hook(line, "PreToolUse", fields)
        elif kind == "function_call_output" and str(call) in self._calls:
            given = item.get("output")
            output = given if isinstance(given, str) else json.dumps(given)
            failed = _FAILED.search(output[:400]) is not None
            yield _result(line, self._calls[str(call)], output, failed, {"stdout": output, "stderr": ""})

    def claude(self, line: int, row: Row) -> Iterator[Hook]:
        content = (row.get("message") or {}).get("content")
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        if row["type"] == "assistant":
            self._said = _text(content).strip() or self._said
            for block in blocks:
                if block.get("type") == "tool_use":
                    self._calls[block["id"]] = fields = _call(
                        block["name"], block.get("input") or {}, block["id"]
                    )
                    yield Hook(line, "PreToolUse", fields)
            return
        results = [block for block in blocks if block.get("type") == "tool_result"]
        for block in results:
            if call := self._calls.get(block.get("tool_use_id", "")):
                output = _text(block.get("content"))
                told = row.get("toolUseResult")
                response = told if isinstance(told, dict) else {"stdout": output, "stderr": ""}
                yield _result(line, call, output, bool(block.get("is_error")), response)
        if not results and not row.get("isCompactSummary"):
            yield from self._prompted(line, _text(content))

    def _prompted(self, line: int, text: str) -> Iterator[Hook]:
        text = text.strip()
        if not text or text.startswith(_NOT_TYPED):
            return
        if self._prompts:
            yield Hook(line, "Stop", {"last_assistant_message": self._said, "stop_hook_active": False})
        self._prompts += 1
        yield Hook(line, "UserPromptSubmit", {"prompt": text, "prompt_id": f"p{self._prompts}"})


def _call(tool: str, inputs: Row, call: object) -> Row:
    return {"tool_name": tool, "tool_input": inputs, "tool_use_id": call}


def _result(line: int, call: Row, output: str, failed: bool, response: Row) -> Hook:
    if failed:
        return Hook(line, "PostToolUseFailure", {**call, "error": output, "is_interrupt": False})
    return Hook(line, "PostToolUse", {**call, "tool_response": response})


def _command(item: Row) -> str:
    try:
        given = json.loads(item.get("arguments") or "{}")
    except ValueError:
        given = {}
    command = given.get("cmd") or given.get("command") or json.dumps(given)
    return " ".join(map(str, command)) if isinstance(command, list) else str(command)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(block["text"] for block in blocks if isinstance(block, dict) and block.get("text"))
