"""Qwen Code's own chats (JSON lines), read into the same events that its hooks give.

A line is a message in Gemini's parts, or a result of a tool, or the client's bookkeeping. The end of a turn
is not written down: it is a message that calls no tool. Our own injection stands in none of them.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from backstory.agents import qwen_code
from backstory.agents.call_pairing import Call
from backstory.agents.claude_code import Make, assistant_event
from backstory.agents.claude_texts import wording_id
from backstory.agents.history_source import JsonLines, Name
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

_INJECTED = "<qwen:"
_TYPED = ("", "real_user")
_SNAPSHOT = ("<state_snapshot>", "</state_snapshot>")


class Reader(LineReader):
    """Reads one chat, of a session or of a sub-agent, as each of its lines says."""

    def __init__(self, session: str, offset: int = 0, transcript: str = "") -> None:
        super().__init__(session, offset, transcript)
        self._at = 0
        self._subagent = ""

    def row(self, row: Row) -> None:
        """What one line means."""
        parts = mapping(row.get("message")).get("parts")
        match row.get("type"):
            case "user":
                self._user(row, parts)
            case "assistant":
                self._assistant(row, parts)
            case "tool_result":
                self._results(row, parts)
            case "system":
                self._system(row)
            case _:
                self.counts["unknown"] += 1

    def _maker(self, row: Row) -> Make:
        self._at = milliseconds(row.get("timestamp")) or self._at
        self._subagent = ident(row.get("agentId")) if row.get("isSidechain") is True else ""
        return partial(
            Event,
            qwen_code.NAME,
            self.session or ident(row.get("sessionId")),
            at=self._at,
            transcript=self.transcript,
            where=Where(path(row.get("cwd")), string(row.get("gitBranch"))),
            subagent=self._subagent,
            subagent_type=ident(row.get("agentName")) if self._subagent else "",
            origin=ORIGIN,
        )

    def _user(self, row: Row, parts: object) -> None:
        make = self._maker(row)
        texts = [text for text in _texts(parts) if not text.lstrip().startswith(_INJECTED)]
        shown = string(mapping(row.get("systemPayload")).get("displayText")) or "\n".join(texts)
        typed = string(row.get("provenance")) in _TYPED and not self._subagent
        prompts = qwen_code.prompt_events(shown, make) if typed else []
        if not prompts:  # a sub-agent's task is in the call that started it
            self.counts["skipped"] += 1
            return
        self.give_up()
        self.turn_start = self.read
        for prompt in prompts:
            self.pairs.add(prompt)

    def _assistant(self, row: Row, parts: object) -> None:
        make = self._maker(row)
        thoughts = without_notes("\n".join(_texts(parts, thought=True)).strip())
        if thoughts:
            native_id = ident(row.get("uuid"))
            self.pairs.add(
                make(Kind.REASONED, text=head_and_tail(thoughts, INPUT_LIMIT), native_id=native_id)
            )
        text = "".join(_texts(parts)).strip()
        if text:
            self.pairs.add(assistant_event(text, "", make))
        calls = [call for part in _parts(parts) if (call := mapping(part.get("functionCall")))]
        for call in calls:
            inputs, name = mapping(call.get("args")), ident(call.get("name"))
            if call_id := ident(call.get("id")):
                self.pairs.call(Call(call_id, self.read, name, inputs, make))
        if text and not calls:
            self._ended(text, make)

    def _ended(self, text: str, make: Make) -> None:
        if self._subagent:
            native_id = wording_id(self._subagent, text)
            self.pairs.add(make(Kind.SUBAGENT_ENDED, outcome=Outcome.OK, native_id=native_id))
        else:
            self.pairs.add(make(Kind.TURN_ENDED, outcome=Outcome.OK))

    def _results(self, row: Row, parts: object) -> None:
        make = self._maker(row)
        told = mapping(row.get("toolCallResult"))
        for part in _parts(parts):
            answer = mapping(part.get("functionResponse"))
            call = self.pairs.answered(ident(answer.get("id")))
            if call is None:
                self.counts["orphans"] += 1
                continue
            response = mapping(answer.get("response"))
            error = response.get("error")
            failed = (
                flatten_text(error) or flatten_text(told.get("resultDisplay")) if error is not None else None
            )
            output = flatten_text(response.get("output"))
            interrupted = told.get("status") == "cancelled"
            self.pairs.add(
                qwen_code.tool_event(call.name, call.inputs, output, failed, call.id, make, interrupted)
            )

    def _system(self, row: Row) -> None:
        if row.get("subtype") != "chat_compression":
            self.counts["skipped"] += 1
            return
        make = self._maker(row)
        history = mapping(row.get("systemPayload")).get("compressedHistory")
        summary = next((text for entry in _parts(history) for text in _texts(entry.get("parts"))), "")
        for tag in _SNAPSHOT:
            summary = summary.replace(tag, "")
        text = head_and_tail(without_notes(summary.strip()), SUMMARY_LIMIT)
        self.pairs.add(make(Kind.COMPACTED, text=text, native_id=ident(row.get("uuid"))))

    def give_up(self) -> None:
        """The conversation went on: what it still waited for was interrupted."""
        for call in self.pairs.abandoned():
            self.pairs.add(
                qwen_code.tool_event(call.name, call.inputs, "", None, call.id, call.make, interrupted=True)
            )


def _parts(parts: object) -> Iterator[Row]:
    return (part for part in parts if isinstance(part, dict)) if isinstance(parts, list) else iter(())


def _texts(parts: object, thought: bool = False) -> list[str]:
    """The texts of a message: what was said, or what was thought."""
    return [
        text for part in _parts(parts)
        if (part.get("thought") is True) is thought and (text := string(part.get("text")))
    ]  # fmt: skip


def _named(row: Row, file: Path) -> Name | None:
    session = ident(row.get("sessionId"))
    if not session or not isinstance(row.get("uuid"), str):
        return None
    return Name(session, subagent=ident(row.get("agentId")) if row.get("isSidechain") is True else "")


HISTORY = JsonLines(root=qwen_code.history_dir, read=Reader, names=_named)
