"""Gemini CLI's own chats, read into the same events that its hooks give.

A chat is a file of lines: a header, messages, and patches ("$set"). A message is written again under the same
id when its tool calls are done; each call is there once it has ended. "$set" repeats the whole conversation
after every resume and only tells something new when the conversation was compressed. Older versions wrote one
JSON object a session.

Hooks know no ids: prompts and calls meet what was captured live by their words and by counting. What the
model said is told here alone.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from backstory.agents import gemini_cli
from backstory.agents.agent import HistoryReader
from backstory.agents.claude_code import Make, assistant_event
from backstory.agents.gemini_tools import tool_event
from backstory.agents.history_source import JsonLines, Name, Trail, history_files
from backstory.agents.json_lines import ORIGIN, LineReader, Row, milliseconds
from backstory.agents.own_output import without_notes
from backstory.agents.payload_fields import (
    INPUT_LIMIT,
    SUMMARY_LIMIT,
    flatten_text,
    head_and_tail,
    ident,
    mapping,
    string,
)
from backstory.file_reader import read_bytes, read_text
from backstory.model import Event, Kind, Where

_ENDED = ("success", "error", "cancelled")
_SNAPSHOT = ("<state_snapshot>", "</state_snapshot>")
_SMALL = 64 * 1024
_LARGEST_OBJECT = 256 * 1024 * 1024


class Reader(LineReader):
    """Reads one chat; of a sub-agent's only its tool calls, which hooks give as the session's own."""

    def __init__(self, session: str, offset: int = 0, transcript: str = "") -> None:
        super().__init__(session, offset, transcript)
        self._where = Where(project_root(Path(transcript)) if transcript else "")
        self._delegated = False
        self._at = 0
        self._given: set[str] = set()

    def row(self, row: Row) -> None:
        """A header, a patch or a message."""
        patch = row.get("$set")
        if "sessionId" in row and "projectHash" in row:
            self._delegated = row.get("kind") == "subagent"
            self.session = self.session or ident(row.get("sessionId"))
            self._at = milliseconds(row.get("startTime")) or self._at
            self.counts["skipped"] += 1
        elif isinstance(patch, dict):
            self._patched(patch)
        elif row.get("type") == "user":
            self._user(row)
        elif row.get("type") == "gemini":
            self._model(row)
        else:
            known = "$rewindTo" in row or row.get("type") in ("info", "error", "warning")
            self.counts["skipped" if known else "unknown"] += 1

    def give_up(self) -> None:
        """Nothing waits: a call is written when it has ended."""

    def _maker(self, row: Row) -> Make:
        self._at = milliseconds(row.get("timestamp")) or self._at
        return partial(
            Event,
            gemini_cli.NAME,
            self.session,
            at=self._at,
            transcript=self.transcript,
            where=self._where,
            origin=ORIGIN,
        )

    def _patched(self, patch: Row) -> None:
        messages = patch.get("messages")
        for message in messages if isinstance(messages, list) else []:
            text = _text(mapping(message).get("content")) if mapping(message).get("type") == "user" else ""
            if _SNAPSHOT[0] in text:
                self._compacted(mapping(message), text)
        self.counts["skipped"] += 1

    def _compacted(self, message: Row, text: str) -> None:
        message_id = ident(message.get("id"))
        if message_id in self._given:
            return
        self._given.add(message_id)
        opening, closing = _SNAPSHOT
        summary = without_notes(text.partition(opening)[2].rpartition(closing)[0].strip())
        event = self._maker(message)(
            Kind.COMPACTED, text=head_and_tail(summary, SUMMARY_LIMIT), reason="", native_id=message_id
        )
        self.pairs.add(event)

    def _user(self, row: Row) -> None:
        content, message_id = row.get("content"), ident(row.get("id"))
        parts = content if isinstance(content, list) else [content]
        answered = any("functionResponse" in mapping(part) for part in parts)
        if answered or self._delegated or (message_id and message_id in self._given):
            self.counts["skipped"] += 1  # results stand in the calls; a task in the call that gave it
            return
        text = _text(content)
        if _SNAPSHOT[0] in text:
            self._compacted(row, text)
        elif prompt := gemini_cli.prompt_events(text, self._maker(row)):
            self.turn_start = self.read
            self._given.add(message_id)
            self.pairs.add(prompt[0])
        else:
            self.counts["skipped"] += 1

    def _model(self, row: Row) -> None:
        make, message_id = self._maker(row), ident(row.get("id"))
        for number, thought in enumerate(_listed(row.get("thoughts"))):
            self._thought(make, f"{message_id}:{number}", mapping(thought))
        text = _text(row.get("content")).strip()
        if text and message_id not in self._given and not self._delegated:
            self._given.add(message_id)
            self.pairs.add(assistant_event(text, message_id, make))
        for call in _listed(row.get("toolCalls")):
            self._call(mapping(call))

    def _thought(self, make: Make, native_id: str, thought: Row) -> None:
        words = (string(thought.get(key)).strip() for key in ("subject", "description"))
        text = without_notes("\n".join(filter(None, words)))
        if text and native_id not in self._given and not self._delegated:
            self._given.add(native_id)
            self.pairs.add(make(Kind.REASONED, text=head_and_tail(text, INPUT_LIMIT), native_id=native_id))

    def _call(self, call: Row) -> None:
        call_id, status = ident(call.get("id")), call.get("status")
        if status not in _ENDED or call_id in self._given:
            return
        self._given.add(call_id)
        output, error = _result(call.get("result"))
        failed = (error or output) if status == "error" else None
        interrupted = status == "cancelled"
        make = self._maker(call)
        inputs = mapping(call.get("args"))
        self.pairs.add(tool_event(ident(call.get("name")), inputs, output, failed, make, interrupted))


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _text(content: object) -> str:
    """The words of a message, without thoughts, calls and results."""
    if isinstance(content, str):
        return content
    parts = (mapping(part) for part in _listed(content))
    return "".join(string(part.get("text")) for part in parts if part.get("thought") is not True)


def _result(result: object) -> tuple[str, str]:
    """What a call gave back, as text: output and error."""
    if isinstance(result, str):
        return result, ""
    output, error = [], []
    for part in result if isinstance(result, list) else [result]:
        response = mapping(mapping(mapping(part).get("functionResponse")).get("response"))
        output.append(flatten_text(response.get("output")))
        error.append(flatten_text(response.get("error")))
    return "\n".join(filter(None, output)), "\n".join(filter(None, error))


# --- where chats lie ---------------------------------------------------------------------------------------


def chats_dir() -> Path:
    """Where chats lie: <folder per project>/chats/session-….jsonl."""
    return gemini_cli.config_dir() / "tmp"


def project_root(chat: Path) -> str:
    """The folder that a chat is about: its project's folder says it or, in older versions, is its hash."""
    folder = next((parent.parent for parent in chat.parents if parent.name == "chats"), chat.parent)
    try:
        return read_text(folder / ".project_root", _SMALL).strip()
    except (OSError, UnicodeDecodeError):
        pass
    try:
        known = json.loads(read_text(folder.parent.parent / "projects.json"))["projects"]
        digest = hashlib.sha256
        return next(
            str(root)
            for root, name in known.items()
            if folder.name in (name, digest(os.fsencode(root)).hexdigest())
        )
    except (OSError, ValueError, KeyError, AttributeError, TypeError, StopIteration):
        return ""


