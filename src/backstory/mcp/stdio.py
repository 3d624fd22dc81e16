"""The loop: a message is a line on stdin, its answer a line on stdout. Ends when the client closes stdin."""

import os
import select
from collections.abc import Iterator, Sequence
from time import monotonic as now

from backstory.mcp.json_rpc import LARGEST_MESSAGE, Conversation, too_large

_ROOTS_SECONDS = 2.0
_CHUNK = 65_536


def serve(heard: Sequence[bytes] = (), unread: bytes = b"") -> int:
    """Answer until there is nothing more to read; what was `heard` is answered already, `unread` is not."""
    answers = os.dup(1)
    os.dup2(2, 1)  # nothing but answers may get onto stdout, whoever prints
    conversation = Conversation()
    for message in heard:
        conversation.hear(message)
    lines = _Lines()
    waits_since = 0.0
    try:
        for line in lines.taken(unread):
            _write(answers, [too_large()] if line is None else conversation.hear(line))
        while True:
            if conversation.waits:
                waits_since = waits_since or now()
                if not _readable(max(0.0, waits_since + _ROOTS_SECONDS - now())):
                    _write(answers, conversation.go_on())
                    continue
            else:
                waits_since = 0.0
            chunk = os.read(0, _CHUNK)
            for line in lines.taken(chunk or b"\n"):
                _write(answers, [too_large()] if line is None else conversation.hear(line))
            if not chunk:
                _write(answers, conversation.go_on())
                return 0
    except (BrokenPipeError, KeyboardInterrupt):
        return 0


class _Lines:
    """What came in, cut into lines; each byte is looked at once, and a line without end is not kept."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def taken(self, chunk: bytes) -> Iterator[bytes | None]:
        """The lines that end in this piece, without the empty ones; None for one that was too long."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._keep(end)
            size, line = self._size, b"".join(self._parts)
            self._parts, self._size = [], 0
            if size > LARGEST_MESSAGE:
                yield None
            elif line.strip():
                yield line
        self._keep(rest)

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > LARGEST_MESSAGE:
            self._parts.clear()
        elif part:
            self._parts.append(part)


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
