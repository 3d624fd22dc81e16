"""pi's session files (JSON lines), read into the same events that our extension gives.

A file is a tree: each entry names its parent, and whoever goes back to an earlier one and types anew begins a
branch. What happened on a branch that was left happened all the same, so every branch is read, in the order
of time; a prompt that begins another branch says so. The branch that the file ends on is the living one, and
what is newest in it is where the session stands. A forked session's file begins with what it inherited, which
is older than the file itself and belongs to the session that it came from.
"""

import re
from functools import partial
from pathlib import Path

from backstory.agents import pi, plugin_events
from backstory.agents.call_pairing import Call
from backstory.agents.history_source import JsonLines, Name
from backstory.agents.json_lines import ORIGIN, LineReader, Row, milliseconds
from backstory.agents.payload_fields import flatten_text, ident, mapping, path, string
from backstory.agents.plugin_tools import tool_event
from backstory.model import Event, Kind, Where

# Entries that say nothing about what happened; custom_message is what extensions injected, ours among them.
_BOOKKEEPING = frozenset(
    {
        "model_change", "thinking_level_change", "usage", "context_edit", "custom", "custom_message",
        "label", "session_info",
    }
)  # fmt: skip
_FILE_NAME = re.compile(r"[^_]+_(.+)")


class Reader(LineReader):
    """Reads one session file line by line."""

    def __init__(self, session: str, offset: int = 0, transcript: str = "") -> None:
        super().__init__(session, offset, transcript)
        self._cwd = ""
        self._at = 0
        self._forked_at = 0
        self._leaf = ""
        self._branched = False

    def row(self, row: Row) -> None:
        """What one entry means."""
        kind, entry = string(row.get("type")), ident(row.get("id"))
        if kind == "session":
            self._begin(row)
            return
        at, parent = milliseconds(row.get("timestamp")), ident(row.get("parentId"))
        if at and at < self._forked_at:
            self._leaf = entry
            self.counts["inherited"] += 1
            return
        self._at = at or self._at
        self._branched = self._branched or bool(self._leaf and entry and parent != self._leaf)
        self._leaf = entry or self._leaf
        if kind == "message":
            self._message(mapping(row.get("message")), entry)
        elif kind == "compaction":
            self._add(plugin_events.compaction_events(self._make(), string(row.get("summary")), "", entry))
        elif kind == "branch_summary":
            self._add(
                plugin_events.compaction_events(self._make(), string(row.get("summary")), "branch", entry)
            )
        else:
            self.counts["skipped" if kind in _BOOKKEEPING else "unknown"] += 1

    def _begin(self, row: Row) -> None:
        self.session = self.session or ident(row.get("id"))
        self._cwd = path(row.get("cwd"))
        self._at = milliseconds(row.get("timestamp"))
        self._forked_at = self._at if string(row.get("parentSession")) else 0

    def _make(self) -> plugin_events.Make:
        return partial(
            Event,
            pi.NAME,
            self.session,
            at=self._at,
            transcript=self.transcript,
            where=Where(self._cwd),
            origin=ORIGIN,
        )

    def _add(self, events: list[Event]) -> None:
        for event in events:
            self.pairs.add(event)

    def _message(self, message: Row, entry: str) -> None:
        role, stamp = string(message.get("role")), milliseconds(message.get("timestamp"))
        self._at = stamp or self._at
        id = str(stamp) if stamp else entry
        if role == "user":
            self._prompted(_texts(message.get("content")), id)
        elif role == "assistant":
            self._answered(message, id)
        elif role == "toolResult":
            self._result(message)
        elif role == "bashExecution":
            self._ran(message, entry)
        elif role in ("system", "custom", "hookMessage", "branchSummary", "compactionSummary"):
            self.counts["skipped"] += 1
        else:
            self.counts["unknown"] += 1

    def _prompted(self, text: str, id: str) -> None:
        events = plugin_events.prompt_events(
            partial(self._make(), reason="branch" if self._branched else ""), text, id
        )
        if events:
            self.give_up()
            self.turn_start = self.read
            self._branched = False
        self._add(events)

    def _answered(self, message: Row, id: str) -> None:
        content, make = message.get("content"), self._make()
        self._add(plugin_events.speech_events(make, Kind.REASONED, _texts(content, "thinking"), id))
        stop = message.get("stopReason")
        if stop == "error":
            self._add(
                [
                    plugin_events.turn_failure_event(
                        make, flatten_text(message.get("errorMessage")) or "error", "", id
                    )
                ]
            )
            return
        self._add(plugin_events.speech_events(make, Kind.SAID, _texts(content), id))
        for block in content if isinstance(content, list) else []:
            call = mapping(block)
            if call.get("type") == "toolCall" and (call_id := ident(call.get("id"))):
                name, inputs = ident(call.get("name")), mapping(call.get("arguments"))
                self.pairs.call(Call(call_id, self.read, name, inputs, make))
        if stop != "toolUse":
            self._add([plugin_events.turn_end_event(make, id, subagent=False, interrupted=stop == "aborted")])

    # --- tool calls ---------------------------------------------------------------------------------------

    def _result(self, message: Row) -> None:
        call = self.pairs.answered(ident(message.get("toolCallId")))
        if call is None:
            self.counts["orphans"] += 1
            return
        output = _texts(message.get("content"))
        error = output if message.get("isError") is True else None
        self._add([tool_event(call.name, call.inputs, output, error, self._make(), call.id)])

    def _ran(self, message: Row, entry: str) -> None:
        """A command that the user ran from pi's prompt."""
        code, output = message.get("exitCode"), string(message.get("output"))
        error = f"Exit code {code}\n{output}" if isinstance(code, int) and code != 0 else None
        inputs, make = {"command": message.get("command")}, partial(self._make(), reason="user")
        stopped = message.get("cancelled") is True
        self._add([tool_event("bash", inputs, output, error, make, entry, stopped)])

    def give_up(self) -> None:
        """Calls that the next prompt finds unanswered were interrupted."""
        for call in self.pairs.abandoned():
            self._add([tool_event(call.name, call.inputs, "", None, call.make, call.id, interrupted=True)])


def _texts(content: object, kind: str = "text") -> str:
    if isinstance(content, str):
        return content if kind == "text" else ""
    blocks = content if isinstance(content, list) else []
    return "\n".join(
        string(mapping(block).get(kind)) for block in blocks if mapping(block).get("type") == kind
    )


def _named(row: Row, file: Path) -> Name | None:
    """The first line names the session, and a fork's the file that it came from."""
    if row.get("type") != "session" or not (session := ident(row.get("id"))):
        return None
    came_from = _FILE_NAME.fullmatch(Path(path(row.get("parentSession"))).stem)
    return Name(session, parent=ident(came_from[1]) if came_from else "")


HISTORY = JsonLines(root=pi.sessions_dir, read=Reader, names=_named)
