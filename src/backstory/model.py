"""The nouns of Backstory: what happened (events), what is worth giving back (memories).

Everything past `agents/` and `capture/` speaks in these frozen values; nobody sees a raw payload.
Times are UTC epoch milliseconds. Texts are redacted already.
"""

from dataclasses import dataclass, field
from enum import StrEnum

NOT_KEPT = "[content not kept: "  # what stands in place of a text that was not kept begins so, then why


class Kind(StrEnum):
    """What an event says happened."""

    SESSION_STARTED = "session_started"
    PROMPT = "prompt"
    TOOL = "tool"
    SAID = "said"
    REASONED = "reasoned"
    COMPACTING = "compacting"
    COMPACTED = "compacted"
    TURN_ENDED = "turn_ended"
    TURN_FAILED = "turn_failed"
    SUBAGENT_ENDED = "subagent_ended"
    SESSION_ENDED = "session_ended"
    REMEMBERED = "remembered"
    DOCUMENT = "document"
    NOTED = "noted"
    JUDGED = "judged"


class Action(StrEnum):
    """What a tool did, whatever the agent calls it."""

    NONE = ""
    RUN = "run"
    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    FIND = "find"
    FETCH = "fetch"
    DELEGATE = "delegate"
    PLAN = "plan"
    OTHER = "other"


class Outcome(StrEnum):
    """How a tool call or a turn ended."""

    NONE = ""
    OK = "ok"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Where:
    """The place an event happened in, as git saw it."""

    cwd: str = ""
    branch: str = ""
    commit: str = ""
    worktree: str = ""
    dirty: bool | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in a session. Canonical; appended, never changed.

    `text` is what a reader would read: the prompt, the reply, the error or output, the summary.
    `target` is what a tool worked on: the command line, the path, the URL, the query.
    `native_id` is the agent's own id for the thing (tool_use_id, prompt id) or "" if it has none.
    `body` is the whole redacted payload as JSON text, kept in the compressed side table.
    """

    agent: str
    session: str
    kind: Kind
    at: int
    text: str = ""
    action: Action = Action.NONE
    tool: str = ""
    target: str = ""
    outcome: Outcome = Outcome.NONE
    reason: str = ""
    native_id: str = ""
    subagent: str = ""
    subagent_type: str = ""
    transcript: str = ""
    where: Where = field(default_factory=Where)
    body: str = ""
    recalled: bool = False
    origin: str = "live"


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event as the store gives it back: with its id, its turn and its place in the session."""

    id: str
    session_id: str
    turn: int
    seq: int
    payload_size: int
    event: Event


class SessionStatus(StrEnum):
    """What is stored about a session's end; `Session.state` says what people are told."""

    ACTIVE = "active"
    ENDED = "ended"
    FAILED = "failed"


# A session in which nothing has happened for so long is told as open, not as running.
RUNNING_MS = 15 * 60_000
# Begins the native id of a session whose own was lost with a part of the database; no agent knows it.
LOST = "lost:"


@dataclass(frozen=True, slots=True)
class Session:
    """One session of one agent in one project; a sub-agent's has a parent.

    `native_id` is what its agent calls it, `imported_by` the user who imported it from the agent's own
    history, "" if it was captured live.
    """

    id: str
    agent: str
    native_id: str
    project_id: str
    project_name: str
    parent_id: str
    subagent_type: str
    source: str
    cwd: str
    branch: str
    transcript: str
    started_at: int
    last_at: int
    ended_at: int | None
    end_reason: str
    status: SessionStatus
    prompt_count: int
    event_count: int
    title: str
    imported_by: str = ""

    def state(self, now: int) -> str:
        """What people are told: running (heard of within minutes), open (silent), ended or failed.

        A history that was imported without an end has ended: nobody is going to tell its end.
        """
        if self.status is not SessionStatus.ACTIVE:
            return self.status.value
        if now - self.last_at < RUNNING_MS:
            return "running"
        return "ended" if self.imported_by else "open"


