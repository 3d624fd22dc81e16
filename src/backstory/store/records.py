"""What is handed to the store and what it gives back: plain values."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from backstory.model import Event, Project

# Why something is found no more that a file or a row once said; it is kept, in case it says so again.
REPLACED = "replaced"


class Arrival(NamedTuple):
    """An event on its way into the store: its project, and its key from before it was redacted.

    `native` is what may be stored of its session's own id (and, behind a slash, its sub-agent's), if not all:
    the event holds the whole of it, which the session is known by.
    """

    event: Event
    project: Project
    key: str
    native: str = ""


class Added(NamedTuple):
    """What became of an arrival: where it is stored, and whether it was new."""

    event_id: str
    session_id: str
    turn: int
    new: bool


class Receipt(NamedTuple):
    """What identifies a spool file, so that a replay after a crash is recognised."""

    name: str
    inode: int
    mtime_ns: int


class Mark(NamedTuple):
    """How far an agent's own history was read.

    `offset` is where to go on (the last prompt), `size` how much has been seen; `stamp` changes when it does.
    `messages` were counted in all that was seen; `held` if some of that still waits for what comes next.
    `session_id` is "" if nothing of it was worth storing.
    """

    session_id: str
    offset: int
    size: int
    stamp: int = 0
    messages: int = 0
    held: int = 0


class CopyMark(NamedTuple):
    """How much of a transcript is in our copy of it, and how long the copy then was."""

    source: int
    size: int


@dataclass(frozen=True, slots=True)
class Injection:
    """A brief that a session received."""

    session_id: str
    at: int
    source: str
    chars: int
    tokens: int
    shown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work: what to do, on what, and how it went so far."""

    kind: str
    subject: str
    state: str
    attempts: int
    not_before: int
    last_error: str
    asked_at: int = 0


class Call(NamedTuple):
    """One call of a model, step by step; a time is None until its step is done. Cost is in millionths."""

    id: str
    purpose: str
    session_id: str
    provider: str
    model: str
    finalized_at: int
    asked_at: int
    answered_at: int | None
    parsed_at: int | None
    stored_at: int | None
    outcome: str
    error: str
    tokens_in: int
    tokens_out: int
    cost: int


class Spent(NamedTuple):
    """What some calls took."""

    calls: int
    tokens: int
    cost: int


class SpentOn(NamedTuple):
    """What the calls of one purpose and model took."""

    purpose: str
    provider: str
    model: str
    calls: int
    failed: int
    tokens_in: int
    tokens_out: int
    cost: int


class ModelAnswer(NamedTuple):
    """What a model said about a session, from one event's place to another, by its question's hash."""

    id: str
    session_id: str
    first_seq: int
    last_seq: int
    model: str
    version: str
    body: str
    at: int


class Deed(NamedTuple):
    """A command or a change of a file, and on which branch; of a command that failed also what it printed."""

    session: str
    agent: str
    id: str
    at: int
    action: str
    outcome: str
    target: str
    text: str
    branch: str = ""


class NewPassage(NamedTuple):
    """A passage of an event that is to be indexed: its place there, what it is, and its turn's prompt."""

    owner: str
    part: int
    form: str
    text: str
    context: str


class Turns(NamedTuple):
    """Turns with events that are not indexed yet, by session and number; and the last row of these events."""

    turns: list[tuple[str, int]]
    last: int
    events: int


class Found(NamedTuple):
    """A passage that was found: whose it is, and how well its words fit (smaller is better).

    `turn` is that of its session, 0 for memories; `form` says what the passage of an event is. `status`,
    `said_by` and `pinned` are those of a memory.
    """

    row: int
    owner: str
    project_id: str
    project: str
    session_id: str
    agent: str
    kind: str
    at: int
    text: str
    turn: int
    form: str
    branch: str
    status: str
    said_by: str
    pinned: int
    rank: float


@dataclass(frozen=True, slots=True)
class Filters:
    """What a search is narrowed to; empty means everything. Times are a range [since, until)."""

    agents: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    since: int = 0
    until: int = 0

    def __bool__(self) -> bool:
        return self != Filters()


class PayloadMatches(NamedTuple):
    """What was found in payloads, with the text around it; which names; whether all were looked through."""

    found: "list[Found]"
    known: set[str]
    whole: bool


class Sort(NamedTuple):
    """What is sought of a time: kinds of memory or event; of tool calls only some actions, or failed ones."""

    kinds: tuple[str, ...]
    actions: tuple[str, ...] = ()
    failed: bool = False


class OldRows(NamedTuple):
    """Rows that have grown old: as an archive keeps them, what to drop them by, where to go on."""

    rows: list[tuple[str, dict[str, Any]]]
    numbers: tuple[Any, ...]
    last: tuple[int, int]


class DatabaseSize(NamedTuple):
    """The size of the database file, and how much of it is free, in bytes."""

    size: int
    free: int


@dataclass(frozen=True, slots=True)
class Reach:
    """What is to be forgotten, by ids. `sessions` go as a whole, with all that ever comes from them."""

    events: frozenset[str] = frozenset()
    memories: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.events or self.memories or self.sessions)


class DecisionRow(NamedTuple):
    """A decision as successions need it.

    A `firm` one was confirmed, pinned or judged by a person and stays; the user's own word, or what a person
    confirmed (`users`), gives way only to such.
    """

    id: str
    at: int
    text: str
    reason: str
    firm: bool
    users: bool


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions a list shows; empty means all. Times are a range [since, until) of their last event."""

    project_id: str = ""
    agent: str = ""
    branch: str = ""
    since: int = 0
    until: int = 0


class SessionActivity(NamedTuple):
    """A session as a picture needs it."""

    started_at: int
    agent: str
    events: int
    prompts: int
