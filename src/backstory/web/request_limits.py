"""How much a request may send, and how long it may take: nobody who is let in can fill or stop the viewer.

What is too large is refused by what it declares, or as soon as more has come; it is never held. A page that
takes very long is answered in time that it does, so that no browser waits for ever; the work goes on beside.
"""

import asyncio
import logging
import time
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backstory.mcp.json_rpc import LARGEST_MESSAGE

log = logging.getLogger(__name__)
BODY_SECONDS = 60.0
ANSWER_SECONDS = 180.0
_MB = 1024 * 1024
_LARGEST_BODY = 256 * 1024
_LARGEST_BODIES = {"/hooks/": 64 * _MB, "/mcp": LARGEST_MESSAGE}
_DIGITS = 19
_TOO_LARGE = "that is too much at once: at most {} bytes"
_SLOW = "this takes longer than expected and goes on: look again in a while"


def largest_body(path: str) -> int:
    """How many bytes may be sent to a path."""
    return next((most for start, most in _LARGEST_BODIES.items() if path.startswith(start)), _LARGEST_BODY)


class Limits:
    """The middleware behind the gate."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._late: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or say that it is too large or takes too long."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = largest_body(str(scope["path"]))
        if _declared(Headers(scope=scope)) > most:
            await JSONResponse({"error": _TOO_LARGE.format(most)}, 413)(scope, receive, send)
            return
        await self._in_time(scope, _bounded(receive, most), send)

    async def _in_time(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = late = False

        async def send_in_time(message: Message) -> None:
            nonlocal began
            began = True
            if not late:
                await send(message)

        work = asyncio.ensure_future(self._app(scope, receive, send_in_time))
        try:
            await asyncio.wait({work}, timeout=ANSWER_SECONDS)
            if began or work.done():  # the live feed goes on for as long as somebody listens
                await work
                return
        except asyncio.CancelledError:
            work.cancel()
            raise
        late = True
        self._late.add(work)
        work.add_done_callback(self._ended)
        await JSONResponse({"error": _SLOW}, 503)(scope, receive, send)

    def _ended(self, work: "asyncio.Task[None]") -> None:
        self._late.discard(work)
        if not work.cancelled() and (error := work.exception()) is not None:
            log.error("a request that took too long failed", exc_info=error)


def _declared(headers: Headers) -> int:
    """How much a request says that it will send; what is no number is counted while it comes."""
    text = headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < _DIGITS else 0


def _bounded(receive: Receive, most: int) -> Receive:
    """A body of so many bytes at most, within a minute."""
    left = most
    until = time.monotonic() + BODY_SECONDS
    whole = False

    async def receive_bounded() -> Message:
        nonlocal left, whole
        if whole:  # only the end of the connection is still waited for
            return await receive()
        try:
            message: dict[str, Any] = dict(
                await asyncio.wait_for(receive(), max(0.0, until - time.monotonic()))
            )
        except TimeoutError:
            raise HTTPException(408, "the request took too long to arrive") from None
        whole = not message.get("more_body", False)
        left -= len(message.get("body", b""))
        if left < 0:
            raise HTTPException(413, _TOO_LARGE.format(most))
        return message

    return receive_bounded
