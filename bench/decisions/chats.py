"""The set as data: chats, decisions with their reports, prompts with nothing to be told; transcripts.

The first lines of `decisions.md` and `others.md` say how the files are written.
"""

import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from hashlib import sha256
from pathlib import Path

from bench.work.labels import Fact, Session, normal

DEV, TEST = "dev", "test"
_HERE = Path(__file__).parent
_BLOCK = re.compile(r"^## ", re.MULTILINE)
_AMENDED = re.compile(r"^### ", re.MULTILINE)
_FIELD = re.compile(r"^(report|keys|old|recap): (.+)$", re.MULTILINE)
_CHOICE = re.compile(r"\{([^{}|]+)\|([^{}|]+)\}")
_VARIANT_LATER = timedelta(days=37)
_DEVELOPER, _AGENT, _COMMAND, _OUTPUT = "> ", "", "$ ", "=> "


@dataclass(frozen=True, slots=True)
class Line:
    """Something said or run: who (`>`, `$`, `=>` or nothing for the agent), and the text."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class Chat:
    """One past session."""

    id: str
    day: date
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """All that was said and run."""
        return "\n".join(line.text for line in self.lines)

    @property
    def turns(self) -> int:
        """How often the developer spoke."""
        return sum(line.mark == _DEVELOPER for line in self.lines)


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision: its chat, the chat that amended it, the report that needs it, its parts as they hold."""

    id: str
    title: str
    chat: Chat
    amendment: Chat | None
    report: str
    parts: tuple[tuple[str, ...], ...]
    old: tuple[str, ...]
    has_recap: bool

    def is_told(self, text: str) -> bool:
        """Whether a text has every part."""
        return Fact(self.id, "", 0, "", self.parts, "", "").is_in(text)

    def parts_told(self, text: str) -> int:
        """How many parts a text has."""
        plain = normal(text)
        return sum(any(key in plain for key in part) for part in self.parts)

    @property
    def new(self) -> tuple[str, ...]:
        """The spellings of the amended part, as it holds now: what the first chat does not have."""
        first = normal(self.chat.text)
        changed = [part for part in self.parts if not any(key in first for key in part)]
        return tuple(key for part in changed for key in part)

    def tells_new(self, text: str) -> bool:
        """Whether a text has the amended value."""
        return any(key in normal(text) for key in self.new)

    def tells_only_old(self, text: str) -> bool:
        """Whether a text has the value that no longer holds and not the one that does."""
        return any(key in normal(text) for key in self.old) and not self.tells_new(text)


@dataclass(frozen=True, slots=True)
class Unknown:
    """A prompt with nothing to be told."""

    id: str
    prompt: str


@dataclass(frozen=True, slots=True)
class DecisionSet:
    """All of it; `chats` in the order of their days."""

    decisions: tuple[Decision, ...]
    others: tuple[Chat, ...]
    unknown: tuple[Unknown, ...]

    @property
    def chats(self) -> list[Chat]:
        """All past sessions, the oldest first."""
        made = [chat for each in self.decisions for chat in (each.chat, each.amendment) if chat]
        return sorted((*made, *self.others), key=lambda chat: (chat.day, chat.id))


def half(name: str) -> str:
    """The half to which a decision or a prompt belongs; nobody tunes on the second."""
    return TEST if sha256(f"latchbox-{name}".encode()).digest()[0] % 2 else DEV


def load() -> DecisionSet:
    """Read the three files."""
    decisions = tuple(_decision(block) for block in _blocks("decisions.md"))
    others = tuple(
        chat for number, block in enumerate(_blocks("others.md"), 1) for chat in _variants(number, block)
    )
    rows = [line[2:] for line in _read("unknown.md").splitlines() if line.startswith("- ")]
    unknown = tuple(Unknown(f"N{number:02}", row) for number, row in enumerate(rows, 1))
    return DecisionSet(decisions, others, unknown)


def transcript(chat: Chat, cwd: str) -> Session:
    """A chat as the transcript that Claude Code would have left of it."""
    session = str(uuid.uuid5(uuid.NAMESPACE_URL, f"latchbox/{chat.id}"))
    rows = []
    for number, (kind, message) in enumerate(_messages(chat)):
        at = datetime.combine(chat.day, time(9), UTC) + timedelta(seconds=40 * number)
        rows.append(
            {
                "type": kind,
                "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"latchbox/{chat.id}/{number}")),
                "sessionId": session,
                "timestamp": at.isoformat().replace("+00:00", "Z"),
                "cwd": cwd,
                "isSidechain": False,
                "message": message,
            }
        )
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return Session(session, f"{session}.jsonl", cwd, text, ())


def _messages(chat: Chat) -> Iterator[tuple[str, dict[str, object]]]:
    use = ""
    for number, line in enumerate(chat.lines):
        if line.mark == _DEVELOPER:
            yield "user", {"role": "user", "content": line.text}
        elif line.mark == _AGENT:
            yield "assistant", {"role": "assistant", "content": [{"type": "text", "text": line.text}]}
        elif line.mark == _COMMAND:
            use = f"toolu_{chat.id}_{number}"
            given = {"type": "tool_use", "id": use, "name": "Bash", "input": {"command": line.text}}
            yield "assistant", {"role": "assistant", "content": [given]}
        else:
            got = {"type": "tool_result", "tool_use_id": use, "content": line.text}
            yield "user", {"role": "user", "content": [got]}


def _read(name: str) -> str:
    return (_HERE / name).read_text("utf-8")


def _blocks(name: str) -> list[str]:
    return _BLOCK.split(_read(name))[1:]


def _decision(block: str) -> Decision:
    head, body = block.split("\n", 1)
    name, day, title = head.split(" · ")
    fields = {match[1]: match[2] for match in _FIELD.finditer(body)}
    first, *amended = _AMENDED.split(_FIELD.sub("", body))
    return Decision(
        name,
        title,
        Chat(name, date.fromisoformat(day), _lines(first)),
        _amendment(name, amended[0]) if amended else None,
        fields["report"],
        tuple(_spellings(part) for part in fields["keys"].split(";")),
        _spellings(fields.get("old", "")),
        fields["recap"] == "yes",
    )


def _amendment(name: str, block: str) -> Chat:
    day, body = block.split("\n", 1)
    return Chat(f"{name}-amended", date.fromisoformat(day.strip()), _lines(body))


def _spellings(part: str) -> tuple[str, ...]:
    return tuple(normal(key.strip()) for key in part.split("|") if key.strip())


def _variants(number: int, block: str) -> Iterator[Chat]:
    head, body = block.split("\n", 1)
    day = date.fromisoformat(head.split(" · ")[0])
    yield Chat(f"O{number:03}", day, _lines(_CHOICE.sub(r"\1", body)))
    if _CHOICE.search(body):
        yield Chat(f"O{number:03}b", day + _VARIANT_LATER, _lines(_CHOICE.sub(r"\2", body)))


def _lines(body: str) -> tuple[Line, ...]:
    found: list[Line] = []
    for row in filter(None, map(str.strip, body.splitlines())):
        mark = next((m for m in (_DEVELOPER, _COMMAND, _OUTPUT) if row.startswith(m)), _AGENT)
        text = row.removeprefix(mark)
        if found and found[-1].mark == mark == _OUTPUT:
            text = f"{found.pop().text}\n{text}"
        found.append(Line(mark, text))
    return tuple(found)
