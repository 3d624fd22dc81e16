"""Another user of the machine: real processes under another user id try to get into the viewer."""

import errno
import json
import os
import re
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from backstory import peers
from backstory.web import server_record
from tests.conftest import eventually
from tests.story import House
from tests.web.viewer import Viewer

needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can act as another user"
)
OTHER = 54_321

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the system tells who connects on Linux only")


# All is loaded before the user is changed: the interpreter may lie where the other one cannot read.
BECOME = (
    "import contextlib, encodings.idna, http.client, http.server, json, os, socket, sys\n"
    f"os.setgroups([]); os.setgid({OTHER}); os.setuid({OTHER})\n"
)


def as_other(code: str, *words: str) -> str:
    """What a Python program prints that runs as another user."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", BECOME + code, *words],
        capture_output=True,
        text=True,
        timeout=60,
        cwd="/",
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


REQUEST = """
method, path, headers = sys.argv[3], sys.argv[4], json.loads(sys.argv[5])
lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
with socket.create_connection((sys.argv[1], int(sys.argv[2])), 30) as connection, contextlib.suppress(ConnectionError):
    with contextlib.suppress(ConnectionError):  # it may be refused before it was said
        connection.sendall("\\r\\n".join([*lines, "Content-Length: 2", "", "{}"]).encode())
    while data := connection.recv(65536):
        print(data.decode())
"""


@pytest.fixture
def serves(house: House) -> Iterator[Callable[..., Viewer]]:
    running: list[Viewer] = []

    def start(*options: str, **environment: str) -> Viewer:
        running.append(Viewer(house.home.root, *options, **environment))
        return running[-1]

    yield start
    for viewer in running:
        viewer.kill()


@needs_root
@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_another_user_is_refused_whatever_he_shows(serves: Callable[..., Viewer], address: str) -> None:
    viewer = serves()
    link = viewer.link.removeprefix(viewer.url)
    token = {"Authorization": f"Bearer {viewer.token}"}
    for method, path, headers in (
        ("GET", link, {}),
        ("GET", "/", {"Cookie": viewer.cookie}),
        ("GET", "/api/status", token),
        ("GET", "/proof?nonce=0123456789abcdef", {}),
        ("POST", "/hooks/claude-code/Stop", token),
        ("POST", "/mcp", token),
        ("POST", "/links", token),
    ):
        shown = json.dumps({"Host": viewer.host, **headers})
        told = as_other(REQUEST, address, str(viewer.port), method, path, shown)
        assert told == "" or (told.startswith("HTTP/1.1 403") and "another user" in told), (method, path)
    assert viewer.bare("GET", link).status == 303  # he has not even used up the link


HALF_CLOSED = """
request = f"GET {sys.argv[2]} HTTP/1.1\\r\\nHost: 127.0.0.1:{sys.argv[1]}\\r\\nAuthorization: Bearer {sys.argv[3]}\\r\\n\\r\\n"
told = []
for _ in range(20):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30) as connection, contextlib.suppress(OSError):
        connection.sendall(request.encode())
        connection.shutdown(socket.SHUT_WR)
        told.append(connection.recv(65536).decode())
