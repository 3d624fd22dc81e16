"""The scripted model and the empty network, without any client."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from .loopback import Loopback
from .model import Model, Request, Say, Script, Shell, Wait
from .model.anthropic import conversation
from .model.script import inline_steps

TOOLS = [{"name": "Bash"}, {"name": "Write"}]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def called(tool: str) -> list[dict[str, Any]]:
    use = {"type": "tool_use", "id": "t", "name": tool, "input": {}}
    return [
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]},
    ]


def body(*messages: dict[str, Any], tools: list[dict[str, str]] = TOOLS) -> dict[str, Any]:
    return {"model": "scripted", "messages": list(messages), "tools": tools}


@pytest.fixture
def script() -> Script:
    written = Script()
    written.when("work", Shell("one"), Wait(3), Shell("two"), Say("Worked."))
    return written


def test_the_answer_follows_from_the_request_alone(script: Script) -> None:
    asked = [user("some work")]
    assert script.answer(conversation(body(*asked))).input["command"] == "one"
    asked += called("Bash")
    held_back = script.answer(conversation(body(*asked)))
    assert (held_back.input["command"], held_back.wait) == ("two", 3)
    asked += called("Bash")
    assert script.answer(conversation(body(*asked))).text == "Worked."


def test_a_side_call_without_tools_does_not_shift_the_script(script: Script) -> None:
    assert script.answer(conversation(body(user("some work"), tools=[]))).text == "Scripted title"


def test_a_reminder_in_the_middle_of_a_turn_does_not_end_it(script: Script) -> None:
    asked = [user("some work"), *called("Bash"), user("by the way"), *called("Bash"), user("and again")]
    assert script.answer(conversation(body(*asked))).text == "Worked."


def test_a_new_prompt_begins_at_its_own_first_step(script: Script) -> None:
    asked = [user("some work"), *called("Bash"), {"role": "assistant", "content": "Worked."}, user("thanks")]
    assert script.answer(conversation(body(*asked))).text == "OK."


def test_directives_are_steps_in_their_order() -> None:
    assert inline_steps("do [[shell:ls -l]] then [[wait:2]] [[say:ok]]") == [
        Shell("ls -l"),
        Wait(2.0),
        Say("ok"),
    ]


def test_streamed_and_plain_answers_say_the_same() -> None:
    model = Model(Loopback(None, None).listen())
    try:
        plain = post(model, body(user("[[say:hello]]")))
        streamed = post(model, {**body(user("[[say:hello]]")), "stream": True})
    finally:
        model.close()
    assert json.loads(plain)["content"][0]["text"] == "hello"
    assert '"text_delta", "text": "hello"' in streamed
    assert streamed.rstrip().endswith('data: {"type": "message_stop"}')


def test_keys_are_not_kept() -> None:
    model = Model(Loopback(None, None).listen())
    try:
        post(model, body(user("hello")), key="a-key-that-must-not-be-kept")
    finally:
        model.close()
    assert len(model.requests) == 1
    assert "a-key-that-must-not-be-kept" not in repr(model.requests)


def test_what_hooks_injected_is_found_in_every_place_that_the_client_puts_it() -> None:
    beside = {
        "role": "system",
        "content": "Notes.\n\nSessionStart hook additional context: one\n\nStop hook additional context: no",
    }
    inside = user("<system-reminder>\nSessionStart hook additional context: two\n</system-reminder>hello")
    quoted = user("SessionStart hook additional context: typed by the user")
    request = Request("/v1/messages", body(beside, inside, quoted))
    assert [text.strip() for text in request.injections()] == ["one", "two"]


def test_a_listener_inside_is_not_reachable_from_outside(loopback: Loopback) -> None:
    if loopback.notice:
        pytest.skip(loopback.notice)
    with loopback.listen() as listener:
        port = listener.getsockname()[1]
        knock = f"import socket; socket.create_connection(('127.0.0.1', {port}), timeout=5)"
        inside = subprocess.run([*loopback.inside(), sys.executable, "-c", knock], check=False)
        outside = subprocess.run([sys.executable, "-c", knock], check=False, stderr=subprocess.DEVNULL)
    assert (inside.returncode, outside.returncode) == (0, 1)


def test_broken_disks_exist_only_for_the_command_that_asked_for_them(
    loopback: Loopback, tmp_path: Path
) -> None:
    if loopback.notice:
        pytest.skip(loopback.notice)
    (tmp_path / "kept").write_text("kept")
    for fault in ("readonly", "full"):
        script = f"cat {tmp_path}/kept; echo word > {tmp_path}/new && echo written"
        done = subprocess.run(
            [*loopback.inside(f"{fault}={tmp_path}"), "sh", "-c", script],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (fault, done.stdout) == (fault, "kept")
    assert [file.name for file in tmp_path.iterdir()] == ["kept"]


@pytest.mark.skipif(platform.system() != "Linux", reason="seccomp is Linux's")
def test_forks_fail_where_they_are_told_to() -> None:
    run = [sys.executable, "-I", "-S", str(Path(__file__).with_name("unforkable.py"))]
    done = subprocess.run(
        [*run, "sh", "-c", "echo on; ls; echo"], capture_output=True, text=True, check=False
    )
    assert (done.stdout, "fork" in done.stderr) == ("on\n", True)


def post(model: Model, sent: dict[str, Any], key: str = "some-key") -> str:
    request = urllib.request.Request(
        f"{model.url}/v1/messages?beta=true",
        json.dumps(sent).encode(),
        {"x-api-key": key, "Authorization": key},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        text: str = answer.read().decode()
    return text
