"""The Anthropic Messages protocol: `POST /v1/messages`, streamed or not, and `count_tokens`."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from typing import Any

from .script import Answer, Conversation

PATHS = ("/v1/messages", "/v1/messages/count_tokens")

Body = dict[str, Any]
_REMINDER = re.compile(r"<system-reminder>(.*?)</system-reminder>", re.S)
_INJECTED = re.compile(r"(?:\A|\n)(\w+) hook additional context: ")
_USAGE = {
    "input_tokens": 100,
    "output_tokens": 20,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}


def texts(content: Any) -> list[str]:
    """The text blocks of one message."""
    if isinstance(content, str):
        return [content]
    return [block.get("text", "") for block in content or [] if block.get("type") == "text"]


def conversation(body: Body) -> Conversation:
    turns: list[str | None] = []
    calls: list[bool] = []
    for message in body.get("messages", []):
        content = message.get("content")
        kinds = set() if isinstance(content, str) else {block.get("type") for block in content or []}
        if message.get("role") == "assistant":
            turns.append(None)
            calls.append("tool_use" in kinds)
        elif message.get("role") == "user" and "tool_result" not in kinds:
            typed = _REMINDER.sub("", "\n".join(texts(content))).strip()
            if typed:
                turns.append(typed)
    return Conversation(turns, calls, frozenset(tool["name"] for tool in body.get("tools") or []))


def injections(body: Body, event: str) -> list[str]:
    """What hooks of this event put into the conversation, in order, wherever the client put it.

    Claude Code joins several such texts and its own notes into one message, without a mark where one ends:
    the last of them drags the client's words along. Look for distinctive words in it, not for equality.
    """
    found: list[str] = []
    for message in [{"role": "system", "content": body.get("system")}, *body.get("messages", [])]:
        for text in texts(message.get("content")):
            for part in [text] if message.get("role") == "system" else _REMINDER.findall(text):
                _, *pieces = _INJECTED.split(part)
                found += [said for name, said in zip(pieces[::2], pieces[1::2], strict=True) if name == event]
    return found


def reply(path: str, body: Body, answer: Answer) -> tuple[str, Iterator[bytes]]:
    """Content type and the pieces of the answer."""
    if path.endswith("count_tokens"):
        return "application/json", iter([json.dumps({"input_tokens": len(json.dumps(body)) // 4}).encode()])
    message = _message(body, answer)
    if body.get("stream"):
        return "text/event-stream", _stream(message)
    return "application/json", iter([json.dumps(message).encode()])


def _message(body: Body, answer: Answer) -> Body:
    block: Body
    if answer.tool:
        block = {"type": "tool_use", "id": _id("toolu"), "name": answer.tool, "input": answer.input}
    else:
        block = {"type": "text", "text": _shaped(body, answer.text)}
    return {
        "id": _id("msg"),
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "scripted"),
        "content": [block],
        "stop_reason": "tool_use" if answer.tool else "end_turn",
        "stop_sequence": None,
        "usage": _USAGE,
    }


def _shaped(body: Body, text: str) -> str:
    """Side calls may ask for JSON of a given schema; every text field gets the same words."""
    wanted = (body.get("output_config") or {}).get("format") or body.get("output_format")
    if not wanted or body.get("tools") or text.startswith("{"):
        return text
    fields = (wanted.get("schema") or {}).get("properties") or {}
    return json.dumps(
        {name: False if kind.get("type") == "boolean" else text for name, kind in fields.items()}
    )


def _stream(message: Body) -> Iterator[bytes]:
    block = message["content"][0]
    if block["type"] == "text":
        start: Body = {"type": "text", "text": ""}
        delta: Body = {"type": "text_delta", "text": block["text"]}
    else:
        start = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield _event("message_start", message={**message, "content": [], "stop_reason": None})
    yield _event("content_block_start", index=0, content_block=start)
    yield _event("content_block_delta", index=0, delta=delta)
    yield _event("content_block_stop", index=0)
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=stop, usage=message["usage"])
    yield _event("message_stop")


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def _id(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex[:24]}"
