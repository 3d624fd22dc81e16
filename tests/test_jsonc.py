"""Edits of JSON text touch what they must and nothing else."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory import jsonc

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)


VALUES = st.recursive(st.none() | st.booleans() | NUMBERS | st.text(), containers, max_leaves=12)
CONTAINERS = containers(VALUES)
SPACE = ["", " ", "\n", "\n  ", "\r\n", "\t", " \n\n\t"]
COMMENT = [
    "// note\n",
    "//\r\n",
    '// [",{\n',
    "// /*\n",
    "/* x */",
    "/**/",
    "/* a\nb */",
    "/* // */",
    '/*"*/',
]


@dataclass(frozen=True)
class Writer:
    """Writes a value as somebody might have; `{ }` with nothing but spaces inside does not occur."""

    random: Random
    comments: bool = True

    def gap(self) -> str:
        """What may stand between two tokens."""
        if not self.comments:
            return self.random.choice(SPACE)
        return "".join(self.random.choices(SPACE + COMMENT, k=self.random.randrange(4)))

    def write(self, value: Any) -> str:
        if not isinstance(value, dict | list):
            return json.dumps(value, ensure_ascii=self.random.random() < 0.5)
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        if not value:
            inside = self.gap()
            return opening + (inside if inside.strip() else "") + closing
        rows = [
            f"{self.gap()}{json.dumps(key)}{self.gap()}:{self.gap()}{self.write(value[key])}{self.gap()}"
            if isinstance(value, dict)
            else f"{self.gap()}{self.write(key)}{self.gap()}"
            for key in value
        ]
        trailing = "," + self.gap() if self.comments and self.random.random() < 0.3 else ""
        return opening + ",".join(rows) + trailing + closing


@st.composite
def documents(
    draw: st.DrawFn, values: st.SearchStrategy[Any] = VALUES, comments: bool = True
) -> tuple[Any, str]:
    """A value and a text that says it."""
    value = draw(values)
    writer = Writer(Random(draw(st.integers(0, 1_000_000))), comments)
    text = writer.gap() + writer.write(value) + writer.gap()
    return value, (draw(st.sampled_from(["", "\ufeff"])) if comments else "") + text


def paths(value: Any, here: jsonc.Path = ()) -> list[jsonc.Path]:
    found = [here]
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            found += paths(value[key], (*here, key))
    return found


def at(value: Any, path: jsonc.Path) -> Any:
    for key in path:
        value = value[key]
    return value


# --- reading ----------------------------------------------------------------------------------------------


@given(documents(comments=False))
def test_plain_json_reads_as_the_standard_library_reads_it(document: tuple[Any, str]) -> None:
    assert jsonc.parse(document[1]).value == json.loads(document[1])


@given(documents())
def test_comments_and_trailing_commas_change_nothing_of_what_is_said(document: tuple[Any, str]) -> None:
    value, text = document
    root = jsonc.parse(text)

    assert root.value == value
    for path in paths(value):
        node = jsonc.find(root, path)
        assert node.value == jsonc.parse(text[node.start : node.end]).value


@given(st.text(alphabet='{}[]",:/* \n1a\\-.e', max_size=12))
def test_anything_is_read_or_refused_with_a_place(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        expected = ...
    try:
        value = jsonc.parse(text).value
    except jsonc.InvalidJson as error:
        value, place = ..., (error.line, error.column)
        assert (1, 1) <= place <= (text.count("\n") + 1, len(text) + 1)
    assert value == expected or expected is ...


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{"a": 1,\n  "b" 2}', 2, 7),
        ('{"a": 1\n "b": 2}', 2, 2),
        ("{'a': 1}", 1, 2),
        ('{"a": ', 1, 7),
        ("", 1, 1),
        ("{} {}", 1, 4),
        ("[1, 2", 1, 6),
        ("[NaN]", 1, 2),
        ('{"a": /* never closed', 1, 7),
        ('\ufeff{"a" 1}', 1, 6),
        ("[" * 100_000, 1, 1),
    ],
)
def test_invalid_text_is_refused_with_line_and_column(text: str, line: int, column: int) -> None:
    with pytest.raises(jsonc.InvalidJson) as refused:
        jsonc.parse(text)
    assert (refused.value.line, refused.value.column) == (line, column)


def test_of_duplicate_keys_the_last_counts() -> None:
    text = '{"a": 1, "a": {"b": 2}}'
    assert jsonc.parse(text).value == json.loads(text)
    assert jsonc.replace(text, ("a", "b"), 3) == '{"a": 1, "a": {"b": 3}}'


# --- writing ----------------------------------------------------------------------------------------------


@given(documents(CONTAINERS), VALUES, st.data())
def test_what_is_inserted_is_there_and_deleting_it_gives_the_text_back(
    document: tuple[Any, str], new: Any, data: st.DataObject
) -> None:
    value, text = document
    where = data.draw(st.sampled_from([p for p in paths(value) if isinstance(at(value, p), dict | list)]))
    holder = at(value, where)
    if isinstance(holder, dict):
        key: str | int = data.draw(st.text().filter(lambda k: k not in holder))
        more = jsonc.insert(text, where, str(key), new)
        holder[key] = new
    else:
        key = len(holder)
        more = jsonc.insert(text, where, None, new)
        holder.append(new)

    assert jsonc.parse(more).value == value
    assert jsonc.delete(more, (*where, key)) == text


@given(documents(CONTAINERS.filter(bool)), st.data())
def test_deleting_takes_out_one_item_and_leaves_every_other_as_it_was_written(
    document: tuple[Any, str], data: st.DataObject
) -> None:
    value, text = document
    path = data.draw(st.sampled_from(paths(value)[1:]))
    parent = jsonc.find(jsonc.parse(text), path[:-1])
    gone = next(item for item in parent.items if item.key == path[-1])
    notes = text[: gone.start].count("// note") + text[gone.node.end :].count("// note")

    less = jsonc.delete(text, path)

    del at(value, path[:-1])[path[-1]]
    assert jsonc.parse(less).value == value
    assert less.count("// note") == notes


@given(documents(CONTAINERS), VALUES, st.data())
def test_replacing_leaves_what_is_before_and_behind(
    document: tuple[Any, str], new: Any, data: st.DataObject
) -> None:
    value, text = document
    path = data.draw(st.sampled_from(paths(value)))
    node = jsonc.find(jsonc.parse(text), path)

    changed = jsonc.replace(text, path, new)

    assert changed.startswith(text[: node.start])
    assert changed.endswith(text[node.end :])
    found = jsonc.find(jsonc.parse(changed), path)
    assert found.value == new


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "new": [\n    1\n  ]\n}'),
        ("{ }\n", '{\n  "new": [\n    1\n  ]\n}\n'),
        ('{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"new": [\n\t\t1\n\t]\n}\n'),
        ('{\r\n    "a": 1\r\n}', '{\r\n    "a": 1,\r\n    "new": [\r\n        1\r\n    ]\r\n}'),
        ('{"a":1}', '{"a":1,"new":[1]}'),
        ('{"a": 1}', '{"a": 1, "new": [1]}'),
        ('{ "a": 1 }', '{ "a": 1, "new": [1] }'),
        ('{\n  "a": 1 // one\n}', '{\n  "a": 1, // one\n  "new": [\n    1\n  ]\n}'),
        ('{\n  "a": 1, // one\n}', '{\n  "a": 1, // one\n  "new": [\n    1\n  ],\n}'),
        ("{\n  // nothing yet\n}", '{\n  "new": [\n    1\n  ]\n  // nothing yet\n}'),
    ],
)
def test_an_insertion_follows_the_style_of_the_file(before: str, after: str) -> None:
    assert jsonc.insert(before, (), "new", [1]) == after


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ("[1, 2, 3]", (0,), "[2, 3]"),
        ("[1, 2, 3]", (1,), "[1, 3]"),
        ("[1, 2, 3]", (2,), "[1, 2]"),
        ("[\n  1,\n  2\n]", (0,), "[\n  2\n]"),
        ("[\n  1, // one\n  2\n]", (0,), "[\n  // one\n  2\n]"),
        ("[1, // one\n2]", (1,), "[1 // one\n]"),
        ('{"a": {"b": [1]}}', ("a", "b", 0), '{"a": {"b": []}}'),
    ],
)
def test_a_deletion_leaves_tidy_text(before: str, path: jsonc.Path, after: str) -> None:
    assert jsonc.delete(before, path) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a": {"b": [1]}, "c": 2}', '{"c": 2}'),
        ('{"a": {"b": [1], "d": 3}}', '{"a": {"d": 3}}'),
        ('{"a": {"b": [1] /* mine */}}', '{"a": { /* mine */}}'),
        ('{"a": {"b": [1]}}', "{}"),
        ('{"a": 5, "a": {"b": [1]}}', '{"a": 5, "a": {}}'),
    ],
)
def test_pruning_removes_what_is_empty_then_but_no_comment_and_not_the_root(before: str, after: str) -> None:
    assert jsonc.delete(before, ("a", "b", 0), prune=True) == after
