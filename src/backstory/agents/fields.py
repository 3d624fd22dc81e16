"""Fields of foreign payloads, read without trust: whatever the type, each of these gives a plain value.

Texts are cut here too. An event carries an excerpt that keeps both ends, because errors end in their cause;
the whole payload stays in the event's body.
"""

import json
from collections.abc import Mapping
from hashlib import blake2b

OUTPUT_LIMIT = 1_500
INPUT_LIMIT = 4_000
SUMMARY_LIMIT = 12_000
_ID_LIMIT = 200
_PATH_LIMIT = 4_096
_DEPTH_LIMIT = 20
_GAP = " … "


def string(value: object) -> str:
    return value if isinstance(value, str) else ""


def mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def path(value: object) -> str:
    """A path as the system could take it; anything else is no path."""
    if isinstance(value, str) and len(value) <= _PATH_LIMIT and "\0" not in value:
        return value
    return ""


def ident(value: object) -> str:
    """An id of the agent's. It is data, never part of a path; an absurd one is cut but stays distinct."""
    if not isinstance(value, str):
        return ""
    if (
        len(value) <= _ID_LIMIT
        and value.isprintable()
        and not ("/" in value or "\\" in value or ".." in value)
    ):
        return value
    digest = blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    shown = "".join(c if c.isprintable() and c not in "/\\" else "?" for c in value[: _ID_LIMIT - 20])
    return f"{shown.replace('..', '??')}~{digest}"


def as_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (RecursionError, TypeError, ValueError):
        return ""


def cut(text: str, limit: int) -> str:
    """The text, or its head and tail when it is longer than the limit."""
    if len(text) <= limit:
        return text
    room = limit - len(_GAP)
    head = (room + 1) // 2
    return text[:head] + _GAP + text[len(text) - (room - head) :]


def flatten(value: object, depth: int = 0) -> str:
    """The text in a string, a content block, or a list of both; images and other data are left out."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        for key in ("text", "content", "output", "result"):
            if key in value:
                return flatten(value[key], depth + 1) if depth < _DEPTH_LIMIT else ""
        return ""
    if isinstance(value, list) and depth < _DEPTH_LIMIT:
        return "\n".join(filter(None, (flatten(item, depth + 1) for item in value)))
    return ""
