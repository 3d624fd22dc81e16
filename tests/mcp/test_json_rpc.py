"""What a conversation holds to, whatever carries it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.mcp.handshake import HANDSHAKE_VERSIONS
from backstory.mcp.json_rpc import Conversation

ENVELOPE = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
NOTHING = {"jsonrpc": "2.0", "id": None}


def ask(method: str, id_: object = 1, **params: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
    [answer] = Conversation("/nowhere").hear(json.dumps(message))
    loaded: dict[str, Any] = json.loads(answer)
    return loaded


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
def test_a_known_version_is_spoken_as_asked(version: str) -> None:
    assert ask("initialize", protocolVersion=version)["result"]["protocolVersion"] == version


def test_an_unknown_version_is_met_with_the_newest() -> None:
    assert (
        ask("initialize", protocolVersion="1999-01-01")["result"]["protocolVersion"] == HANDSHAKE_VERSIONS[-1]
    )


def test_a_string_is_as_good_an_id_as_a_number() -> None:
    assert ask("ping", "abc") == {"jsonrpc": "2.0", "id": "abc", "result": {}}


def test_the_stateless_revision_needs_no_handshake_and_gets_its_marks() -> None:
    result = ask("tools/list", _meta=ENVELOPE)["result"]
    assert result["resultType"] == "complete"
    assert result["cacheScope"] == "private"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "backstory"


def test_a_client_of_the_handshake_era_sees_none_of_those_marks() -> None:
    assert ask("tools/list")["result"].keys() == {"tools"}


def test_discovery_names_the_stateless_versions() -> None:
    assert ask("server/discover", _meta=ENVELOPE)["result"]["supportedVersions"] == ["2026-07-28"]


def test_a_stateless_version_that_nobody_knows_is_refused_with_those_that_are() -> None:
    error = ask("tools/list", _meta={"io.modelcontextprotocol/protocolVersion": "2099-01-01"})["error"]
    assert error["code"] == -32022
    assert error["data"] == {"supported": ["2026-07-28"], "requested": "2099-01-01"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("not json", -32700),
        ("[" * 100_000, -32700),
        ('"word"', -32600),
        ("[]", -32600),
        ('{"jsonrpc":"2.0","id":1}', -32600),
        ('{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":{"a":1}}', -32600),
        ('{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":1e999,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":NaN,"method":"ping"}', -32700),
        ('{"jsonrpc":"2.0","id":-Infinity,"method":"ping"}', -32700),
        ('{"jsonrpc":"2.0","id":1,"method":"prompts/list"}', -32601),
        ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sudo"}}', -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":[]}}', -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}', -32602),
    ],
)
def test_what_cannot_be_understood_gets_an_error(text: str, code: int) -> None:
    [answer] = Conversation("/nowhere").hear(text)
    assert json.loads(answer)["error"]["code"] == code
    assert is_sound(json.loads(answer))


def test_notifications_and_stray_answers_get_no_answer() -> None:
    talk = Conversation("/nowhere")
    assert talk.hear('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}') == []
    assert talk.hear('{"jsonrpc":"2.0","id":7,"result":{}}') == []


def test_a_batch_is_answered_as_a_batch() -> None:
    batch = [{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in (1, 2)]
    [answer] = Conversation("/nowhere").hear(json.dumps([*batch, {"jsonrpc": "2.0", "method": "x"}]))
    assert [part["id"] for part in json.loads(answer)] == [1, 2]


def test_an_error_does_not_give_back_all_that_was_sent() -> None:
    """It goes into an agent's context, which a mistake must not fill."""
    long = "x" * 100_000
    for method, params in (
        ("resources/read", {"uri": long}),
        ("tools/call", {"name": long}),
        ("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": long}}),
        (long, {}),
    ):
        assert len(json.dumps(ask(method, **params))) < 3_000
    error = ask("resources/read", uri="backstory://session/none")["error"]
    assert error["data"] == {"uri": "backstory://session/none"}


def test_what_every_session_pays_for_our_tools_stays_small() -> None:
    """At most 600 tokens in all, schemas and instructions."""
    listed = ask("tools/list")["result"]["tools"]
    said = ask("initialize")["result"]["instructions"]
    told = [
        {k: v for k, v in tool.items() if k != "annotations"} for tool in listed
    ]  # those are the client's
    assert len(json.dumps(told, separators=(",", ":")) + said) / 3.6 <= 600


def no_constant(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


def is_sound(answer: object) -> bool:
    """Whether it is an answer as JSON-RPC has it."""
    assert isinstance(answer, dict)
    id_ = answer["id"]
    assert id_ is None or (isinstance(id_, str | int | float) and not isinstance(id_, bool))
    assert answer["jsonrpc"] == "2.0"
    assert len(answer.keys() & {"result", "error", "method"}) == 1
    if "error" in answer:
        assert type(answer["error"]["code"]) is int
        assert isinstance(answer["error"]["message"], str)
    return True


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
METHODS = st.sampled_from(
    [
        "initialize",
        "ping",
        "tools/list",
        "server/discover",
        "notifications/initialized",
        "resources/read",
        "x",
    ]
)
ROOTED: dict[str, Any] = {"capabilities": {"roots": {}}}
PARAMS = (
    VALUES
    | st.just(ROOTED)
    | st.fixed_dictionaries({}, optional={"_meta": VALUES, "capabilities": VALUES, "name": VALUES})
)
MESSAGES = VALUES | st.fixed_dictionaries({"method": METHODS}, optional={"id": VALUES, "params": PARAMS})
ANSWERS = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["backstory-roots-1", "backstory-roots-2"]),
        "result": VALUES | st.fixed_dictionaries({"roots": VALUES}),
    }
)


@given(st.lists(MESSAGES | ANSWERS | st.lists(MESSAGES | ANSWERS), max_size=4))
def test_no_message_ends_the_conversation_and_every_answer_is_one(messages: list[object]) -> None:
    talk = Conversation("/nowhere")
    for message in messages:
        for answer in talk.hear(json.dumps(message)):
            heard = json.loads(answer, parse_constant=no_constant)
            assert all(map(is_sound, heard if isinstance(heard, list) else [heard]))


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_whatever_comes_off_the_wire_gets_json_or_nothing(line: bytes | str) -> None:
    for answer in Conversation("/nowhere").hear(line):
        json.loads(answer, parse_constant=no_constant)
