"""Front matter: the fields between two lines of dashes at the head of a Markdown page, read and written."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_HEAD = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_ITEM = re.compile(r"[ \t]*-[ \t]+(.+)")


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The fields of a page, with lists and JSON as values, and its body; what is odd stays text."""
    head, body = _split(text)
    fields: dict[str, Any] = {}
    for name, value in _rows(head):
        if name:
            listed = name
            fields[listed] = _value(value)
        elif fields:
            before = fields[listed] if isinstance(fields[listed], list) else []
            fields[listed] = [*before, _value(value)]
    return fields, body


def text_fields(text: str) -> tuple[dict[str, str], str]:
    """The fields of a page as they are written, without quotes, by lower-case name; and its body."""
    head, body = _split(text)
    return {name.lower(): value.strip("\"'") for name, value in _rows(head) if name}, body


def front_matter(fields: Mapping[str, Any]) -> str:
    """Front matter; values are written as JSON, which YAML reads."""
    rows = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items()]
    return "---\n" + "\n".join(rows) + "\n---\n"


def _split(text: str) -> tuple[str, str]:
    found = _HEAD.match(text)
    return ("", text) if found is None else (found[1], text[found.end() :])


def _rows(head: str) -> Iterator[tuple[str, str]]:
    """Each field with its value; an item of the list that a field has comes without a name."""
    for row in head.splitlines():
        if item := _ITEM.match(row):
            yield "", item[1].strip()
        elif row[:1] not in ("", " ", "\t", "#", ":"):
            name, mark, value = row.partition(":")
            if mark:
                yield name.strip(), value.strip()


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        if text.startswith("[") and text.endswith("]"):
            return [part.strip().strip("'\"") for part in text[1:-1].split(",") if part.strip()]
        return text.strip("'\"")
