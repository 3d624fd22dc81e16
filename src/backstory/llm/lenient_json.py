"""JSON out of whatever a model sent: behind thoughts, in a fence, between sentences, sloppy, cut off."""

import contextlib
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
_THOUGHT = "</think>"  # ends what some models send in front of their answer
_BRACES = 50  # so many of them are tried as the beginning of an object
_DECODER = json.JSONDecoder()


class Unusable(ValueError):
    """What is wrong with an answer, in words that the model itself can mend it by."""


def read_object(text: str) -> dict[str, Any]:
    """The JSON object in an answer; `Unusable` if there is none."""
    text = text.rpartition(_THOUGHT)[2]
    if not text.strip():
        raise Unusable("the answer is empty")
    if (found := _found(text)) is None:
        raise Unusable("the answer is not one JSON object")
    if _HALF in text.lower():  # halves of characters, which JSON can spell, are no text that can be kept
        found = json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
    return found


def _found(text: str) -> dict[str, Any] | None:
    for piece in _pieces(text):
        for attempt in (piece, _COMMA.sub(r"\1", piece)):
            try:
                found = json.loads(attempt)
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict):
                return found
    return _whole_items(text) or _last_object(text)


def _last_object(text: str) -> dict[str, Any] | None:
    """The object behind which nothing closes any more, of a text in which braces stand before it, too."""
    place = -1
    for _ in range(_BRACES):
        if (place := text.find("{", place + 1)) < 0:
            return None
        with contextlib.suppress(ValueError, RecursionError):
            found, end = _DECODER.raw_decode(text, place)
            if isinstance(found, dict) and not any(each in text[end:] for each in _CLOSING):
                return found
    return None


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
        told = json.loads(_COMMA.sub(r"\1", text[begin:end] + closing))
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def _pieces(text: str) -> Iterator[str]:
    yield text
    yield from (found[1] for found in islice(_FENCE.finditer(text), _MOST_FENCES))
    begin, end = text.find("{"), text.rfind("}")
    if 0 <= begin < end:
        yield text[begin : end + 1]
