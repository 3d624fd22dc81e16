"""Front matter: read as people write it, and as we write it ourselves."""

import pytest

from backstory.front_matter import front_matter, split_front_matter, text_fields


def test_what_is_written_is_read_back() -> None:
    fields = {"title": "A: b", "tags": ["x", "y z"], "n": 3, "on": True}
    assert split_front_matter(front_matter(fields) + "body\n") == (fields, "body\n")


def test_lists_are_read_however_they_are_written() -> None:
    text = "---\na: [one, 'two']\nb:\n  - three\n- four\nc: five\n---\n"
    assert split_front_matter(text)[0] == {"a": ["one", "two"], "b": ["three", "four"], "c": "five"}


def test_fields_can_be_had_as_they_stand() -> None:
    text = '---\r\nTitle: "1.10"\nupdated: 2026-01-02 \n# said aside\nnested:\n  inner: x\n---\r\nbody'
    assert text_fields(text) == ({"title": "1.10", "updated": "2026-01-02", "nested": ""}, "body")


@pytest.mark.parametrize(
    "text", ["", "no head", "---\nnever closed: x\n", "----\na: b\n---\n", "\n---\na: b\n---\n"]
)
def test_a_page_without_a_head_is_all_body(text: str) -> None:
    assert split_front_matter(text) == ({}, text)
    assert text_fields(text) == ({}, text)


def test_items_before_any_field_are_nobodys() -> None:
    assert split_front_matter("---\n- lost\na: b\n---\nx") == ({"a": "b"}, "x")
