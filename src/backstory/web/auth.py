"""Who may come in, before any route is looked at.

A page that some website shows must not reach this server through the user's own browser: the host must be
ours (DNS rebinding), whoever writes must come from our own pages (CSRF), and every request shows the token or
the cookie that a one-time link was exchanged for. Writes are counted; pages may run no script but ours.

A browser sends a cookie to every port of a host, so to every user's servers on this machine. The cookie
therefore belongs to a host name that is made up anew for each run, and counts under that name only.
"""

import hmac
import os
import re
import secrets
import time
from collections.abc import Iterable
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backstory.web import server_record
from backstory.web.markup import Html, document, h

LINK_SECONDS = 300.0
WRITES_PER_SECOND = 5.0
WRITES_AT_ONCE = 30.0
_SAFE = ("GET", "HEAD", "OPTIONS")
# Machines write here, as fast as agents work; what they leave is a file, nothing more.
_UNCOUNTED = ("/hooks/", "/mcp")
_USUAL_PORT = 80
_NONCE = re.compile(r"[\w-]{16,128}", re.ASCII)
_LINKS = "/links"  # a way in for another browser changes nothing that is kept
_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_TITLES = {401: "A new link is needed", 403: "Not from here", 421: "Not this way", 429: "One moment"}
HEADERS = {
    "content-security-policy": _CSP,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Keys:
    """What opens the gate: this run's name, token and cookie, and links that work once."""

    def __init__(self, token: str, port: int, host: str = "") -> None:
        self._token = token
        self._cookie = secrets.token_urlsafe(32)
        self._links: dict[str, float] = {}
        self._host = host or f"{secrets.token_hex(8)}.localhost"
        self.port = port
        self.cookie_name = f"backstory-{port}"

    @property
    def url(self) -> str:
        """The viewer's address for browsers."""
        return f"http://{self._host}:{self.port}"

    def hosts(self, *more: str) -> tuple[str, ...]:
        """What a request may name as its host; browsers leave out the web's usual port."""
        names = (self._host, *more)
        return tuple(f"{name}:{self.port}" for name in names) + (names if self.port == _USUAL_PORT else ())

    def new_link(self) -> str:
        """A path that lets one browser in, once, for a few minutes."""
        now = time.monotonic()
        self._links = {key: until for key, until in self._links.items() if until > now}
        key = secrets.token_urlsafe(24)
        self._links[key] = now + LINK_SECONDS
        return f"/enter?key={key}"

    def waits(self, link: str) -> bool:
        """Whether a link was not used yet."""
        return link.rpartition("=")[2] in self._links

    def proof(self, nonce: str) -> str:
        """What proves to a program of the owner that this is the server whose token it knows."""
        return server_record.token_proof(self._token, self.port, nonce)

    def take(self, key: str) -> bool:
        """Use up a link."""
        for known in list(self._links):
            if hmac.compare_digest(known.encode(), key.encode()):
                return self._links.pop(known) > time.monotonic()
        return False

    def cookie(self) -> str:
        """What the browser is told to keep."""
        return f"{self.cookie_name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict"

    def open_for(self, headers: Headers) -> bool:
        """Whether a request shows the token or the cookie."""
        kind, _, shown = headers.get("authorization", "").partition(" ")
        shown = shown if kind.lower() == "bearer" else headers.get("x-backstory-token", "")
        kept = cookie_parser(headers.get("cookie", "")).get(self.cookie_name, "")
        by_token = hmac.compare_digest(shown.encode(), self._token.encode())
        by_cookie = hmac.compare_digest(kept.encode(), self._cookie.encode())
        return by_token or (by_cookie and headers.get("host", "").lower() in self.hosts())


class Allowance:
    """So many writes at once, and so many a second afterwards."""

    def __init__(self, at_once: float = WRITES_AT_ONCE, per_second: float = WRITES_PER_SECOND) -> None:
        self._left = self._most = at_once
        self._per_second = per_second
        self._seen = time.monotonic()

    def take(self) -> bool:
        """One write, if there is one left."""
        now = time.monotonic()
        self._left = min(self._most, self._left + (now - self._seen) * self._per_second)
        self._seen = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Gate:
    """The middleware in front of everything."""

    def __init__(self, app: ASGIApp, keys: Keys, read_only: bool = False) -> None:
        self._app = app
        self._keys = keys
        self._hosts = keys.hosts("127.0.0.1", "localhost", "[::1]")
        self._read_only = read_only
        self._writes = Allowance()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = self._refused(scope)
        await (refused or self._app)(scope, receive, send_safely)

    def _refused(self, scope: Scope) -> Response | None:
        headers, path, method = Headers(scope=scope), str(scope["path"]), str(scope["method"])
        if headers.get("host", "").lower() not in self._hosts:
            return _answer(headers, 421, "This server answers on this machine only, under its own name.")
        if path == "/enter" and method == "GET":
            return self._enter(scope, headers)
        if path == "/proof" and method == "GET":
            return self._prove(scope, headers)
        if self._foreign(headers, method):
            return _answer(headers, 403, "This request comes from another site.")
        if not self._keys.open_for(headers):
            return _answer(headers, 401, "Open the link that `backstory serve` printed; it lets you in.")
        if method in _SAFE:
            return None
        if self._read_only and path != _LINKS:
            return _answer(headers, 403, "This viewer is read-only: start it without --read-only.")
        if not path.startswith(_UNCOUNTED) and not self._writes.take():
            answer = _answer(headers, 429, "That is too many changes at once: wait a moment.")
            answer.headers["retry-after"] = "1"
            return answer
        return None

    def _enter(self, scope: Scope, headers: Headers) -> Response:
        if headers.get("host", "").lower() not in self._keys.hosts():
            # nobody is told this run's name here: who knows it can have a browser send the cookie elsewhere
            return _answer(headers, 421, "Browsers come in by the link that `backstory serve` prints.")
        if not self._keys.take(_given(scope, "key")):
            if self._keys.open_for(headers):  # this very browser was let in by it
                return RedirectResponse("/", 303)
            return _answer(
                headers,
                401,
                "This link was used already, or is older than five minutes: each lets one browser in, once. "
                "`backstory serve`, typed again, prints a new one; the viewer goes on running.",
            )
        answer: Response = RedirectResponse("/", 303)
        if headers.get("sec-fetch-site", "none") != "none":
            # from the file that `serve` opens: no strict cookie goes along with a redirect from elsewhere
            answer = HTMLResponse(
                notice_page("Backstory", "Come in.", [h("meta", http_equiv="refresh", content="0;url=/")])
            )
        answer.headers["set-cookie"] = self._keys.cookie()
        return answer

    def _prove(self, scope: Scope, headers: Headers) -> Response:
        """Say who we are to a program that has not told us its token yet."""
        nonce = _given(scope, "nonce")
        if not _NONCE.fullmatch(nonce):
            return _answer(headers, 400, "A nonce has 16 to 128 letters and digits.")
        return JSONResponse({"pid": os.getpid(), "proof": self._keys.proof(nonce)})

    def _foreign(self, headers: Headers, method: str) -> bool:
        """Whether a page of another site made the browser ask."""
        origin = headers.get("origin")
        if origin is not None and origin.removeprefix("http://").lower() not in self._hosts:
            return True
        site = headers.get("sec-fetch-site", "same-origin")
        if site in ("same-origin", "none"):
            # a browser says where a write comes from; a program shows the token instead
            return method not in _SAFE and origin is None and "cookie" in headers
        return method not in _SAFE or headers.get("sec-fetch-mode") != "navigate"


def _given(scope: Scope, name: str) -> str:
    return parse_qs(bytes(scope["query_string"]).decode("latin-1")).get(name, [""])[0]


def _answer(headers: Headers, status: int, says: str) -> Response:
    if "text/html" not in headers.get("accept", ""):
        return JSONResponse({"error": says}, status)
    return HTMLResponse(notice_page(_TITLES.get(status, str(status)), says), status)


def notice_page(title: str, says: str, more: Iterable[Html] = ()) -> str:
    """A page that says one thing."""
    body = h("main", h("h1", title), h("p", says), more, class_="notice", id="main")
    return document(title, body)
