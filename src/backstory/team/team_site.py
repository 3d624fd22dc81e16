"""The requests of docs/team-protocol.md: a table of them, each a function in one transaction.

What a request sends is read whole before anything is asked, within 1 MB; the work is done on a thread; every
answer, also of what goes wrong, is JSON and says which server gave it.
"""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backstory.team import admission, project_access, row_pull, row_purge, row_push, row_search
from backstory.team.admission import Asker, admit
from backstory.team.database import Asking, Database
from backstory.team.disk_erasure import DiskErasure
from backstory.team.rate_limit import RateLimit
from backstory.team.refusal import Refusal
from backstory.team_wire import MOST_BYTES, MOST_ROWS, VERSIONS

log = logging.getLogger(__name__)
Body = dict[str, Any]
_JOINS = "join "


@dataclass(frozen=True, slots=True)
class TeamSite:
    """What all requests share."""

    database: Database
    erasure: DiskErasure
    address: str  # where laptops find it, for links
    hosts: frozenset[str]
    limit: RateLimit
    joins: RateLimit

    def link(self, invite: str) -> str:
        """What a person opens or pastes to join."""
        return f"{self.address}/j/{quote(invite)}"

    def answer(self, method: str, path: str, token: str, peer: str, data: bytes) -> Body:
        """One request, done. Raises `Refusal`."""
        if (do := REQUESTS.get((method, path))) is None:
            raise Refusal("no_such_request", f"{method} {path} is nothing that is answered here")
        limit, key = (self.joins, _JOINS + peer) if do is join else (self.limit, token)
        if seconds := limit.wait(key):
            raise Refusal("too_many", "too many requests at once", retry_after=int(seconds) + 1)
        return do(self, token, _body(data) if method == "POST" else {})

    def asked(self, token: str, work: Callable[[Asking, Asker], Any], again: bool = True) -> Any:
        """Work in the transaction of whom the token belongs to."""
        return self.database.run(lambda asking: work(asking, admit(asking, token)), again)


def join(site: TeamSite, _token: str, body: Body) -> Body:
    """`POST /v1/join`"""
    spent, device = _text(body, "invite"), _text(body, "device")
    joined = site.database.run(lambda asking: admission.join(asking, spent, device), again=False)
    return {**joined, "wire": list(VERSIONS)}


def me(site: TeamSite, token: str, _body: Body) -> Body:
    """`GET /v1/me`"""
    asker: Asker = site.asked(token, lambda _, asker: asker)
    return {
        "tenant": asker.tenant,
        "member": {"id": asker.member, "name": asker.name, "role": asker.role},
        "device": {"id": asker.device, "name": asker.device_name},
        "wire": list(VERSIONS),
    }


def list_projects(site: TeamSite, token: str, _body: Body) -> Body:
    """`GET /v1/projects`"""

    def work(asking: Asking, asker: Asker) -> Body:
        return {
            "projects": project_access.projects(asking, asker),
            "patterns": project_access.patterns(asking, asker),
        }

    found: Body = site.asked(token, work)
    return found


def open_project(site: TeamSite, token: str, body: Body) -> Body:
    """`POST /v1/projects`: by name, by pattern, or a grant in one that is open"""

    def work(asking: Asking, asker: Asker) -> None:
        if "pattern" in body:
            project_access.open_pattern(asking, asker, body["pattern"])
        elif "member" in body:
            name = project_access.project_name(body.get("project"))
            role = str(body.get("role", "member"))
            project_access.grant(asking, asker, name, _text(body, "member"), role)
        else:
            name = project_access.project_name(body.get("project"))
            project_access.open_project(asking, asker, name, body.get("restricted") is True)

    site.asked(token, work)
    return list_projects(site, token, {})


def push(site: TeamSite, token: str, body: Body) -> Body:
    """`POST /v1/push`"""
    _wire(body)
    rows, bury = _list(body, "rows"), _list(body, "bury")
    if len(rows) + len(bury) > MOST_ROWS:
        raise Refusal("too_large", f"at most {MOST_ROWS} rows at once")
    name = project_access.project_name(body.get("project"))

    def work(asking: Asking, asker: Asker) -> row_push.Outcome:
        word = project_access.index_word(asker, name)
        pushed = row_push.read_push(rows, bury, word)  # nobody unknown has us redact, and no row is held yet
        return row_push.push(asking, asker, name, pushed)

    outcome: row_push.Outcome = site.asked(token, work)
    if outcome.erased:
        site.erasure.wake()
    return outcome.as_json()


def pull(site: TeamSite, token: str, body: Body) -> Body:
    """`POST /v1/pull`"""
    _wire(body)
    cursor, limit = _number(body, "cursor", 0), _number(body, "limit", MOST_ROWS)
    found: Body = site.asked(
        token, lambda asking, asker: row_pull.pull(asking, asker, body.get("project"), cursor, limit)
    )
    return found


