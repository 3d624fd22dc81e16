"""From a handle, the beginning of an id, to the one thing that it stands for.

Handles are short, so one that was printed long ago may by now stand for several things. Then nobody guesses:
they are named with what they are, and with their whole ids, which stay good.
"""

from backstory import clock
from backstory.errors import SourceMissing, UsageError
from backstory.hook.brief_text import shorten
from backstory.store import Store

_SHORTEST = 4
_TEXT = 60
_SHOWN = 8


def full_id(store: Store, handle: str) -> str:
    """The id that a handle, an id or an agent's own name of a session stands for."""
    found = store.events.ids_like(handle) if len(handle) >= _SHORTEST else []
    if handle in found:
        found = [handle]
    if not found and len(handle) >= _SHORTEST and store.tombstones.holds_forgotten(handle):
        raise SourceMissing(f"{handle!r} was forgotten for good: only a backup from before still has it")
    if not found:
        raise SourceMissing(f"nothing has the handle {handle!r}; `backstory search` prints handles")
    if len(found) > 1:
        told = "; ".join(_told(store, full) for full in found[:_SHOWN])
        more = "; and more" if len(found) > _SHOWN else ""
        raise UsageError(f"{handle!r} stands for several by now, name one by its whole id: {told}{more}")
    return found[0]


def _told(store: Store, full: str) -> str:
    """An id, and of what it is as much as it takes to know it again."""
    memory, event, session = None, None, None
    if full.startswith("m"):
        memory = store.memories.kept(full)
    elif full.startswith("e"):
        event = store.events.event(full)
    else:
        session = store.events.session(full)
    if memory is not None:
        return _line(full, memory.kind, memory.at, memory.text)
    if event is not None:
        return _line(full, event.event.kind, event.event.at, event.event.text or event.event.target)
    if session is not None:
        return _line(full, f"session of {session.agent}", session.started_at, session.title)
    return full


def _line(full: str, what: str, at: int, text: str) -> str:
    words = shorten(" ".join(text.split()), _TEXT)
    return f"{full} ({what.replace('_', ' ')}, {clock.stamp(at)}{f': {words}' if words else ''})"
