"""The loop: a message is a line on stdin, its answer a line on stdout. Ends when the client closes stdin."""

import os
import select
from time import monotonic as now

from backstory.mcp.protocol import Conversation

_ROOTS_SECONDS = 2.0
_CHUNK = 65_536


def serve() -> int:
    """Answer until there is nothing more to read."""
    answers = os.dup(1)
    os.dup2(2, 1)  # nothing but answers may get onto stdout, whoever prints
    conversation = Conversation()
    unread = b""
    waits_since = 0.0
    try:
        while True:
            if conversation.waits:
                waits_since = waits_since or now()
                if not _readable(max(0.0, waits_since + _ROOTS_SECONDS - now())):
                    _write(answers, conversation.go_on())
                    continue
            else:
                waits_since = 0.0
            chunk = os.read(0, _CHUNK)
            *lines, unread = (unread + chunk).split(b"\n") if chunk else [unread, b""]
            for line in lines:
                if line.strip():
                    _write(answers, conversation.hear(line))
            if not chunk:
                _write(answers, conversation.go_on())
                return 0
    except (BrokenPipeError, KeyboardInterrupt):
        return 0


def _readable(seconds: float) -> bool:
    """Whether more comes within this time; no where that cannot be told (pipes on Windows)."""
    try:
        return bool(select.select([0], [], [], seconds)[0])
    except (OSError, ValueError):
        return False


def _write(fd: int, lines: list[str]) -> None:
    view = memoryview("".join(f"{line}\n" for line in lines).encode())
    while view:
        view = view[os.write(fd, view) :]
