"""Which folder a client works in: what it is asked, when it is believed, what waits for its word."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from backstory.mcp import roots
from backstory.mcp.json_rpc import Conversation
from tests.story import House

from .server import Server

CHANGED = '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}'
READY = '{"jsonrpc":"2.0","method":"notifications/initialized"}'


def request(method: str, id_: object = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def begun(folder: str = "/nowhere") -> Conversation:
    """A conversation with a client that has roots."""
    talk = Conversation(folder)
    talk.hear(json.dumps(request("initialize", capabilities={"roots": {}})))
    return talk


def asked(lines: list[str]) -> str:
    """The id of the one question for roots among what is sent."""
    [id_] = [
        m["id"] for m in map(json.loads, lines) if isinstance(m, dict) and m.get("method") == "roots/list"
    ]
    return str(id_)


def told(id_: str, *uris: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": id_, "result": {"roots": [{"uri": uri} for uri in uris]}})


def test_a_client_with_roots_is_asked_for_them_and_believed() -> None:
    talk = begun()
    question = asked(talk.hear(READY))
    assert talk.hear(told(question, "https://example.com", "file:///home/dev/my%20shop")) == []
    assert talk.folder == "/home/dev/my shop"


def test_a_client_without_roots_is_not_asked() -> None:
    assert Conversation("/nowhere").hear(READY) == []
    assert Conversation("/nowhere").hear(CHANGED) == []


def test_no_question_has_the_id_of_another() -> None:
    talk = begun()
    ids = [asked(talk.hear(line)) for line in (READY, CHANGED, CHANGED)]
    assert len(set(ids)) == 3


def test_an_answer_from_before_the_change_is_old_and_lets_nothing_go_on() -> None:
    talk = begun("/start")
    first, second = asked(talk.hear(READY)), asked(talk.hear(CHANGED))
    assert talk.hear(json.dumps(request("tools/call", 7, name="none"))) == []
    assert talk.hear(told(first, "file:///old")) == []
    assert (talk.folder, talk.waits) == ("/start", True)
    [answer] = talk.hear(told(second, "file:///new"))
    assert json.loads(answer)["id"] == 7
    assert (talk.folder, talk.waits) == ("/new", False)
    assert talk.hear(told(first, "file:///old")) == talk.hear(told(second, "file:///old")) == []
    assert talk.folder == "/new"


def test_an_answer_that_comes_late_counts_for_what_follows() -> None:
    talk = begun("/start")
    question = asked(talk.hear(READY))
    talk.hear(json.dumps(request("tools/call", 7, name="none")))
    assert len(talk.go_on()) == 1
    talk.hear(told(question, "file:///new"))
    assert talk.folder == "/new"


@pytest.mark.parametrize("left", [(), ("https://example.com",), (7, None)])
def test_without_folders_any_more_it_works_where_it_was_started(left: tuple[object, ...]) -> None:
    talk = begun("/start")
    talk.hear(told(asked(talk.hear(READY)), "file:///home/dev/shop"))
    talk.hear(told(asked(talk.hear(CHANGED)), *left))
    assert talk.folder == "/start"


def test_a_client_that_cannot_tell_its_folders_now_works_on_where_it_did() -> None:
    talk = begun("/start")
    talk.hear(told(asked(talk.hear(READY)), "file:///home/dev/shop"))
    question = asked(talk.hear(CHANGED))
    talk.hear(json.dumps({"jsonrpc": "2.0", "id": question, "error": {"code": -32603, "message": "busy"}}))
    assert talk.folder == "/home/dev/shop"


@pytest.mark.parametrize(
    "uri",
    ["file://[", "file://[x]/a", "file:///a%00b", "file://", "\ud800", "file://otherhost/x", "https://x/y"]
    + ([] if os.name == "nt" else ["file:///C:/x", "file:///c%3A/x", "file:///C:"]),
)
def test_what_is_no_folder_of_this_machine_is_not_taken_for_one(uri: str) -> None:
    talk = begun("/start")
    assert talk.hear(told(asked(talk.hear(READY)), uri)) == []
    assert talk.folder == "/start"
    talk.hear(told(asked(talk.hear(CHANGED)), uri, "file://localhost/home/dev/c:shop"))
    assert talk.folder == "/home/dev/c:shop"


def test_bytes_that_are_no_utf8_name_a_folder_too() -> None:
    assert roots.from_roots({"roots": [{"uri": "file:///caf%E9"}]}) == [os.fsdecode(b"/caf\xe9")]


@pytest.mark.parametrize("result", [None, 7, [], {}, {"roots": 7}, {"roots": [7, None, {"uri": 7}]}])
def test_an_answer_that_is_none_names_no_folder(result: object) -> None:
    assert roots.from_roots(result) == []


def test_a_batch_that_has_to_wait_in_part_is_answered_as_one_batch() -> None:
    talk = begun()
    question = asked(talk.hear(READY))
    calls = [request("ping", 1), request("tools/call", 2, name="none"), request("ping", 3)]
    assert talk.hear(json.dumps(calls)) == []
    assert json.loads(talk.hear(json.dumps(request("ping", 4)))[0])["id"] == 4
    [answer] = talk.hear(told(question, "file:///new"))
    assert [part["id"] for part in json.loads(answer)] == [1, 2, 3]
    assert not talk.waits


def test_a_batch_may_bring_the_folders_that_it_waits_for() -> None:
    talk = begun()
    question = asked(talk.hear(READY))
    batch = [request("tools/call", 2, name="none"), json.loads(told(question, "file:///new"))]
    [answer] = talk.hear(json.dumps(batch))
    assert [part["id"] for part in json.loads(answer)] == [2]
    assert (talk.folder, talk.waits) == ("/new", False)


def test_our_own_question_is_not_among_the_answers_of_a_batch() -> None:
    talk = Conversation("/nowhere")
    batch = [request("initialize", 1, capabilities={"roots": {}}), json.loads(READY), request("ping", 2)]
    answers, question = map(json.loads, talk.hear(json.dumps(batch)))
    assert [part["id"] for part in answers] == [1, 2]
    assert question["method"] == "roots/list"


def test_of_several_folders_the_answer_says_which_it_is_of(
    house: House, server: Server, tmp_path: Path
) -> None:
    for name in ("blog", "atlas"):
        (tmp_path / name).mkdir()
    server.ask("initialize", protocolVersion="2025-06-18", capabilities={"roots": {}})
    server.send(READY.encode())
    uris = [(tmp_path / name).as_uri() for name in ("blog", "atlas")]
    server.send(told(server.hears()["id"], *uris).encode())
    note = "This is of blog, the first of 2 folders."
    for tool, arguments in (
        ("remember", {"text": "Posts appear on Sundays"}),
        ("search", {"query": "when do posts appear"}),
        ("timeline", {}),
        ("forget", {"text": "Sundays"}),
    ):
        said = server.call(tool, **arguments)
        assert said.index(note) < said.index("</backstory-notes>")
    assert "folders" not in server.call("search", query="when do posts appear", all=True)
    assert "folders" not in server.call("status")
    server.send(CHANGED.encode())
    server.send(told(server.hears()["id"], uris[0]).encode())
    assert "folders" not in server.call("search", query="when do posts appear")


def test_who_never_names_a_folder_waits_two_seconds_and_no_more(server: Server) -> None:
    server.call("status")
    server.ask("initialize", protocolVersion="2025-06-18", capabilities={"roots": {}})
    server.send(READY.encode())
    server.hears()
    began = time.monotonic()
    server.ask("tools/call", name="none")
    assert 1.5 < time.monotonic() - began < 60


def test_the_agents_own_variable_is_believed_before_one_that_it_sets_for_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Qwen Code sets Gemini CLI's and Claude Code's too, Gemini CLI Claude Code's."""
    monkeypatch.chdir(tmp_path)
    names = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "QWEN_PROJECT_DIR", "BACKSTORY_PROJECT_DIR")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    assert roots.from_environment() == str(tmp_path)
    for name in names:
        monkeypatch.setenv(name, f"/{name}")
        assert roots.from_environment() == f"/{name}"
    monkeypatch.setenv(names[-1], "not/absolute")
    assert roots.from_environment() == f"/{names[-2]}"
