"""Who serves this home: its port and process in `serve.json`, believed only when it proves who it is.

The file is written after the port is bound and removed at an orderly end. A killed server leaves it, and then
anybody may have taken the port. So whoever answers there has to prove that it knows the token (an HMAC over
a number of ours and its own port) before it is shown the token. A new token is made at each start.
"""

import hashlib
import hmac
import http.client
import json
import os
import secrets
from dataclasses import dataclass

from backstory.atomic import write_own, write_state
from backstory.file_reader import read_bytes, read_text
from backstory.paths import Home

PROBE_SECONDS = 0.1
ADDRESS = "127.0.0.1"
_LARGEST_ANSWER = 10_000


@dataclass(frozen=True, slots=True)
class ServerRecord:
    """A server that is said to run."""

    port: int
    pid: int

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://{ADDRESS}:{self.port}"


def recorded_server(home: Home) -> ServerRecord | None:
    """What `serve.json` says, if that can be true; nothing is asked."""
    try:
        value = json.loads(read_bytes(home.serving))
        port, pid = value["port"], value["pid"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None
    if type(port) is not int or type(pid) is not int or not 1 <= port <= 65535 or pid < 1:
        return None
    return ServerRecord(port, pid)


def running_server(home: Home, seconds: float = PROBE_SECONDS) -> ServerRecord | None:
    """The server of this home, if what answers there proves to be it."""
    found, key = recorded_server(home), recorded_token(home)
    if found is None or not key:
        return None
    nonce = secrets.token_urlsafe(24)
    shown = _answer(found, "GET", f"/proof?nonce={nonce}", seconds, {}).get("proof")
    expected = token_proof(key, found.port, nonce)
    return (
        found if isinstance(shown, str) and hmac.compare_digest(shown.encode(), expected.encode()) else None
    )


def token_proof(key: str, port: int, nonce: str) -> str:
    """What only the holder of the token can say; with its port, so that nobody can pass it on."""
    return hmac.new(key.encode(), f"backstory:{port}:{nonce}".encode(), hashlib.sha256).hexdigest()


def ask_server(
    home: Home, server: ServerRecord, method: str, path: str, seconds: float = 5.0
) -> dict[str, object]:
    """What a server that `running_server` has found answers its owner; nothing if it does not."""
    return _answer(server, method, path, seconds, {"Authorization": f"Bearer {recorded_token(home)}"})


def _answer(
    server: ServerRecord, method: str, path: str, seconds: float, headers: dict[str, str]
) -> dict[str, object]:
    connection = http.client.HTTPConnection(ADDRESS, server.port, timeout=seconds)
    try:
        connection.request(method, path, headers=headers)
        answer = json.loads(connection.getresponse().read(_LARGEST_ANSWER))
    except (OSError, http.client.HTTPException, ValueError, RecursionError):
        return {}
    finally:
        connection.close()
    return answer if isinstance(answer, dict) else {}


def announce_server(home: Home, port: int) -> None:
    """Say where this process serves."""
    write_state(home.serving, {"port": port, "pid": os.getpid()})


def remove_record(home: Home) -> None:
    """Say nothing any more, unless somebody else does."""
    found = recorded_server(home)
    if found is None or found.pid == os.getpid():
        for path in (home.serving, home.serve_token, home.open_viewer):
            path.unlink(missing_ok=True)


def new_token(home: Home) -> str:
    """A token for this run of the server, kept for its owner's programs."""
    made = secrets.token_urlsafe(32)
    write_own(home.serve_token, made.encode())
    return made


def recorded_token(home: Home) -> str:
    """The token of the server that runs, or ran last; "" if there is none."""
    try:
        return read_text(home.serve_token).strip()
    except (OSError, UnicodeDecodeError):
        return ""
