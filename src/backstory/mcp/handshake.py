"""The first words of the server, before anything is imported that they do not need.

An agent waits for `initialize` and `tools/list` at the start of each session, and mostly asks nothing more.
These and `ping` are answered here and the client is asked for its folders, with no module but those that a
hook may load. At the first message that is anything else the server itself takes over (`stdio.py`): it hears
again what was heard here, so that both know the same. A test compares their answers.
"""

import sys

from backstory import __version__
from backstory.hook.payload import encode_json
from backstory.mcp.tool_schemas import INSTRUCTIONS, TOOLS

try:
    from _json import make_scanner
    from posix import read, write
except ImportError:  # Windows, or a Python without the C parts
    make_scanner = read = write = None  # type: ignore[assignment, misc]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
SERVER = {"name": "backstory", "title": "Backstory", "version": __version__}
CAPABILITIES: "dict[str, dict[str, Any]]" = {"tools": {}, "resources": {}}
ROOTS_QUESTION = "backstory-roots-{}"  # the id of our roots/list, by how often it was asked
_CHUNK = 65_536
_MOST = 1024 * 1024  # of a first message without end; the server itself says what is too large


class NotMine(Exception):
    """A message that is left to the server itself."""


class _Options:
    """What the C scanner asks of its caller: JSON as the `json` module takes it."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = staticmethod(float)
    parse_int = int

    @staticmethod
    def parse_constant(_: str) -> None:
        raise NotMine


class Handshake:
    """What a client has been told so far; `heard` are the lines that leave a trace in the server's state."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self._has_roots = False
        self._has_asked = False
        self._question = ""  # the id of our roots/list, until it is answered
        self._scan = make_scanner(_Options)  # type: ignore[arg-type]

    def hear(self, line: bytes) -> str:
        """What to send for one line, "" for nothing; `NotMine` if the server itself has to hear it."""
        try:
            text = line.strip(b" \t\r\n").decode()
            message, end = self._scan(text, 0)
        except Exception:  # whatever it is, the server has an answer
            raise NotMine from None
        if end != len(text) or not isinstance(message, dict):
            raise NotMine
        answer = self._answer(message)
        if message.get("method") not in ("ping", "tools/list"):
            self.heard.append(line)
        return answer

    def _answer(self, message: "dict[str, Any]") -> str:
        method, params = message.get("method"), message.get("params")
        params = params if isinstance(params, dict) else {}
        if "id" not in message:
            return self._noted(method)
        id_ = message["id"]
        if method is None and id_ and id_ == self._question and ("result" in message or "error" in message):
            self._question = ""
            return ""
        if type(id_) not in (int, str) or "_meta" in params:
            raise NotMine
        if method == "initialize":
            asked = params.get("protocolVersion")
            capabilities = params.get("capabilities")
            self._has_roots = isinstance(capabilities, dict) and "roots" in capabilities
            return _result(id_, initialized(asked))
        if method == "tools/list":
            return _result(id_, {"tools": list(TOOLS)})
        if method == "ping":
            return _result(id_, {})
        raise NotMine

    def _noted(self, method: object) -> str:
        if method != "notifications/initialized" or self._has_asked:
            raise NotMine
        if not self._has_roots:
            return ""
        self._has_asked = True
        self._question = ROOTS_QUESTION.format(1)
        return encode_json({"jsonrpc": "2.0", "id": self._question, "method": "roots/list"})


def initialized(asked: object) -> "dict[str, Any]":
    """The answer to `initialize`; the version that was asked for, if it is spoken here."""
    return {
        "protocolVersion": asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
        "capabilities": CAPABILITIES,
        "serverInfo": SERVER,
        "instructions": INSTRUCTIONS,
    }


def _result(id_: object, result: "dict[str, Any]") -> str:
    return encode_json({"jsonrpc": "2.0", "id": id_, "result": result})


def main() -> int:
    """The server: its first words, then all of it; ends when the client closes stdin."""
    if make_scanner is None:
        return _go_on([], b"")
    first, unread = Handshake(), b""
    try:
        while chunk := read(0, _CHUNK):
            *lines, unread = (unread + chunk).split(b"\n")
            while lines:
                if not lines[0].strip():
                    del lines[0]
                    continue
                try:
                    answer = first.hear(lines[0])
                except NotMine:
                    return _go_on(first.heard, b"\n".join([*lines, unread]))
                del lines[0]
                if answer:
                    _send(answer)
            if len(unread) > _MOST:
                return _go_on(first.heard, unread)
    except (BrokenPipeError, KeyboardInterrupt):
        return 0
    return _go_on(first.heard, unread) if unread.strip() else 0


def _send(answer: str) -> None:
    data = answer.encode() + b"\n"
    while data:
        data = data[write(1, data) :]


def _go_on(heard: list[bytes], unread: bytes) -> int:
    if sys.flags.no_site:
        import site

        site.main()  # numpy and whatever else the interpreter's own site-packages have
    from backstory.mcp.stdio import serve

    return serve(heard, unread)
