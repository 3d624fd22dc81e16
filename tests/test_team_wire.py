"""Rows and proofs as they cross the wire between laptop and team server."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.team_wire import BURIED, LONGEST_ROW, Proof, Refused, Row, mark, read_row, wire_id

ROW = Row(
    "0" * 32, "decision", "current", 1_700_000_000_000, {"text": "We use NATS", "new": [1, {"x": None}]}
)


def test_a_row_comes_over_as_it_was_with_what_this_version_does_not_know() -> None:
    assert read_row({**ROW.as_json(), "author": "eve", "seq": 7}) == ROW
    assert read_row(ROW.as_json()).hash == ROW.hash


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"id": "x" * 32}, "32 hexadecimal"),
        ({"id": None}, "32 hexadecimal"),
        ({"kind": "Dec ision"}, "word"),
        ({"kind": ""}, "word"),
        ({"state": "buried"}, "state"),
        ({"at": True}, "time"),
        ({"at": -1}, "time"),
        ({"at": 10**18}, "time"),
        ({"body": []}, "object"),
        ({"body": {"text": "a\0b"}}, "NUL"),
        ({"body": {"text": "\\\0"}}, "NUL"),
        ({"body": {"a\0": 1}}, "NUL"),
        ({"body": {"text": "\ud800"}}, "half a character"),
        ({"body": {"text": float("nan")}}, "number that is none"),
        ({"body": {"text": "ä" * (LONGEST_ROW // 2)}}, "bytes"),
    ],
)
def test_what_no_store_can_hold_is_refused_with_its_reason(changed: dict[str, object], reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        read_row({**ROW.as_json(), **changed})


def test_a_backslash_before_the_letters_of_a_nul_is_text() -> None:
    body = {"text": "the escape \\u0000 of JSON, written out"}
    assert read_row({**ROW.as_json(), "body": body}).body == body


def test_a_body_without_end_in_depth_is_refused() -> None:
    deep: dict[str, object] = {}
    for _ in range(100_000):
        deep = {"x": deep}
    with pytest.raises(Refused, match="too deep"):
        read_row({**ROW.as_json(), "body": deep})


def test_two_people_never_have_the_same_id_and_two_devices_of_one_do() -> None:
    assert wire_id(b"a" * 32, "m1") == wire_id(b"a" * 32, "m1")
    assert wire_id(b"a" * 32, "m1") != wire_id(b"b" * 32, "m1")


@given(st.lists(st.tuples(st.integers(0, 50), st.sampled_from(["h1", "h2", BURIED])), max_size=40))
def test_a_proof_does_not_depend_on_the_order_of_what_happened(changes: list[tuple[int, str]]) -> None:
    rows: dict[int, str] = {}
    proof = Proof()
    for number, row_hash in changes:
        if number in rows:
            proof = proof.without(mark(str(number), rows[number]))
        rows[number] = row_hash
        proof = proof.with_(mark(str(number), row_hash))
    fresh = Proof()
    for number, row_hash in sorted(rows.items()):
        fresh = fresh.with_(mark(str(number), row_hash))
    assert proof == fresh
