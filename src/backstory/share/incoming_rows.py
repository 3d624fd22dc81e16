"""Rows that others sent become memories of theirs, read without trust, whatever a field holds.

Nothing in a row is taken for the word of this home's user. A kind that is not known here is no memory, and no
fault either: a newer Backstory may send it.
"""

import re
from collections.abc import Callable
from typing import Any

from backstory.attribution import OWN_MACHINE, PERSON, person_name
from backstory.hook.remote_code import runs_remote_code
from backstory.model import MemoryKind, Speaker, Tier
from backstory.store.others_memories import SharedMemory, shared_id
from backstory.team_wire import Row

TEAM, GIT = "team", "git"
_KINDS = {kind.value: kind for kind in MemoryKind if kind not in (MemoryKind.TURN, MemoryKind.CHECKPOINT)}
_SAID = {"user": PERSON, "assistant": Speaker.AGENT.value, "tool": Speaker.TOOL.value, "": ""}
_MATTER = re.compile(r"[0-9a-f]{16}")
_LONGEST, _MOST_FILES, _MOST = 4_000, 20, 1_000_000


def shared_memory(row: Row, author: str, origin: str, clean: Callable[[str], str]) -> SharedMemory | None:
    """The memory that a row is; None if it is none that is known here. `clean` redacts by our own rules."""
    kind = _KINDS.get(row.kind)
    if kind is None or (kind is MemoryKind.PREFERENCE and origin != OWN_MACHINE):
        return None
    text = clean(_text(row.body.get("text")))
    if not text.strip() or (kind is MemoryKind.COMMAND and runs_remote_code(text)):
        return None
    said_by, matter = row.body.get("said_by"), row.body.get("matter")
    seen = _number(row.body.get("seen"))
    return SharedMemory(
        id=shared_id(row.id),
        kind=kind,
        text=text,
        reason=clean(_text(row.body.get("reason"))),
        files=_files(row.body.get("files")),
        said_by=_SAID.get(said_by, Speaker.AGENT.value) if isinstance(said_by, str) else "",
        tier=Tier(row.body["tier"]) if row.body.get("tier") in list(Tier) else Tier.RULES,
        at=row.at,
        author=person_name(author),
        origin=origin,
        seen=seen,
        times=max(seen, _number(row.body.get("times"))),
        signature=matter if isinstance(matter, str) and _MATTER.fullmatch(matter) else "",
        superseded=row.state == "superseded",
    )


def _text(value: Any) -> str:
    return value[:_LONGEST] if isinstance(value, str) else ""


def _number(value: Any) -> int:
    fine = isinstance(value, int) and not isinstance(value, bool)
    return min(max(value, 1), _MOST) if fine else 1


def _files(value: Any) -> tuple[str, ...]:
    """Names below the project only: what a brief is told of, hooks look at."""
    if not isinstance(value, list):
        return ()
    names = [name for name in value[:_MOST_FILES] if isinstance(name, str) and 0 < len(name) <= 500]
    return tuple(
        name
        for name in names
        if not name.startswith(("/", "~", "\\")) and ".." not in name and ":" not in name
    )
