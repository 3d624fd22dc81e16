"""What a model's operations change in what a project knows: which row stands for which, what was seen again.

Derived from the answers that are kept, in the order of the sessions, so a rebuild comes to the same. A row
that gives way stays as evidence of the one that stands for it, and comes back if that is rejected or
forgotten. What the user said or a person has judged gives way to nobody's words but the user's.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from backstory.distil import operations
from backstory.distil.merge import same, subject_of
from backstory.distil.operations import Do, Operation
from backstory.model import Memory, MemoryKind, MemoryStatus, Speaker, Tier
from backstory.store import Store
from backstory.store.memories import memory_id

# What passed in a session gives way to no sentence.
_PASSED = (MemoryKind.TURN, MemoryKind.CHECKPOINT, MemoryKind.COMMAND)
_WORD = re.compile(r"[^\W\d_][\w'-]{3,}")
_FEW_WORDS = 4  # one of two words in common is no more than chance
_STANDING_ROOM = 0.5  # of the room: wishes leave the rest to what the session speaks of


def write_revisions(store: Store, project_id: str) -> None:
    """Apply what models have said about this project's memories; call it inside a transaction."""
    told_by: dict[str, str] = {}
    seen: dict[str, set[str]] = defaultdict(set)
    for sid, bodies in store.ledger.of_project(project_id).items():
        own = {memory.id: memory for memory in store.memories.standing(sid, _PASSED)}
        _give_way(own, told_by)
        for operation in (each for body in bodies for each in operations.loads(body)):
            _apply(store, sid, operation, own, told_by, seen)
    store.memories.revise(project_id, told_by, {mid: len(sids) for mid, sids in seen.items()})


def _give_way(own: Mapping[str, Memory], told_by: dict[str, str]) -> None:
    """Of one session, rows of the rules that rest on the same events give way to the better sentence."""
    ruled = [memory for memory in own.values() if memory.tier is Tier.RULES]
    for better in (memory for memory in own.values() if memory.tier is Tier.MODEL):
        for plain in ruled:
            if same(better, plain):
                _stand_for(better, plain, told_by)


def _apply(
    store: Store,
    sid: str,
    operation: Operation,
    own: Mapping[str, Memory],
    told_by: dict[str, str],
    seen: dict[str, set[str]],
) -> None:
    if operation.do in (Do.ADD, Do.OUTCOME) or not operation.events:
        return
    about = [memory for mid in operation.memories if (memory := store.memories.kept(mid)) is not None]
    if operation.do in (Do.SEEN, Do.EDIT, Do.MERGE):  # what is worded anew came up again
        for memory in about:
            if memory.session_id != sid:
                seen[memory.id].add(sid)
    if operation.do is Do.SEEN:
        return
    if operation.do is Do.RETIRE:
        outcome = own.get(memory_id(sid, MemoryKind.SUMMARY, "summary"))
        for memory in about:
            if outcome is not None and not _is_firm(memory):
                told_by[memory.id] = outcome.id
    elif (better := own.get(memory_id(sid, operation.kind, subject_of(operation)))) is not None:
        for memory in about:
            _stand_for(better, memory, told_by)
            if told_by.get(memory.id) == better.id:
                seen[better.id] |= (seen[memory.id] | {memory.session_id}) - {sid}


def _stand_for(better: Memory, other: Memory, told_by: dict[str, str]) -> None:
    """The one is told in place of the other, unless it may not be: then it is told by the other."""
    if better.id == other.id:
        return
    may = _is_judged(better) or (better.said_by == Speaker.USER and not _is_judged(other))
    if _is_firm(other) and not may:
        told_by[better.id] = other.id
    else:
        told_by[other.id] = better.id
        told_by.pop(better.id, None)  # what was said last holds


def _is_firm(memory: Memory) -> bool:
    """Whether only the user's own words take its place, and nothing takes it away."""
    return memory.said_by == Speaker.USER or memory.agent == Speaker.USER or _is_judged(memory)


def _is_judged(memory: Memory) -> bool:
    return memory.pinned or memory.status is MemoryStatus.CONFIRMED


def known_to(
    store: Store, sid: str, project_id: str, kinds: Iterable[MemoryKind], limit: int
) -> list[Memory]:
    """The memories that a session may touch: its own and the project's, each in its best words."""
    wanted, told = list(kinds), set(store.memories.revised(project_id))
    own = store.memories.of_session(sid, wanted)
    found = {memory.id: memory for memory in own if memory.id not in told}
    found.update((memory.id, memory) for memory in store.memories.of_project(project_id, wanted, limit))
    return list(found.values())


def by_touch(memories: Iterable[Memory], sid: str, text: str) -> list[tuple[float, Memory]]:
    """Those that a session may touch, best first, each with the part of the room that it must leave free.

    The user's standing wishes and what is pinned come first, whatever the session's text speaks of: only what
    is shown can be seen again. Then what shares words with it, in relation to its length, the session's own
    first.
    """
    words = set(_WORD.findall(text.lower()))
    standing: list[tuple[float, Memory]] = []
    others: list[tuple[bool, float, Memory]] = []
    for memory in memories:
        own = set(_WORD.findall(memory.text.lower()))
        shared = len(words & own) / (len(own) + _FEW_WORDS)
        if memory.pinned or (memory.kind is MemoryKind.PREFERENCE and memory.said_by == Speaker.USER):
            standing.append((shared, memory))
        elif shared:
            others.append((memory.session_id == sid, shared, memory))
    standing.sort(key=lambda each: (-each[0], -each[1].at, each[1].id))
    others.sort(key=lambda each: (-each[0], -each[1], -each[2].at, each[2].id))
    return [
        *((_STANDING_ROOM, memory) for _, memory in standing),
        *((0.0, memory) for _, _, memory in others),
    ]
