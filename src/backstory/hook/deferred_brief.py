"""A brief that waits for its session's first prompt.

Gemini CLI puts what a SessionStart hook says in front of the first prompt, into the user's own message, and
leaves out that whole message when the session is resumed. What its BeforeAgent hook says stands behind the
prompt, and both stay. So its brief is made when the session starts and handed over with the first prompt:
a file in `briefs/held/`, named after the session. Looking for it is all that later prompts cost.

A brief is also owed to a session while its start is being answered: a hook that was ended in between, by its
limit or by an agent that would not wait, leaves that in `briefs/owed/`, and the next prompt brings the brief.
That folder is there only while somebody is owed one: it is all that the shell looks for.
"""

import os
import time

from backstory.hook.payload import BadPayload, encode_json, parse_payload
from backstory.hook.regular_file import read_head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KEPT_SECONDS = 86_400  # what nobody came for
_BYTES = 1024 * 1024


def hold_brief(home: str, native: str, text: str, receipt: "dict[str, Any]") -> bool:
    """Keep a brief and its receipt in place of an older one; False if that cannot be done."""
    path = _path(home, native)
    if not path:
        return False
    _drop(path)
    if not text:
        return True
    try:
        folder = os.path.dirname(path)
        _make(folder)
        _sweep(folder)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        try:
            view = memoryview(encode_json({"text": text, "receipt": receipt}).encode())
            while view:
                view = view[os.write(fd, view) :]
        finally:
            os.close(fd)
    except OSError:
        return False
    return True


def take_brief(home: str, native: str) -> "tuple[str, dict[str, Any]]":
    """The brief that waits for this session and its receipt, once; empty if there is none."""
    path = _path(home, native)
    data = read_head(path, _BYTES) if path else b""
    if not data:
        return "", {}
    _drop(path)
    try:
        brief = parse_payload(data)
    except BadPayload:  # the disk was full when it was written
        return "", {}
    text, receipt = brief.get("text"), brief.get("receipt")
    return (text, receipt) if isinstance(text, str) and isinstance(receipt, dict) else ("", {})


def owe_brief(home: str, agent: str, native: str, source: str) -> str:
    """Write down that a session is owed the brief of this start; where, "" if that cannot be done."""
    path = _path(home, native, "owed", agent)
    folder = os.path.dirname(path)
    try:
        if not path or not os.path.isdir(os.path.dirname(folder)):
            return ""
        _make(folder)
        _sweep(folder)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            os.write(fd, source.encode())
        finally:
            os.close(fd)
    except OSError:
        return ""
    return path


def give_up(owed: str) -> None:
    """The brief that was owed is made: nobody waits for it any more."""
    if owed:
        _drop(owed)
        try:  # noqa: SIM105
            os.rmdir(os.path.dirname(owed))
        except OSError:  # others wait
            pass


def take_owed(home: str, agent: str, native: str) -> str:
    """The kind of start whose brief this session never got, once; "" if it is owed none."""
    path = _path(home, native, "owed", agent)
    source = read_head(path, _BYTES).decode("utf-8", "replace") if path else ""
    give_up(path)
    return source


def _make(folder: str) -> None:
    if not os.path.isdir(folder):
        os.mkdir(folder, 0o700)


def _drop(path: str) -> None:
    try:  # noqa: SIM105 - contextlib costs 1 ms
        os.unlink(path)
    except OSError:
        pass


def _path(home: str, native: str, kind: str = "held", agent: str = "") -> str:
    """Where a session's brief waits; "" if the session's id is no name for a file."""
    plain = native.replace("-", "").replace("_", "")
    name = f"{agent}.{native}" if agent else native
    return os.path.join(home, "briefs", kind, name) if plain.isascii() and plain.isalnum() else ""


def _sweep(folder: str) -> None:
    oldest = time.time() - _KEPT_SECONDS
    with os.scandir(folder) as listing:
        for item in listing:
            if item.stat(follow_symlinks=False).st_mtime < oldest:
                os.unlink(item.path)
