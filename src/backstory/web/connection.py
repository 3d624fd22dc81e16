"""A connection before any request of it is looked at: whose it is, and how long it may take to ask.

Whoever connects and then says nothing costs a file handle. The oldest of them gives way when there are many,
and none waits longer than a few seconds, so they cannot keep anybody else out.
"""

import asyncio
import logging
from typing import ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from backstory import peers

log = logging.getLogger(__name__)
HEAD_SECONDS = 10.0
MOST_HEADLESS = 128
LARGEST_HEAD = 32 * 1024
_STRANGER = b"This viewer belongs to another user of this machine.\n"
_REFUSAL = (
    b"HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s"
)


class Connection(H11Protocol):
    """uvicorn's connection, for this user's programs only, which send a whole head soon."""

    _headless: ClassVar[dict["Connection", asyncio.TimerHandle]] = {}  # the oldest first

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Refuse other users of the machine before they have said anything."""
        super().connection_made(transport)
        if (
            self.client
            and self.server
            and peers.is_stranger(self.client, (self.server[0], self.server[1] or 0))
        ):
            log.warning("another user of this machine was refused")
            transport.write(_REFUSAL % (len(_STRANGER), _STRANGER))
            transport.close()
            return
        self._expect_head()

    def handle_events(self) -> None:
        """As uvicorn does it; then a head may have been complete."""
        super().handle_events()
        if self._answers:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """As uvicorn does it; then the next head is due, unless it came already."""
        super().on_response_complete()
        if not self._answers and not self.transport.is_closing():
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more is expected."""
        self._stop_waiting()
        super().connection_lost(exc)

    @property
    def _answers(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _expect_head(self) -> None:
        self._stop_waiting()
        self._headless[self] = self.loop.call_later(HEAD_SECONDS, self.transport.abort)
        if len(self._headless) > MOST_HEADLESS:
            oldest = next(iter(self._headless))
            oldest._stop_waiting()
            oldest.transport.abort()

    def _stop_waiting(self) -> None:
        if (timer := self._headless.pop(self, None)) is not None:
            timer.cancel()
