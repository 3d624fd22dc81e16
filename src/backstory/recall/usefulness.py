"""Whether what was told was of use, from events alone: what agents did after they had been told.

In each session that was told a memory it helped (its handle was opened, a file that it names was changed,
the command that it names passed), it harmed (that command failed again and did not pass, or the session
replaced or retired it), or nothing came of it.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from backstory.hook.brief_text import HANDLE
from backstory.hook.normalize import command_key
from backstory.model import Action, Memory, Outcome, StoredEvent
from backstory.store import Store

# So many of the latest sessions that were told it are looked at.
_SESSIONS = 20
# Told so often for nothing, it is told for less; so is what harmed more than it helped.
_IDLE, _LESS = 4, 0.5
_QUOTED = re.compile(r"`([^`\n]{2,200})`")


@dataclass(frozen=True, slots=True)
class Usefulness:
    """In how many sessions a memory helped, harmed, or did nothing."""

    helped: int = 0
    harmed: int = 0
    idle: int = 0

    @property
    def line(self) -> str:
        """In words; "" if nobody was told."""
        counts = (("helped in", self.helped), ("harmed in", self.harmed), ("idle in", self.idle))
        return ", ".join(f"{words} {count}" for words, count in counts if count)

    @property
    def factor(self) -> float:
        """What its worth is multiplied by at a start."""
        useless = self.harmed > self.helped or (self.idle >= _IDLE and not self.helped)
        return _LESS if useless else 1.0


class Deed(NamedTuple):
    """A command that was run, or a file that was changed."""

    at: int
    action: Action
    outcome: Outcome
    target: str


# What was done in a session; None: it is not looked at.
Done = Callable[[str], Sequence[Deed] | None]


def deeds_of(events: Iterable[StoredEvent]) -> list[Deed]:
    """What of a session's events tells whether something was of use."""
    return [
        Deed(each.event.at, each.event.action, each.event.outcome, each.event.target)
        for each in events
        if each.event.action in (Action.RUN, Action.EDIT, Action.WRITE)
    ]


def done_in(store: Store) -> Done:
    """What was done in each session, read once."""
    return cache(lambda sid: deeds_of(store.events.of_session(sid)))


def usefulness(store: Store, memory: Memory, done: Done) -> Usefulness:
    """How a memory did in the sessions that were told it; its own does not count."""
    better = store.memories.told_instead(memory.id)
    found = [
        _verdict(memory, better, sid, [deed for deed in deeds if deed.at >= at])
        for sid, at in store.briefs.told_to(memory.id, _SESSIONS)
        if sid != memory.session_id and (deeds := done(sid)) is not None
    ]
    return Usefulness(found.count("helped"), found.count("harmed"), found.count("idle"))


def _verdict(memory: Memory, better: str, sid: str, after: list[Deed]) -> str:
    if better == sid:
        return "harmed"
    named = {command_key(words) for words in _QUOTED.findall(memory.text)} - {""}
    runs = [deed for deed in after if deed.action is Action.RUN]
    outcomes = [run.outcome for run in runs if named and command_key(run.target) in named]
    if outcomes:
        return "harmed" if Outcome.OK not in outcomes else "helped"
    handle = memory.id[:HANDLE]
    if any(handle in run.target for run in runs) or _changed(memory, after):
        return "helped"
    return "idle"


def _changed(memory: Memory, after: list[Deed]) -> bool:
    """Whether a file that it is about was changed."""
    files = {file.rpartition("/")[2] for file in memory.files} - {""}
    return any(
        deed.action is not Action.RUN and deed.target.replace("\\", "/").rpartition("/")[2] in files
        for deed in after
    )
