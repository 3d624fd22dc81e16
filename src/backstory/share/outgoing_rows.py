"""Which memories may leave a home, at which level, and the row that each becomes on the wire.

What `backstory team share --dry-run` shows and what the worker pushes are both made here, by `rows_to_share`:
the preview is the wire. To the team never go turns, checkpoints and preferences (they are about a person),
and nothing of a project that is known by a path.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from backstory.model import Memory, MemoryKind, MemoryStatus, Project, Speaker, speaker
from backstory.settings import Settings
from backstory.share.portable_text import PortableText
from backstory.store import Store
from backstory.team_wire import OWN_LANE, Row, wire_id

OFF, KEPT, LEARNED = "off", "kept", "learned"
LEVELS = (OFF, KEPT, LEARNED)
_TEAM_KINDS = (
    MemoryKind.SUMMARY,
    MemoryKind.DECISION,
    MemoryKind.LESSON,
    MemoryKind.ATTEMPT,
    MemoryKind.COMMAND,
    MemoryKind.NEXT_STEP,
    MemoryKind.FACT,
)
# Among one's own machines, how one wants things goes along.
_MINE_KINDS = (*_TEAM_KINDS, MemoryKind.PREFERENCE)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_USER = "user"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A memory that may leave, and what of it does."""

    memory: Memory
    row: Row

    @property
    def memory_id(self) -> str:
        """The memory's id in this home."""
        return self.memory.id


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """What may not be said any more: the row without anything in it."""

    row: Row
    memory_id: str


@dataclass(frozen=True, slots=True)
class Choice:
    """What leaves of a project, and how many memories stay because they cite an ignored file."""

    rows: tuple[Outgoing, ...]
    held_back: int = 0


def feed_name(project: Project, mine: bool) -> str:
    """What a project is called on the server."""
    return f"{OWN_LANE}{project.identity}" if mine else project.identity


def why_not(project: Project) -> str:
    """Why a project can be shared with nobody, or "": a path means nothing, and tells much, elsewhere."""
    name = project.identity
    if Path(name).is_absolute() or name.startswith(("~", ".")) or "\\" in name or _DRIVE.match(name):
        return (
            f"the project {project.name} is known by its folder only, which is another one elsewhere: "
            "give its repository a remote, and confirm it with `backstory config --confirm`"
        )
    return ""


def rows_to_share(
    store: Store, settings: Settings, project: Project, level: str, mine: bool, wire: Callable[[str], str],
    also: frozenset[str] = frozenset(),
) -> Choice:  # fmt: skip
    """The rows that leave a project at a level, in one of the two lanes; `wire` gives their ids, and
    `also` are memories that a person is about to share by hand.
    """
    if level not in (KEPT, LEARNED) or why_not(project):
        return Choice(())
    portable = PortableText(settings, [project.root, *store.projects.places_of(project.id)])
    by_hand = store.feeds.by_hand() | also
    found: list[Outgoing] = []
    held_back = 0
    known = store.memories.shareable(project.id, _MINE_KINDS if mine else _TEAM_KINDS)
    matters = store.others.signatures([memory.id for memory in known])
    for memory in known:
        if level == KEPT and memory.id not in by_hand and not is_kept(memory):
            continue
        if portable.names_ignored((memory.text, memory.reason, *memory.files)):
            held_back += 1
            continue
        row = wire_row(memory, portable, level, wire, matters.get(memory.id, ""))
        if row.body["text"]:
            found.append(Outgoing(memory, row))
    return Choice(tuple(found), held_back)


def is_kept(memory: Memory) -> bool:
    """Whether a person stands for it: they remembered, confirmed or pinned it."""
    remembered = memory.agent == _USER and speaker(memory.said_by) is Speaker.USER
    confirmed = memory.status is MemoryStatus.CONFIRMED and memory.agent != _USER
    return memory.pinned or remembered or confirmed


def wire_row(
    memory: Memory, portable: PortableText, level: str, wire: Callable[[str], str], matter: str
) -> Row:
    """The row that a memory is; of what a tool printed, and of its session, nothing goes along."""
    files = [name for name in map(portable.file, memory.files) if name]
    body = {
        "text": portable.text(memory.text),
        "reason": portable.text(memory.reason),
        "files": files[:20],
        "said_by": memory.said_by if memory.said_by in list(Speaker) else Speaker.AGENT.value,
        "agent": "" if memory.agent == _USER else memory.agent,
        "tier": memory.tier.value,
        "seen": memory.seen,
        "times": memory.times,
        "level": KEPT if is_kept(memory) else level,
        "matter": matter,
    }
    return Row(wire(memory.id), memory.kind.value, "current", memory.at, body)


def wire_ids(share_key: bytes) -> Callable[[str], str]:
    """What gives memories their ids outside, for the person whose key this is."""
    return lambda local_id: wire_id(share_key, local_id)
