"""The HTTP client for models and embeddings: one POST of JSON with a deadline for all of it.

Connecting, sending, and an answer that comes in drops count: a socket's own timeout begins anew with every
byte, so a timer closes the connection at the deadline. Redirects are not followed: a key goes to the address
that the user wrote, and nowhere else. Nothing is sent to another user of this machine (`peers.py`).
"""

import contextlib
import http.client
import json
import math
import socket
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from backstory.llm.model_provider import Question, Trouble, is_near
from backstory.peers import other_server

_LARGEST = 4_000_000
_EXCERPT = 300
_LONGEST_WAIT = 86_400.0
_DECLINES = (400, 422, 500, 501)
_SHAPE_WORDS = (b"response_format", b"output_config", b"schema", b"structured output", b"grammar", b" format")
_CONNECTIONS = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered."""

    status: int
    body: bytes
    retry_after: float = 0.0

    def json(self, where: str) -> Any:
        """The body as JSON, or a Trouble."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise Trouble(f"{where} answered with something else than JSON: check model.url") from None


def post_json(
    url: str,
    headers: Mapping[str, str],
    body: Any,
    seconds: float,
    secret: str = "",
    section: str = "model",
    users: Collection[int] = (),
) -> Answer:
    """Send JSON and read the answer within so many seconds; whatever goes wrong is a Trouble.

    `secret` is the key, which is not sent unencrypted; `section` is the section of the settings to check.
    `users` are other users of this machine who may be sent it.
    """
    parts = urlsplit(url)
    where = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    if parts.scheme not in _CONNECTIONS or not parts.hostname:
        raise Trouble(f"{section}.url must begin with http:// or https://, not {url!r}: set it")
    if secret and parts.scheme == "http" and not is_near(parts.hostname):
        raise Trouble(f"a key is not sent to {where} unencrypted: use https:// in {section}.url")
    advice = f"check {section}.url" + (", or raise model.timeout_seconds" if section == "model" else "")
    too_late = f"{where} did not answer within {seconds:g} s: {advice}"
    data = json.dumps(body).encode()
    connection = _CONNECTIONS[parts.scheme](parts.hostname, parts.port, timeout=seconds)
    try:
        with _deadline(connection, seconds) as late:
            try:
                path = parts.path + (f"?{parts.query}" if parts.query else "")
                connection.connect()
                refuse_other_users(connection.sock, where, users)
                connection.request("POST", path, data, {"Content-Type": "application/json", **headers})
                response = connection.getresponse()
                answer = response.read(_LARGEST + 1)
                if response.length and len(answer) <= _LARGEST:
                    raise http.client.IncompleteRead(answer, response.length)
            except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
                if late.is_set() or isinstance(error, TimeoutError):
                    raise Trouble(too_late) from None
                reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
                sent = not isinstance(error, ConnectionRefusedError | socket.gaierror)
                raise Trouble(f"{where} gives no answer ({reason}): check {section}.url", sent=sent) from None
    finally:
        connection.close()
    if late.is_set():
        raise Trouble(too_late)
    if len(answer) > _LARGEST:
        raise Trouble(f"{where} answered with more than {_LARGEST:,} bytes: check {section}.url")
    return Answer(response.status, answer, _seconds_of(response.getheader("Retry-After", "")))


def raise_for_status(answer: Answer, where: str, secret: str = "") -> None:
    """Raise the Trouble that a status other than 200 means."""
    if answer.status == 200:
        return
    said = answer.body[:_EXCERPT].decode("utf-8", "replace").strip()
    said = said.replace(secret, "…") if secret else said
    advice = {
        401: "check the key in the variable that model.key_env names",
        403: "check the key in the variable that model.key_env names",
        404: "check model.url and the model's name",
        429: "it is asked again later",
    }.get(answer.status, "it is asked again later" if answer.status >= 500 else "check model.*")
    if answer.status == 400 and "context" in said:
        advice = "its context is too small for the question: see docs/models.md, or lower model.call_tokens"
    raise Trouble(f"{where} answered {answer.status}: {advice}", answer.retry_after, sent=False, said=said)


def refuse_other_users(connection: socket.socket, where: str, users: Collection[int] = ()) -> None:
    """Raise a Trouble if another user of this machine is at the other end, who is not among `users`."""
    own, server = connection.getsockname(), connection.getpeername()
    uid = other_server((own[0], own[1]), (server[0], server[1]), users)
    if uid is not None:
        raise Trouble(
            f"{where} is served by another user of this machine (uid {uid}), who could read what is sent: "
            "start your own, have it run as an account of the system, or name the user in model.local_users",
            sent=False,
        )


def raise_if_error(told: Any, where: str, secret: str = "") -> None:
    """Raise the Trouble that an answer of status 200 tells of: who passes a question on answers so."""
    error = told.get("error") if isinstance(told, dict) else None
    if not error:
        return
    said = str(error.get("message") or error) if isinstance(error, dict) else str(error)
    said = said[:_EXCERPT].replace(secret, "…") if secret else said[:_EXCERPT]
    raise Trouble(f"{where} answered with an error: it is asked again later", sent=False, said=said)


def knows_no_schema(answer: Answer) -> bool:
    """Whether a server declines because it was told the shape of the answer."""
    return answer.status in _DECLINES and any(word in answer.body for word in _SHAPE_WORDS)


def shape_in_words(question: Question) -> str:
    """The instructions with the shape of the answer, for a server that cannot be told it otherwise."""
    return f"{question.system}\n\nThe JSON schema of the answer: {json.dumps(question.schema)}"


@contextlib.contextmanager
def _deadline(connection: http.client.HTTPConnection, seconds: float) -> Iterator[threading.Event]:
    """Hang up when the time is over; the event says whether that happened."""
    late = threading.Event()

    def hang_up() -> None:
        late.set()
        with contextlib.suppress(OSError):
            if connection.sock is not None:
                connection.sock.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, hang_up)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()


def _seconds_of(header: str) -> float:
    """Retry-After in seconds, whether it came as a number or as a date; never absurdly long."""
    try:
        wait = float(header)
    except ValueError:
        try:
            wait = parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, TypeError):
            return 0.0
    return min(max(wait, 0.0), _LONGEST_WAIT) if math.isfinite(wait) else 0.0
