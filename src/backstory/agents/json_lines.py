"""The part of reading a history of JSON lines that is the same for every agent.

It keeps the place in the file, counts what cannot be used, and holds back what stands behind a call without a
result. A reader of one agent says in `row` what a line means.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime

from backstory.agents.call_pairing import Pairing
from backstory.agents.payload_fields import ident
from backstory.file_reader import SKIPPED
from backstory.hook.payload import BadPayload, parse_payload
from backstory.model import Event

ORIGIN = "history"

Row = Mapping[str, object]


class LineReader:
    """Reads one history line by line, from its beginning or from a place where another stopped.

    `counts` gains: blank, malformed, unknown (no type we know), skipped (known, and no event), orphans
    (results whose call was not read), tokens (that the agent wrote down as spent).
    """

    def __init__(self, session: str, offset: int = 0, transcript: str = "") -> None:
        self.counts: Counter[str] = Counter()
        self.turn_start = offset
        self.title = ""
        self.session = ident(session)
        self.transcript = transcript
        self.pairs = Pairing()
        self.read = offset
        self._tail = 0

    @property
    def offset(self) -> int:
        """Everything before this byte has been given, nothing after it."""
        first = self.pairs.first
        return first.offset if first else self.read

    def feed(self, line: bytes) -> list[Event]:
        """The events that this line completes. A last line that is not whole yet is left for later."""
        if self._tail:  # it was not the last line after all
            self.counts["malformed"] += 1
            self.read += self._tail
            self._tail = 0
        if line.startswith(SKIPPED):  # a piece of a line that is too long to be read
            self.counts["malformed"] += line.endswith(b"\n")
        elif line.isspace() or not line:
            self.counts["blank"] += 1
        elif self.passes_over(line):
            self.counts["skipped"] += 1
        else:
            try:
                row = parse_payload(line)
            except BadPayload:
                if not line.endswith(b"\n"):
                    self._tail = len(line)
                    return []
                self.counts["malformed"] += 1
            else:
                self.row(row)
        self.read += len(line)
        return self.pairs.ready()

    def passes_over(self, line: bytes) -> bool:
        """Whether a line says nothing, as can be told without parsing it."""
        return False

    def held(self) -> list[Event]:
        """What was held back behind calls that have no result."""
        return self.pairs.rest()

    def finish(self) -> list[Event]:
        """The rest, when the session is known to be dead: its open calls were interrupted."""
        self.give_up()
        return self.pairs.ready()

    def row(self, row: Row) -> None:
        """What one line means: events go to `pairs`, all else is counted."""
        raise NotImplementedError

    def give_up(self) -> None:
        """The conversation went on: calls that still wait for a result were interrupted."""
        raise NotImplementedError


def milliseconds(value: object) -> int:
    """The agent's own time, whichever way it writes it; 0 if there is none that makes sense."""
    if isinstance(value, str):
        try:
            return max(0, int(datetime.fromisoformat(value).timestamp() * 1000))
        except (ValueError, OverflowError, OSError):
            return 0
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e14:
        return int(value if value > 1e11 else value * 1000)
    return 0