def search(site: TeamSite, token: str, body: Body) -> Body:
    """`POST /v1/search`"""
    limit = _number(body, "limit", 10)
    found: Body = site.asked(
        token,
        lambda asking, asker: row_search.search(asking, asker, body.get("project"), body.get("query"), limit),
    )
    return found


def list_devices(site: TeamSite, token: str, _body: Body) -> Body:
    """`GET /v1/devices`"""
    return {"devices": site.asked(token, admission.devices)}


def invite(site: TeamSite, token: str, body: Body) -> Body:
    """`POST /v1/invites`"""
    name, role = _text(body, "name"), str(body.get("role") or "member")
    made, ends = site.asked(
        token, lambda asking, asker: admission.invite(asking, asker, name, role), again=False
    )
    return {"invite": made, "link": site.link(made), "expires_at": ends}


def revoke(site: TeamSite, token: str, body: Body) -> Body:
    """`POST /v1/revoke`"""
    device, member = str(body.get("device") or ""), str(body.get("member") or "")
    return {
        "revoked": site.asked(token, lambda asking, asker: admission.revoke(asking, asker, device, member))
    }


def purge(site: TeamSite, token: str, body: Body) -> Body:
    """`POST /v1/purge`"""
    buried = site.asked(
        token,
        lambda asking, asker: row_purge.purge(asking, asker, body.get("project"), body.get("text")),
    )
    return {"buried": buried, "erased": site.erasure.now() if buried else True}


REQUESTS: dict[tuple[str, str], Callable[[TeamSite, str, Body], Body]] = {
    ("POST", "/v1/join"): join,
    ("GET", "/v1/me"): me,
    ("GET", "/v1/projects"): list_projects,
    ("POST", "/v1/projects"): open_project,
    ("POST", "/v1/push"): push,
    ("POST", "/v1/pull"): pull,
    ("POST", "/v1/search"): search,
    ("GET", "/v1/devices"): list_devices,
    ("POST", "/v1/invites"): invite,
    ("POST", "/v1/revoke"): revoke,
    ("POST", "/v1/purge"): purge,
}


def build_team_site(site: TeamSite) -> ASGIApp:
    """The application."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            headers = Headers(scope=scope)
            _check_host(site, headers.get("host", ""))
            data = await _whole_body(headers, receive)
            token = headers.get("authorization", "").removeprefix("Bearer ").strip()
            peer = str((scope.get("client") or ("",))[0])
            answer = await run_in_threadpool(
                site.answer, str(scope["method"]), str(scope["path"]), token, peer, data
            )
            await _send(send, site, 200, answer)
        except Refusal as refusal:
            await _send(send, site, refusal.status, refusal.as_json(), refusal.retry_after)
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            failed = Refusal("failed", "the server failed at this")
            await _send(send, site, failed.status, failed.as_json())

    return app


def _check_host(site: TeamSite, host: str) -> None:
    """A page that calls itself our address by a name of its own is not answered."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    if name.strip("[]").lower() not in site.hosts:
        raise Refusal(
            "not_allowed", f"this server is not called {host[:80]!r}", "use the address of the link"
        )


async def _whole_body(headers: Headers, receive: Receive) -> bytes:
    declared = headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:18]) > MOST_BYTES:
        raise Refusal("too_large", f"a request has at most {MOST_BYTES} bytes")
    parts: list[bytes] = []
    size = 0
    while True:
        message: Message = await receive()
        if message["type"] == "http.disconnect":
            raise Refusal("malformed", "the request ended early")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MOST_BYTES:
            raise Refusal("too_large", f"a request has at most {MOST_BYTES} bytes")
        if not message.get("more_body", False):
            return b"".join(parts)


async def _send(send: Send, site: TeamSite, status: int, answer: Body, retry_after: int = 0) -> None:
    data = json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(data)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"backstory-server", site.database.server.encode()),
    ]
    if retry_after:
        headers.append((b"retry-after", str(retry_after).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": data})


def _body(data: bytes) -> Body:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise Refusal("malformed", "the request is no JSON") from None
    if not isinstance(value, dict):
        raise Refusal("malformed", "the request is no JSON object")
    return value


def _wire(body: Body) -> None:
    wire = body.get("wire")
    if isinstance(wire, bool) or not isinstance(wire, int):
        raise Refusal("malformed", "wire is a number")
    if wire not in VERSIONS:
        raise Refusal("newer_wire", f"wire {wire} is not spoken here, but {', '.join(map(str, VERSIONS))}")


def _text(body: Body, name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise Refusal("malformed", f"{name} is a text")
    return value


def _list(body: Body, name: str) -> list[object]:
    value = body.get(name, [])
    if not isinstance(value, list):
        raise Refusal("malformed", f"{name} is a list")
    return value


def _number(body: Body, name: str, default: int) -> int:
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**62:
        raise Refusal("malformed", f"{name} is a number from 0 on")
    return value
