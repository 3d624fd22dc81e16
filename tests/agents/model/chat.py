"""The OpenAI Chat Completions protocol: `POST /v1/chat/completions`, streamed or not.

Several clients speak it, and some of their tools share a name but not their arguments (`write` takes `path` in
one and `filePath` in the next). The script gives the arguments under all their names; only those that the
request's own schema knows are sent back. The answer to a prompt with [[full]] in it claims that the context is
all but full, which makes a client compact it.
"""

from __future__ import annotations

import html
import json
import re
import uuid
from collections.abc import Iterator
from typing import Any

from .script import Answer, Conversation

PATHS = ("/v1/chat/completions", "/api/chat")  # the second is Ollama's own

Body = dict[str, Any]
_NOTES = re.compile(r"<backstory-notes.*?</backstory-notes>", re.S)
_NOT_TYPED = re.compile(r"<(system-reminder|backstory-notes|current_datetime)\b.*?</\1>", re.S)
_FULL = "[[full]]"


def texts(content: Any) -> list[str]:
    """The texts of one message."""
    if isinstance(content, str):
        return [content]
    return [part.get("text", "") for part in content or [] if part.get("type") == "text"]


def conversation(body: Body) -> Conversation:
    turns: list[str | None] = []
    calls: list[bool] = []
    for message in body.get("messages", []):
        if message.get("role") == "assistant":
            turns.append(None)
            calls.append(bool(message.get("tool_calls")))
        elif message.get("role") == "user":
            typed = _NOT_TYPED.sub("", "\n".join(texts(message.get("content")))).strip()
            if typed:
                turns.append(typed)
    return Conversation(turns, calls, frozenset(_schemas(body)))


def injections(body: Body, event: str) -> list[str]:
    """The briefs that the model was told, in order, in whichever role; clients do not say which event's.

    One client makes the marks of a tag harmless.
    """
    return [
        notes
        for message in body.get("messages", [])
        if message.get("role") not in ("assistant", "tool")
        for text in texts(message.get("content"))
        for notes in _NOTES.findall(html.unescape(text))
    ]


def _usage(body: Body) -> Body:
    last = next(reversed(conversation(body).turns), None)
    read = 127_000 if last and _FULL in last else 100
    return {"prompt_tokens": read, "completion_tokens": 20, "total_tokens": read + 20}


def reply(path: str, body: Body, answer: Answer) -> tuple[str, Iterator[bytes]]:
    """Content type and the pieces of the answer."""
    message: Body = {"role": "assistant", "content": None if answer.tool else answer.text}
    if answer.tool:
        given = json.dumps(_fitting(answer.input, _schemas(body).get(answer.tool, {})))
        function = {"name": answer.tool, "arguments": given}
        message["tool_calls"] = [{"id": _id("call_"), "type": "function", "function": function}]
    if answer.thought:
        message["reasoning_content"] = answer.thought
    about = {"id": _id("chatcmpl-"), "created": 0, "model": body.get("model", "scripted")}
    if path == "/api/chat":
        told = {"model": about["model"], "message": message, "done": True, "done_reason": "stop"}
        counts = {"prompt_eval_count": 100, "eval_count": 20}
        return "application/json", iter([json.dumps(told | counts).encode()])
    finish = "tool_calls" if answer.tool else "stop"
    if body.get("stream"):
        return "text/event-stream", _stream(about, message, finish, _usage(body))
    choices = [{"index": 0, "message": message, "finish_reason": finish}]
    whole = {**about, "object": "chat.completion", "choices": choices, "usage": _usage(body)}
    return "application/json", iter([json.dumps(whole).encode()])


def _schemas(body: Body) -> dict[str, Body]:
    """The tools on offer: the arguments that each takes."""
    functions = (tool.get("function") or {} for tool in body.get("tools") or [])
    return {
        function["name"]: (function.get("parameters") or {}).get("properties") or {}
        for function in functions
        if "name" in function
    }


def _fitting(given: Body, known: Body) -> Body:
    return {name: value for name, value in given.items() if name in known} if known else given


def _stream(about: Body, message: Body, finish: str, usage: Body) -> Iterator[bytes]:
    deltas: list[Body] = [{"role": "assistant", "content": ""}]
    for index, call in enumerate(message.get("tool_calls", [])):
        begun = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
        rest = {"index": index, "function": {"arguments": call["function"]["arguments"]}}
        deltas += [{"tool_calls": [begun]}, {"tool_calls": [rest]}]
    if "reasoning_content" in message:
        deltas.append({"reasoning_content": message["reasoning_content"]})
    if message["content"]:
        deltas.append({"content": message["content"]})
    for delta in deltas:
        yield _chunk(about, choices=[{"index": 0, "delta": delta, "finish_reason": None}])
    yield _chunk(about, choices=[{"index": 0, "delta": {}, "finish_reason": finish}])
    yield _chunk(about, choices=[], usage=usage)
    yield b"data: [DONE]\n\n"


def _chunk(about: Body, **fields: Any) -> bytes:
    return f"data: {json.dumps({**about, 'object': 'chat.completion.chunk', **fields})}\n\n".encode()


def _id(kind: str) -> str:
    return f"{kind}{uuid.uuid4().hex[:24]}"