@dataclass(frozen=True, slots=True)
class Project:
    """A repository or folder, by identity and not by its folder's name."""

    id: str
    identity: str
    name: str
    root: str
    seen_at: int


class MemoryKind(StrEnum):
    """What a memory is good for."""

    SUMMARY = "summary"
    TURN = "turn"
    DECISION = "decision"
    LESSON = "lesson"
    ATTEMPT = "attempt"
    COMMAND = "command"
    PREFERENCE = "preference"
    NEXT_STEP = "next_step"
    CHECKPOINT = "checkpoint"
    FACT = "fact"


class Speaker(StrEnum):
    """Whose word a text is: the three classes of trust, and what rules observed.

    Only the user's word takes the place of the user's word. What a tool or a page said is never advice.
    """

    USER = "user"
    AGENT = "assistant"
    TOOL = "tool"
    NOBODY = ""


def speaker(said_by: str) -> Speaker:
    """The class of a stored `said_by`; another program's name is an agent's."""
    return Speaker(said_by) if said_by in list(Speaker) else Speaker.AGENT


class Tier(StrEnum):
    """How a memory was made."""

    VERBATIM = "T0"
    RULES = "T1"
    MODEL = "T2"


class MemoryStatus(StrEnum):
    """Where a memory is in its life."""

    CANDIDATE = "candidate"
    CONFIRMED = "confirmed"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"
    PROPOSED = "proposed"
    EXPIRED = "expired"


class Act(StrEnum):
    """What a person does to a memory. Canonical: kept as an event, and done again by a rebuild."""

    CONFIRM = "confirm"
    REJECT = "reject"
    RESTORE = "restore"
    PIN = "pin"
    UNPIN = "unpin"
    EDIT = "edit"
    SUPERSEDE = "supersede"


class Scope(StrEnum):
    """Who may see a memory."""

    PROJECT = "project"
    USER = "user"
    SHARED = "shared"


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory as a distiller proposes it; the store gives it an id that survives a rebuild.

    `subject` is what makes it the same memory when it is distilled again: two drafts of one session
    with the same kind and subject are one. `sources` are the ids of the events it rests on.
    `said_by` is whose word it is: a `Speaker`, decided where the text comes from.
    `proposed`: a model said it and showed no evidence, so nobody is told before a person confirms it.
    `signature` is what makes it the same thing in another session of the project, "" if it stays with its
    own; `times` how often this session showed it. `own_work`: only the session's unfinished work shows it,
    so it is told once another session shows it, too.
    """

    kind: MemoryKind
    subject: str
    text: str
    at: int
    sources: tuple[str, ...]
    detail: str = ""
    reason: str = ""
    files: tuple[str, ...] = ()
    said_by: str = ""
    weight: float = 1.0
    auto: bool = True
    turn: int = 0
    proposed: bool = False
    signature: str = ""
    times: int = 1
    own_work: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """Something distilled that is worth giving back. Derived; names the events it comes from.

    `seen` is in how many sessions of the project the same thing showed, `times` how often in all of them.
    `author` is who shared it, "" if it was learned here; `origin` where it came from: "mine" (the user's own
    other machine), "team" or "git". The text of such a memory says itself whose word it is.
    `untold`: it rests on its session's own unfinished work, so no agent is told of it yet.
    """

    id: str
    project_id: str
    project_name: str
    session_id: str
    agent: str
    kind: MemoryKind
    tier: Tier
    status: MemoryStatus
    scope: Scope
    text: str
    detail: str
    reason: str
    files: tuple[str, ...]
    said_by: str
    at: int
    weight: float
    pinned: bool
    turn: int
    made_by: str
    sources: tuple[str, ...] = ()
    seen: int = 1
    times: int = 1
    author: str = ""
    origin: str = ""
    untold: bool = False
