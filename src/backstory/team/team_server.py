"""`backstory team serve` as a process: loopback, or TLS, or behind a proxy that does TLS.

First the database with everything that must be true of it, then the port. While a team has no member, each
start prints an invitation for its owner.
"""

import contextlib
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn

from backstory.errors import Failed, UsageError
from backstory.orderly_server import OrderlyServer
from backstory.team.admission import invite_owner, make_tenant, tenants
from backstory.team.burial import replay
from backstory.team.database import Database
from backstory.team.disk_erasure import DiskErasure
from backstory.team.grave_journal import GraveJournal
from backstory.team.migrator import migrate
from backstory.team.rate_limit import RateLimit
from backstory.team.team_site import TeamSite, build_team_site

_GRACE_SECONDS = 5
_MOST_CONNECTIONS = 400
_BACKLOG = 200
_LARGEST_HEAD = 16_384
_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
_PER_SECOND, _AT_ONCE = 50.0, 200
_JOINS_PER_SECOND, _JOINS_AT_ONCE = 0.5, 20
ERASE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How to serve: where to listen, under which address laptops find it, which database and journal."""

    url: str
    owner_url: str
    journal: Path
    host: str = "127.0.0.1"
    port: int = 8787
    tls_cert: Path | None = None
    tls_key: Path | None = None
    behind_proxy: bool = False
    address: str = ""
    erase_seconds: float = ERASE_SECONDS
    per_second: float = _PER_SECOND
    at_once: int = _AT_ONCE


def require_safe(options: ServeOptions) -> None:
    """Refuse an address where tokens would cross a network that anybody may read."""
    if (options.tls_cert is None) != (options.tls_key is None):
        raise UsageError("--tls-cert and --tls-key belong together")
    if is_loopback(options.host) or options.tls_cert or options.behind_proxy:
        return
    raise UsageError(
        f"{options.host} can be reached from elsewhere, and tokens would cross the network in the clear: "
        "add --tls-cert and --tls-key, or --behind-proxy if a proxy in front of it does TLS"
    )


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach it."""
    with contextlib.suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def serve_team(options: ServeOptions, ready: Callable[[str, str], None]) -> None:
    """Serve until told to end; `ready` gets the address, and an invitation for the owner or ""."""
    require_safe(options)
    with contextlib.ExitStack() as held:
        bound = held.enter_context(_socket(options.host, options.port))
        address = options.address or _address(options, bound)
        database, erasure = held.enter_context(opened(options))
        site = TeamSite(
            database,
            erasure,
            address,
            _hosts(options, address),
            RateLimit(options.per_second, options.at_once),
            RateLimit(_JOINS_PER_SECOND, _JOINS_AT_ONCE),
        )
        links = [site.link(each) for each in first_invites(database)]
        server = OrderlyServer(_config(options, site))
        server.run_on([bound], lambda: ready(address, links[0] if links else ""))


@contextlib.contextmanager
def opened(options: ServeOptions) -> Iterator[tuple[Database, DiskErasure]]:
    """The database, migrated and checked, and what erases from its disk."""
    import psycopg

    if options.owner_url:
        role = psycopg.conninfo.conninfo_to_dict(options.url).get("user")
        try:
            migrate(options.owner_url, str(role))
        except psycopg.OperationalError as error:
            raise Failed(f"the team's database does not answer: {_first_line(error)}") from error
    journal = GraveJournal(options.journal)
    try:
        database = Database(options.url, journal, replay, options.owner_url)
    except psycopg.Error as error:
        journal.close()
        raise Failed(f"the team's database does not answer: {_first_line(error)}") from error
    erasure = DiskErasure(options.owner_url, options.erase_seconds)
    try:
        yield database, erasure
    finally:
        erasure.close()
        database.close()
        journal.close()


def first_invites(database: Database) -> list[str]:
    """An invitation for the owner of each team that nobody has joined; the first team is made here."""
    if not database.owner_url:
        return []
    if not tenants(database.owner_url):
        make_tenant(database.owner_url, "team")
    waiting = [tenant for tenant, _, members in tenants(database.owner_url) if not members]
    return [invite_owner(database, each, "owner") for each in waiting]


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _hosts(options: ServeOptions, address: str) -> frozenset[str]:
    named = (urlsplit(address).hostname or "").lower()
    return frozenset({named, options.host.lower(), *(_LOCAL_NAMES if is_loopback(options.host) else ())})


def _address(options: ServeOptions, bound: socket.socket) -> str:
    host = f"[{options.host}]" if ":" in options.host else options.host
    return f"{'https' if options.tls_cert else 'http'}://{host}:{bound.getsockname()[1]}"


def _socket(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError as error:
        raise Failed(
            f"{host}:{port} cannot be used ({error.strerror}): name another with --listen"
        ) from error
    return bound


def _config(options: ServeOptions, site: TeamSite) -> uvicorn.Config:
    return uvicorn.Config(
        build_team_site(site),
        ssl_certfile=options.tls_cert,
        ssl_keyfile=options.tls_key,
        backlog=_BACKLOG,
        limit_concurrency=_MOST_CONNECTIONS,
        h11_max_incomplete_event_size=_LARGEST_HEAD,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=options.behind_proxy,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=_GRACE_SECONDS,
        timeout_keep_alive=75,
    )
