"""JSON-RPC and MCP, whatever carries them.

Two eras are spoken side by side. A client of the handshake era begins with `initialize`. One of the stateless
era (2026-07-28) sends its version with every request, under `_meta`, and gets its results marked as complete.
A message that cannot be understood gets an error and never ends the conversation.
"""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from backstory import __version__
from backstory.mcp import roots
from backstory.mcp.tools import INSTRUCTIONS, TOOLS

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS_VERSIONS = ("2026-07-28",)

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = (
    -32700,
    -32600,
    -32601,
    -32602,
    -32603,
)
UNSUPPORTED_VERSION = -32022
RESOURCE_NOT_FOUND = -32002
FAILED = -32000

_META = "io.modelcontextprotocol/"
_VERSION_KEY, _SERVER_KEY = f"{_META}protocolVersion", f"{_META}serverInfo"
_SERVER = {"name": "backstory", "title": "Backstory", "version": __version__}
_CAPABILITIES: dict[str, dict[str, Any]] = {"tools": {}, "resources": {}}
_CACHED = ("server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read")
_ROOTS_ID = "backstory-roots"
# What is about the folder that the client works in: it waits until that is known.
_OF_A_FOLDER = ("tools/call", "resources/list", "resources/read")

Message = dict[str, Any]


class RpcError(Exception):
    """An answer that says why there is none."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code, self.data = code, data


class Conversation:
    """One client's conversation; `folder` is where it works. Over HTTP each request is one of its own."""

    def __init__(self, folder: str = "") -> None:
        self.folder = folder or roots.from_environment()
        self._has_roots = False
        self._asked_for_roots = False
        self._held: list[Message] = []

    @property
    def waits(self) -> bool:
        """Whether requests wait for the client to say which folder it works in."""
        return bool(self._held)

    def go_on(self) -> list[str]:
        """Answer what waits, whether the client has told its folders or not."""
        self._asked_for_roots = False
        held, self._held = self._held, []
        return [answer for message in held for answer in self._hear_one(message)]

    def hear(self, text: bytes | str) -> list[str]:
        """What to send for one message (or batch) as it came off the wire; nothing for a notification."""
        try:
            message = json.loads(text, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            return [_error(None, RpcError(PARSE_ERROR, "this is not JSON"))]
        if isinstance(message, list) and message:
            answers = [answer for part in message for answer in self._hear_one(part)]
            return [f"[{','.join(answers)}]"] if answers else []
        return self._hear_one(message)

    def _hear_one(self, message: object) -> list[str]:
        if not isinstance(message, dict):
            return [_error(None, RpcError(INVALID_REQUEST, "a message must be an object"))]
        method, id_ = message.get("method"), message.get("id")
        if not isinstance(method, str):
            if id_ == _ROOTS_ID:
                self.folder = roots.from_roots(message.get("result")) or self.folder
                return self.go_on()
            if "result" in message or "error" in message:
                return []
            return [_error(id_ if _is_id(id_) else None, RpcError(INVALID_REQUEST, "no method"))]
        if "id" not in message:
            return self._noted(method)
        if not _is_id(id_):
            return [_error(None, RpcError(INVALID_REQUEST, "an id must be a string or a number"))]
        if self._asked_for_roots and method in _OF_A_FOLDER:
            self._held.append(message)
            return []
        params = message.get("params")
        try:
            return [_result(id_, self.answer(method, params if isinstance(params, dict) else {}))]
        except RpcError as error:
            return [_error(id_, error)]
        except Exception as error:  # the conversation goes on; what happened is the caller's to know
            return [_error(id_, RpcError(INTERNAL_ERROR, f"unexpected {type(error).__name__}: {error}"))]

    def _noted(self, method: str) -> list[str]:
        """Ask for the client's folders once it is ready, if it has such, and when they have changed."""
        if self._has_roots and method in ("notifications/initialized", "notifications/roots/list_changed"):
            self._asked_for_roots = True
            return [_dump({"jsonrpc": "2.0", "id": _ROOTS_ID, "method": "roots/list"})]
        return []

    def answer(self, method: str, params: Message) -> Message:
        """The result of one request; raises `RpcError`."""
        meta = params.get("_meta")
        version = meta.get(_VERSION_KEY) if isinstance(meta, dict) else None
        stateless = version is not None and method != "initialize"
        if stateless and version not in STATELESS_VERSIONS:
            data = {"supported": list(STATELESS_VERSIONS), "requested": str(version)}
            raise RpcError(UNSUPPORTED_VERSION, f"protocol version {version} is not supported", data)
        handler = _METHODS.get(method)
        if handler is None:
            raise RpcError(METHOD_NOT_FOUND, f"there is no method {method}")
        result = handler(self, params)
        if stateless:
            result = {**result, "resultType": "complete", "_meta": {_SERVER_KEY: _SERVER}}
            if method in _CACHED:
                result.update(ttlMs=0, cacheScope="private")
        return result

    # --- the methods -----------------------------------------------------------------------------------

    def _initialize(self, params: Message) -> Message:
        asked = params.get("protocolVersion")
        capabilities = params.get("capabilities")
        self._has_roots = isinstance(capabilities, dict) and "roots" in capabilities
        return {
            "protocolVersion": asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
            "capabilities": _CAPABILITIES,
            "serverInfo": _SERVER,
            "instructions": INSTRUCTIONS,
        }

    def _discover(self, params: Message) -> Message:
        return {
            "supportedVersions": list(STATELESS_VERSIONS),
            "capabilities": _CAPABILITIES,
            "instructions": INSTRUCTIONS,
        }

    def _ping(self, params: Message) -> Message:
        return {}

    def _list_tools(self, params: Message) -> Message:
        return {"tools": list(TOOLS)}

    def _call_tool(self, params: Message) -> Message:
        name, arguments = params.get("name"), params.get("arguments")
        tool = next((tool for tool in TOOLS if tool["name"] == name), None)
        if tool is None:
            raise RpcError(INVALID_PARAMS, f"there is no tool {name!r}")
        if not isinstance(arguments, dict | None):
            raise RpcError(INVALID_PARAMS, "arguments must be an object")
        from backstory.mcp import calls

        text, failed = calls.call(tool, arguments or {}, self.folder)
        return {"content": [{"type": "text", "text": text}], "isError": failed}

    def _list_resources(self, params: Message) -> Message:
        from backstory.errors import BackstoryError
        from backstory.mcp import resources

        try:
            return {"resources": resources.listing(self.folder)}
        except BackstoryError as error:
            raise RpcError(FAILED, str(error)) from None

    def _list_templates(self, params: Message) -> Message:
        from backstory.mcp import resources

        return {"resourceTemplates": list(resources.TEMPLATES)}

    def _read_resource(self, params: Message) -> Message:
        from backstory.errors import BackstoryError, SourceMissing
        from backstory.mcp import resources

        uri = params.get("uri")
        if not isinstance(uri, str):
            raise RpcError(INVALID_PARAMS, "no uri")
        try:
            text = resources.read(uri, self.folder)
        except SourceMissing as error:
            raise RpcError(RESOURCE_NOT_FOUND, str(error), {"uri": uri}) from None
        except BackstoryError as error:
            raise RpcError(FAILED, str(error), {"uri": uri}) from None
        return {"contents": [{"uri": uri, "mimeType": resources.MIME_TYPE, "text": text}]}


_METHODS: Mapping[str, Callable[[Conversation, Message], Message]] = {
    "initialize": Conversation._initialize,
    "server/discover": Conversation._discover,
    "ping": Conversation._ping,
    "tools/list": Conversation._list_tools,
    "tools/call": Conversation._call_tool,
    "resources/list": Conversation._list_resources,
    "resources/templates/list": Conversation._list_templates,
    "resources/read": Conversation._read_resource,
}


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _is_id(value: object) -> bool:
    """Whether it can be given back as the id of an answer."""
    if isinstance(value, float):
        return math.isfinite(value)  # 1e999 is not
    return isinstance(value, str | int) and not isinstance(value, bool)


def _dump(message: Message) -> str:
    return json.dumps(message, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _result(id_: object, result: Message) -> str:
    return _dump({"jsonrpc": "2.0", "id": id_, "result": result})


def _error(id_: object, error: RpcError) -> str:
    body: Message = {"code": error.code, "message": str(error)}
    if error.data is not None:
        body["data"] = error.data
    return _dump({"jsonrpc": "2.0", "id": id_, "error": body})
