"""JSON out of whatever a model sent: behind thoughts, in a fence, between sentences, sloppy, cut off."""

import contextlib
import json
import re
from collections.abc import Iterator
from typing import Any

_FENCE = re.compile(r"```[a-zA-Z]{0,40}[^\S\n]*+\n(.*?)```", re.S)
# Brackets, and the texts in which they mean nothing.
_MARKS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[][{}]', re.S)
_PAIRS, _CLOSING = {"{": "}", "[": "]"}, ("}", "]")
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
    for piece in _pieces(text):
        for attempt in (piece, _COMMA.sub(r"\1", piece)):
            try:
                found = json.loads(attempt)
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict):
                return found
    if (found := _whole_items(text) or _last_object(text)) is not None:
        return found
    raise Unusable("the answer is not one JSON object")


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
    end, closing = 0, ""
    for mark in _MARKS.finditer(text, max(begin, 0)):
        if (found := mark.group()) in _PAIRS:
            stack.append(_PAIRS[found])
        elif found in _CLOSING:
            if not stack or stack.pop() != found:
                break
            if stack:
                end, closing = mark.end(), "".join(reversed(stack))
    if not end:
        return None
    try:
        told = json.loads(_COMMA.sub(r"\1", text[begin:end] + closing))
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def _pieces(text: str) -> Iterator[str]:
    yield text
    yield from _FENCE.findall(text)
    begin, end = text.find("{"), text.rfind("}")
    if 0 <= begin < end:
        yield text[begin : end + 1]
