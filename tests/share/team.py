"""A real team: PostgreSQL, its server on a port, and laptops, each with a home and a clone of the shop.

What crosses the wire is written down, and an answer can be replaced by whatever a network or an enemy gives.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backstory.app import App
from backstory.model import MemoryKind
from backstory.paths import Home
from backstory.share.share_pass import run_share_pass
from backstory.team.embedded_postgres import EmbeddedPostgres
from backstory.team.team_site import build_team_site
from tests.story import House
from tests.team import desk

SHOP = desk.SHOP


class Asked(NamedTuple):
    """A request as it crossed the wire, and what was answered."""

    path: str
    body: bytes
    status: int
    answer: bytes


class Wire:
    """Writes down what crosses it; `tamper` may give another answer than the server's."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.asked: list[Asked] = []
        self.tamper: Callable[[Asked], tuple[int, bytes, dict[str, str]] | None] = lambda asked: None

    def pushed(self) -> list[dict[str, Any]]:
        """Every row that was sent, as it was sent."""
        return [
            row for asked in self.asked if asked.path == "/v1/push" for row in json.loads(asked.body)["rows"]
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        said: list[Message] = []

        async def again() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def keep(message: Message) -> None:
            said.append(message)

        await self._app(scope, again, keep)
        answer = b"".join(each.get("body", b"") for each in said)
        asked = Asked(scope["path"], body, said[0]["status"], answer)
        self.asked.append(asked)
        headers = [(k, v) for k, v in said[0]["headers"] if k.lower() != b"content-length"]
        if (other := self.tamper(asked)) is not None:
            status, answer, changed = other
            gone = {name.lower().encode() for name in changed}
            headers = [(k, v) for k, v in headers if k.lower() not in gone]
            headers += [(k.encode(), v.encode()) for k, v in changed.items() if v]
            asked = Asked(scope["path"], body, status, answer)
        headers.append((b"content-length", str(len(answer)).encode()))
        await send({"type": "http.response.start", "status": asked.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer})


class TeamServer:
    """The running server, with its owner."""

    def __init__(self, owner: desk.Device, wire: Wire, address: str) -> None:
        self.owner = owner
        self.wire = wire
        self.address = address

    def link(self, name: str, role: str = "member") -> str:
        """An invitation for somebody."""
        return f"{self.address}/j/{self.owner.invites(name, role)}"


@contextlib.contextmanager
def serving(running: EmbeddedPostgres, journal: Path) -> Iterator[TeamServer]:
    """The server on a port of the loopback."""
    with desk.site(running, journal) as site:
        wire = Wire(build_team_site(site))
        with socket.create_server(("127.0.0.1", 0)) as bound:
            server = uvicorn.Server(uvicorn.Config(wire, log_level="error", lifespan="off"))
            thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
            thread.start()
            while not server.started:
                time.sleep(0.01)
            try:
                yield TeamServer(desk.founded(site), wire, f"http://localhost:{bound.getsockname()[1]}")
            finally:
                server.should_exit = True
                thread.join(20)


class Laptop(House):
    """One home with a clone of the shop, and the person whose it is."""

    def joins(self, link: str) -> "Laptop":
        with self.app() as app:
            app.join_team(link)
        return self

    @contextlib.contextmanager
    def app(self) -> Iterator[App]:
        self.close()
        with App(self.home, attended=True) as app:
            yield app

    def remembers(self, text: str, kind: str = "decision") -> str:
        with self.app() as app:
            mid = app.remember(text, self.project, kind).id
        self.works()
        return mid

    def shares(self, level: str = "kept", mine: bool = False) -> None:
        with self.app() as app:
            app.share_project(app.project_at(self.project), level, mine)
        self.works()

    def syncs(self) -> None:
        """What the worker does when it comes to it, as if its time had come."""
        with self.store.transaction():
            self.store.feeds.hasten()
        with App(self.home, attended=True) as app:
            run_share_pass(self.home, app.settings, self.store)
        self.works()

    def start(self) -> str:
        """What a session that starts in the shop is told."""
        with self.app() as app:
            return app.brief(self.project, "claude-code").text

    def feed(self, name: str = SHOP) -> Any:
        return self.store.feeds.get(name)

    def heard(self) -> list[str]:
        """What others share, as anybody may read it here."""
        with self.app() as app:
            project = app.project_at(self.project)
            found = app.store.others.of_project(project.id, list(MemoryKind), 500)
            return [memory.text for memory in found]

    def holds(self, text: str) -> list[Path]:
        """The files of the home that hold a text, in whatever state its database is."""
        self.store.checkpoint()
        self.close()
        found = [path for path in self.home.root.rglob("*") if path.is_file()]
        return [path for path in found if text.encode() in path.read_bytes()]

    def is_struck(self, at: str) -> int:
        """What the worker does without its lock, in a process that is killed at a step; its exit code."""
        with self.store.transaction():
            self.store.feeds.hasten()
        self.close()
        code = (
            "import sys; from pathlib import Path; from backstory.paths import Home; "
            "from backstory.worker_loop import _share; _share(Home(Path(sys.argv[1])))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(self.home.root)],
            env={**os.environ, "BACKSTORY_GUARD": "1", "BACKSTORY_STRIKE": f"{at}=KILL@1"},
            timeout=120,
            check=False,
        )
        return done.returncode

    def worker(self, **environment: str) -> int:
        """A whole shift of a real worker process; gives its exit code."""
        self.close()
        done = subprocess.run(
            [sys.executable, "-m", "backstory.worker", str(self.home.root), "0"],
            env={**os.environ, "BACKSTORY_GUARD": "1", **environment},
            timeout=120,
            check=False,
        )
        return done.returncode


def laptop(root: Path, clone: Path) -> Laptop:
    made = Laptop(root, clone)
    made.home.root.mkdir(mode=0o700, parents=True)
    assert made.home == Home(root)
    return made
