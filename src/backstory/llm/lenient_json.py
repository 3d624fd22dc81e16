"""JSON out of whatever a model sent: in a fence, between two sentences, with a comma too many."""

import json
import re
from collections.abc import Iterator
from typing import Any

_FENCE = re.compile(r"```[a-zA-Z]{0,40}[^\S\n]*+\n(.*?)```", re.S)
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
                found = json.loads(attempt)
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict):
                return found
    raise Unusable("the answer is not one JSON object")


def _pieces(text: str) -> Iterator[str]:
    yield text
    yield from _FENCE.findall(text)
    begin, end = text.find("{"), text.rfind("}")
    if 0 <= begin < end:
        yield text[begin : end + 1]
