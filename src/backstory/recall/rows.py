"""A memory as a row that hooks tell: who decided, who wants, what was noted; and stamps of rows' files."""

from collections.abc import Iterable, Sequence
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

from backstory.hook.stamps import stamp
from backstory.model import Memory, MemoryKind

Row = dict[str, Any]
REASON_CHARS = 200


def row(section: str, memory: Memory, before: str = "", label: str = "", files: Iterable[str] = ()) -> Row:
    """The row of a memory in a section of a brief, or among the notes.

    `before` says what it replaced, `label` how its files stand, `files` where these are today.
    """
    text = memory.text
    if memory.kind is MemoryKind.DECISION:
        who = {"user": "The user decided", "assistant": "The agent decided"}.get(memory.said_by, "Decided")
        text = f"{who}: {text}"
        if memory.reason and memory.reason not in text:
            text = f"{text} ({_cut(memory.reason, REASON_CHARS).rstrip('.')})"
    elif memory.kind is MemoryKind.PREFERENCE:
        text = f"The user wants: {text}"
    elif memory.kind is MemoryKind.FACT:
        text = f"{'Told to remember' if memory.said_by == 'user' else 'Noted'}: {text}"
    if before:
        text = f"{text} [before: {before}]"
    value = {
        "id": memory.id,
        "section": section,
        "text": text,
        "at": memory.at,
        "agent": memory.agent,
        "session": memory.session_id,
    }
    return value | ({"label": label} if label else {}) | ({"files": list(files)} if files else {})


def stamped(rows: Sequence[Row], root: str, most: int) -> Row:
    """Stamps of the rows' files below `root` for hooks to compare: the first of every row, the second, ..."""
    turns = zip_longest(*(each.get("files", ()) for each in rows))
    names = dict.fromkeys(name for name in chain.from_iterable(turns) if name and _inside(name))
    found = {name: stamp(str(Path(root, name))) for name in islice(names, most)}
    return {"root": root, "files": {name: seen for name, seen in found.items() if seen is not None}}


def _inside(name: str) -> bool:
    """Whether a relative name stays below its folder: what lies elsewhere may be slow to look at."""
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
