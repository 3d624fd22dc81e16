"""The scripted model in Gemini's protocol, without any client."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

from .loopback import Loopback
from .model import Model, Request, Say, Shell
from .model.gemini import conversation

SHELL = {
    "name": "run_shell_command",
    "parametersJsonSchema": {"properties": {"command": {"type": "string"}}},
}
STREAM = "/v1beta/models/*:streamGenerateContent"


def user(*texts: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": text} for text in texts]}


def called(tool: str) -> list[dict[str, Any]]:
    return [
        {"role": "model", "parts": [{"functionCall": {"name": tool, "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": tool, "response": {"output": "ok"}}}]},
    ]


def body(*contents: dict[str, Any]) -> dict[str, Any]:
    return {"contents": list(contents), "tools": [{"functionDeclarations": [SHELL]}]}


def ask(model: Model, sent: dict[str, Any], how: str = "streamGenerateContent?alt=sse") -> dict[str, Any]:
    request = urllib.request.Request(
        f"{model.url}/v1beta/models/gemini-x:{how}", json.dumps(sent).encode(), {"x-goog-api-key": "some-key"}
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        answered: dict[str, Any] = json.loads(answer.read().decode().removeprefix("data: "))
    parts: list[dict[str, Any]] = answered["candidates"][0]["content"]["parts"]
    return parts[0]


def test_the_model_speaks_gemini_streamed_and_plain() -> None:
    model = Model(Loopback(None, None).listen())
    model.when("work", Shell("one"), Say("Worked."))
    try:
        asked = [user("some work")]
        first = ask(model, body(*asked))
        asked += called("run_shell_command")
        second = ask(model, body(*asked))
        title = ask(model, {"contents": [user("a title for some work")]}, "generateContent")
    finally:
        model.close()
    assert first == {"functionCall": {"name": "run_shell_command", "args": {"command": "one"}}}
    assert second == {"text": "Worked."}
    assert title == {"text": "Scripted title"}
    assert [request.is_main for request in model.requests] == [True, True, False]
    assert "some-key" not in repr(model.requests)


def test_side_calls_that_want_json_of_a_schema_get_it() -> None:
    model = Model(Loopback(None, None).listen())
    wanted = {"responseJsonSchema": {"properties": {"reasoning": {"type": "string"}}}}
    try:
        said = ask(
            model, {"contents": [user("who speaks next?")], "generationConfig": wanted}, "generateContent"
        )
    finally:
        model.close()
    assert json.loads(said["text"]) == {"reasoning": "Scripted title"}


def test_what_hooks_injected_is_told_from_what_was_typed() -> None:
    before = user(
        "<session_context>\nToday\n</session_context>", "<hook_context>one</hook_context>\n\nsome work"
    )
    beside = user("more", "<hook_context>&lt;two&gt;</hook_context>")
    sent = body(before, *called("run_shell_command"), {"role": "model", "parts": [{"text": "ok"}]}, beside)
    assert Request(STREAM, sent).injections() == ["one", "<two>"]
    assert conversation(sent).turns == ["some work", None, None, "more"]
