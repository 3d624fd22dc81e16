"""Hook payloads over HTTP, for hosts that rather post than start a process: into the same spool.

400 without a session id. Otherwise 202, whatever happens here: an agent must not suffer for it. What a
session's start is answered with is the brief.
"""

import contextlib
import logging
import os
import time
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from backstory import clock
from backstory.agents import AGENTS
from backstory.app import App
from backstory.hook import spool
from backstory.hook.__main__ import shape_answer
from backstory.hook.payload import BadPayload, encode_json, parse_payload
from backstory.hook.project_identity import ident
from backstory.hook.session_brief import SOURCES
from backstory.paths import Home

log = logging.getLogger(__name__)
_START = "SessionStart"


async def hook(request: Request) -> Response:
    """`POST /hooks/{agent}/{event}`."""
    agent, event = request.path_params["agent"], request.path_params["event"]
    if agent not in AGENTS or not (event.isascii() and event.isalnum() and len(event) <= 64):
        return JSONResponse({"error": f"no agent is called {agent!r}, or none has such an event"}, 404)
    body = await request.body()
    try:
        payload = await run_in_threadpool(
            parse_payload, body
        )  # as the drain will, with backslashes that nobody escaped
    except BadPayload as error:
        return JSONResponse({"error": f"a hook's payload is a JSON object: this is {error.reason}"}, 400)
    session = ident(payload.get("session_id") or payload.get("sessionId"))
    if not session:
        return JSONResponse({"error": "a hook's payload is a JSON object with a session_id"}, 400)
    home: Home = request.app.state.home
    try:
        answer = await run_in_threadpool(_take, home, agent, event, body, payload, session)
    except Exception:
        log.exception("a hook's payload could not be taken in")
        answer = ""
    if answer and request.query_params.get("shape") == "hook":
        return Response(shape_answer(agent, event, answer), 202, media_type="application/json")
    return PlainTextResponse(answer, 202)


def _take(home: Home, agent: str, event: str, body: bytes, payload: dict[str, Any], session: str) -> str:
    """Leave the payload as a hook does; what a starting session is told, with its receipt."""
    if os.environ.get("BACKSTORY_GUARD"):
        return ""
    path = spool.write_spooled(str(home.spool), agent, event, body)
    with contextlib.suppress(OSError):  # the worker may have it already
        now = time.time_ns()  # finer than the file system's own clock: requests follow each other quickly
        os.utime(path, ns=(now, now))
    cwd, source = payload.get("cwd"), payload.get("source")
    if event != _START or not isinstance(cwd, str) or not cwd:
        return ""
    source = source if source in SOURCES else SOURCES[0]
    with App(home, attended=True) as app:
        made = app.brief(Path(cwd), agent, str(source), session)
    if made.text:
        shown = [row.id for row in made.rows if row.id.startswith("m")]
        receipt = {
            "session_id": session,
            "cwd": cwd,
            "source": source,
            "shown": list(dict.fromkeys(shown)),
            "chars": made.chars,
            "tokens": made.tokens,
            "at": clock.now_ms(),
        }
        spool.write_spooled(str(home.spool), agent, spool.RECEIPT, encode_json(receipt).encode())
    return made.text