print(json.dumps(told))
"""


@needs_root
def test_another_user_who_closes_his_half_of_the_connection_is_refused(serves: Callable[..., Viewer]) -> None:
    viewer = serves()
    for path in ("/api/status", "/proof?nonce=0123456789abcdef"):
        told = json.loads(as_other(HALF_CLOSED, str(viewer.port), path, viewer.token))
        assert not [each for each in told if each and not each.startswith("HTTP/1.1 403")]


def test_the_name_of_this_run_is_told_to_nobody_who_does_not_know_it(serves: Callable[..., Viewer]) -> None:
    viewer = serves()
    name = viewer.host.partition(":")[0]
    for path in ("/enter?key=x", "/", "/proof?nonce=0123456789abcdef", "/api/status"):
        answer = as_client(viewer.port, path)
        assert name not in answer, path


def as_client(port: int, path: str) -> str:
    """All that the server says to a program without a token that names it by its number."""
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        connection.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode()
        )
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()


@needs_root
def test_a_socket_that_speaks_both_kinds_of_addresses_has_an_owner_too(serves: Callable[..., Viewer]) -> None:
    viewer = serves()
    code = (
        "peer = socket.socket(socket.AF_INET6)\n"
        "peer.connect(('::ffff:127.0.0.1', int(sys.argv[1])))\n"
        "print(peer.recv(1000).decode())"
    )
    assert as_other(code, str(viewer.port)).startswith("HTTP/1.1 403")


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
@pytest.mark.parametrize("diagnostics", [True, False])
def test_the_owner_of_a_connection_is_known(
    family: socket.AddressFamily, diagnostics: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the kernel's socket diagnostics, or without them by its tables."""
    if not diagnostics:
        monkeypatch.setattr(peers, "_diagnosed", lambda near, far: None)
    else:
        monkeypatch.setattr(peers, "_listed", lambda client, server: None)
    address = "127.0.0.1" if family == socket.AF_INET else "::1"
    with socket.create_server((address, 0), family=family) as server:
        there = (address, server.getsockname()[1])
        client = socket.create_connection(there)
        here = (address, client.getsockname()[1])
        with server.accept()[0]:
            with client:
                assert peers.owner_of(here, there) == (True, os.getuid())
                assert not peers.is_stranger(here, there)
                client.shutdown(socket.SHUT_WR)
                assert peers.is_stranger(here, there)  # half closed: nobody can tell whose it is
            assert peers.owner_of(here, there) == (True, None)  # closed: nobody's, and not root's


@needs_root
def test_nobody_else_can_listen_under_the_viewers_name(serves: Callable[..., Viewer]) -> None:
    """A browser that looks for a name ending in .localhost tries ::1 first."""
    viewer = serves()
    code = (
        "taken = socket.socket(socket.AF_INET6)\n"
        "taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
        "try: taken.bind(('::1', int(sys.argv[1])))\n"
        "except OSError as error: print(error.errno)"
    )
    assert int(as_other(code, str(viewer.port))) == errno.EADDRINUSE


def test_a_port_that_somebody_has_on_the_other_address_is_not_taken(house: House) -> None:
    with socket.socket(socket.AF_INET6) as theirs:
        theirs.bind(("::1", 0))
        theirs.listen()
        port = str(theirs.getsockname()[1])
        refused = Viewer(house.home.root, "--port", port)
        _, said = refused.process.communicate(timeout=60)
        assert refused.process.returncode == 4
        assert f"port {port} cannot be used" in said


