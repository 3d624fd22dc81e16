"""What crosses the wire between a laptop and a team server: rows, graves, and the proof of both.

Laptop and server read and write it with this file alone, so it holds values, hashes and checks, and
nothing that asks a database or a network. `docs/team-protocol.md` tells the requests that carry it.

A row's id is the local id under the key of its author (`wire_id`), its hash is of all that it says, its
mark is 64 bits of both. The proof of a project is how many rows and graves there are and the sum of their
marks: it changes with each row in constant time, and two sides with the same proof have the same.
"""

import json
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

VERSIONS = (1,)  # what is spoken, the newest last; a server speaks the last two
MOST_ROWS = 500  # in one request
MOST_BYTES = 1_000_000  # of one request's body
LONGEST_ROW = 32_768  # bytes of a row's body as JSON
STATES = ("current", "superseded", "withdrawn")
BURIED = "buried"
OWN_LANE = "mine/"  # before a project: rows that only the devices of one member see
_HEX = frozenset("0123456789abcdef")
_WORD = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
_EARLIEST, _LATEST = 0, 253_402_300_800_000  # years 1970 to 9999, in ms: clocks decide nothing


class Refused(ValueError):
    """A row, or a whole request, that is not taken; its text is the reason, told to whoever sent it."""


@dataclass(frozen=True, slots=True)
class Row:
    """A memory, or an act on one (kind `act`), as it crosses the wire.

    `body` is what it says, as JSON: `text`, `reason`, `detail`, `files`, `said_by`, `agent`, `tier`, `seen`,
    `times`, `level` (`kept` or `learned`), `matter`; of an act `target`, `act`, `text`. Keys that a version
    does not know are kept as they came. Who wrote it is no part of it: the server knows that by the token.
    """

    id: str
    kind: str
    state: str
    at: int
    body: dict[str, Any] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        return blake2b(
            canonical([self.kind, self.state, self.at, self.body]).encode(), digest_size=16
        ).hexdigest()

    def as_json(self) -> dict[str, Any]:
        return {"id": self.id, "kind": self.kind, "state": self.state, "at": self.at, "body": self.body}


@dataclass(frozen=True, slots=True)
class Proof:
    """How many rows and graves a project has, and the sum of their marks."""

    count: int = 0
    total: int = 0

    def with_(self, mark: int) -> "Proof":
        return Proof(self.count + 1, (self.total + mark) % 2**64)

    def without(self, mark: int) -> "Proof":
        return Proof(self.count - 1, (self.total - mark) % 2**64)

    def as_json(self) -> dict[str, Any]:
        """The sum as text: JSON's numbers lose the last bits of 64."""
        return {"count": self.count, "sum": str(self.total)}


def canonical(value: object) -> str:
    """JSON in one spelling."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def wire_id(share_key: bytes, local_id: str) -> str:
    """The id that a local memory has outside, the same on all devices of the person whose key this is."""
    return blake2b(local_id.encode(), key=share_key, digest_size=16).hexdigest()


def mark(row_id: str, row_hash: str) -> int:
    """64 bits of one row, or of a grave, whose hash is `BURIED`."""
    return int.from_bytes(blake2b(f"{row_id}\0{row_hash}".encode(), digest_size=8).digest(), "big")


def read_row(value: object) -> Row:
    """A row that somebody sent. Raises `Refused` with what is wrong; unknown kinds and keys are no fault."""
    if not isinstance(value, dict):
        raise Refused("a row is a JSON object")
    kind, state, at, body = (value.get(name) for name in ("kind", "state", "at", "body"))
    if not isinstance(kind, str) or not 0 < len(kind) <= 32 or not _WORD.issuperset(kind):
        raise Refused("kind is a word of at most 32 small letters")
    if state not in STATES:
        raise Refused(f"state is one of {', '.join(STATES)}")
    if isinstance(at, bool) or not isinstance(at, int) or not _EARLIEST <= at < _LATEST:
        raise Refused("at is a time in milliseconds since 1970")
    if not isinstance(body, dict):
        raise Refused("body is a JSON object")
    if len(text := _spelled(body)) > LONGEST_ROW or len(text.encode()) > LONGEST_ROW:
        raise Refused(f"a row's body has at most {LONGEST_ROW} bytes")
    return Row(read_id(value.get("id")), kind, str(state), at, body)


def read_id(value: object) -> str:
    """An id that somebody sent, or `Refused`."""
    if not isinstance(value, str) or len(value) != 32 or not _HEX.issuperset(value):
        raise Refused("an id is 32 hexadecimal digits")
    return value


def _spelled(body: dict[str, Any]) -> str:
    """The body as text, if PostgreSQL, SQLite and UTF-8 can hold it."""
    try:
        text = canonical(body)
        text.encode()
    except (ValueError, RecursionError):
        raise Refused("body holds half a character, a number that is none, or is too deep") from None
    if "\\u0000" in text:  # JSON spells NUL so; a backslash before it is itself spelled as two
        plain = text.replace("\\\\", "")
        if "\\u0000" in plain:
            raise Refused("body holds a NUL character")
    return text
