"""The loop: a message is a line on stdin, its answer a line on stdout. Ends when the client closes stdin."""

import os
import sys

from backstory.mcp.protocol import Conversation


def serve() -> int:
    """Answer until there is nothing more to read."""
    answers = os.dup(1)
    os.dup2(2, 1)  # nothing but answers may get onto stdout, whoever prints
    conversation = Conversation()
    try:
        for line in sys.stdin.buffer:
            if line.strip():
                for answer in conversation.hear(line):
                    _write(answers, answer.encode() + b"\n")
    except (BrokenPipeError, KeyboardInterrupt):
        pass
    return 0


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
