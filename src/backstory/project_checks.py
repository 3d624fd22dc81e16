"""Which commands check a project: those that passed in about every session that checked anything."""

import re
from collections.abc import Sequence

from backstory.distil.commands import runs_a_part
from backstory.model import Memory

_MOST = 6
_CHARS = 60
_SEVERAL = 2
_LABELLED = re.compile(r"^[^`]{1,60}: `([^`]{1,200})`: ")


def project_checks(memories: Sequence[Memory]) -> list[tuple[str, Memory]]:
    """The commands that several sessions passed, each with its memory, the most frequent first.

    What half as many sessions ran belonged to what they did, and so does what runs a part only.
    """
    shared = {
        match[1]: memory
        for memory in sorted(memories, key=lambda each: (-each.seen, each.text))
        if memory.seen >= _SEVERAL and (match := _LABELLED.match(memory.text))
        if len(match[1]) <= _CHARS and not runs_a_part(match[1])
    }
    most = max((memory.seen for memory in shared.values()), default=0)
    return [(command, memory) for command, memory in shared.items() if 2 * memory.seen >= most][:_MOST]
