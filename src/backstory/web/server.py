"""`backstory serve` as a process: the only one of its home, on loopback, doing the worker's work meanwhile.

First the lock, then the port, then `serve.json`: whoever reads the file finds somebody there. An orderly end
(SIGINT, SIGTERM, SIGHUP) goes the same way back; after a kill the lock is free, and the file is found out.
"""

import contextlib
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator

import uvicorn

from backstory.atomic import lock, make_private_dir
from backstory.errors import Failed
from backstory.paths import Home
from backstory.store import open_store
from backstory.web import presence
from backstory.web.attending import attend
from backstory.web.gate import Keys
from backstory.web.live import Live
from backstory.web.site import site

log = logging.getLogger(__name__)
_GRACE_SECONDS = 3
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # the last is unknown to Windows


def serve(home: Home, port: int, read_only: bool, ready: Callable[[str, str], None]) -> None:
    """Serve until told to end; `ready` gets the address and a link that lets one browser in."""
    make_private_dir(home.root)
    with lock(home.serve_lock) as held:
        if not held:
            raise Failed(_in_use(home))
        with contextlib.closing(_bound(port)) as bound:
            open_store(home).close()  # a database that cannot be used is said now, not on the first page
            own = bound.getsockname()[1]
            keys = Keys(presence.token(home), own)
            server = _Server(home, keys, own, read_only)
            try:
                with _attended(home, read_only):
                    presence.announce(home, own)
                    address = f"http://{presence.ADDRESS}:{own}"
                    server.run_on(bound, lambda: ready(address, address + keys.new_link()))
            finally:
                presence.leave(home)


def _in_use(home: Home) -> str:
    found = presence.running(home, seconds=2)
    if found is None:
        return "a viewer of this home is starting or ending right now: try again in a moment"
    link = presence.ask(home, found, "POST", "/links").get("link")
    shown = f"{found.url}{link}" if isinstance(link, str) else found.url
    return f"already in use: the viewer of this home runs as process {found.pid}; open {shown}"


def _bound(port: int) -> socket.socket:
    """A socket on loopback; port 0 lets the system choose."""
    # named as TCP, or asyncio does not send small packets at once: 40 ms on each answer
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((presence.ADDRESS, port))
    except OSError as error:
        bound.close()
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
    worker = threading.Thread(target=attend, args=(home, stopped), name="worker")
    worker.start()
    try:
        yield
    finally:
        stopped.set()
        worker.join()


class _Server(uvicorn.Server):
    """uvicorn, with our signals, and a live feed that lets go when it ends."""

    def __init__(self, home: Home, keys: Keys, port: int, read_only: bool) -> None:
        self._live = Live(home)
        config = uvicorn.Config(
            site(home, keys, port, read_only, self._live),
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
        super().__init__(config)
        self._ready: Callable[[], None] = lambda: None

    def run_on(self, bound: socket.socket, ready: Callable[[], None]) -> None:
        """Answer on a socket until a signal comes."""
        self._ready = ready
        self.run([bound])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn does it; then the address is true, and can be told."""
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let the listeners go, then end as uvicorn does."""
        self._live.closing.set()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End orderly on a signal, and do not raise it again afterwards: the end is the answer."""
        numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
