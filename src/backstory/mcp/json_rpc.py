"""JSON-RPC and MCP, whatever carries them.

Two eras are spoken side by side. A client of the handshake era begins with `initialize`. One of the stateless
era (2026-07-28) sends its version with every request, under `_meta`, and gets its results marked as complete.
A message that cannot be understood gets an error and never ends the conversation.
"""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from backstory.mcp import roots
from backstory.mcp.handshake import (
    CAPABILITIES,
    ROOTS_QUESTION,
    SERVER,
    initialized,
)
from backstory.mcp.tool_schemas import INSTRUCTIONS, TOOLS

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
_CACHED = ("server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read")
# What is about the folder that the client works in: it waits until that is known.
_OF_A_FOLDER = ("tools/call", "resources/list", "resources/read")

LARGEST_MESSAGE = 16 * 1024 * 1024  # bytes; no call of ours needs a thousandth of it

# Of what a caller wrote, so much at most comes back in an error: it goes into an agent's context.
_LONGEST_ERROR = 1_000

Message = dict[str, Any]
# An answer as it is sent, or the request that still waits for one.
Answer = str | Message


class RpcError(Exception):
    """An answer that says why there is none."""

    def __init__(self, code: int, message: str, data: Message | None = None) -> None:
        super().__init__(message)
        self.code, self.data = code, data


