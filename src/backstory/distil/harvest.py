"""Passages: what a turn leaves behind that people and models wrote for others to read, and what happened.

A passage is at most 300 characters, cut at sentences, with the heading that it stands under: a prompt, the
message that closes a turn, a compaction summary, a commit message, an answer, a refusal with words, a
sub-agent's report, or a step (what the agent said it would do, the command, and how that failed). The raw
output of tools is none, nor are edits. Search, notes and briefs are made of these.

Pure and deterministic, turn by turn: the passages of a turn depend on the events of that turn alone.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from backstory.distil import shell
from backstory.distil.messages import written_for_others
from backstory.distil.prose import heading_of, prompt_words, shorten
from backstory.error_lines import ANSI, error_lines
from backstory.hook.error_signature import is_noise
from backstory.model import Action, Event, Kind, Outcome, StoredEvent

PASSAGE_CHARS, STEP_CHARS = 300, 450
_SHORTEST, _SHORTEST_SIGNS = 12, 4  # characters; a script without spaces says more with fewer
_PROMPT_CHARS = 200  # what of its prompt stands with each passage of a turn
_LEAD_CHARS = 220  # what of the agent's last words stands with a command
_COMMAND_CHARS = 160
_HEADING_CHARS = 60
# A message of more than this is no lead-in to a command: it tells something itself.
_LEAD_MOST = 600
_LONGEST = {"prompt": 6_000, "report": 4_000}
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+(?=[A-Z`\"'*\d(])")
_FENCE = ("```", "~~~")
# How Claude Code begins the answer of a call that its user refused; anything else is output of the tool. What
# an MCP server or a page answers may begin so, too: of such calls no words are the user's.
_REFUSED = ("The user doesn't want to ", "User rejected tool use", "[Request interrupted by user")
_REFUSED_BY, _REFUSABLE = "claude-code", (Action.RUN, Action.EDIT, Action.WRITE, Action.PLAN)
_SAID_BY_USER = ("the user said:", "provided the following reason for the rejection:", "reason:")


class PassageKind(StrEnum):
    """What a passage is."""

    PROMPT = "prompt"
    ANSWER = "answer"
    REFUSAL = "refusal"
    CLOSING = "closing"
    SAID = "said"
    STEP = "step"
    COMMIT = "commit"
    RECORD = "record"  # a pull request, an issue, its closing
    SUMMARY = "summary"
    PLAN = "plan"
    REPORT = "report"


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text that answers questions; `event` is the event it stands in, `part` its place there.

    `prompt` is the beginning of what its turn was asked, `command` the command line of a step.
    """

    event: str
    part: int
    kind: PassageKind
    text: str
    heading: str
    at: int
    turn: int
    prompt: str = ""
    command: str = ""
    failed: bool = False


def harvest(events: Sequence[StoredEvent]) -> list[Passage]:
    """The passages of whole turns, in order; events of one turn stand together."""
    found: list[Passage] = []
    for _, turn in groupby(events, key=lambda stored: (stored.session_id, stored.turn)):
        found.extend(_Turn([each for each in turn if _counts(each.event)]).passages())
    return found


def _counts(event: Event) -> bool:
    return not event.recalled and event.kind is not Kind.REASONED


