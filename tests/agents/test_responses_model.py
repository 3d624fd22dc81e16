"""The scripted model as Codex speaks to it, without Codex."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

from .loopback import Loopback
from .model import Model, Request, Say, Script, Shell, Write
from .model.responses import conversation

TOOLS = [{"type": "function", "name": "exec_command"}, {"type": "custom", "name": "apply_patch"}]


def message(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def body(*items: dict[str, Any], tools: list[dict[str, Any]] = TOOLS) -> dict[str, Any]:
    return {"model": "scripted", "input": list(items), "tools": tools}


def post(sent: dict[str, Any], path: str = "/v1/responses") -> str:
    model = Model(Loopback(None, None).listen())
    model.when("work", Shell("ls"), Write("a.py", "x\n"), Say("Worked."))
    try:
        with urllib.request.urlopen(model.url + path, json.dumps(sent).encode(), timeout=10) as answer:
            text: str = answer.read().decode()
    finally:
        model.close()
    return text


def test_the_answer_follows_from_the_request_alone() -> None:
    script = Script()
    script.when("work", Shell("ls"), Write("a.py", "x\n"), Say("Worked."))
    asked = [message("user", "<environment_context>x"), message("user", "some work")]
    assert script.answer(conversation(body(*asked))).input == {"cmd": "ls"}
    asked += [{"type": "function_call", "call_id": "c"}, {"type": "function_call_output", "call_id": "c"}]
    assert script.answer(conversation(body(*asked))).tool == "apply_patch"
    asked += [{"type": "custom_tool_call", "call_id": "d"}, message("developer", "by the way")]
    assert script.answer(conversation(body(*asked))).text == "Worked."


def test_tools_may_stand_in_a_namespace_or_in_the_conversation() -> None:
    spaced = [{"type": "namespace", "name": "agents", "tools": [{"name": "spawn_agent"}]}]
    later = {"type": "additional_tools", "tools": [{"type": "custom", "name": "exec"}]}
    assert conversation(body(later, tools=spaced)).tools == {"spawn_agent", "exec"}
    assert Request("/v1/responses", body(later, tools=[])).is_main
    assert not Request("/v1/responses", body(tools=[])).is_main


def test_streamed_and_plain_answers_say_the_same() -> None:
    plain = json.loads(post(body(message("user", "some work"))))
    streamed = post({**body(message("user", "some work")), "stream": True})
    assert json.loads(plain["output"][0]["arguments"]) == {"cmd": "ls"}
    assert '"arguments": "{\\"cmd\\": \\"ls\\"}"' in streamed
    assert streamed.split("event: ")[-1].startswith("response.completed")


def test_a_tool_that_takes_a_text_is_called_with_one() -> None:
    asked = [message("user", "some work"), {"type": "function_call", "call_id": "c"}]
    (call,) = json.loads(post(body(*asked)))["output"]
    assert (call["type"], call["name"]) == ("custom_tool_call", "apply_patch")
    assert "*** Add File: a.py\n+x\n" in call["input"]


def test_a_brief_is_found_where_codex_puts_it() -> None:
    notes = "<backstory-notes>one</backstory-notes>"
    request = Request("/v1/responses", body(message("developer", notes), message("assistant", notes)))
    assert request.injections() == [notes]
