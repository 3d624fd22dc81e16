"""uvicorn with our signals: it says when its address is true, and an orderly end is no failure."""

import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator

import uvicorn

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # the last is unknown to Windows


class OrderlyServer(uvicorn.Server):
    """Answers on given sockets until a signal comes."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._ready: Callable[[], None] = lambda: None

    def run_on(self, sockets: list[socket.socket], ready: Callable[[], None]) -> None:
        """Answer on these sockets; `ready` is called once the first one would be answered."""
        self._ready = ready
        self.run(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn does it; then the address is true, and can be told."""
        await super().startup(sockets)
        self._ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End orderly on a signal, and do not raise it again afterwards: the end is the answer."""
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread is told of signals
            return
        numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
