"""The OpenAI Responses protocol: `POST /v1/responses`, streamed or not, and Codex's `responses/compact`."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from typing import Any

from .script import Answer, Conversation

PATHS = ("/v1/responses", "/v1/responses/compact")

Body = dict[str, Any]
# What Codex itself says in the user's role.
_NOT_TYPED = ("<environment_context>", "<user_instructions>", "# AGENTS.md", "<turn_aborted>", "<subagent_")
_NOTES = re.compile(r"<backstory-notes.*?</backstory-notes>", re.S)
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 120,
}


def texts(content: Any) -> list[str]:
    """The texts of one message."""
    if isinstance(content, str):
        return [content]
    return [part.get("text", "") for part in content or []]


def _items(body: Body) -> list[Body]:
    given = body.get("input", [])
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    return list(given)


def conversation(body: Body) -> Conversation:
    turns: list[str | None] = []
    calls: list[bool] = []
    for item in _items(body):
        kind, role = item.get("type", "message"), item.get("role")
        if kind in _CALLS or (kind, role) == ("message", "assistant"):
            turns.append(None)
            calls.append(kind in _CALLS)
        elif (kind, role) == ("message", "user"):
            said = (text.strip() for text in texts(item.get("content")))
            typed = "\n".join(text for text in said if text and not text.startswith(_NOT_TYPED))
            if typed:
                turns.append(typed)
    return Conversation(turns, calls, frozenset(_tools(body)))


def _tools(body: Body) -> dict[str, Body]:
    """The tools on offer by name; one inside a namespace carries the namespace's name."""
    found: dict[str, Body] = {}
    offered = [body, *(item for item in _items(body) if item.get("type") == "additional_tools")]
    for tool in (tool for place in offered for tool in place.get("tools") or []):
        if tool.get("type") == "namespace":
            found |= {one["name"]: {**one, "namespace": tool["name"]} for one in tool.get("tools", [])}
        else:
            found[tool.get("name") or tool.get("type")] = tool
    return found


def injections(body: Body, event: str) -> list[str]:
    """The briefs that the model was told, in order; Codex does not say which event's."""
    return [
        notes
        for item in _items(body)
        if item.get("role") in ("developer", "user")
        for text in texts(item.get("content"))
        for notes in _NOTES.findall(text)
    ]


def reply(path: str, body: Body, answer: Answer) -> tuple[str, Iterator[bytes]]:
    """Content type and the pieces of the answer."""
    if path.endswith("/compact"):
        kept = [item for item in _items(body) if item.get("role") == "user"]
        return "application/json", iter([json.dumps({"output": kept}).encode()])
    item = _item(body, answer)
    response = {
        "id": _id("resp"),
        "object": "response",
        "created_at": 0,
        "model": body.get("model", "scripted"),
        "status": "completed",
        "output": [item],
        "usage": _USAGE,
    }
    if body.get("stream"):
        return "text/event-stream", _stream(response)
    return "application/json", iter([json.dumps(response).encode()])


def _item(body: Body, answer: Answer) -> Body:
    if not answer.tool:
        said = {"type": "output_text", "text": answer.text, "annotations": []}
        return {
            "type": "message", "id": _id("msg"), "role": "assistant", "status": "completed", "content": [said],
        }  # fmt: skip
    tool = _tools(body).get(answer.tool, {})
    if tool.get("type") == "custom":  # takes one text
        return {
            "type": "custom_tool_call", "id": _id("ctc"), "call_id": _id("call"), "status": "completed",
            "name": answer.tool, "input": next(iter(answer.input.values())),
        }  # fmt: skip
    called = {
        "type": "function_call", "id": _id("fc"), "call_id": _id("call"), "status": "completed",
        "name": answer.tool, "arguments": json.dumps(answer.input),
    }  # fmt: skip
    return {**called, "namespace": tool["namespace"]} if "namespace" in tool else called


def _stream(response: Body) -> Iterator[bytes]:
    item = response["output"][0]
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    yield _event("response.created", response=begun)
    yield _event("response.output_item.added", output_index=0, item={**item, "status": "in_progress"})
    if item["type"] == "message":
        where = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        yield _event("response.output_text.delta", **where, delta=item["content"][0]["text"])
    yield _event("response.output_item.done", output_index=0, item=item)
    yield _event("response.completed", response=response)


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def _id(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex[:24]}"