class Conversation:
    """One client's conversation; `folder` is where it works. Over HTTP each request is one of its own."""

    def __init__(self, folder: str = "") -> None:
        self._started_in = folder or roots.from_environment()
        self.folder = self._started_in
        self._folders: list[str] = []
        self._has_roots = False
        self._times_asked = 0
        self._question = ""  # the id of the latest roots/list, until it is answered
        self._waits_for_roots = False
        self._held: list[tuple[bool, list[Answer]]] = []
        self._asks_user = False  # whether the client can put a question to its user
        self._questions = 0
        self._asked: dict[str, Message] = {}  # calls that wait for the user's answer, by our question's id

    @property
    def waits(self) -> bool:
        """Whether requests wait for the client to say which folder it works in."""
        return bool(self._held)

    def go_on(self) -> list[str]:
        """Answer what waits, whether the client has told its folders or not."""
        self._waits_for_roots = False
        held, self._held = self._held, []
        return [line for batch, answers in held for line in self._lines(batch, answers)]

    def hear(self, text: bytes | str) -> list[str]:
        """What to send for one message (or batch) as it came off the wire; nothing for a notification."""
        try:
            message = json.loads(text, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            return [_error(None, RpcError(PARSE_ERROR, "this is not JSON"))]
        batch = isinstance(message, list) and bool(message)
        if question := self._for_the_user(message):
            return [question]
        answers: list[Answer] = []
        apart: list[str] = []  # what answers nothing in it: our own requests, and what had waited before
        for part in message if batch else [message]:
            if isinstance(part, dict) and not ("id" in part and isinstance(part.get("method"), str)):
                apart += self._noted(part)
            if (answer := self._hear_one(part)) is not None:
                answers.append(answer)
        if self._waits_for_roots and not all(isinstance(answer, str) for answer in answers):
            self._held.append((batch, answers))  # a batch is answered as one, when all of it can be
            return apart
        return self._lines(batch, answers) + apart

    def _lines(self, batch: bool, answers: list[Answer]) -> list[str]:
        """The answers to a message or a batch as they are sent, those that waited too."""
        told = [answer if isinstance(answer, str) else self._respond(answer) for answer in answers]
        return [f"[{','.join(told)}]"] if batch and told else told

    def _hear_one(self, message: object) -> Answer | None:
        """The answer to one message, itself if it has to wait for one, None if it gets none."""
        if not isinstance(message, dict):
            return _error(None, RpcError(INVALID_REQUEST, "a message must be an object"))
        method, id_ = message.get("method"), message.get("id")
        if not isinstance(method, str):
            if "result" in message or "error" in message:
                return None
            return _error(id_ if _is_id(id_) else None, RpcError(INVALID_REQUEST, "no method"))
        if "id" not in message:
            return None
        if not _is_id(id_):
            return _error(None, RpcError(INVALID_REQUEST, "an id must be a string or a number"))
        return message if self._waits_for_roots and method in _OF_A_FOLDER else self._respond(message)

    def _respond(self, message: Message) -> str:
        id_, params = message["id"], message.get("params")
        try:
            return _result(id_, self.answer(message["method"], params if isinstance(params, dict) else {}))
        except RpcError as error:
            return _error(id_, error)
        except Exception as error:  # the conversation goes on; what happened is the caller's to know
            return _error(id_, RpcError(INTERNAL_ERROR, f"unexpected {type(error).__name__}: {error}"))

    def _for_the_user(self, message: object) -> str:
        """The question that a client has to put to its user before a call is carried out; "" if none.

        In a batch nobody is asked: there an agent may forget only what it may forget by itself.
        """
        code = _confirms(message) if self._asks_user else ""
        if not code or not isinstance(message, dict) or not _is_id(message.get("id")):
            return ""
        from backstory.mcp import forget_tool

        if not (says := forget_tool.confirmation_question(code)):
            return ""
        self._questions += 1
        id_ = f"backstory-forget-{self._questions}"
        self._asked[id_] = message
        schema = {"type": "object", "properties": {"forget": _FORGET}, "required": ["forget"]}
        params = {"message": says, "requestedSchema": schema}
        return _dump({"jsonrpc": "2.0", "id": id_, "method": "elicitation/create", "params": params})

    def _answered(self, message: Message) -> list[str]:
        """The answer to a call that waited for its user's word."""
        from backstory.mcp import forget_tool

        call, result = self._asked.pop(str(message["id"])), message.get("result")
        result = result if isinstance(result, dict) else {}
        content = result.get("content")
        wants = isinstance(content, dict) and content.get("forget") is True
        if result.get("action") == "accept" and wants:
            forget_tool.record_agreement(_confirms(call))
            return [self._respond(call)]
        says = "The user was asked and does not want it: nothing was forgotten."
        return [_result(call["id"], {"content": [{"type": "text", "text": says}], "isError": True})]

    def _noted(self, message: Message) -> list[str]:
        """Hear the client's folders; ask for them once it is ready, if it has such, and when they change.

        Only the answer to the latest question counts: one that was under way when they changed is old.
        """
        if message.get("method") in ("notifications/initialized", "notifications/roots/list_changed"):
            if not self._has_roots:
                return []
            self._times_asked += 1
            self._question = ROOTS_QUESTION.format(self._times_asked)
            self._waits_for_roots = True
            return [_dump({"jsonrpc": "2.0", "id": self._question, "method": "roots/list"})]
        if _is_id(message.get("id")) and message["id"] in self._asked:
            return self._answered(message)
        if not self._question or message.get("id") != self._question:
            return []
        if "result" in message:  # else it cannot tell, and what was known before holds
            self._folders = roots.from_roots(message["result"])
            self.folder = self._folders[0] if self._folders else self._started_in
        self._question = ""
        return self.go_on()

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
            result = {**result, "resultType": "complete", "_meta": {_SERVER_KEY: SERVER}}
            if method in _CACHED:
                result.update(ttlMs=0, cacheScope="private")
        return result

    # --- the methods -----------------------------------------------------------------------------------

    def _initialize(self, params: Message) -> Message:
        capabilities = params.get("capabilities")
        self._has_roots = isinstance(capabilities, dict) and "roots" in capabilities
        self._asks_user = isinstance(capabilities, dict) and "elicitation" in capabilities
        return initialized(params.get("protocolVersion"))

    def _discover(self, params: Message) -> Message:
        return {
            "supportedVersions": list(STATELESS_VERSIONS),
            "capabilities": CAPABILITIES,
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
        from backstory.mcp import tool_calls

        text, failed = tool_calls.call_tool(
            tool, arguments or {}, self.folder, len(self._folders), asks_user=self._asks_user
        )
        return {"content": [{"type": "text", "text": _cut(text) if failed else text}], "isError": failed}

    def _list_resources(self, params: Message) -> Message:
        from backstory.errors import BackstoryError
        from backstory.mcp import resources

        try:
            return {"resources": resources.list_resources(self.folder)}
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
            text = resources.read_resource(uri, self.folder)
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


_FORGET = {"type": "boolean", "title": "Forget it for good", "default": False}


def _confirms(message: object) -> str:
    """The code that a call of `forget` confirms; "" if it is anything else."""
    if not isinstance(message, dict) or message.get("method") != "tools/call":
        return ""
    params = message.get("params")
    if not isinstance(params, dict) or params.get("name") != "forget":
        return ""
    arguments = params.get("arguments")
    code = arguments.get("confirm") if isinstance(arguments, dict) else None
    return code.strip(" `'\".,") if isinstance(code, str) else ""


def too_large() -> str:
    """The answer to a message that was not read to its end."""
    says = f"a message may have {LARGEST_MESSAGE:,} bytes at most: send less at once"
    return _error(None, RpcError(INVALID_REQUEST, says))


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _is_id(value: object) -> bool:
    """Whether it can be given back as the id of an answer."""
    if isinstance(value, float):
        return math.isfinite(value)  # 1e999 is not
    return isinstance(value, str | int) and not isinstance(value, bool)


def _cut(text: str) -> str:
    """An error without the middle of what it quotes at length; how it ends says what to do."""
    half = _LONGEST_ERROR // 2
    return text if len(text) <= _LONGEST_ERROR else f"{text[:half]} … {text[-half:]}"


def _dump(message: Message) -> str:
    return json.dumps(message, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _result(id_: object, result: Message) -> str:
    return _dump({"jsonrpc": "2.0", "id": id_, "result": result})


def _error(id_: object, error: RpcError) -> str:
    body: Message = {"code": error.code, "message": _cut(str(error))}
    if error.data is not None:
        body["data"] = {k: _cut(v) if isinstance(v, str) else v for k, v in error.data.items()}
    return _dump({"jsonrpc": "2.0", "id": id_, "error": body})
