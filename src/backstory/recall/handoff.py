"""A hand-over: what a session leaves, as a text to paste into any agent, and how to go on there.

It is made of the session's checkpoint and says the same as a compacted session is told. The notes stand in
the wrapper of a brief, so that whoever captures the prompt they are pasted into knows them for ours.
"""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from backstory.agents import Agent
from backstory.hook.brief_text import HANDLE, age_label
from backstory.hook.sanitize import sanitized_line
from backstory.model import Memory, MemoryKind, Session

_ASK = "Go on with the work that these notes describe. Check them against the code first."
# how the checkpoint names a part, the heading people read, the name that programs read
_PARTS = (
    ("goal", "Goal", "goal"),
    ("done", "Done", "done"),
    ("pending", "Open steps", "open"),
    ("decisions", "Decided", "decisions"),
    ("failing", "Failing", "failing"),
    ("passing", "Passing", "passing"),
    ("files", "Files", "files"),
)


@dataclass(frozen=True, slots=True)
class Handoff:
    """What to paste, and the command that opens the agent to paste it into."""

    text: str
    command: str
    to: str
    session: str
    agent: str
    project: str
    parts: dict[str, Any]


def checkpoint_of(memories: Sequence[Memory]) -> dict[str, Any] | None:
    """What the checkpoint of a session says, by part; None if it has none."""
    found = next((memory for memory in memories if memory.kind is MemoryKind.CHECKPOINT), None)
    if found is None:
        return None
    try:
        parts = json.loads(found.detail)
    except ValueError:
        parts = {"goal": found.text}
    return parts if isinstance(parts, dict) else {"goal": found.text}


def hand_over(
    session: Session, parts: dict[str, Any], made_in: str, target: Agent, theirs: Session | None, now: int
) -> Handoff:
    """The hand-over of a session to an agent; `theirs` is the session of that agent to take up, if any."""
    name = sanitized_line(session.project_name)
    head = f"Left by {made_in}, {age_label(session.last_at, now)}, in the project {name}"
    head += f" on the branch {sanitized_line(session.branch)}." if session.branch else "."
    body = [line for key, title, _ in _PARTS for line in _section(title, parts.get(key))]
    command = _command(target, session, theirs)
    lines = [
        _ASK,
        "",
        f'<backstory-notes project="{name.replace(chr(34), chr(39))}">',
        head,
        *body,
        f'More: `backstory show {session.id[:HANDLE]}`, or `backstory search "words"`.',
        "</backstory-notes>",
        "",
        f"Take it up with: {command}",
    ]
    said = {public: parts.get(key) or ("" if key == "goal" else []) for key, _, public in _PARTS}
    return Handoff(
        "\n".join(lines), command, target.name, session.id, session.agent, session.project_name, said
    )


def _section(title: str, value: object) -> list[str]:
    if isinstance(value, list):
        return [f"{title}:", *(f"- {sanitized_line(str(item))}" for item in value)] if value else []
    return [f"{title}: {sanitized_line(str(value))}"] if value else []


def _command(target: Agent, session: Session, theirs: Session | None) -> str:
    """Where the work lies, then the agent: with the session that goes on, or with a new one."""
    start = target.resume_command(theirs.native_id) if theirs is not None else ""
    start = start or (target.surface.program if target.surface else target.name)
    folder = (theirs or session).cwd
    return f"cd {shlex.quote(folder)} && {start}" if folder else start
