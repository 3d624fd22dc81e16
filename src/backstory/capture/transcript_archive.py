"""Copies of the agents' own transcripts, redacted and compressed, because agents delete theirs after a month.

They are made in the background, behind everything else, from what was read already: a session's copy grows
by a piece (a gzip member) whenever its transcript has. How far it goes is noted in the database; what a kill
left behind that is cut off. A copy that was removed, because something in it was to be forgotten, is not made
again: it goes on with what comes later. Lines about files, tools and folders that are not to be kept are left
out, and with them all lines that carry the id of such a call.
"""

import gzip
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from pathlib import Path

from backstory import file_reader
from backstory.atomic import make_private_dir
from backstory.capture.privacy import IGNORED, SECRET_PRINTED, Privacy
from backstory.file_reader import LARGEST_HISTORY, read_bytes, regular_file
from backstory.gzip_pieces import State, gzip_members
from backstory.paths import Home
from backstory.store import Store
from backstory.store.records import CopyMark

_SUFFIX = ".jsonl"
_PIECE = 4 * 1024 * 1024
CALL = re.compile(
    rb'"(?:id|tool_use_id|call_id|callId|toolCallId|toolUseID|parentToolUseID|item_id)" ?: ?'
    rb'"([\w.:-]{6,200})"'
)
# What Claude Code's user runs with `!`: the output is a row of its own, without an id.
_TYPED_COMMAND, _TYPED_OUTPUT = b"<bash-input>", b"<bash-std"


def copy_of(home: Home, sid: str) -> Path:
    """Where a session's copy lies."""
    return home.transcripts / f"{sid}.jsonl.gz"


def kept_copies(home: Home) -> list[Path]:
    """All copies."""
    return [path for path in sorted(home.transcripts.glob("*.gz")) if regular_file(path) is not None]


def kept_lines(path: Path, damaged: Callable[[Path], None] = lambda path: None) -> Iterator[bytes]:
    """The lines of a copy that can be read; `damaged` is told when there were others.

    Of a last piece that was torn by a kill it has the beginning.
    """
    whole = True
    for piece, state in gzip_members(read_bytes(path, LARGEST_HISTORY)):
        whole = whole and state is not State.DAMAGED
        yield from BytesIO(piece)
    if not whole:
        damaged(path)


def keep_copy(home: Home, store: Store, privacy: Privacy, key: str) -> int:
    """Add to a transcript's copy what was read of it since; gives how many bytes that were."""
    mark, kept = store.transcript_marks.get(key), store.transcript_marks.copied(key)
    if mark is None or not mark.session_id or not key.endswith(_SUFFIX) or mark.size <= kept.source:
        return 0
    if kept == CopyMark(0, 0) and store.tombstones.among([f"{mark.session_id}/title"]):
        # its copy was removed because something in it was forgotten, and the note of that was lost
        with store.transaction():
            store.transcript_marks.set_copied(key, mark.size, 0)
        return 0
    path = copy_of(home, mark.session_id)
    make_private_dir(path.parent)
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    done = 0
    with os.fdopen(fd, "r+b") as copy:
        size = min(kept.size, os.fstat(fd).st_size)  # a longer one ends in what a kill left behind
        copy.truncate(size)
        copy.seek(size)
        session = store.events.session(mark.session_id)
        withheld = [
            call
            for text in (IGNORED, SECRET_PRINTED)
            for call in store.events.withheld(mark.session_id, text)
        ]
        sieve = LineFilter(privacy, session.cwd if session else "", withheld)
        # what waits for its result waits here too, so that a call and its result are judged together
        for lines, end in _pieces(Path(key), kept.source, mark.offset if mark.held else mark.size):
            passed = (redacted_line(line, privacy) for line in lines if sieve.passes(line))
            copy.write(gzip.compress(b"".join(passed), 6))
            copy.flush()
            os.fsync(fd)
            with store.transaction():
                store.transcript_marks.set_copied(key, end, copy.tell())
            done = end - kept.source
    return done


def _pieces(path: Path, start: int, end: int) -> Iterator[tuple[list[bytes], int]]:
    """The whole lines between two places, some megabytes at a time, and where each piece ends."""
    lines: list[bytes] = []
    size, at = 0, start
    for line in file_reader.read_rows(path, start):
        skipped = line.startswith(file_reader.SKIPPED)
        if at + len(line) > end or not (skipped or line.endswith(b"\n")):
            break
        at += len(line)
        if skipped:  # too long to be read, so it is not kept either
            continue
        size += len(line)
        lines.append(line)
        if size >= _PIECE:
            yield lines, at
            lines, size = [], 0
    if lines:
        yield lines, at


def redacted_line(line: bytes, privacy: Privacy) -> bytes:
    """A line without secrets, also one that is no JSON."""
    if line.isspace():
        return line
    clean = privacy.line(line)
    if clean is not line:
        return clean
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return privacy.raw(line)
    return line


class LineFilter:
    """Lets pass the lines that may be kept: what decides about an event decides about its lines.

    `withheld` are the ids of calls whose events were stored without their text. A line is judged as well by
    the rules for events, because histories hold lines that no event was made of.
    """

    def __init__(self, privacy: Privacy, cwd: str = "", withheld: Iterable[str] = ()) -> None:
        self._privacy = privacy
        self._cwd = cwd
        # Codex numbers the events of one call
        self._calls = {call.encode() for each in withheld for call in (each, each.partition(":")[0])}
        self._typed_command = False  # the line before was a command that the user typed, and is not kept

    def passes(self, line: bytes) -> bool:
        """Whether a line is about nothing that is not to be kept."""
        if line.isspace():
            return True
        calls = set(CALL.findall(line))
        if not self._calls.isdisjoint(calls) or (self._typed_command and _TYPED_OUTPUT in line):
            self._calls |= calls & self._calls
            return False
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return not self._privacy.tells_ignored(line.decode("utf-8", "replace"), self._cwd)
        if isinstance(row, dict) and "forkedFrom" in row:
            return False  # the parent's copy has it, unless it was forgotten there
        self._cwd = _folder_of(row) or self._cwd
        hidden = self._privacy.tells_ignored(row, self._cwd)
        self._typed_command = hidden and _TYPED_COMMAND in line
        if hidden:
            self._calls |= calls
        return not hidden


def _folder_of(row: object) -> str:
    """The folder that a row names, Codex one level deeper."""
    if not isinstance(row, dict):
        return ""
    inner = row.get("payload")
    folder = row.get("cwd") or (inner.get("cwd") if isinstance(inner, dict) else "")
    return folder if isinstance(folder, str) else ""
