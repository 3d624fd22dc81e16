"""The memory for programs: JSON under /api/. One table says what can be asked, checks it, and describes it.

A number that is too large is clamped, not refused; what cannot be understood is refused in words.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from backstory import clock
from backstory.app import App, EventView, MemoryView, SessionView
from backstory.capture.note_payload import KINDS
from backstory.errors import BackstoryError, SourceMissing, UsageError
from backstory.model import Act, MemoryKind, MemoryStatus
from backstory.present.json_rows import event_json, forgotten_json, memory_json, session_json, status_json
from backstory.present.plain_text import to_json
from backstory.web import openapi
from backstory.web.actions import change_safe_setting
from backstory.web.openapi import BOOLEAN, COUNT, TEXT, Endpoint, Field
from backstory.web.pages import brief_page, health_page, memories_page, search_page, sessions_page
from backstory.web.request import MOST, PageRequest, clamped_limit, status_of

_PROJECT = Field("project", TEXT, "id of a project, as /api/projects gives it")
_BEFORE = Field("before", TEXT, "`next` of the page before")
_LIMIT = Field("limit", COUNT, f"most rows; at most {MOST}")
_ID = Field("id", TEXT, "a handle; its first characters are enough", place="path")

Answer = Mapping[str, Any]


def _status(app: App, asked: PageRequest) -> Answer:
    return status_json(app.status(), app.projects())


def _health(app: App, asked: PageRequest) -> Answer:
    return {"checks": health_page.doctor_checks(app)}


def _projects(app: App, asked: PageRequest) -> Answer:
    return {"projects": app.projects()}


def _sessions(app: App, asked: PageRequest) -> Answer:
    found, more = sessions_page.listed_sessions(app, asked)
    return {"sessions": [session_json(each) for each in found], "next": more or None}


def _session(app: App, asked: PageRequest) -> Answer:
    view = app.show(asked.parts["id"])
    if not isinstance(view, SessionView):
        raise SourceMissing(f"{asked.parts['id']!r} is no session")
    return {
        "session": session_json(view.session),
        "children": [session_json(child) for child in view.children],
        "memories": [memory_json(memory) for memory in view.memories],
        "events": [event_json(stored) for stored in view.events],
        "briefs": view.injections,
    }


def _event(app: App, asked: PageRequest) -> Answer:
    view = app.show(asked.parts["id"])
    if not isinstance(view, EventView):
        raise SourceMissing(f"{asked.parts['id']!r} is no event")
    return {"event": event_json(view.stored), "session": session_json(view.session), "payload": view.payload}


def _timeline(app: App, asked: PageRequest) -> Answer:
    since = clock.parse_when(asked.get("since"), asked.zone) if asked.get("since") else 0
    events = app.timeline(asked.get("project") or None, since, clamped_limit(asked.get("limit")))
    return {"events": [event_json(stored) for stored in events]}


def _memories(app: App, asked: PageRequest) -> Answer:
    found, more = memories_page.listed_memories(app, asked)
    return {"memories": [memory_json(each) for each in found], "next": more or None}


def _memory(app: App, asked: PageRequest) -> Answer:
    view = app.show(asked.parts["id"], untold=True)
    if not isinstance(view, MemoryView):
        raise SourceMissing(f"{asked.parts['id']!r} is no memory")
    return {"memory": memory_json(view.memory), "sources": [event_json(stored) for stored in view.sources]}


def _remember(app: App, asked: PageRequest) -> Answer:
    folder = asked.get("cwd") or app.project_named(asked.get("project")).root
    if not Path(folder).is_absolute():
        raise UsageError("cwd must be an absolute path, or name a project")
    return {"memory": memory_json(app.remember(asked.get("text"), Path(folder), asked.get("kind")))}


def _judge(app: App, asked: PageRequest) -> Answer:
    return {"memory": memory_json(app.judge(asked.parts["id"], Act(asked.parts["act"]), asked.get("text")))}


def _search(app: App, asked: PageRequest) -> Answer:
    if not asked.get("q"):
        raise UsageError("there is nothing to search for: give q")
    answer = search_page.asked_of(app, asked, explain=bool(asked.get("explain")))
    return {
        "hits": answer.hits,
        "abstained": answer.abstained,
        "mode": answer.mode,
        "time_note": answer.time_note,
        "read_as": answer.read_as,
        "unknown": answer.unknown,
    }


def _brief(app: App, asked: PageRequest) -> Answer:
    made = brief_page.made_for(app, asked)
    return {"text": made.text, "chars": made.chars, "tokens": made.tokens, "rows": made.rows}


def _forget(app: App, asked: PageRequest) -> Answer:
    handles = asked.get("handle").split()
    if not handles and not asked.get("text"):
        raise UsageError("there is nothing to forget: give handle or text")
    really = asked.get("really") == "true"
    plan = app.forget(app.wanted(handles, text=asked.get("text")), really=really)
    return forgotten_json(plan, forgotten=really)


def _settings(app: App, asked: PageRequest) -> Answer:
    return {"settings": app.setting_rows()}


def _change(app: App, asked: PageRequest) -> Answer:
    change_safe_setting(app, asked.parts["key"], asked.values.get("value"))
    return {"setting": next(row for row in app.setting_rows() if row.key == asked.parts["key"])}


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint("GET", "/api/status", "How the memory is doing, in numbers", _status),
    Endpoint("GET", "/api/health", "The doctor's findings; takes seconds", _health),
    Endpoint("GET", "/api/projects", "All projects, the latest seen first", _projects),
    Endpoint(
        "GET",
        "/api/sessions",
        "Sessions, the latest first",
        _sessions,
        (_PROJECT, Field("agent"), Field("branch"), Field("day", TEXT, "YYYY-MM-DD"), _BEFORE, _LIMIT),
    ),
    Endpoint("GET", "/api/sessions/{id}", "A session with its events and memories", _session, (_ID,)),
    Endpoint("GET", "/api/events/{id}", "An event with its payload", _event, (_ID,)),
    Endpoint(
        "GET",
        "/api/timeline",
        "What happened, newest first",
        _timeline,
        (_PROJECT, Field("since", TEXT, "YYYY-MM-DD (in time.zone), or 2w, 3d, 12h"), _LIMIT),
    ),
    Endpoint(
        "GET",
        "/api/memories",
        "Memories, newest first",
        _memories,
        (
            _PROJECT,
            Field("kind", choices=tuple(MemoryKind)),
            Field("status", choices=(*MemoryStatus, "pinned")),
            _BEFORE,
            _LIMIT,
        ),
    ),
    Endpoint(
        "POST",
        "/api/memories",
        "Remember something",
        _remember,
        (
            Field("text", required=True, place="body"),
            Field("project", place="body"),
            Field("cwd", TEXT, "a folder of the project", place="body"),
            Field("kind", choices=KINDS, place="body"),
        ),
    ),
    Endpoint("GET", "/api/memories/{id}", "A memory with its sources", _memory, (_ID,)),
    Endpoint(
        "POST",
        "/api/memories/{id}/{act}",
        "Confirm, reject, restore, pin, unpin, edit or supersede",
        _judge,
        (
            _ID,
            Field("act", choices=tuple(Act), place="path"),
            Field("text", TEXT, "the new wording, or the handle of the newer memory", place="body"),
        ),
    ),
    Endpoint(
        "GET",
        "/api/search",
        "The best hits for a question, or none",
        _search,
        (
            Field("q", required=True),
            _PROJECT,
            Field("agent"),
            Field("branch"),
            Field("file"),
            Field("kind"),
            Field("since", TEXT, "YYYY-MM-DD (in time.zone), or 2w, 3d, 12h"),
            Field("until", TEXT, "the same; the day is included"),
            Field("nearest", BOOLEAN, "even if nothing is relevant enough"),
            Field("explain", BOOLEAN),
            _LIMIT,
        ),
    ),
    Endpoint(
        "GET",
        "/api/brief",
        "What a session that starts now is told",
        _brief,
        (
            _PROJECT,
            Field("cwd", TEXT, "a folder, instead of a project"),
            Field("agent"),
            Field("source", TEXT, "startup, resume, clear, compact or fork"),
            Field("session"),
        ),
    ),
    Endpoint(
        "POST",
        "/api/forget",
        "What forgetting touches and, if really, do it",
        _forget,
        (
            Field("handle", TEXT, "handles, with spaces between", place="body"),
            Field("text", place="body"),
            Field("really", BOOLEAN, place="body"),
        ),
    ),
    Endpoint("GET", "/api/settings", "All settings", _settings),
    Endpoint(
        "PUT",
        "/api/settings/{key}",
        "Change a setting, if it is not one for the terminal only; without a value, back to its default",
        _change,
        (Field("key", place="path"), Field("value", place="body")),
    ),
)


def routes() -> list[Route]:
    """All of the table, and its description."""
    described = Route("/openapi.json", _described, methods=["GET"])
    return [
        described,
        *(Route(each.path, partial(_answer, each), methods=[each.method]) for each in ENDPOINTS),
    ]


async def _described(request: Request) -> Response:
    return JSONResponse(openapi.document(ENDPOINTS))


async def _answer(endpoint: Endpoint, request: Request) -> Response:
    state = request.app.state
    try:
        given: dict[str, object] = dict(request.query_params)
        if endpoint.method != "GET":
            given = openapi.body_of(await request.body())
        values = endpoint.checked(given, "query" if endpoint.method == "GET" else "body")
        parts = endpoint.checked(request.path_params, "path")
        text = await run_in_threadpool(_run, endpoint.run, state.home, parts, values)
    except BackstoryError as error:
        return JSONResponse({"error": str(error)}, status_of(error))
    return Response(text, media_type="application/json")


def _run(
    run: Callable[[App, PageRequest], Answer], home: Any, parts: Mapping[str, str], values: Mapping[str, str]
) -> str:
    with App(home, attended=True) as app:
        zone = clock.zone(app.settings.time_zone)
        return to_json(run(app, PageRequest(parts=parts, values=values, zone=zone)))
