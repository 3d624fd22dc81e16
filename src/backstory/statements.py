"""Statements: what people and agents wrote in a project's sessions, cut into pieces that a brief may tell.

A statement is a list item with what hangs below it, or a paragraph: whole sentences of at most 300
characters. It is harvested like the passages of search (`distil/harvest.py`), from what was written for
others to read, what the user said, and calls that failed; never from the output of a tool that succeeded.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backstory.distil.harvest import Passage, harvest
from backstory.distil.harvest import PassageKind as PassageKind
from backstory.distil.messages import written_for_others
from backstory.distil.prose import plain, prompt_words
from backstory.model import Event, Session, StoredEvent
from backstory.typed_words import typed_words

MOST_CHARS = 300
_SHORTEST, _LONGEST = 25, 600  # a sentence may be longer than a block
_HEADING_CHARS = 48
_FENCES = ("```", "~~~")
_ITEM = re.compile(r"(\s*)(?:[-*•+]|\d{1,2}[.)])\s+(?:\[[ xX]\]\s+)?(.*)")
_TITLE = re.compile(
    r"\s*(?:#{1,6}\s+(.+)|(?:\d{1,2}\.\s+)?(?:\*\*([^*]{2,80})\*\*:?|([A-Z][^:.!?]{2,60}):))\s*$"
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'*(\d])")
# A compaction summary thinks aloud first; what it settles on follows.
_SUMMARY = re.compile(r"^(?:<summary>|Summary:)", re.MULTILINE)
_NO_PROSE = (*_FENCES, "|", "<")  # a row of a table, a tag


@dataclass(frozen=True, slots=True)
class Statement:
    """A piece of text that may be told; `place` and `of` say which piece of its message it is.

    `kind` is a `PassageKind`, or `memory_` and the kind of a memory that is weighed like one. `closes` is
    true in the message that closes a session's last turn, `edits` of a memory that has to do with files.
    """

    text: str
    kind: str
    heading: str
    event: str
    session: str
    at: int
    place: int = 0
    of: int = 1
    failed: bool = False
    closes: bool = False
    edits: bool = False

    @property
    def told(self) -> str:
        """Its text under its heading."""
        return f"{self.heading}: {self.text}" if self.heading else self.text


def statements(session: Session, events: Sequence[StoredEvent]) -> list[Statement]:
    """The statements of a session, in order."""
    passages: dict[tuple[str, PassageKind], Passage] = {}
    for passage in harvest(events):
        passages.setdefault((passage.event, passage.kind), passage)
    stored = {each.id: each.event for each in events}
    closings = [event for event, kind in passages if kind is PassageKind.CLOSING]
    found: list[Statement] = []
    for (event, kind), passage in passages.items():
        if kind is PassageKind.STEP and not passage.failed:
            continue
        cut = list(_pieces(kind, passage, stored[event]))
        found.extend(
            Statement(
                text, kind, heading, event, session.id, passage.at, place, len(cut),
                passage.failed, event == closings[-1] if closings else False,
            )
            for place, (heading, text) in enumerate(cut)
            if _SHORTEST <= len(text) <= _LONGEST and not text.endswith((":", "…"))
        )  # fmt: skip
    return found


def _pieces(kind: PassageKind, passage: Passage, event: Event) -> Iterator[tuple[str, str]]:
    """What a message says, piece by piece, each with its heading."""
    match kind:
        case PassageKind.STEP | PassageKind.ANSWER | PassageKind.REFUSAL:
            yield "", " ".join(passage.text.split())
        case PassageKind.COMMIT | PassageKind.RECORD:
            for is_commit, text in written_for_others(event.target):
                if is_commit == (kind is PassageKind.COMMIT):
                    yield from blocks(text)
        case PassageKind.SUMMARY:
            start = _SUMMARY.search(event.text)
            yield from blocks(event.text[start.end() :] if start else event.text)
        case PassageKind.PROMPT:
            yield from blocks(prompt_words(typed_words(event.text) if prompt_words(event.text) else ""))
        case _:
            yield from blocks(prompt_words(event.text))


@dataclass(slots=True)
class _Block:
    """The block that is being read: its words so far, and how far its list item is indented (-1: none)."""

    text: str = ""
    indent: int = -1


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """The list items, each with what hangs below it, and the paragraphs of a text, with their headings.

    One of more than 300 characters goes on as the next block after a whole sentence.
    """
    heading, block, fenced, gap = "", _Block(), False, False
    for line in text.split("\n"):
        words = line.strip()
        fenced ^= words.startswith(_FENCES)
        if fenced or not words or words.startswith(_NO_PROSE):
            gap = True
            if block.text and block.indent < 0:
                yield heading, block.text
                block = _Block()
            continue
        item, title = _ITEM.match(line), _TITLE.match(line)
        indent = len(item[1].expandtabs(4)) if item else -1
        if title and not (block.text and indent > block.indent >= 0):
            if block.text:
                yield heading, block.text
            name = plain(next(filter(None, title.groups()))).strip(" :")
            heading, block = name if len(name) <= _HEADING_CHARS else "", _Block()
            continue
        apart = not indent > block.indent >= 0 if item else gap and not line[0].isspace()
        gap = False
        if block.text and apart:
            yield heading, block.text
            block = _Block()
        if not block.text:
            block.indent = indent
        for number, sentence in enumerate(_SENTENCE_END.split(plain(item[2] if item else line))):
            if block.text and len(block.text) + len(sentence) >= MOST_CHARS:
                yield heading, block.text
                block.text = ""
            new_item = item is not None and not number and block.text[-1:] not in ".!?:;,—"
            block.text += f"{'; ' if new_item else ' '}{sentence}" if block.text else sentence
    if block.text:
        yield heading, block.text