def test_the_browser_gets_a_file_that_forwards_and_never_the_key(house: House, tmp_path: Path) -> None:
    """What is in a program's arguments every user of the machine can read."""
    record, page = tmp_path / "arguments", tmp_path / "page.html"
    browser = tmp_path / "browser"
    browser.write_text(
        f'#!/bin/sh\ncp -p "${{1#file://}}" {page}; echo "$@" >{record}.new; mv {record}.new {record}\n'
    )
    browser.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-m", "backstory", "serve"],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "BACKSTORY_HOME": str(house.home.root),
            "BROWSER": f"{browser} %s",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        key = link.partition("key=")[2]
        arguments = eventually("the browser is opened", lambda: record.exists() and record.read_text(), 30)
        assert arguments.strip() == house.home.open_viewer.as_uri()
        assert key not in arguments
        found = re.search(r'content="0;url=([^"]+)"', page.read_text("utf-8"))
        assert found
        assert found[1] == link
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
        for name in filter(str.isdigit, os.listdir("/proc")):
            assert key.encode() not in _bytes(Path("/proc", name, "cmdline"))
            assert key.encode() not in _bytes(Path("/proc", name, "environ")), name
        answered = _enter(link)
        assert "HTTP/1.1 303" in answered
        eventually("the file is gone once it was used", lambda: not house.home.open_viewer.exists(), 30)
    finally:
        process.terminate()
        process.communicate(timeout=60)
    assert not house.home.serve_token.exists()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _enter(link: str) -> str:
    host, _, path = link.removeprefix("http://").partition("/")
    with socket.create_connection(("127.0.0.1", int(host.rpartition(":")[2])), 30) as connection:
        connection.sendall(f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        return connection.recv(10_000).decode()


def test_the_cookie_counts_under_the_name_of_this_run_only(serves: Callable[..., Viewer]) -> None:
    """A browser sends a cookie to all ports of a host, and other users have servers on 127.0.0.1."""
    viewer = serves()
    assert re.fullmatch(r"[0-9a-f]{16}\.localhost:\d+", viewer.host)
    cookie = {"Cookie": viewer.cookie}
    assert viewer.bare("GET", "/", cookie).status == 200
    for name in ("127.0.0.1", "localhost", "[::1]"):
        assert viewer.bare("GET", "/", {**cookie, "Host": f"{name}:{viewer.port}"}).status == 401
        link = viewer.ask("POST", "/links").json["link"]
        assert viewer.bare("GET", link, {"Host": f"{name}:{viewer.port}"}).status == 421
    assert viewer.bare("GET", "/", {**cookie, "Host": f"{'0' * 16}.localhost:{viewer.port}"}).status == 421


def test_by_number_a_browser_that_knows_no_such_names_comes_in(serves: Callable[..., Viewer]) -> None:
    viewer = serves("--by-number")
    assert viewer.host == f"127.0.0.1:{viewer.port}"
    assert viewer.bare("GET", "/", {"Cookie": viewer.cookie}).status == 200


def test_name_token_and_cookie_are_new_at_each_start(serves: Callable[..., Viewer]) -> None:
    first = serves()
    seen = (first.host, first.token, first.cookie)
    first.kill()
    second = serves("--port", str(first.port))
    assert not set(seen) & {second.host, second.token, second.cookie}
    assert second.bare("GET", "/", {"Cookie": seen[2]}).status == 401
    assert second.bare("GET", "/", {"Authorization": f"Bearer {seen[1]}"}).status == 401


LISTENER = """
heard = []
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        heard.append(self.path + str(self.headers.items()))
        body = json.dumps({"pid": int(sys.argv[2]), "serving": "backstory", "proof": "0" * 64}).encode()
        self.send_response(200); self.send_header("content-length", str(len(body))); self.end_headers()
        self.wfile.write(body)
    do_POST = do_GET
    def log_message(self, *words): pass
server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
server.timeout = 30
print("listening", flush=True)
server.handle_request()
print("\\n".join(heard), flush=True)
"""


@needs_root
def test_whoever_takes_the_port_of_a_killed_viewer_is_not_told_the_token(
    serves: Callable[..., Viewer], house: House
) -> None:
    viewer = serves()
    viewer.kill()
    assert house.home.serving.exists()
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", BECOME + LISTENER, str(viewer.port), str(viewer.process.pid)],
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "listening\n"
    assert server_record.running_server(house.home, seconds=20) is None
    heard, _ = process.communicate(timeout=60)
    assert "/proof?nonce=" in heard
    assert viewer.token not in heard
    assert "uthorization" not in heard


def test_a_proof_is_worth_nothing_on_another_port(serves: Callable[..., Viewer], house: House) -> None:
    """Nobody can pass our question on to the real viewer, and its answer on to us."""
    viewer = serves()
    nonce = "n" * 32
    shown = viewer.bare("GET", f"/proof?nonce={nonce}").json["proof"]
    assert shown == server_record.token_proof(viewer.token, viewer.port, nonce)
    assert shown != server_record.token_proof(viewer.token, viewer.port + 1, nonce)
    for wrong in ("", "short", "x" * 129, "n" * 20 + "%0a"):
        assert viewer.bare("GET", f"/proof?nonce={wrong}").status == 400
