"""Fields of foreign payloads, read without trust: whatever the type, each of these gives a plain value.

Texts are cut here too. An event carries an excerpt that keeps both ends, because errors end in their cause;
the whole payload stays in the event's body. An excerpt knows what it was made from, so that secrets can go
before the cut: half of a private key is no longer recognised as one.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Protocol

from backstory.hook.normalize import INPUT_LIMIT as INPUT_LIMIT
from backstory.hook.normalize import ends
from backstory.hook.project_identity import ident as ident
from backstory.model import Event, Where

OUTPUT_LIMIT = 1_500
SUMMARY_LIMIT = 12_000
_PATH_LIMIT = 4_096
_DEPTH_LIMIT = 20
_MOST_TOKENS = 10**9


def string(value: object) -> str:
    return value if isinstance(value, str) else ""


def mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def path(value: object) -> str:
    """A path as the system could take it; anything else is no path."""
    if isinstance(value, str) and len(value) <= _PATH_LIMIT and "\0" not in value:
        return value
    return ""


class Clean(Protocol):
    """What takes secrets out."""

    def text(self, text: str) -> str:
        """A text without them."""

    def value(self, value: object) -> object:
        """A JSON value without them; the name of a key tells about its value."""


class Excerpt(str):
    """A text made from more than it shows; `again` makes it anew from what a `Clean` leaves of that."""

    __slots__ = ("again",)
    again: Callable[[Clean], str]

    def __new__(cls, text: str, again: Callable[[Clean], str]) -> "Excerpt":
        made = super().__new__(cls, text)
        made.again = again
        return made


def redacted_text(text: str, clean: Clean) -> str:
    """The text without secrets, taken out of the whole that it was made from."""
    return text.again(clean) if isinstance(text, Excerpt) else clean.text(text)


def as_json(value: object) -> str:
    return Excerpt(_dumped(value), lambda clean: _dumped(clean.value(value)))


def _dumped(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (RecursionError, TypeError, ValueError):
        return ""


def head_and_tail(text: str, limit: int) -> str:
    """The text, or its head and tail when it is longer than the limit."""
    if len(text) <= limit:
        return text
    return Excerpt(ends(text, limit), partial(_cut_again, text, limit))


def _cut_again(whole: str, limit: int, clean: Clean) -> str:
    return ends(redacted_text(whole, clean), limit)


def join_excerpts(between: str, texts: Iterable[str]) -> str:
    """The texts that are not empty as one, which still knows what its excerpts were made from."""
    parts = [text for text in texts if text]
    whole = between.join(parts)
    if not any(isinstance(part, Excerpt) for part in parts):
        return whole
    return Excerpt(whole, lambda clean: between.join(redacted_text(part, clean) for part in parts))


def flatten_text(value: object, depth: int = 0) -> str:
    """The text in a string, a content block, or a list of both; images and other data are left out."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        for key in ("text", "content", "output", "result"):
            if key in value:
                return flatten_text(value[key], depth + 1) if depth < _DEPTH_LIMIT else ""
        return ""
    if isinstance(value, list) and depth < _DEPTH_LIMIT:
        return "\n".join(filter(None, (flatten_text(item, depth + 1) for item in value)))
    return ""


def token_sum(usage: Mapping[str, object], names: Iterable[str]) -> int:
    """The sum of these numbers of tokens, whatever else stands there."""
    values = [usage.get(name) for name in names]
    return sum(value for value in values if type(value) is int and 0 <= value < _MOST_TOKENS)


def event_maker(agent: str, session: str, payload: Mapping[str, object], at: int) -> Callable[..., Event]:
    """What builds the events of a hook's payload: whose they are, where and when."""
    subagent = ident(payload.get("agent_id"))
    return partial(
        Event,
        agent,
        session,
        at=at,
        transcript=path(payload.get("transcript_path")),
        where=Where(path(payload.get("cwd"))),
        subagent=subagent,
        subagent_type=ident(payload.get("agent_type")) if subagent else "",
    )
