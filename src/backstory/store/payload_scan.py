"""What the text index leaves out: the outputs of tools, written files, edits.

An event's text has both ends of them; the whole stays in its payload. An index of all that would be mostly of
what nobody ever asks for, and drown what was said about it. So a name that the index does not know is looked
for in the events and their payloads themselves, the latest first, within a time.
"""

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence

from backstory.store.compression import unpack
from backstory.store.passages import SEARCHED, Passages
from backstory.store.records import Filters, Found, PayloadMatches

_SHORTEST = 400  # characters; what is shorter is not cut anywhere
_SMALLEST = 800  # characters of a payload that may hold such a text beside its frame
_BEFORE, _AFTER = 300, 700  # characters that are shown around what was found
_TARGET_CHARS = 200
_DEEPEST = 20
_STEP = 2_000  # events whose payloads are sought at once


class PayloadScan:
    """Looks into the payloads of one database."""

    def __init__(self, connection: sqlite3.Connection, passages: Passages) -> None:
        self._db = connection
        self._passages = passages

    def find(
        self,
        names: Sequence[str],
        project_id: str | None,
        limit: int,
        seconds: float,
        filters: Filters | None = None,
    ) -> PayloadMatches:
        """Events in whose long texts one of the names stands, the latest first, at most so many."""
        deadline = time.monotonic() + seconds
        found: list[Found] = []
        known: set[str] = set()
        whole = True
        wanted = {name: name.strip(".:?") for name in names}
        needles = [_written(name) for name in wanted.values()]
        for number, target, text, body in self._texts(project_id, deadline):
            name, shown = _around([text], wanted, 0)
            if not name and body != b"":
                raw = unpack(body)
                if raw is None:
                    whole = False  # archived or damaged, or there was no time for it
                    continue
                low = raw.lower()
                if any(needle in low for needle in needles):
                    name, shown = _around(json.loads(raw), wanted)
            if name and (those := self._passages.of_events([number], filters)):
                text = f"{target[:_TARGET_CHARS]}\n{shown}".strip()
                found += [each._replace(text=text) for each in those]
                known.add(name)
            if len(found) >= limit:
                break
        return PayloadMatches(found, known, whole)

    def _texts(self, project_id: str | None, deadline: float) -> Iterator[tuple[int, str, str, bytes | None]]:
        """Events by their rows, with target and text; the payload if it may hold more, else b""."""
        scope, values = ("", ()) if project_id is None else ("AND s.project_id = ?", (project_id,))
        kinds = ", ".join(f"'{kind}'" for kind in SEARCHED)
        last = self._db.execute("SELECT coalesce(max(row), 0) FROM events").fetchone()[0]
        for end in range(last, 0, -_STEP):
            rows = self._db.execute(
                f"""
                SELECT e.row, e.target, e.text, e.payload_size > ? FROM events e
                JOIN sessions s ON s.id = e.session_id
                WHERE e.row > ? AND e.row <= ? AND e.kind IN ({kinds}) AND NOT e.recalled {scope}
                ORDER BY e.row DESC
                """,  # noqa: S608 - constants of this file
                (_SMALLEST, end - _STEP, end, *values),
            ).fetchall()
            for number, target, text, more in rows:
                yield number, target, f"{target}\n{text}", self._payload(number) if more else b""
                if time.monotonic() > deadline:
                    yield 0, "", "", None
                    return

    def _payload(self, event: int) -> bytes | None:
        body = self._db.execute("SELECT body FROM payloads WHERE event_row = ?", (event,)).fetchone()
        return body[0] if body else None


def _written(name: str) -> bytes:
    """A name as it stands in a payload, in small letters."""
    return json.dumps(name, ensure_ascii=False)[1:-1].lower().encode("utf-8", "surrogatepass")


def _around(payload: object, names: Mapping[str, str], shortest: int = _SHORTEST) -> tuple[str, str]:
    """The first of the names that stands in a long text, and what stands around it; nothing if none does."""
    for text in _long_texts(payload, shortest):
        low = text.lower()
        for name, written in names.items():
            at = _place(low, written)
            if at >= 0:
                start = text.rfind("\n", max(0, at - _BEFORE), at) + 1 or max(0, at - _BEFORE)
                end = text.rfind("\n", at + len(written), at + _AFTER)
                return name, text[start : end if end > 0 else at + _AFTER].strip()
    return "", ""


def _place(text: str, name: str) -> int:
    """Where a name stands in a text, not as a part of a longer one; -1 if nowhere."""
    at = text.find(name)
    while at >= 0 and name.isascii():  # other scripts may have no gaps
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        if not any(each.isalnum() or each == "_" for each in (before, after)):
            return at
        at = text.find(name, at + 1)
    return at


def _long_texts(value: object, shortest: int, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) > shortest:
            yield value
    elif isinstance(value, dict | list) and depth < _DEEPEST:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _long_texts(each, shortest, depth + 1)
