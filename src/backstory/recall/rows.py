"""A memory as a row that hooks tell: who decided, who wants, what was noted; and stamps of rows' files."""

from collections.abc import Iterable, Sequence
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backstory.attribution import author, led_in, told_as
from backstory.hook.file_stamps import file_stamp
from backstory.model import Memory, MemoryKind

if TYPE_CHECKING:
    from backstory.failure_history import History

Row = dict[str, Any]
REASON_CHARS = 200
# section, the kinds it shows, how many rows at most
SECTIONS: tuple[tuple[str, tuple[MemoryKind, ...], int], ...] = (
    ("decisions", (MemoryKind.DECISION,), 5),
    ("prefs", (MemoryKind.PREFERENCE, MemoryKind.FACT), 8),
    ("failed", (MemoryKind.LESSON, MemoryKind.ATTEMPT), 6),
)


def row(section: str, memory: Memory, before: str = "", label: str = "", files: Iterable[str] = ()) -> Row:
    """The row of a memory in a section of a brief, or among the notes.

    `before` says what it replaced, `label` how its files stand, `files` where these are today.
    """
    text = led_in(told_as(memory), memory.text)
    if memory.kind is MemoryKind.DECISION and memory.reason and memory.reason not in text:
        text = f"{text} ({_cut(memory.reason, REASON_CHARS).rstrip('.')})"
    if before:
        text = f"{text} [before: {before}]"
    value = {
        "id": memory.id,
        "section": section,
        "text": text,
        "at": memory.at,
        "agent": author(memory.agent, memory.said_by),
        "session": memory.session_id,
        "by": memory.said_by,
    }
    return value | ({"label": label} if label else {}) | ({"files": list(files)} if files else {})


def history_row(history: "History") -> Row:
    """The row of what fails again and again, by the last time that it did; nobody said it."""
    last = history.last
    told = {"id": last.id, "section": "failed", "text": history.text, "at": last.at}
    return told | {"agent": last.agent, "session": last.session, "by": ""}


def stamped(rows: Sequence[Row], root: str, most: int) -> Row:
    """Stamps of the rows' files below `root` for hooks to compare: the first of every row, the second, ..."""
    turns = zip_longest(*(each.get("files", ()) for each in rows))
    names = dict.fromkeys(name for name in chain.from_iterable(turns) if name and _inside(name))
    found = {name: file_stamp(str(Path(root, name))) for name in islice(names, most)}
    return {"root": root, "files": {name: seen for name, seen in found.items() if seen is not None}}


def _inside(name: str) -> bool:
    """Whether a relative name stays below its folder: what lies elsewhere may be slow to look at."""
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
