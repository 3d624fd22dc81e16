"""The scripted model as a server: one thread of the test, listening on a socket that the test hands it.

Every request's body is kept, in order, for the test to assert on. Headers never are: keys travel there.
"""

from __future__ import annotations

import gzip
import json
import re
import socket
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from . import anthropic, chat, gemini, responses
from .faults import Fault, play
from .script import Script, Step

WIRES = {path: wire for wire in (anthropic, chat, gemini, responses) for path in wire.PATHS}
_MODEL = re.compile(r"(?<=/models/)[^/:]+(?=:)")  # Gemini's paths name the model


@dataclass(frozen=True)
class Request:
    """One call that a client made."""

    path: str
    body: dict[str, Any]

    @property
    def is_main(self) -> bool:
        """Part of the real conversation: side calls (titles, token counts) declare no tools."""
        return bool(WIRES[self.path].conversation(self.body).tools) and not self.path.endswith("count_tokens")

    def injected_context(self, event: str = "SessionStart") -> str:
        """All that hooks of this event injected, as the model sees it."""
        return "\n".join(self.injections(event))

    def injections(self, event: str = "SessionStart") -> list[str]:
        found: list[str] = WIRES[self.path].injections(self.body, event)
        return found

    def last_prompt(self) -> str:
        typed = [turn for turn in WIRES[self.path].conversation(self.body).turns if turn is not None]
        return typed[-1] if typed else ""


@dataclass
class Model:
    """Serves from construction until `close`."""

    listener: socket.socket
    script: Script = field(default_factory=Script)
    requests: list[Request] = field(default_factory=list)
    faults: deque[Fault] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.stalling = threading.Event()
        self.closing = threading.Event()
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self._server = _Server(self)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def when(self, part_of_prompt: str, *steps: Step) -> None:
        self.script.when(part_of_prompt, *steps)

    def aside(self, part_of_prompt: str, answer: Callable[[str], str] | str) -> None:
        """What a call without tools is answered with."""
        self.script.aside(part_of_prompt, answer)

    def fails_with(self, *faults: Fault) -> None:
        """What goes wrong with the next requests, one after the other."""
        self.faults.extend(faults)

    def main_requests(self, prompt: str = "") -> list[Request]:
        """The requests of real conversations, of those whose last prompt contains these words."""
        return [
            request for request in list(self.requests) if request.is_main and prompt in request.last_prompt()
        ]

    def wait_until_stalling(self, seconds: float = 120) -> None:
        """Returns when a client is waiting for an answer that a `Wait` holds back."""
        if not self.stalling.wait(seconds):
            raise TimeoutError("the model was never asked for the step after its Wait")
        self.stalling.clear()

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: Model) -> None:
        super().__init__(("127.0.0.1", 0), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = model.listener
        self.model = model

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed hangs up; that is the point of some tests, not news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: Any) -> None:
        """Quiet: the requests are the log."""

    def do_HEAD(self) -> None:
        self._send(200, "application/json", b"")

    def do_GET(self) -> None:
        self._send(404, "application/json", b'{"error":{"type":"not_found_error","message":"not scripted"}}')

    def do_POST(self) -> None:
        model = self.server.model
        path = _MODEL.sub("*", self.path.split("?")[0])
        body = self._body()
        wire = WIRES.get(path)
        if wire is None:
            self.do_GET()
            return
        model.requests.append(Request(path, body))
        answer = model.script.answer(wire.conversation(body))
        if answer.follows is not None:
            answer = replace(answer, input=answer.follows(json.dumps(body)))
        if answer.wait and not path.endswith("count_tokens"):
            model.stalling.set()
            model.closing.wait(answer.wait)
        kind, pieces = wire.reply(path, body, answer)
        data = b"".join(pieces)
        if model.faults:
            play(self, model.faults.popleft(), kind, data)
        else:
            self._send(200, kind, data)

    def _body(self) -> dict[str, Any]:
        raw = b""
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            while size := int(self.rfile.readline().split(b";")[0], 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            raw = gzip.decompress(raw)
        body: dict[str, Any] = json.loads(raw or b"{}")
        return body

    def begin(self, status: int, kind: str, size: int, more: Mapping[str, str] | None = None) -> None:
        """The head of an answer."""
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(size), **(more or {})}.items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, status: int, kind: str, data: bytes) -> None:
        self.begin(status, kind, len(data))
        if self.command != "HEAD":
            self.wfile.write(data)
