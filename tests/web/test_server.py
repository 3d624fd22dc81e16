"""`backstory serve` as a process: the only one, on loopback, found when it is there and never believed when not."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from backstory.atomic import lock
from backstory.web import server, server_record
from tests.conftest import eventually
from tests.story import House
from tests.web.viewer import Viewer

Serves = Callable[..., Viewer]


def test_the_system_chooses_the_port_and_the_file_says_which(viewer: Viewer, house: House) -> None:
    """CCE-17: port 0, read back from the bound socket."""
    said = json.loads(house.home.serving.read_text("utf-8"))
    assert said == {"port": viewer.port, "pid": viewer.process.pid}
    assert viewer.ask("GET", "/ping").json["pid"] == viewer.process.pid
    assert stat.S_IMODE(house.home.serving.stat().st_mode) == 0o600
    assert stat.S_IMODE(house.home.serve_token.stat().st_mode) == 0o600


def test_a_fixed_port_is_taken_or_named(serves: Serves, house: House) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = serves("--port", str(port))
        code, said = refused.process.wait(20), refused.process.stderr.read()  # type: ignore[union-attr]
        assert code == 4
        assert f"port {port} cannot be used" in said
    assert serves("--port", str(port)).port == port


def test_it_listens_on_loopback_only(viewer: Viewer) -> None:
    """CCE-16: no other address of this machine answers."""
    listening = [line.split() for line in Path("/proc/net/tcp").read_text("utf-8").splitlines()[1:]]
    port = f"{viewer.port:04X}"
    places = {row[1] for row in listening if row[1].endswith(f":{port}") and row[3] == "0A"}
    assert places == {f"0100007F:{port}"}
    six = Path("/proc/net/tcp6")
    rows = [line.split() for line in six.read_text("utf-8").splitlines()[1:]] if six.exists() else []
    assert {row[1] for row in rows if row[1].endswith(f":{port}")} <= {f"{'0' * 24}01000000:{port}"}


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_an_orderly_end_leaves_no_port_file(serves: Serves, house: House, name: str) -> None:
    """CCE-21: SIGINT, SIGTERM and SIGHUP end it orderly."""
    viewer = serves()
    stream = viewer.listen(20)  # somebody who listens does not hold it up
    code, said = viewer.ends(getattr(signal, name))
    stream.close()
    assert (code, "has ended" in said) == (0, True)
    assert not house.home.serving.exists()
    with lock(house.home.worker_lock) as free:
        assert free


def test_a_second_viewer_says_that_the_place_is_taken(viewer: Viewer, serves: Serves) -> None:
    """CMEM-13: a live one is never robbed; the second says "already in use", with a way in, and exits."""
    second = serves()
    assert second.link == ""
    code, said = second.process.wait(20), second.process.stderr.read()  # type: ignore[union-attr]
    assert code == 4
    assert "already in use" in said
    assert str(viewer.process.pid) in said
    link = said[said.index(f"{viewer.url}/enter") :].split()[0]
    assert viewer.bare("GET", link.removeprefix(viewer.url)).status == 303
    assert viewer.ask("GET", "/ping").status == 200


def test_what_a_killed_viewer_left_is_found_out_and_replaced(serves: Serves, house: House) -> None:
    """CMEM-12, CCE-22: a leftover with nobody behind it is seen through at once, and the next one takes over."""
    first = serves()
    first.kill()
    assert house.home.serving.exists()
    assert server_record.running_server(house.home) is None  # how fast it is stands in bench/web.py
    second = serves()
    assert server_record.running_server(house.home, 5) == server_record.ServerRecord(
        second.port, second.process.pid
    )


def test_a_stranger_on_the_old_port_is_not_taken_for_the_viewer(house: House) -> None:
    """CCE-22: somebody else answers there, or nobody speaks at all."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        house.home.serving.write_text(json.dumps({"port": silent.getsockname()[1], "pid": os.getpid()}))
        assert server_record.running_server(house.home) is None
        server_record.new_token(house.home)
        assert server_record.running_server(house.home) is None


@pytest.mark.parametrize(
    "content",
    ["", "{}", "[1]", "8080", '{"port": "8080", "pid": 1}', '{"port": 0, "pid": 1}', '{"port": 65536, "pid": 1}',
     '{"port": true, "pid": 1}', '{"port": 80.5, "pid": 1}', '{"port": "$(touch x)", "pid": 1}', "[" * 100_000,
     '{"port": 8080, "pid": 0}', "\xff\xfe"],
)  # fmt: skip
def test_a_port_file_with_anything_but_a_port_is_ignored(house: House, content: str) -> None:
    """CCE-23: an integer from 1 to 65535, or nothing."""
    house.home.serving.write_bytes(content.encode("latin-1"))
    assert server_record.recorded_server(house.home) is None


