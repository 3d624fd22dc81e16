"""What a hook is handed, whatever it is, becomes a dictionary or a reason why not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backstory.hook import payload
from backstory.hook.payload import BadPayload, encode_json, parse_payload

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \r\n\t", "empty"),
        (b"\x1e", "empty"),
        (b'{"cwd":"/home', "truncated"),
        (b'{"cwd":"/home"', "truncated"),
        (b'{"cwd":', "truncated"),
        (b"hello", "not json"),
        (b'{"a":1} {"b":2}', "not json"),
        (b"{'a':1}", "not json"),
        (b'{"a":1,}', "not json"),
        (b"[1,2]", "not an object"),
        (b'"text"', "not an object"),
        (b"null", "not an object"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"a":' + b"9" * 5_000 + b"}", "not json"),
    ],
)
# MEMORIA-28
def test_memoria_28_what_is_no_payload_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    with pytest.raises(BadPayload) as caught:
        parse_payload(data)
    assert caught.value.reason == reason
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":"\xc3\xa4"}',
        b'  {"a":"\xc3\xa4"}\n',
        b'\xef\xbb\xbf{"a":"\xc3\xa4"}',
        b'{"a":"\xc3\xa4"}\x1e',
        b'{"a":"\xc3\xa4"}\n\x1e',
        '{"a":"ä"}'.encode("utf-16"),
        '{"a":"ä"}'.encode("utf-16-le"),
        b'{"a":"\\u00e4"}',
        b'{"a":0,"a":"\xc3\xa4"}',
    ],
)
def test_the_same_payload_in_other_clothes(data: bytes) -> None:
    assert parse_payload(data) == {"a": "ä"}


def test_bytes_that_are_not_utf8_cost_only_themselves() -> None:
    assert parse_payload(b'{"prompt":"gr\xfc\xdfe","n":1}') == {"prompt": "gr��e", "n": 1}


def test_half_an_emoji_can_be_stored_and_printed() -> None:
    value = parse_payload(rb'{"prompt":"a\ud83d","whole":"\ud83d\ude00","list":["\uDE00"]}')
    assert value == {"prompt": "a?", "whole": "😀", "list": ["?"]}


def test_numbers_that_json_does_not_know_are_read_as_nothing() -> None:
    """Nobody who counts with a payload's numbers has to think of them."""
    assert parse_payload(b'{"a":NaN,"b":-Infinity,"c":1e400,"d":[Infinity,1.5,-2]}') == {
        "a": None,
        "b": None,
        "c": None,
        "d": [None, 1.5, -2],
    }


def test_raw_control_characters_in_a_text_are_kept() -> None:
    assert parse_payload(b'{"prompt":"a\tb\nc"}') == {"prompt": "a\tb\nc"}


def test_a_payload_of_50_megabytes_is_read() -> None:
    value = parse_payload(b'{"session_id":"s","tool_response":"' + b"x" * 50_000_000 + b'"}')
    assert len(str(value["tool_response"])) == 50_000_000


# --- Windows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "cwd"),
    [
        (rb'{"cwd":"C:\Users\dev"}', r"C:\Users\dev"),
        (rb'{"cwd":"C:\Users\dev\new\table","n":1}', r"C:\Users\dev\new\table"),
        (rb'{"cwd":"D:\x\u12","n":1}', r"D:\x\u12"),
        (rb'{"cwd":"\\server\share\Dir"}', "\\server\\share\\Dir"),
        (rb'{"cwd":"C:\\Users\\dev"}', r"C:\Users\dev"),
    ],
)
# MEMORIA-25
def test_memoria_25_unescaped_backslashes_are_repaired(data: bytes, cwd: str) -> None:
    assert parse_payload(data)["cwd"] == cwd


@pytest.mark.parametrize("name", ["cwd", "transcript_path", "agent_transcript_path", "file_path"])
# MEMORIA-26
def test_memoria_26_a_path_whose_backslashes_are_valid_escapes_is_restored(name: str) -> None:
    data = b'{"' + name.encode() + rb'":"C:\temp\new.jsonl","prompt":"a\tb"}'
    assert parse_payload(data) == {name: r"C:\temp\new.jsonl", "prompt": "a\tb"}


# MEMORIA-26
def test_memoria_26_paths_inside_a_tool_call_are_restored_too() -> None:
    value = parse_payload(rb'{"tool_input":{"file_path":"C:\repo\bin\file.txt","content":"a\tb"}}')
    assert value["tool_input"] == {"file_path": r"C:\repo\bin\file.txt", "content": "a\tb"}


# MEMORIA-26
def test_memoria_26_a_posix_path_is_left_as_it_is() -> None:
    assert parse_payload(rb'{"cwd":"/home/odd\tname"}') == {"cwd": "/home/odd\tname"}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (rb'{"cwd":"C:\Users\dev\","n":1}', {"cwd": "C:\\Users\\dev\\", "n": 1}),
        (rb'{"n":1,"cwd":"C:\temp\"}', {"n": 1, "cwd": "C:\\temp\\"}),
        (rb'{"cwd":"C:\","prompt":"say \"hi\", \"you\""}', {"cwd": "C:\\", "prompt": 'say "hi", "you"'}),
    ],
)
# MEMORIA-27
def test_memoria_27_a_path_that_ends_in_a_backslash_is_handled(data: bytes, expected: object) -> None:
    assert parse_payload(data) == expected


@pytest.mark.parametrize("data", [rb'{"cwd":"C:\Users\dev\"', rb'{"cwd":"C:\"', rb'{"a\":1}', b"\\"])
# MEMORIA-27
def test_memoria_27_what_cannot_be_handled_is_refused(data: bytes) -> None:
    with pytest.raises(BadPayload):
        parse_payload(data)


# --- any input ----------------------------------------------------------------------------------------------


@given(
    st.binary(max_size=200) | st.text(alphabet='{}[]":,\\ \tabCU:/u0d8n1.eE-', max_size=80).map(str.encode)
)
@settings(deadline=None, max_examples=250)
def test_nothing_but_bad_payload_is_ever_raised(data: bytes) -> None:
    try:
        value = parse_payload(data)
    except BadPayload:
        return
    json.dumps(value).encode()


@given(st.dictionaries(st.text(max_size=3), JSON, max_size=4), st.sampled_from(["utf-8", "utf-16"]))
@settings(deadline=None)
def test_what_json_writes_is_read_as_it_was(value: dict[str, object], encoding: str) -> None:
    value.pop("cwd", None)  # a path is repaired, not kept
    assert parse_payload(json.dumps(value, ensure_ascii=False).encode(encoding)) == value


@given(JSON)
def test_encode_writes_what_json_reads(value: object) -> None:
    text = encode_json(value)
    assert text.isascii()
    assert json.loads(text) == value


def test_encode_knows_no_nan_and_no_objects() -> None:
    assert (
        encode_json([float("nan"), float("inf"), True, None, (1, "ä")])
        == '[null,null,true,null,[1,"\\u00e4"]]'
    )
    with pytest.raises(TypeError):
        encode_json(object())
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="deeply"):
        encode_json(endless)


def test_reading_a_payload_imports_nothing_dear() -> None:
    source = Path(payload.__file__).parents[2]
    script = (
        f"import sys; sys.path.insert(0, {str(source)!r}); before = set(sys.modules)\n"
        "from backstory.hook.payload import parse_payload, encode_json\n"
        'encode_json(parse_payload(b\'{"cwd":"/x","tool_input":{}}\'))\n'
        "print(sorted(m for m in set(sys.modules) - before if not m.startswith('backstory')))"
    )
    shown = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "['_json']"
