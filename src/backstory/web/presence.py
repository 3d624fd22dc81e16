"""Who serves this home: its port and process in `serve.json`, believed only when somebody answers there.

The file is written after the port is bound and removed at an orderly end; one that a killed server left is
found out by asking, and what is not a port is not asked at all. The token lies beside it, for the owner only.
"""

import http.client
import json
import os
import secrets
from dataclasses import dataclass

from backstory.atomic import write_atomic, write_state
from backstory.file_reader import read_bytes, read_text
from backstory.paths import Home

PROBE_SECONDS = 0.1
ADDRESS = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Presence:
    """A server that is said to run."""

    port: int
    pid: int

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://{ADDRESS}:{self.port}"


def said(home: Home) -> Presence | None:
    """What `serve.json` says, if that can be true; nothing is asked."""
    try:
        value = json.loads(read_bytes(home.serving))
        port, pid = value["port"], value["pid"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None
    if type(port) is not int or type(pid) is not int or not 1 <= port <= 65535 or pid < 1:
        return None
    return Presence(port, pid)


def running(home: Home, seconds: float = PROBE_SECONDS) -> Presence | None:
    """The server of this home, if it answers with its own process id."""
    found = said(home)
    if found is None:
        return None
    answer = ask(home, found, "GET", "/ping", seconds)
    return found if answer.get("pid") == found.pid else None


def ask(home: Home, server: Presence, method: str, path: str, seconds: float = 5.0) -> dict[str, object]:
    """What the server answers its owner; nothing if it does not."""
    connection = http.client.HTTPConnection(ADDRESS, server.port, timeout=seconds)
    try:
        connection.request(method, path, headers={"Authorization": f"Bearer {token(home)}"})
        answer = json.loads(connection.getresponse().read(10_000))
    except (OSError, http.client.HTTPException, ValueError):
        return {}
    finally:
        connection.close()
    return answer if isinstance(answer, dict) else {}


def announce(home: Home, port: int) -> None:
    """Say where this process serves."""
    write_state(home.serving, {"port": port, "pid": os.getpid()})


def leave(home: Home) -> None:
    """Say nothing any more, unless somebody else does."""
    found = said(home)
    if found is None or found.pid == os.getpid():
        home.serving.unlink(missing_ok=True)


def token(home: Home) -> str:
    """The token of this home, made when it is first asked for."""
    try:
        found = read_text(home.serve_token).strip()
    except FileNotFoundError:
        found = ""
    if len(found) < 32:
        found = secrets.token_urlsafe(32)
        write_atomic(home.serve_token, found.encode())
    return found
