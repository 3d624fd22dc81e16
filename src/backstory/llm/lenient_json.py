"""JSON out of whatever a model sent: in a fence, between two sentences, with a comma too many, cut off."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

_FENCE = re.compile(r"```[a-zA-Z]{0,40}[^\S\n]*+\n(.*?)```", re.S)
# Brackets, and the texts in which they mean nothing.
_MARKS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[][{}]', re.S)
_PAIRS, _CLOSING = {"{": "}", "[": "]"}, ("}", "]")
_MOST_FENCES = 20
_HALF = "\\ud"
_COMMA = re.compile(r",(\s*[}\]])")


class Unusable(ValueError):
    """What is wrong with an answer, in words that the model itself can mend it by."""


def read_object(text: str) -> dict[str, Any]:
    """The JSON object in an answer; `Unusable` if there is none."""
    if not text.strip():
        raise Unusable("the answer is empty")
    for piece in _pieces(text):
        for attempt in (piece, _COMMA.sub(r"\1", piece)):
            try:
                found = _loaded(attempt)
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict):
                return found
    if (whole := _whole_items(text)) is not None:
        return whole
    raise Unusable("the answer is not one JSON object")


def _loaded(text: str) -> Any:
    """JSON as Python values; halves of characters, which it can spell, are no text that can be kept."""
    found = json.loads(text)
    if _HALF in text.lower():
        found = json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
    return found


def _whole_items(text: str) -> dict[str, Any] | None:
    """What of an object that breaks off, or goes wrong, is whole: up to the last list or object that ends."""
    begin = text.find("{")
    stack: list[str] = []
    end = depth = 0
    for mark in _MARKS.finditer(text, max(begin, 0)):
        if (found := mark.group()) in _PAIRS:
            stack.append(_PAIRS[found])
        elif found in _CLOSING:
            if len(stack) < 2 or stack[-1] != found:
                break
            stack.pop()
            end, depth = mark.end(), len(stack)
    if not end:
        return None
    closing = "".join(reversed(stack[:depth]))
    try:
        told = _loaded(_COMMA.sub(r"\1", text[begin:end] + closing))
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def _pieces(text: str) -> Iterator[str]:
    yield text
    yield from (found[1] for found in islice(_FENCE.finditer(text), _MOST_FENCES))
    begin, end = text.find("{"), text.rfind("}")
    if 0 <= begin < end:
        yield text[begin : end + 1]
