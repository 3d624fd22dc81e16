"""`backstory serve` as a process: the only one of its home, on loopback, doing the worker's work meanwhile.

First the lock, then the port, then `serve.json`: whoever reads the file finds somebody there. An orderly end
(SIGINT, SIGTERM, SIGHUP) goes the same way back; after a kill the lock is free, and the file is found out.
"""

import contextlib
import errno
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import click
import uvicorn

from backstory.atomic import lock, make_private_dir
from backstory.errors import Failed
from backstory.orderly_server import OrderlyServer
from backstory.paths import Home
from backstory.store import open_store
from backstory.web import server_record
from backstory.web.auth import Keys
from backstory.web.browser import open_browser
from backstory.web.connection import LARGEST_HEAD, Connection
from backstory.web.live_feed import LiveFeed
from backstory.web.routes import build_site
from backstory.web.spool_watcher import watch_spool

log = logging.getLogger(__name__)
_GRACE_SECONDS = 3
_TRIES = 20
_NO_IPV6 = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL, errno.EPROTONOSUPPORT)
# As many are accepted at once before any is looked at: all of them must have a file handle.
_BACKLOG = 100
_MOST_CONNECTIONS = 400


@dataclass(frozen=True, slots=True)
class Options:
    """How to serve: `by_number` gives the viewer no name of its own, for browsers that cannot find it."""

    port: int = 0
    read_only: bool = False
    browser: bool = False
    by_number: bool = False


def serve(home: Home, options: Options, ready: Callable[[str, str], None]) -> None:
    """Serve until told to end; `ready` gets the address and a link that lets one browser in."""
    make_private_dir(home.root)
    with lock(home.serve_lock) as held:
        if not held:
            _open_running(home, options)
            return
        with contextlib.ExitStack() as open_sockets:
            sockets = [open_sockets.enter_context(each) for each in _bound(options.port)]
            open_store(home).close()  # a database that cannot be used is said now, not on the first page
            port = sockets[0].getsockname()[1]
            keys = Keys(
                server_record.new_token(home), port, server_record.ADDRESS if options.by_number else ""
            )
            server = _Server(home, keys, options.read_only)

            def tell() -> None:
                link = keys.url + keys.new_link()
                ready(keys.url, link)
                if options.browser:
                    open_browser(home, link, lambda: not keys.waits(link))

            try:
                with _attended(home, options.read_only):
                    server_record.announce_server(home, port)
                    server.run_on(sockets, tell)
            finally:
                server_record.remove_record(home)


def _open_running(home: Home, options: Options) -> None:
    """Lead into the viewer that runs: a new link for the browser; without one that is no success."""
    found = server_record.running_server(home, seconds=2)
    if found is None:
        raise Failed("a viewer of this home is starting or ending right now: try again in a moment")
    made = server_record.ask_server(home, found, "POST", "/links")
    url, key = made.get("url"), str(made.get("link")).rpartition("=")[2]
    says = f"already in use: the viewer of this home runs as process {found.pid}; open {url or found.url}"
    if not options.browser or not isinstance(url, str):
        raise Failed(says)
    click.echo(says, err=True)
    opening = open_browser(
        home, url, lambda: not server_record.ask_server(home, found, "GET", f"/links?key={key}").get("waits")
    )
    opening.join()


def _bound(port: int) -> list[socket.socket]:
    """Sockets on both loopback addresses; port 0 lets the system choose.

    A browser looks for a name under ::1 first: left free, anybody could listen there under our port.
    """
    for _ in range(_TRIES if not port else 1):
        first = _socket(socket.AF_INET, server_record.ADDRESS, port)
        own = first.getsockname()[1]
        try:
            return [first, _socket(socket.AF_INET6, "::1", own)]
        except Failed as error:
            if _has_no_ipv6(error):
                return [first]
            first.close()
            refused = error
    raise refused


def _has_no_ipv6(error: Failed) -> bool:
    return isinstance(error.__cause__, OSError) and error.__cause__.errno in _NO_IPV6


def _socket(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    try:
        # named as TCP, or asyncio does not send small packets at once: 40 ms on each answer
        bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if os.name == "posix":
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind((address, port))
        except OSError:
            bound.close()
            raise
    except OSError as error:
        raise Failed(
            f"port {port} cannot be used ({error.strerror}): leave --port out, or name another"
        ) from error
    return bound


@contextlib.contextmanager
def _attended(home: Home, read_only: bool) -> Iterator[None]:
    """Somebody does the worker's work, unless nothing may be written."""
    if read_only:
        yield
        return
    stopped = threading.Event()
    worker = threading.Thread(target=watch_spool, args=(home, stopped), name="worker")
    worker.start()
    try:
        yield
    finally:
        stopped.set()
        worker.join()


class _Server(OrderlyServer):
    """The viewer's, with a live feed that lets go when it ends."""

    def __init__(self, home: Home, keys: Keys, read_only: bool) -> None:
        self._live = LiveFeed(home)
        config = uvicorn.Config(
            build_site(home, keys, read_only, self._live),
            http=Connection,
            h11_max_incomplete_event_size=LARGEST_HEAD,
            backlog=_BACKLOG,
            limit_concurrency=_MOST_CONNECTIONS,
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
        super().__init__(config)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let the listeners go, then end as uvicorn does."""
        await self._live.close()
        await super().shutdown(sockets)
