"""A model on this machine is served by whoever was first at its port: another user there is sent nothing."""

import contextlib
import dataclasses
import subprocess
import sys
from collections.abc import Iterator
from typing import IO

import pytest

from backstory.embed.embedder import load_embedder
from backstory.llm.model_provider import Question, Trouble, out_of_reach, provider
from backstory.settings import Settings
from tests.security.test_other_users import needs_root

pytestmark = [
    needs_root,
    pytest.mark.skipif(sys.platform != "linux", reason="the system tells who serves on Linux only"),
]
OTHER, SERVICE = 54_321, 998
SECRET = "the launch code of the Zirkon line"
# It listens, takes a connection as it is told to, and says how much came in over it.
SERVER = """
import os, socket, sys
uid, how, host = int(sys.argv[1]), sys.argv[2], sys.argv[3]
os.setgroups([]); os.setgid(uid); os.setuid(uid)
listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
if how == "when data comes":
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 20)
listening.bind((host, 0))
listening.listen(8)
print(listening.getsockname()[1], flush=True)
listening.settimeout(8)
came = b""
try:
    if how == "late":
        sys.stdin.readline()
    taken, _ = listening.accept()
    if how == "and listens no more":
        listening.close()
    taken.settimeout(8)
    while piece := taken.recv(65536):
        came += piece
        if b"launch code" in came:
            taken.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 47\\r\\nConnection: close\\r\\n\\r\\n"
                          b'{"message":{"content":"{}"},"embeddings":[[1]]}')
except OSError:
    pass
print(len(came), flush=True)
"""


@contextlib.contextmanager
def serving(uid: int, how: str = "", host: str = "127.0.0.1") -> Iterator[tuple[str, IO[str], IO[str]]]:
    """A server of a user: its address, what it is told and what it says."""
    with subprocess.Popen(
        [sys.executable, "-I", "-c", SERVER, str(uid), how, host],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        port = int(process.stdout.readline())
        try:
            shown = f"[{host}]" if ":" in host else host
            yield (
                f"http://{'127.0.0.1' if host == '0.0.0.0' else shown}:{port}",
                process.stdin,
                process.stdout,
            )
        finally:
            process.kill()


def settings(url: str, name: str = "ollama", *users: str) -> Settings:
    return dataclasses.replace(
        Settings(),
        model_provider=name,
        model_url=url,
        model_timeout_seconds=5,
        model_local_users=users,
        embed_provider="ollama",
        embed_url=url,
        embed_model="m",
    )


def ask(chosen: Settings) -> None:
    asked = provider(chosen, "distil")
    assert asked is not None
    asked.ask(Question("", SECRET, {}, 10))


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::1"])
@pytest.mark.parametrize("how", ["at once", "late", "when data comes", "and listens no more"])
def test_a_model_that_another_user_serves_is_sent_nothing(how: str, host: str) -> None:
    with serving(OTHER, how, host) as (url, told, says):
        with pytest.raises(Trouble, match=f"another user of this machine .uid {OTHER}.*local_users"):
            ask(settings(url))
        if how == "late":
            told.write("\n")
            told.flush()
        assert int(says.readline()) == 0


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_whatever_its_protocol(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    with serving(OTHER) as (url, _, says):
        with pytest.raises(Trouble, match="another user"):
            ask(settings(url, name))
        assert int(says.readline()) == 0


def test_embeddings_are_asked_of_no_other_user_either() -> None:
    with serving(OTHER) as (url, _, says):
        embedder = load_embedder(settings(url)).embedder
        assert embedder is not None
        with pytest.raises(Trouble, match="another user"):
            embedder.embed([SECRET])
        assert int(says.readline()) == 0


def test_doctor_says_that_it_is_another_users() -> None:
    with serving(OTHER) as (url, _, _):
        assert "another user" in out_of_reach(settings(url))
    with serving(SERVICE) as (url, _, _):
        assert out_of_reach(settings(url)) == ""


@pytest.mark.parametrize("uid", [0, SERVICE, 61_500])
def test_this_user_root_and_accounts_of_the_system_may_serve(uid: int) -> None:
    with serving(uid) as (url, _, says):
        ask(settings(url))
        assert int(says.readline()) > len(SECRET)


def test_a_user_who_is_named_may_serve() -> None:
    with serving(OTHER) as (url, _, says):
        ask(settings(url, "ollama", str(OTHER)))
        assert int(says.readline()) > len(SECRET)
