"""The routes: pages, actions, the API, hooks, MCP, the live feed; one way from a request to an answer.

The database is opened for each request and closed after it, in a thread: a viewer that stays open for days
must not keep a file open that somebody wants to restore, and a slow question must not stop the others.
"""

import logging
import os
from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import files
from pathlib import Path
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ExceptionHandler

from backstory import clock
from backstory.app import App
from backstory.errors import BackstoryError, SourceMissing
from backstory.mcp.json_rpc import Conversation
from backstory.paths import Home
from backstory.web import actions, http_hooks, json_api, live_feed
from backstory.web.auth import Gate, Keys
from backstory.web.markup import h, join
from backstory.web.pages import (
    brief_page,
    event_page,
    forget_page,
    health_page,
    home_page,
    knowledge_page,
    memories_page,
    review_page,
    search_page,
    session_page,
    sessions_page,
    settings_page,
)
from backstory.web.pages.layout import heading, render_page
from backstory.web.request import Page, PageRequest, Redirect, status_of
from backstory.web.request_limits import Limits

log = logging.getLogger(__name__)

Answered = Page | Redirect
PAGES: Mapping[str, Callable[[App, PageRequest], Answered]] = {
    "/": home_page.page,
    "/sessions": sessions_page.page,
    "/sessions/{id}": session_page.page,
    "/events/{id}": event_page.page,
    "/search": search_page.page,
    "/memories": memories_page.page,
    "/memories/{id}": memories_page.memory_page,
    "/review": review_page.page,
    "/forget": forget_page.page,
    "/knowledge": knowledge_page.page,
    "/knowledge/{vault}/{page:path}": knowledge_page.page,
    "/brief": brief_page.page,
    "/health": health_page.page,
    "/settings": settings_page.page,
}
ACTIONS: Mapping[str, Callable[[App, PageRequest], Answered]] = {
    "/memories/{id}/{act}": actions.judge,
    "/remember": actions.remember,
    "/forget": actions.forget,
    "/settings": actions.change_setting,
    "/models/resume": actions.resume_models,
}
STATIC = {"style.css": "text/css", "viewer.js": "text/javascript", "icon.svg": "image/svg+xml"}


def build_site(home: Home, keys: Keys, read_only: bool, feed: live_feed.LiveFeed) -> Gate:
    """The whole application, behind its gate."""
    routes = [
        *(Route(path, partial(_shown, page), methods=["GET"]) for path, page in PAGES.items()),
        *(Route(path, partial(_done, action), methods=["POST"]) for path, action in ACTIONS.items()),
        *json_api.routes(),
        Route("/hooks/{agent}/{event}", http_hooks.hook, methods=["POST"]),
        Route("/mcp", _mcp, methods=["POST"]),
        Route("/live", live_feed.stream),
        Route("/ping", _ping),
        Route("/links", _link, methods=["POST"]),
        Route("/links", _link_waits, methods=["GET"]),
        Route("/static/{name}", _static),
    ]
    handlers: dict[type[Exception], ExceptionHandler] = {HTTPException: _refused, Exception: _broken}  # type: ignore[dict-item]
    made = Starlette(routes=routes, exception_handlers=handlers)
    made.router.redirect_slashes = False
    made.state.home, made.state.keys, made.state.read_only, made.state.live = home, keys, read_only, feed
    return Gate(Limits(made), keys, read_only)


async def _shown(page: Callable[[App, PageRequest], Answered], request: Request) -> Response:
    values = {key: value for key, value in request.query_params.items() if "\0" not in value}
    return await _answered(page, request, values)


async def _done(action: Callable[[App, PageRequest], Answered], request: Request) -> Response:
    pairs = parse_qsl((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
    return await _answered(action, request, dict(pairs))


async def _answered(
    do: Callable[[App, PageRequest], Answered], request: Request, values: Mapping[str, str]
) -> Response:
    state = request.app.state

    def work() -> Response:
        with App(state.home, attended=True) as app:
            asked = PageRequest(
                path=request.url.path,
                parts=dict(request.path_params),
                values=values,
                zone=clock.zone(app.settings.time_zone),
                read_only=state.read_only,
                fragment=values.get("part") == "1",
            )
            try:
                answer = do(app, asked)
            except BackstoryError as error:
                answer = _trouble(error)
            if isinstance(answer, Redirect):
                return RedirectResponse(answer.path, 303)
            if asked.fragment:
                return HTMLResponse(answer.body, answer.status)
            return HTMLResponse(render_page(answer, asked), answer.status)

    return await run_in_threadpool(work)


def _trouble(error: BackstoryError) -> Page:
    """What went wrong, as a page of its own."""
    title = "Not found" if isinstance(error, SourceMissing) else "That did not work"
    back = h("p", h("a", "To the first page", href="/"))
    return Page(title, join(heading(title, str(error)), back), status=status_of(error))


async def _refused(request: Request, error: HTTPException) -> Response:
    status, known = error.status_code, error.status_code not in (404, 405)
    if request.url.path.startswith("/api/") or "text/html" not in request.headers.get("accept", ""):
        return JSONResponse({"error": error.detail}, status)
    title, says = ("That did not work", error.detail) if known else ("Not found", "There is no such page.")
    page = Page(title, join(heading(title, says), h("p", h("a", "To the first page", href="/"))))
    return HTMLResponse(
        render_page(page, PageRequest(request.url.path, read_only=request.app.state.read_only)), status
    )


async def _broken(request: Request, error: Exception) -> Response:
    log.error("a request failed: %s %s", request.method, request.url.path, exc_info=error)
    says = f"unexpected {type(error).__name__}; the details are in the log of the home"
    return JSONResponse({"error": says}, 500)


async def _mcp(request: Request) -> Response:
    """MCP over HTTP: each request is a conversation of its own."""
    body = await request.body()
    folder = request.query_params.get("cwd") or request.headers.get("x-backstory-cwd", "")
    conversation = Conversation(folder if Path(folder).is_absolute() else str(request.app.state.home.root))
    answers = await run_in_threadpool(conversation.hear, body)
    if not answers:
        return Response(status_code=202)
    return Response(answers[0], media_type="application/json")


async def _ping(request: Request) -> Response:
    return JSONResponse({"pid": os.getpid(), "serving": "backstory"})


async def _link(request: Request) -> Response:
    keys: Keys = request.app.state.keys
    link = keys.new_link()
    return JSONResponse({"link": link, "url": keys.url + link})


async def _link_waits(request: Request) -> Response:
    keys: Keys = request.app.state.keys
    return JSONResponse({"waits": keys.waits(f"key={request.query_params.get('key', '')}")})


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        return PlainTextResponse("not found", 404)
    data = files("backstory.web").joinpath("static", name).read_bytes()
    return Response(data, media_type=STATIC[name], headers={"cache-control": "private, max-age=60"})