def _named(row: Mapping[str, object], file: Path) -> Name | None:
    """A header tells the session; a sub-agent's chat lies in a folder named after its session."""
    session = ident(row.get("sessionId"))
    if not session or "projectHash" not in row:
        return None
    if row.get("kind") == "subagent":
        return Name(ident(file.parent.name), subagent=session)
    return Name(session)


class Chats(JsonLines):
    """Chats of today, one line a message, and of old, one object a session, told as lines."""

    def find(self, place: Path) -> Iterator[Trail]:
        """All chats; of one that was taken over into lines, only those."""
        for trail in history_files(place, "*.jsonl"):
            yield trail
        for trail in history_files(place, "*.json") if place.is_dir() else ():
            if trail.path.name.startswith("session-") and not trail.path.with_suffix(".jsonl").exists():
                yield trail

    def identify(self, trail: Trail) -> Trail | None:
        """The trail with the id that its header gives."""
        if trail.path.suffix != ".json":
            return super().identify(trail)
        name = _named(_object(trail), trail.path)
        return None if name is None else replace(trail, session=name.session, subagent=name.subagent)

    def lines(self, trail: Trail, start: int) -> Iterator[bytes]:
        """The file's lines, or a line for each message of its object."""
        if trail.path.suffix != ".json":
            yield from super().lines(trail, start)
            return
        chat = _object(trail)
        messages = _listed(chat.pop("messages", None))
        for row in [chat, *messages]:
            yield json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"

    def reader(self, trail: Trail, start: int) -> HistoryReader:
        """A reader of its lines."""
        return Reader(trail.session, start, str(trail.path))


def _object(trail: Trail) -> dict[str, object]:
    if trail.size > _LARGEST_OBJECT:
        return {}
    try:
        value = json.loads(read_bytes(trail.path, _LARGEST_OBJECT))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


HISTORY = Chats(root=chats_dir, read=Reader, names=_named)
