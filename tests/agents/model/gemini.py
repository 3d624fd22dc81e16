"""The Gemini protocol: `POST /v1beta/models/MODEL:streamGenerateContent`, or `:generateContent` for side calls."""

from __future__ import annotations

import html
import json
import re
import uuid
from collections.abc import Iterator
from typing import Any

from .script import Answer, Conversation

PATHS = ("/v1beta/models/*:streamGenerateContent", "/v1beta/models/*:generateContent")

Body = dict[str, Any]
_INJECTED = re.compile(r"<hook_context>(.*?)</hook_context>", re.S)
_NOT_TYPED = re.compile(r"<(hook_context|session_context)>.*?</\1>", re.S)
_USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}


def conversation(body: Body) -> Conversation:
    turns: list[str | None] = []
    calls: list[bool] = []
    for content in body.get("contents", []):
        parts = content.get("parts") or []
        if content.get("role") == "model":
            turns.append(None)
            calls.append(any("functionCall" in part for part in parts))
        elif not any("functionResponse" in part for part in parts):
            typed = _NOT_TYPED.sub("", "\n".join(part.get("text", "") for part in parts)).strip()
            if typed:
                turns.append(typed)
    return Conversation(turns, calls, frozenset(_schemas(body)))


def injections(body: Body, event: str) -> list[str]:
    """What hooks put into the conversation, in order; the client does not say which event's it was.

    It escapes angle brackets, so that nobody's words can close its wrapper.
    """
    return [
        html.unescape(context)
        for content in body.get("contents", [])
        if content.get("role") != "model"
        for part in content.get("parts") or []
        for context in _INJECTED.findall(part.get("text", ""))
    ]


def reply(path: str, body: Body, answer: Answer) -> tuple[str, Iterator[bytes]]:
    """Content type and the pieces of the answer."""
    part: Body = {"text": _shaped(body, answer.text)}
    if answer.tool:
        known = _schemas(body).get(answer.tool)
        given = {name: value for name, value in answer.input.items() if known is None or name in known}
        part = {"functionCall": {"name": answer.tool, "args": given}}
    message = {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": _USAGE,
        "modelVersion": "scripted",
        "responseId": uuid.uuid4().hex,
    }
    if ":stream" in path:
        return "text/event-stream", iter([f"data: {json.dumps(message)}\n\n".encode()])
    return "application/json", iter([json.dumps(message).encode()])


def _schemas(body: Body) -> dict[str, Body]:
    """The tools on offer: the arguments that each takes."""
    return {
        declared["name"]: (declared.get("parametersJsonSchema") or declared.get("parameters") or {}).get(
            "properties"
        )
        or {}
        for tool in body.get("tools") or []
        for declared in tool.get("functionDeclarations", [])
    }


def _shaped(body: Body, text: str) -> str:
    """Side calls may ask for JSON of a given schema; every text field gets the same words."""
    wanted = body.get("generationConfig") or {}
    schema = wanted.get("responseJsonSchema") or wanted.get("responseSchema")
    if not schema:
        return text
    return json.dumps(dict.fromkeys(schema.get("properties") or {}, text))
