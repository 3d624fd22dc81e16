"""What Backstory needs to know about an agent, as data.

An agent is a row: which of its hooks we install, how it takes an answer, and two functions that
turn what it sends (`read_hook`) and what it writes itself (`reader`) into the same events.
"""

import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from backstory.agents.mcp_lists import Servers
from backstory.errors import BackstoryError
from backstory.model import LOST, Event

if TYPE_CHECKING:
    from backstory.agents.history_source import History


class Unreadable(BackstoryError):
    """A payload that parses but is not what its event must be; it goes to quarantine with this reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class HookEvent:
    """One hook that we install. `wakes`: it starts the worker. `answers`: it may print context.

    `delivers`: it prints the context that a hook which answers has held back for it. `note`: the agent takes
    a note with it: on the "prompt", "before" a tool is used, "after" one has failed. `matcher`: for which
    tools the agent should run it, all if empty.
    """

    name: str
    timeout: int
    answers: bool = False
    wakes: bool = False
    delivers: bool = False
    note: str = ""
    matcher: str = ""


class HistoryReader(Protocol):
    """Reads an agent's own history file line by line.

    From `turn_start`, where the last prompt was read, a later reader gives that turn's events again, each
    with the same id; from `offset` it gives only what is new, but may not know whose prompt that answers.
    `title` is what the agent calls the session, as far as it was read; "" if it did not say.
    """

    counts: Counter[str]
    turn_start: int
    title: str

    @property
    def offset(self) -> int:
        """Everything before this byte has been given, nothing after it."""

    def feed(self, line: bytes) -> list[Event]:
        """The events that this line completes."""

    def finish(self) -> list[Event]:
        """What is left, when the session is known to be dead."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """Hooks stand in the agent's own settings, as groups of handlers under "hooks", like Claude Code's.

    `per_second` is the unit of its timeouts: 1, or 1000 where they are milliseconds. `extra` are further
    keys of a handler of ours. `off` is the setting, a path of keys and its value, that stops all hooks.
    """

    per_second: int = 1
    extra: tuple[tuple[str, str], ...] = ()
    off: tuple[tuple[str, ...], object] = (("disableAllHooks",), True)


@dataclass(frozen=True, slots=True)
class Owned:
    """Hooks stand in a file that is all ours: `render` makes its text from each event's command."""

    render: Callable[[Mapping[str, str]], str]


@dataclass(frozen=True, slots=True)
class Surface:
    """Where an agent keeps what we write to.

    `program` is its name on PATH, `folder` shows that somebody uses it, `settings` is the file that our hooks
    go to: the user's or, given a project, that project's. `after` is what a person must still do then;
    `waits` says why the agent does not run the hooks in that file yet, "" if nothing is known against it.
    """

    program: str
    folder: Callable[[], Path]
    settings: Callable[[Path | None], Path]
    hooks: Grouped | Owned = Grouped()
    after: str = ""
    waits: Callable[[Path], str] = lambda settings: ""


@dataclass(frozen=True, slots=True)
class Answering:
    """How an agent takes what a hook prints.

    `top_level`: the context stands at the top of the answer, not inside "hookSpecificOutput". `most_tokens`:
    what is longer it does not show whole; 0 if it does. `visible`: its user sees a line that stands in
    "systemMessage". `told_again`: it keeps a brief in the system prompt
    or in front of the conversation, where it is put anew on resume, so that nothing of the old one is left.
    """

    top_level: bool = False
    visible: bool = False
    most_tokens: int = 0
    told_again: bool = False


@dataclass(frozen=True, slots=True)
class Agent:
    """One coding agent: every fact about it that any part of Backstory needs.

    `read_hook` takes the event's name, its payload and the time in milliseconds; an event that means nothing
    to us gives no events, a malformed one raises `Unreadable`.
    `reader` (session, offset, file) reads its own history of a session, going on where another stopped.
    `our_tools` are globs of the names under which our own MCP tools appear.
    `surface` is where it is installed; `resume` the command that takes up a session, with {session} in it;
    `tested` the newest version that our tests ran. `history` finds and opens what it has kept itself.
    `limits` says what does not work there, or only later. `answering` is how it takes what hooks print,
    `servers` its list of MCP servers, `instructions` the files of the user and of a project that it reads
    its instructions from.
    """

    name: str
    title: str
    hooks: tuple[HookEvent, ...]
    read_hook: Callable[[str, Mapping[str, object], int], list[Event]]
    reader: Callable[[str, int, str], HistoryReader] | None
    our_tools: tuple[str, ...]
    surface: Surface | None = None
    resume: str = ""
    tested: str = ""
    history: "History | None" = None
    limits: str = ""
    answering: Answering = Answering()
    servers: Servers | None = None
    instructions: tuple[str, str] = ("AGENTS.md", "AGENTS.md")

    def resume_command(self, native_id: str) -> str:
        """What one types to take up a session; "" if that cannot be, or if its id would be an option."""
        if not self.resume or native_id.startswith((LOST, "-")):
            return ""
        return self.resume.format(session=shlex.quote(native_id))
