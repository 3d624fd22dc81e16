"""The client of a team server: the requests of docs/team-protocol.md, each with one deadline for all of it.

Redirects are not followed: a token goes to the address that was joined, and nowhere else. Plain HTTP is for
the loopback only, TLS is verified. Whatever goes wrong is a `TeamTrouble` that says what to do; an answer
that is not of the server's own form (a captive portal's page, another server's) is no answer.
"""

import contextlib
import http.client
import ipaddress
import json
import math
import socket
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from backstory import __version__
from backstory.errors import Failed
from backstory.team_wire import VERSIONS

SECONDS = 20.0
_LARGEST = 8_000_000
_SERVER = "Backstory-Server"
_CONNECTIONS = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}


class TeamTrouble(Failed):
    """The team's server cannot be reached, or does not take it; `code` is the server's own word for it.

    `retry_after` is how many seconds it asks to wait; `final`: trying again as it is makes no sense.
    """

    def __init__(self, text: str, code: str = "", retry_after: float = 0.0, final: bool = False) -> None:
        super().__init__(text)
        self.code = code
        self.retry_after = retry_after
        self.final = final


@dataclass(frozen=True, slots=True)
class TeamClient:
    """One server, as one device. `server` is the id that it must have, "" while it is not known yet."""

    address: str
    token: str = ""
    server: str = ""
    seconds: float = SECONDS

    def join(self, invite: str, device: str) -> tuple[dict[str, Any], str]:
        """Join by an invitation; gives what the server answered, and its id."""
        return self._ask("POST", "/v1/join", {"invite": invite, "device": device})

    def me(self) -> dict[str, Any]:
        """Who this device is to the server."""
        return self._ask("GET", "/v1/me", None)[0]

    def devices(self) -> list[dict[str, Any]]:
        """The devices that may be known, each with how far it has read."""
        found = self._ask("GET", "/v1/devices", None)[0].get("devices")
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []

    def ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Any other request of the protocol: invitations, revoking, opening projects, purging."""
        return self._ask(method, path, body)[0]

    def push(self, project: str, rows: list[dict[str, Any]], bury: list[str]) -> dict[str, Any]:
        """Send rows, and ids to bury."""
        return self._ask(
            "POST", "/v1/push", {"wire": VERSIONS[-1], "project": project, "rows": rows, "bury": bury}
        )[0]

    def pull(self, project: str, cursor: int, limit: int) -> dict[str, Any]:
        """Read on from a cursor."""
        asked = {"wire": VERSIONS[-1], "project": project, "cursor": cursor, "limit": limit}
        return self._ask("POST", "/v1/pull", asked)[0]

    def _ask(self, method: str, path: str, body: object) -> tuple[dict[str, Any], str]:
        parts = urlsplit(self.address)
        where = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        if parts.scheme not in _CONNECTIONS or not parts.hostname:
            raise TeamTrouble(f"{self.address!r} is no address of a team server: it begins with https://")
        if parts.scheme == "http" and not is_loopback(parts.hostname):
            raise TeamTrouble(f"{where} is not encrypted: a team server is reached by https://", final=True)
        headers = {"Accept": "application/json", "User-Agent": f"backstory/{__version__}"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body, ensure_ascii=False).encode()
        connection = _CONNECTIONS[parts.scheme](parts.hostname, parts.port, timeout=self.seconds)
        status, told, answer = _exchange(
            connection, self.seconds, where, (method, parts.path.rstrip("/") + path, data, headers)
        )
        server = told.get(_SERVER.lower(), "")
        found = _object(answer)
        if not server or found is None:
            raise TeamTrouble(f"{where} answered {status} with something that no team server says")
        if self.server and server != self.server:
            raise TeamTrouble(
                f"{where} is another server than the one that was joined: nothing was sent to it but this "
                "question; ask who runs it, then `backstory team join LINK` again",
                "other_server",
            )
        if status != 200:
            raise _refusal(where, status, found, told.get("retry-after", ""))
        return found, server


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _exchange(
    connection: http.client.HTTPConnection,
    seconds: float,
    where: str,
    request: tuple[str, str, bytes | None, Mapping[str, str]],
) -> tuple[int, dict[str, str], bytes]:
    """Send a request and read all of its answer within so many seconds."""
    late = threading.Event()

    def hang_up() -> None:
        late.set()
        with contextlib.suppress(OSError, AttributeError):
            connection.sock.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, hang_up)
    timer.daemon = True
    timer.start()
    try:
        connection.request(*request)
        response = connection.getresponse()
        answer = response.read(_LARGEST + 1)
        if response.length and len(answer) <= _LARGEST:
            raise http.client.IncompleteRead(answer, response.length)
        told = {name.lower(): value for name, value in response.getheaders()}
        status = response.status
    except ssl.SSLCertVerificationError as error:
        raise TeamTrouble(
            f"the certificate of {where} is not accepted ({error.verify_message}): tell who runs it"
        ) from None
    except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
        if late.is_set() or isinstance(error, TimeoutError):
            raise TeamTrouble(f"{where} did not answer within {seconds:g} s") from None
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise TeamTrouble(f"{where} gives no answer ({reason})") from None
    finally:
        timer.cancel()
        connection.close()
    if late.is_set():
        raise TeamTrouble(f"{where} did not answer within {seconds:g} s")
    if len(answer) > _LARGEST:
        raise TeamTrouble(f"{where} answered with more than {_LARGEST:,} bytes")
    return status, told, answer


def _object(answer: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _refusal(where: str, status: int, found: Mapping[str, Any], retry_after: str) -> TeamTrouble:
    code, message, todo = (str(found.get(name) or "") for name in ("error", "message", "next"))
    told = "; ".join(part for part in (message, todo) if part)[:240]
    try:
        wait = float(retry_after)
    except ValueError:
        wait = 0.0
    wait = min(max(wait, 0.0), 86_400.0) if math.isfinite(wait) else 0.0
    if code == "newer_wire" or status == 426:
        return TeamTrouble(f"{where} speaks a newer protocol: upgrade Backstory", "newer_wire", wait)
    if code == "unknown_token" or status == 401:
        return TeamTrouble(
            f"{where} does not know this device any more: ask for an invitation, then "
            "`backstory team join LINK`",
            "unknown_token",
            wait,
        )
    return TeamTrouble(f"{where} answered {status}: {told or code}", code, wait)