def test_a_port_file_that_says_a_port_is_read(house: House) -> None:
    house.home.serving.write_text('{"port": 8080, "pid": 7}')
    assert server_record.recorded_server(house.home) == server_record.ServerRecord(8080, 7)


def test_a_start_that_fails_leaves_nothing_open(serves: Serves, house: House) -> None:
    """CCE-18: the database cannot be used; no port file, no lock, no process stays."""
    house.home.database.write_bytes(b"this is no database" * 1000)
    broken = serves()
    assert broken.link == ""
    assert broken.process.wait(20) == 4
    assert "cannot be used" in broken.process.stderr.read()  # type: ignore[union-attr]
    assert not house.home.serving.exists()
    for path in (house.home.serve_lock, house.home.worker_lock):
        with lock(path) as free:
            assert free
    house.home.database.unlink()
    assert serves().link


def test_it_does_the_workers_work_while_it_runs(viewer: Viewer, house: House) -> None:
    """CMEM-26: it holds the worker's lock, drains what arrives, answers a ping; status says when something came."""
    eventually("it holds the worker's lock", lambda: _held(house))
    house.session().starts().prompts("paint the fence green").stops("Painted.").ends()
    sessions = eventually(
        "the session is there",
        lambda: [each for each in viewer.ask("GET", "/api/sessions").json["sessions"] if each["title"]],
        20,
    )
    assert sessions[0]["title"] == "paint the fence green"
    eventually("the spool is empty", lambda: not house.spooled())
    assert viewer.ask("GET", "/ping").json["serving"] == "backstory"
    assert viewer.ask("GET", "/api/status").json["last_event"] > 0


def test_the_work_is_done_beside_it(serves: Serves, house: House) -> None:
    """What distilling and vectors load is never in the viewer; its worker ends with it."""
    viewer = serves()
    house.session().starts().prompts("paint the fence green").stops("Painted.").ends()
    eventually(
        "the session is distilled",
        lambda: viewer.ask("GET", "/api/memories?kind=summary").json["memories"],
        20,
    )
    assert "numpy" not in Path(f"/proc/{viewer.process.pid}/maps").read_text("utf-8")
    workers = [
        int(name)
        for name in filter(str.isdigit, os.listdir("/proc"))
        if f"backstory.worker\0{house.home.root}" in _command(name)
    ]
    assert len(workers) == 2, "one works, one supervises"
    viewer.ends()
    eventually("its worker ends with it", lambda: not any(_command(str(pid)) for pid in workers), 10)


def _command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")
    except OSError:
        return ""


def _held(house: House) -> bool:
    with lock(house.home.worker_lock) as free:
        return not free


def test_it_gives_way_to_a_command_that_wants_the_lock(viewer: Viewer, house: House) -> None:
    eventually("it holds the worker's lock", lambda: _held(house))
    house.home.wanted.write_bytes(b"")
    try:
        with lock(house.home.worker_lock, wait=20) as held:
            assert held
    finally:
        house.home.wanted.unlink()
    eventually("it takes the lock again", lambda: _held(house))


def test_read_only_changes_nothing_and_captures_nothing(serves: Serves, house: House) -> None:
    house.session().starts().prompts("nobody stores this yet")
    viewer = serves("--read-only")
    assert viewer.get("/").status == 200
    assert viewer.ask("POST", "/api/memories", {"text": "x", "project": "y"}).status == 403
    assert viewer.post("/remember", text="x").status == 403
    assert viewer.ask("POST", "/hooks/claude-code/Stop", {"session_id": "s"}).status == 403
    assert len(house.spooled()) == 2
    assert not _held(house)


def test_answers_leave_at_once() -> None:
    """asyncio lets small packets go at once if a socket says that it is TCP's; otherwise each answer waits 40 ms."""
    for bound in server._bound(0):
        with closing(bound):
            assert bound.proto == socket.IPPROTO_TCP


def test_a_second_serve_leads_the_browser_into_the_one_that_runs(viewer: Viewer, house: House) -> None:
    """Typed again, it opens the viewer that is there; the link is waited for and gone once it was used."""
    env = {**os.environ, "BACKSTORY_HOME": str(house.home.root), "BROWSER": "true %s"}
    second = subprocess.Popen(
        [sys.executable, "-m", "backstory", "serve"], env=env, stderr=subprocess.PIPE, text=True
    )
    eventually("the file for the browser lies there", house.home.open_viewer.exists, 30)
    link = re.search(r"href=\"([^\"]+)\"", house.home.open_viewer.read_text("utf-8"))
    assert link is not None
    assert viewer.bare("GET", link[1].removeprefix(viewer.url)).status == 303
    _, said = second.communicate(timeout=60)
    assert (second.returncode, f"process {viewer.process.pid}" in said) == (0, True)
    assert not house.home.open_viewer.exists()
