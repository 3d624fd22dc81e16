"""Copilot's own history of a session, a line an event, read into the same events that its hooks give.

A call is two lines, its start and its completion; `Pairing` makes one event of them. Sub-agents write into
their session's file, each line with the agent's id. Lines about hooks repeat what we captured, and our own
injections, and are never read.
"""

import contextlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from backstory.agents import copilot
from backstory.agents.call_pairing import Call
from backstory.agents.claude_code import Make, assistant_event
from backstory.agents.claude_texts import wording_id
from backstory.agents.claude_tools import describe
from backstory.agents.history_source import JsonLines, Name, first_rows
from backstory.agents.json_lines import ORIGIN, LineReader, Row, milliseconds
from backstory.agents.own_output import without_notes
from backstory.agents.payload_fields import (
    INPUT_LIMIT,
    SUMMARY_LIMIT,
    flatten_text,
    head_and_tail,
    ident,
    mapping,
    path,
    string,
)
from backstory.model import Event, Kind, Outcome, Where

_BOOKKEEPING = ("session.", "hook.", "system.", "model.", "permission.", "tool.", "assistant.", "subagent.")
_TYPED = ("", "user", "cli")


class Reader(LineReader):
    """Reads one session's events.jsonl."""

    def __init__(self, session: str, offset: int = 0, transcript: str = "") -> None:
        super().__init__(session, offset, transcript)
        self._where = Where()
        self._types: dict[str, str] = {}
        self._last_words: dict[str, str] = {}
        self._trigger = ""
        self._at = 0
        if offset and transcript:  # what the lines before it told about all that follow
            self._look_back(Path(transcript))

    def row(self, row: Row) -> None:
        """What happened in one line, if it tells anything."""
        kind = string(row.get("type"))
        told = _TOLD.get(kind)
        if told is not None:
            told(self, row, mapping(row.get("data")))
        else:
            known = kind.startswith(_BOOKKEEPING)
            self.counts["skipped" if known else "unknown"] += 1

    def give_up(self) -> None:
        """No result came for these calls, and no hook told of them."""
        for call in self.pairs.abandoned():
            self._used(call, call.make, None, None, call.id)

    def _maker(self, row: Row) -> Make:
        self._at = milliseconds(row.get("timestamp")) or self._at
        subagent = ident(row.get("agentId"))
        return partial(
            Event,
            copilot.NAME,
            self.session,
            at=self._at,
            transcript=self.transcript,
            where=self._where,
            subagent=subagent,
            subagent_type=self._types.get(subagent, ""),
            origin=ORIGIN,
        )

    def _look_back(self, file: Path) -> None:
        with contextlib.suppress(OSError):
            for row in first_rows(file):
                if row.get("type") == "session.start":
                    self._placed(row, mapping(row.get("data")))
                    return

    def _placed(self, _: Row, data: Row) -> None:
        context = mapping(data.get("context")) or data
        if cwd := path(context.get("cwd")):
            self._where = Where(cwd, string(context.get("branch")))
        self.session = self.session or ident(data.get("sessionId"))
        self.counts["skipped"] += 1

    def _prompted(self, row: Row, data: Row) -> None:
        text = string(data.get("content")).strip()
        typed = string(data.get("source")) in _TYPED and data.get("isAutopilotContinuation") is not True
        if not text or not typed or row.get("agentId") or copilot.not_typed(text):
            self.counts["skipped"] += 1
            return
        self.give_up()
        self.turn_start = self.read
        shown = without_notes(text)
        self.pairs.add(
            self._maker(row)(Kind.PROMPT, text=head_and_tail(shown, INPUT_LIMIT), recalled=not shown)
        )

    def _spoke(self, row: Row, data: Row) -> None:
        make, message_id = self._maker(row), ident(data.get("messageId")) or ident(row.get("id"))
        subagent = ident(row.get("agentId"))
        thought = without_notes(string(data.get("reasoningText")).strip())
        if thought:
            self.pairs.add(
                make(Kind.REASONED, text=head_and_tail(thought, INPUT_LIMIT), native_id=message_id)
            )
        if text := string(data.get("content")).strip():
            self._last_words[subagent] = text
            self.pairs.add(assistant_event(text, "" if subagent else message_id, make))
            if not subagent and data.get("toolRequests") == []:
                self.pairs.add(make(Kind.TURN_ENDED, outcome=Outcome.OK))

    def _reasoned(self, row: Row, data: Row) -> None:
        native_id = ident(data.get("reasoningId")) or ident(row.get("id"))
        if thought := without_notes(string(data.get("content")).strip()):
            self.pairs.add(
                self._maker(row)(Kind.REASONED, text=head_and_tail(thought, INPUT_LIMIT), native_id=native_id)
            )

    def _called(self, row: Row, data: Row) -> None:
        name = copilot.tool_name(ident(data.get("toolName")))
        inputs = copilot.tool_inputs(data.get("arguments"))
        call_id = ident(data.get("toolCallId")) or ident(row.get("id"))
        self.pairs.call(Call(call_id, self.read, name, inputs, self._maker(row)))

    def _answered(self, row: Row, data: Row) -> None:
        call = self.pairs.answered(ident(data.get("toolCallId")))
        if call is None:
            self.counts["orphans"] += 1
            return
        if data.get("success") is False:
            self._used(call, self._maker(row), None, flatten_text(mapping(data.get("error")).get("message")))
        else:
            text = flatten_text(mapping(data.get("result")).get("content"))
            self._used(call, self._maker(row), *copilot.tool_result(call.name, text))

    def _used(self, call: Call, make: Make, response: object, error: str | None, given_up: str = "") -> None:
        use = describe(call.name, call.inputs, response, error, bool(given_up))
        self.pairs.add(use.event(make, call.name, given_up))

    def _delegated(self, row: Row, data: Row) -> None:
        kind = ident(data.get("agentType")) or ident(data.get("agentName"))
        self._types[ident(row.get("agentId"))] = kind
        self.counts["skipped"] += 1

    def _returned(self, row: Row, _: Row) -> None:
        subagent = ident(row.get("agentId"))
        native_id = wording_id(subagent, self._last_words.pop(subagent, ""))
        self.pairs.add(self._maker(row)(Kind.SUBAGENT_ENDED, outcome=Outcome.OK, native_id=native_id))

    def _compacting(self, _: Row, data: Row) -> None:
        self._trigger = ident(data.get("trigger"))
        self.counts["skipped"] += 1

    def _compacted(self, row: Row, data: Row) -> None:
        text = head_and_tail(without_notes(string(data.get("summaryContent")).strip()), SUMMARY_LIMIT)
        if not text or data.get("success") is False:
            self.counts["skipped"] += 1
            return
        native_id = ident(row.get("id"))
        self.pairs.add(self._maker(row)(Kind.COMPACTED, text=text, reason=self._trigger, native_id=native_id))

    def _failed(self, row: Row, data: Row) -> None:
        text, reason = string(data.get("message")).strip(), ident(data.get("errorType"))
        self.pairs.add(
            self._maker(row)(
                Kind.TURN_FAILED,
                text=head_and_tail(text, INPUT_LIMIT),
                outcome=Outcome.FAILED,
                reason=reason,
                native_id=ident(row.get("id")),
            )
        )

    def _aborted(self, row: Row, _: Row) -> None:
        self.give_up()
        native_id, outcome = ident(row.get("id")), Outcome.INTERRUPTED
        self.pairs.add(
            self._maker(row)(Kind.TURN_ENDED, outcome=outcome, reason="interrupted", native_id=native_id)
        )


_TOLD: Mapping[str, Callable[[Reader, Row, Row], None]] = {
    "session.start": Reader._placed,
    "session.resume": Reader._placed,
    "session.context_changed": Reader._placed,
    "user.message": Reader._prompted,
    "assistant.message": Reader._spoke,
    "assistant.reasoning": Reader._reasoned,
    "tool.execution_start": Reader._called,
    "tool.execution_complete": Reader._answered,
    "subagent.started": Reader._delegated,
    "subagent.completed": Reader._returned,
    "session.compaction_start": Reader._compacting,
    "session.compaction_complete": Reader._compacted,
    "session.error": Reader._failed,
    "abort": Reader._aborted,
}


# --- where it lies -----------------------------------------------------------------------------------------


def history_dir() -> Path:
    """Where histories lie: <session id>/events.jsonl."""
    return copilot.config_dir() / "session-state"


def _named(row: Mapping[str, object], _: Path) -> Name | None:
    """The first line tells the session."""
    session = ident(mapping(row.get("data")).get("sessionId"))
    return Name(session) if session and row.get("type") == "session.start" else None


HISTORY = JsonLines(root=history_dir, read=Reader, names=_named, wanted="events.jsonl")