class _Turn:
    """The passages of one turn, found in one pass."""

    def __init__(self, events: Sequence[StoredEvent]) -> None:
        self._events = events
        self._found: list[Passage] = []
        self._parts: dict[str, int] = {}
        self._lead: StoredEvent | None = None  # the agent's last words, if nothing came of them yet
        asked = (prompt_words(each.event.text) for each in events if each.event.kind is Kind.PROMPT)
        self._prompt = shorten(next(filter(None, asked), ""), _PROMPT_CHARS)
        self._closings = _closings(events)

    def passages(self) -> list[Passage]:
        said = ""
        for stored in self._events:
            event = stored.event
            match event.kind:
                case Kind.PROMPT:
                    self._cut(stored, PassageKind.PROMPT, prompt_words(event.text)[: _LONGEST["prompt"]])
                case Kind.COMPACTED:
                    self._cut(stored, PassageKind.SUMMARY, event.text)
                case Kind.SAID | Kind.TURN_ENDED:
                    text = prompt_words(event.text)
                    if text and text != said:
                        self._say(stored, text)
                    said = text or said
                case Kind.TOOL:
                    self._use(stored)
                case _:
                    pass
        self._let_go()
        return self._found

    def _say(self, stored: StoredEvent, text: str) -> None:
        """What the agent said: the closing, a message of its own, or the lead-in to what it does next."""
        self._let_go()
        if stored.id in self._closings:
            self._cut(stored, PassageKind.CLOSING, text)
        elif len(text) > _LEAD_MOST:
            self._cut(stored, PassageKind.SAID, text)
        else:
            self._lead = stored

    def _let_go(self) -> None:
        """What the agent said stands for itself if no command came of it."""
        if self._lead is not None:
            self._cut(self._lead, PassageKind.SAID, prompt_words(self._lead.event.text))
            self._lead = None

    def _use(self, stored: StoredEvent) -> None:
        event = stored.event
        if event.outcome is Outcome.INTERRUPTED:
            if words := refused_with(event):
                self._let_go()
                self._cut(stored, PassageKind.REFUSAL, words)
        elif event.action is Action.RUN:
            self._run(stored)
        elif event.tool == "AskUserQuestion":
            self._let_go()
            self._cut(stored, PassageKind.ANSWER, event.text)
        elif event.action is Action.DELEGATE and event.text:
            self._let_go()
            self._cut(stored, PassageKind.REPORT, event.text[: _LONGEST["report"]])
        elif event.action is Action.PLAN and not event.text.startswith(("{", "[")):
            self._let_go()
            self._cut(stored, PassageKind.PLAN, event.text)
        elif event.outcome is Outcome.FAILED and not is_noise(event.text):
            self._step(stored, f"{event.tool} {event.target[-80:]}".strip(), event.text)

    def _run(self, stored: StoredEvent) -> None:
        event = stored.event
        for is_commit, text in written_for_others(event.target):
            self._cut(stored, PassageKind.COMMIT if is_commit else PassageKind.RECORD, text)
        command = " ".join(shell.without_heredoc(event.target).split())
        self._step(stored, command, event.text if event.outcome is Outcome.FAILED else "")

    def _step(self, stored: StoredEvent, command: str, output: str) -> None:
        """What the agent said it would do, the command, and the lines that say why it failed."""
        lead = " ".join(prompt_words(self._lead.event.text).split()) if self._lead else ""
        self._lead = None
        text = f"$ {shorten(command, _COMMAND_CHARS)}"
        if output:
            text += f" → failed: {error_lines(output)}"
        room = min(_LEAD_CHARS, STEP_CHARS - len(text) - 1)
        if lead and room > _SHORTEST:
            text = f"{lead if len(lead) <= room else '…' + lead[1 - room :]}\n{text}"
        self._add(stored, PassageKind.STEP, text[:STEP_CHARS], "", command, failed=bool(output))

    def _cut(self, stored: StoredEvent, kind: PassageKind, text: str) -> None:
        for heading, piece in pieces(text):
            self._add(stored, kind, piece, heading)

    def _add(
        self,
        stored: StoredEvent,
        kind: PassageKind,
        text: str,
        heading: str,
        command: str = "",
        *,
        failed: bool = False,
    ) -> None:
        if len(text) < (_SHORTEST if text.isascii() else _SHORTEST_SIGNS):
            return
        part = self._parts[stored.id] = self._parts.get(stored.id, -1) + 1
        event = stored.event
        self._found.append(
            Passage(
                stored.id, part, kind, text, heading, event.at, stored.turn, self._prompt, command, failed
            )
        )


def _closings(events: Sequence[StoredEvent]) -> set[str]:
    """The messages that close a turn, by their events: mostly one, the last.

    After its end an agent may be woken by what nobody typed (a background task is done, a hook has something
    to say). What it says then closes the turn, too, if it edited or committed something, or has more to say.
    """
    found: set[str] = set()
    last, text, longest, did, woken = "", "", 0, False, False
    for stored in events:
        event = stored.event
        if (
            event.kind in (Kind.SAID, Kind.TURN_ENDED)
            and (words := prompt_words(event.text))
            and words != text
        ):
            last, text = stored.id, words  # the end of a turn often tells the last message once more
        did = did or _changes(event)
        if event.kind is Kind.TURN_ENDED and last:
            if not woken or did or len(text) > longest:
                found.add(last)
                longest = max(longest, len(text))
            last, did, woken = "", False, True
    if last and (not woken or did or len(text) > longest):
        found.add(last)
    return found


def _changes(event: Event) -> bool:
    """Whether something was edited or committed."""
    if event.kind is not Kind.TOOL or event.outcome is Outcome.FAILED:
        return False
    if event.action is Action.RUN:
        return any(step.verb == "commit" for step in shell.parse(event.target).steps)
    return event.action in (Action.EDIT, Action.WRITE)


def refused_with(event: Event) -> str:
    """The user's words in the answer of a tool call that the user refused, or ""."""
    text = event.text
    if event.agent != _REFUSED_BY or event.action not in _REFUSABLE or not text.startswith(_REFUSED):
        return ""
    lowered = text.lower()
    for mark in _SAID_BY_USER:
        place = lowered.find(mark)
        if place >= 0:
            return text[place + len(mark) :].strip()
    return ""


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """A text in pieces of at most 300 characters, cut at lines and sentences, each with its heading."""
    heading = piece = ""
    if "\x1b" in text:
        text = ANSI.sub("", text)
    for line in text.split("\n"):
        stripped = line.strip()
        if not stripped or stripped.startswith(_FENCE):
            continue
        if stripped[0] in "#*_" and (title := heading_of(line)) is not None:
            if piece:
                yield heading, piece
            heading, piece = title[:_HEADING_CHARS], ""
            continue
        for sentence in _SENTENCE_END.split(stripped):
            for bit in _short(sentence):
                if piece and len(piece) + len(bit) + 1 > PASSAGE_CHARS:
                    yield heading, piece
                    piece = ""
                piece = f"{piece} {bit}" if piece else bit
    if piece:
        yield heading, piece


def _short(sentence: str) -> Iterator[str]:
    """A sentence; one that is too long in parts, cut between words."""
    while len(sentence) > PASSAGE_CHARS:
        space = sentence.rfind(" ", 0, PASSAGE_CHARS)
        end = space if space > PASSAGE_CHARS // 2 else PASSAGE_CHARS
        yield sentence[:end]
        sentence = sentence[end:].strip()
    yield sentence
