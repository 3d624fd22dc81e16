"""The scripted model in the Chat Completions protocol, without any client."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from .loopback import Loopback
from .model import Model, Request, Say, Shell, Write
from .model.chat import PATHS, conversation

PATH = PATHS[0]


def offered(name: str, *arguments: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in arguments}}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


TOOLS = [offered("bash", "command"), offered("write", "filePath", "content")]


def body(*messages: dict[str, Any], tools: list[dict[str, Any]] = TOOLS, **more: Any) -> dict[str, Any]:
    return {"model": "scripted", "messages": list(messages), "tools": tools, **more}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


@pytest.fixture
def model() -> Iterator[Model]:
    serving = Model(Loopback(None, None).listen())
    serving.when("work", Shell("make"), Write("/p/a", "text"), Say("Worked."))
    yield serving
    serving.close()


def ask(model: Model, sent: dict[str, Any]) -> str:
    request = urllib.request.Request(model.url + PATH, json.dumps(sent).encode())
    with urllib.request.urlopen(request, timeout=10) as answer:
        text: str = answer.read().decode()
    return text


def test_a_call_has_the_arguments_that_this_clients_tool_takes(model: Model) -> None:
    asked = [user("some work")]
    for name, arguments in [
        ("bash", {"command": "make"}),
        ("write", {"filePath": "/p/a", "content": "text"}),
    ]:
        message = json.loads(ask(model, body(*asked)))["choices"][0]["message"]
        [call] = message["tool_calls"]
        assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == (name, arguments)
        asked += [message, {"role": "tool", "tool_call_id": call["id"], "content": "ok"}]
    done = json.loads(ask(model, body(*asked)))["choices"][0]
    assert (done["message"]["content"], done["finish_reason"]) == ("Worked.", "stop")


def test_a_streamed_answer_says_the_same(model: Model) -> None:
    pieces = ask(model, body(user("some work"), stream=True)).split("\n\n")
    assert pieces[-2:] == ["data: [DONE]", ""]
    chunks = [json.loads(piece.removeprefix("data: ")) for piece in pieces[:-2]]
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    calls = [call for choice in choices for call in choice["delta"].get("tool_calls", [])]
    assert calls[0]["function"]["name"] == "bash"
    assert json.loads("".join(call["function"]["arguments"] for call in calls)) == {"command": "make"}
    assert choices[-1]["finish_reason"] == "tool_calls"
    assert chunks[-1]["usage"]["total_tokens"] == 120


def test_a_side_call_without_tools_does_not_shift_the_script(model: Model) -> None:
    answer = json.loads(ask(model, body(user("some work"), tools=[])))
    assert answer["choices"][0]["message"]["content"] == "Scripted title"
    assert [request.is_main for request in model.requests] == [False]


def test_a_brief_is_found_wherever_it_stands_and_is_no_prompt() -> None:
    notes = '<backstory-notes for="x">\nearlier work\n</backstory-notes>'
    said = {"role": "tool", "tool_call_id": "t", "content": notes}
    sent = body({"role": "system", "content": f"Be good.\n{notes}"}, user(notes), user("go on"), said)
    assert Request(PATH, sent).injections() == [notes, notes]
    assert conversation(sent).turns == ["go on"]
