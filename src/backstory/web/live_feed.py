"""What happens right now, as a stream of server-sent events.

One watcher looks at the database a few times a second while somebody listens, and tells all listeners. It
reads what was stored since its last look, so it shows what any worker stores, and falls behind by at most one
look. A listener that does not keep up loses the oldest of what it has not read, never the connection.
"""

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncIterator
from datetime import tzinfo
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from backstory import clock
from backstory.app import App
from backstory.model import Kind, MemoryKind, Session, StoredEvent
from backstory.paths import Home
from backstory.present.plain_text import one_line
from backstory.web.pages import components

log = logging.getLogger(__name__)
LOOK_SECONDS = 0.2
_SILENCE_SECONDS = 15.0
_AT_ONCE = 500
_KEPT = 1_000
_TEXT = 300
# So long after its last event a session's new memories are looked for.
_DISTILLED_SECONDS = 20.0
_TOLD = tuple(kind for kind in MemoryKind if kind not in (MemoryKind.TURN, MemoryKind.CHECKPOINT))

Told = dict[str, Any]


class LiveFeed:
    """Watches one home for all who listen."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._listeners: set[asyncio.Queue[str]] = set()
        self._watcher: asyncio.Task[None] | None = None
        self._row = -1
        self._known: dict[str, set[str]] = {}
        self._touched: dict[str, float] = {}
        self._closing = asyncio.Event()

    async def listen(self) -> AsyncIterator[str]:
        """Everything that happens from now on, as lines of the stream, until `close`."""
        queue: asyncio.Queue[str] = asyncio.Queue(_KEPT)
        self._listeners.add(queue)
        if self._watcher is None or self._watcher.done():
            self._row = -1
            self._watcher = asyncio.create_task(self._watch())
        try:
            yield ": listening\n\n"
            while not self._closing.is_set():
                try:
                    yield await asyncio.wait_for(queue.get(), _SILENCE_SECONDS)
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            self._listeners.discard(queue)

    async def close(self) -> None:
        """Let all listeners go."""
        self._closing.set()
        self._say(": the viewer ends\n\n")
        if self._watcher is not None:
            await asyncio.wait({self._watcher})

    async def _watch(self) -> None:
        while self._listeners and not self._closing.is_set():
            try:
                told = await run_in_threadpool(self._look)
            except Exception:  # a database in repair, a full disk: look again later
                log.exception("the live feed could not look")
                told = []
            if told:
                self._say(f"event: happened\ndata: {json.dumps(told)}\n\n")
            if len(told) < _AT_ONCE:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._closing.wait(), LOOK_SECONDS)

    def _say(self, message: str) -> None:
        for queue in self._listeners:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(message)

    def _look(self) -> list[Told]:
        if not self._home.database.exists():
            return []
        with App(self._home, attended=True) as app:
            views = app.store.listings
            if self._row < 0:
                self._row = views.last_row()
                return []
            found = views.events_after(self._row, _AT_ONCE)
            if found:
                self._row = found[-1][0]
            touched = {stored.session_id: app.store.events.session(stored.session_id) for _, stored in found}
            zone = clock.zone(app.settings.time_zone)
            told = [
                _event(stored, touched[stored.session_id], zone)
                for _, stored in found
                if stored.event.kind is not Kind.DOCUMENT
            ]
            now = time.monotonic()
            for sid in touched:
                if sid not in self._known:  # what rests on older events than these was learned before
                    first = min(stored.event.at for _, stored in found if stored.session_id == sid)
                    learned = app.store.memories.of_session(sid, _TOLD)
                    self._known[sid] = {memory.id for memory in learned if memory.at < first}
                self._touched[sid] = now
            for sid, at in list(self._touched.items()):
                told += self._learned(app, sid, zone)
                if now - at > _DISTILLED_SECONDS:
                    del self._touched[sid], self._known[sid]
        return told

    def _learned(self, app: App, sid: str, zone: tzinfo | None) -> list[Told]:
        known = self._known[sid]
        new = [memory for memory in app.store.memories.of_session(sid, _TOLD) if memory.id not in known]
        known |= {memory.id for memory in new}
        return [
            {
                "what": "memory",
                "kind": memory.kind.replace("_", " "),
                "tone": components.kind_colour(memory.kind),
                "text": one_line(memory.text, _TEXT),
                "agent": memory.agent,
                "project": one_line(memory.project_name, 80),
                "link": f"/memories/{memory.id}",
                "at": memory.at,
                "time": clock.stamp(memory.at, zone)[11:],
            }
            for memory in new
        ]


def _event(stored: StoredEvent, session: Session | None, zone: tzinfo | None) -> Told:
    event = stored.event
    return {
        "what": "event",
        "kind": components.event_verb(event),
        "tone": components.event_tone(event),
        "text": components.event_line(event, _TEXT),
        "agent": event.agent,
        "project": one_line(session.project_name, 80) if session else "",
        "session": stored.session_id,
        "title": one_line(session.title, 120) if session else "",
        "link": f"/sessions/{stored.session_id}#{stored.id}",
        "at": event.at,
        "time": clock.stamp(event.at, zone)[11:],
    }


async def stream(request: Request) -> Response:
    """`GET /live`."""
    live: LiveFeed = request.app.state.live
    return StreamingResponse(live.listen(), media_type="text/event-stream")
