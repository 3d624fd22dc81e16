"""Nobody stops or fills the viewer: by connections that say nothing, by bodies without end, by slow requests."""

import asyncio
import contextlib
import http.client
import resource
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.exceptions import HTTPException

from backstory.web import request_limits
from backstory.web.auth import Gate, Keys
from tests.story import House
from tests.web.viewer import Viewer

MB = 1024 * 1024


@pytest.fixture
def many_files() -> Iterator[None]:
    """This process may open many files for a while."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(4_096, before[1]) if before[1] != resource.RLIM_INFINITY else 4_096
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(wanted, before[0]), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def peak_mb(viewer: Viewer) -> float:
    status = Path(f"/proc/{viewer.process.pid}/status").read_text("utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost: "])
def test_connections_that_never_ask_keep_nobody_out(viewer: Viewer, many_files: None, said: bytes) -> None:
    with contextlib.ExitStack() as held:
        for _ in range(1_100):
            connection = held.enter_context(socket.create_connection(("127.0.0.1", viewer.port), 30))
            with contextlib.suppress(OSError):
                connection.sendall(said)
        assert viewer.ask("GET", "/ping").status == 200
        assert viewer.get("/").status == 200
    assert "Too many open files" not in viewer.ends()[1]


def chunks(megabytes: int) -> Iterator[bytes]:
    for _ in range(megabytes):
        yield b" " * MB


def sent(viewer: Viewer, path: str, megabytes: int, declared: bool) -> int:
    """The status that a large body gets; 0 if it was cut off."""
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=120)
    headers = {"Authorization": f"Bearer {viewer.token}"}
    if declared:
        headers["Content-Length"] = str(megabytes * MB)
    with contextlib.closing(connection):
        with contextlib.suppress(ConnectionError):
            connection.request("POST", path, chunks(megabytes), headers, encode_chunked=not declared)
        try:
            return connection.getresponse().status
        except (ConnectionError, http.client.HTTPException):
            return 0


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("path", ["/api/forget", "/settings", "/mcp", "/hooks/claude-code/Stop"])
def test_a_body_without_end_is_refused_and_not_held(viewer: Viewer, path: str, declared: bool) -> None:
    assert viewer.get("/").status == 200
    before = peak_mb(viewer)
    most = request_limits.largest_body(path) / MB
    assert sent(viewer, path, 200, declared) == 413
    assert peak_mb(viewer) - before < 3 * most + 40
    assert viewer.ask("GET", "/ping").status == 200


def test_a_hook_that_is_too_large_is_told_so(viewer: Viewer, house: House) -> None:
    """It was answered 202, and gone without a mark."""
    body = b'{"session_id": "s", "text": "' + b"x" * (65 * MB) + b'"}'
    assert viewer.ask("POST", "/hooks/claude-code/Stop", body).status == 413
    assert viewer.ask("POST", "/hooks/claude-code/Stop", {"session_id": "s", "text": "x" * MB}).status == 202


def test_a_head_without_end_is_refused(viewer: Viewer) -> None:
    with socket.create_connection(("127.0.0.1", viewer.port), 60) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(b"GET / HTTP/1.1\r\n" + b"X-Long: " + b"x" * (2 * MB))
        answer = b""
        with contextlib.suppress(ConnectionError):
            answer = connection.recv(100)
        assert b" 200 " not in answer
    assert viewer.ask("GET", "/ping").status == 200


def asked(app: Any, body: Callable[[], Any], path: str = "/slow") -> int:
    """The status that a middleware answers."""
    told: list[Any] = []

    async def send(message: Any) -> None:
        told.append(message)

    async def ask() -> None:
        await app({"type": "http", "path": path, "method": "POST", "headers": []}, body, send)

    asyncio.run(ask())
    return int(told[0]["status"])


def test_a_body_that_does_not_arrive_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "BODY_SECONDS", 0.05)

    async def never() -> Any:
        await asyncio.sleep(3_600)

    async def read(scope: Any, receive: Any, send: Any) -> None:
        with pytest.raises(HTTPException, match="too long to arrive"):
            await receive()
        await send({"type": "http.response.start", "status": 408, "headers": []})

    assert asked(request_limits.Limits(read), never) == 408


def test_a_page_that_takes_very_long_is_answered_in_time_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "ANSWER_SECONDS", 0.05)
    ended = []

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.2)
        ended.append(True)
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def nothing() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def both() -> list[Any]:
        told: list[Any] = []

        async def send(message: Any) -> None:
            told.append(message)

        await request_limits.Limits(slow)({"type": "http", "path": "/", "headers": []}, nothing, send)
        until = time.monotonic() + 30
        while not ended and time.monotonic() < until:
            await asyncio.sleep(0.01)
        return told

    told = asyncio.run(both())
    assert [message.get("status") for message in told] == [503, None]
    assert ended


def test_the_webs_usual_port_is_left_out_of_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """`serve --port 80` refused its own link: browsers say no port there."""
    keys = Keys("t" * 32, 80, "x.localhost")
    gate = Gate(lambda *_: None, keys)  # type: ignore[arg-type]
    for host in ("x.localhost", "x.localhost:80", "127.0.0.1"):
        scope = {"type": "http", "path": "/", "method": "GET", "headers": [(b"host", host.encode())]}
        refused = gate._refused(scope)
        assert refused is not None
        assert refused.status_code == 401, host
    assert Keys("t" * 32, 81, "x.localhost").hosts() == ("x.localhost:81",)
