"""What goes wrong with a model: the server answers with an error, late, in drops, half, or with nonsense.

model.fails_with(Status(429, retry_after="7"), Cut(20))     # the next two requests; then all is well
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .server import _Handler


class Status(NamedTuple):
    """Another status than 200; `retry_after` is a number of seconds or a date."""

    code: int
    retry_after: str = ""
    message: str = "scripted trouble"


class Hang(NamedTuple):
    """No answer for so long; the client has given up by then."""

    seconds: float = 30.0


class Drip(NamedTuple):
    """The right answer, a byte every so often: no single read takes long, all of them take for ever."""

    seconds: float = 0.05


class Cut(NamedTuple):
    """The connection breaks after so many bytes of the answer."""

    after: int


class Raw(NamedTuple):
    """These bytes in place of the answer."""

    body: bytes


Fault = Status | Hang | Drip | Cut | Raw


def refusal(wire: str, words: str = "I cannot help with that.") -> Raw:
    """The model declines, in the words of a protocol."""
    told: dict[str, dict[str, Any]] = {
        "openai": {"choices": [{"message": {"role": "assistant", "content": None, "refusal": words}}]},
        "anthropic": {"content": [{"type": "text", "text": words}], "stop_reason": "refusal"},
    }
    return Raw(json.dumps(told[wire]).encode())


def play(handler: _Handler, fault: Fault, kind: str, data: bytes) -> None:
    """Go wrong in this way, with `data` as what would have been right."""
    closing = handler.server.model.closing
    with contextlib.suppress(OSError):  # a client that gave up is what some tests are about
        match fault:
            case Status(code, retry_after, message):
                body = json.dumps({"error": {"type": "scripted", "message": message}}).encode()
                handler.begin(code, kind, len(body), {"Retry-After": retry_after} if retry_after else {})
                handler.wfile.write(body)
            case Hang(seconds):
                closing.wait(seconds)
            case Drip(seconds):
                handler.begin(200, kind, len(data))
                for position in range(len(data)):
                    handler.wfile.write(data[position : position + 1])
                    handler.wfile.flush()
                    if closing.wait(seconds):
                        break
            case Cut(after):
                handler.begin(200, kind, len(data))
                handler.wfile.write(data[:after])
                handler.wfile.flush()
            case Raw(body):
                handler.begin(200, kind, len(body))
                handler.wfile.write(body)
    handler.close_connection = True
