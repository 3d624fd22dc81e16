"""What a store can do, whichever database it runs on.

Reads give only what may be shown. Methods that write say so, and are called inside `transaction()`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from backstory.model import (
    Act,
    Draft,
    Event,
    Memory,
    MemoryKind,
    MemoryStatus,
    Project,
    Session,
    StoredEvent,
    Tier,
)
from backstory.paths import Home
from backstory.store.records import (
    Added,
    Arrival,
    Call,
    Decided,
    Depth,
    Filters,
    Found,
    Injection,
    Job,
    Kept,
    Mark,
    Matches,
    ModelAnswer,
    NewPassage,
    OldRows,
    Reach,
    Receipt,
    Room,
    SessionsWanted,
    Sort,
    Spent,
    SpentOn,
    Turns,
    Unembedded,
    Vector,
    Worked,
)


class EventStore(Protocol):
    """Sessions, turns and events."""

    def key(self, event: Event) -> str:
        """What tells this event from all others; asked for before it is redacted."""

    def add(self, arrivals: Sequence[Arrival], replays: bool = False) -> list[Added]:
        """Write what is new of `arrivals`, in their order."""

    def note_import(self, sid: str, user: str, running_since: int) -> None:
        """Write who imported a session, and that it has ended unless something happened since then."""

    def note_title(self, sid: str, title: str) -> None:
        """Write what its agent calls a session, unless something of it was forgotten."""

    def missing(self, arrivals: Sequence[Arrival]) -> set[str]:
        """How many of these are not stored yet, and were not forgotten."""

    def session(self, sid: str) -> Session | None:
        """One session by its id."""

    def last_spoke(self, sid: str) -> int:
        """When something last happened in a session, apart from its starts and ends."""

    def sessions(
        self, project_id: str | None = None, limit: int = 50, top_level: bool = True
    ) -> list[Session]:
        """The latest sessions, newest first."""

    def thoughts(
        self, words: Sequence[str], project_id: str | None, since: int, until: int, limit: int
    ) -> list[StoredEvent]:
        """What agents reasoned with all of these words in it, the latest first."""

    def turn_is_open(self, sid: str) -> bool:
        """Whether the agent never came to the end of the session's last turn."""

    def silent_since(self, at: int) -> list[Session]:
        """Sessions that never ended and in which nothing has happened since then, oldest first."""

    def children(self, sid: str) -> list[Session]:
        """The sub-agents that a session started."""

    def all_session_ids(self) -> list[str]:
        """Every session, oldest first."""

    def of_session(self, sid: str, after: int = -1) -> list[StoredEvent]:
        """All events of a session in the order they happened."""

    def of_turns(self, turns: Sequence[tuple[str, int]], but: Sequence[int] = ()) -> list[StoredEvent]:
        """All events of these turns, turn by turn in the order they happened; not those in these rows."""

    def latest(self, project_id: str | None, since: int, limit: int) -> list[StoredEvent]:
        """The latest events, newest first."""

    def event(self, event_id: str) -> StoredEvent | None:
        """One event by its id."""

    def payload(self, event_id: str) -> str | None:
        """The whole redacted payload of an event, if it has one."""

    def passes(self, project_id: str, since: int) -> list[tuple[str, str, int]]:
        """The commands that passed since then: each with a session it passed in, and when last."""

    def ids_like(self, prefix: str) -> list[str]:
        """Ids that begin with `prefix`, at most ten; or of the session that its agent calls so."""


class ProjectStore(Protocol):
    """Projects and their folders."""

    def note(self, project: Project) -> None:
        """Write a project and when it was seen."""

    def note_place(self, path: str, project_id: str, at: int) -> None:
        """Write that a folder belonged to a project."""

    def get(self, project_id: str) -> Project | None:
        """One project by its id."""

    def all(self) -> list[Project]:
        """All projects, the latest seen first."""

    def places_of(self, project_id: str) -> list[str]:
        """The folders that a project's sessions ran in, the latest first."""

    def places(self) -> list[tuple[str, str]]:
        """All folders that sessions ran in, each with the id of its project."""

    def commits_of(self, project_id: str, limit: int) -> list[str]:
        """The commits that a project's own folders were at when sessions worked there, the latest first."""

    def of_place(self, path: str) -> Project | None:
        """The project that a folder belonged to when it was last seen."""


class MemoryStore(Protocol):
    """Memories and their lineage."""

    def replace(self, session: Session, drafts: Sequence[Draft], tier: Tier, made_by: str) -> int:
        """Write `drafts` as all the session's memories of this tier."""

    def add(self, session: Session, draft: Draft, tier: Tier, made_by: str) -> str:
        """Write one memory beside the session's others; gives its id."""

    def index_missing(self) -> int:
        """Write memories that came from elsewhere, such as an export, into the text index."""

    def memory(self, mid: str) -> Memory | None:
        """One memory with its sources."""

    def judge(self, mid: str, act: Act, text: str, event_id: str) -> None:
        """Write what a person wants of a memory; `event_id` is the event that says so."""

    def kept(self, mid: str) -> Memory | None:
        """One memory in whatever state, for a person to look at."""

    def listed(
        self,
        kinds: Sequence[MemoryKind],
        statuses: Sequence[MemoryStatus],
        project_id: str | None,
        before: tuple[int, str] | None,
        limit: int,
        pinned: bool = False,
    ) -> list[Memory]:
        """Memories of these kinds in these states, newest first, older than a cursor; for a person."""

    def of_project(
        self, project_id: str, kinds: Sequence[MemoryKind], limit: int, since: int = 0
    ) -> list[Memory]:
        """The project's latest memories of these kinds, newest first."""

    def hidden(self, project_id: str) -> list[str]:
        """The ids of a project's memories that may not be shown."""

    def reworded(self, project_id: str) -> list[Memory]:
        """The memories of a project that a person has worded anew."""

    def of_session(self, sid: str, kinds: Sequence[MemoryKind] = ()) -> list[Memory]:
        """All that was distilled from a session; of some kinds only, if named."""


class SuccessionStore(Protocol):
    """Which decision took the place of which."""

    def decisions(self, project_id: str) -> list[Decided]:
        """The latest decisions of a project, those in force and those that others took the place of."""

    def write(self, project_id: str, found: Mapping[str, str]) -> bool:
        """Make these, older → newer, the successions of a project; False if they were so already."""

    def of_project(self, project_id: str) -> dict[str, str]:
        """The successions of a project, older → newer."""

    def after(self, older: str) -> str:
        """The memory that took this one's place, or ""."""

    def before(self, newer: str) -> list[str]:
        """The memories whose place this one took."""


class TextIndex(Protocol):
    """The text index."""

    def unindexed_turns(self, limit: int) -> Turns:
        """The turns of the next events that are not indexed yet."""

    def index_turns(
        self, turns: Turns, events: Sequence[StoredEvent], passages: Sequence[NewPassage]
    ) -> None:
        """Write what these turns hold into the index, in place of what it had of them."""

    def shelve(self, limit: int) -> int:
        """Write older passages into the index of words; 0 when all are in."""

    def unindexed(self) -> int:
        """How many events wait to be indexed."""

    def first_unindexed(self) -> int | None:
        """The row of the next event that is not indexed yet."""

    def skip_event(self, row: int) -> int:
        """Write that an event stays out of the index; gives 1."""

    def skipped(self) -> list[int]:
        """The rows of the events that stay out of the index."""

    def unshelved(self) -> bool:
        """Whether older passages wait to be found by their words."""

    def head_again(self, session_id: str) -> None:
        """Write the title into the index that a session has now, if it is found as a whole."""

    def clear(self) -> None:
        """Empty the index, to be built again."""

    def sound(self) -> bool:
        """Whether the index is there and agrees with itself."""

    def search(
        self, terms: Sequence[str], project_id: str | None, limit: int, filters: Filters | None = None
    ) -> list[Found]:
        """Passages with any of the quoted terms, best first."""

    def matches(
        self, terms: Sequence[str], project_id: str | None, limit: int, filters: Filters | None = None
    ) -> Matches:
        """The numbers of passages with any of the quoted terms, and how well they fit, best first."""

    def spelled_like(self, typed: str, most: int, project_id: str | None) -> dict[str, int]:
        """Words that differ from this one by so many typing errors, and in how many passages each is."""

    def completions(self, typed: str, project_id: str | None) -> list[str]:
        """Words that begin like what somebody types in small letters, the commonest first; at most three."""

    def read(self, numbers: Sequence[int], filters: Filters | None = None) -> list[Found]:
        """These passages, those that may be shown and are wanted."""

    def let_through(self, numbers: Sequence[int], filters: Filters) -> list[int]:
        """Those of these passages that may be shown and are wanted, in the same order."""

    def texts(self, numbers: Sequence[int]) -> dict[int, str]:
        """The texts of these passages."""

    def of_events(self, rows: Sequence[int], filters: Filters | None = None) -> list[Found]:
        """Events as they are, by their rows, those that may be shown and are wanted."""

    def of_time(
        self,
        project_id: str | None,
        since: int,
        until: int,
        sort: Sort,
        limit: int,
        latest: bool = True,
        filters: Filters | None = None,
    ) -> list[Found]:
        """Beginnings of what is of a sort and of a time, the latest first, or the earliest."""

    def around(self, found: Found, count: int) -> tuple[list[Found], list[Found]]:
        """The passages of events before and after one, each in order."""


class DoingStore(Protocol):
    """What is being done right now."""

    def prompts(
        self, natives: Sequence[str] = (), project_id: str | None = None, since: int = 0
    ) -> frozenset[str]:
        """The prompts of turns that go on, and the memories that rest on them."""

    def files(self, project_id: str, since: int, limit: int) -> list[str]:
        """The names of the files that were changed last in a project."""


class Payloads(Protocol):
    """What the text index leaves out."""

    def look(
        self,
        names: Sequence[str],
        project_id: str | None,
        limit: int,
        seconds: float,
        filters: Filters | None = None,
    ) -> Depth:
        """Events in whose long texts one of the names stands, the latest first; no longer than that."""


class VectorIndex(Protocol):
    """Vectors of passages, all of one model."""

    def model(self) -> str:
        """The model that made them, or ""."""

    def dimensions(self) -> int:
        """How long they are; 0 while there is none."""

    def adopt(self, model: str) -> bool:
        """Write which model makes them from now on; True if that drops another one's."""

    def start_again(self) -> None:
        """Drop all vectors, and let every passage wait for a new one."""

    def clear(self) -> None:
        """Drop all vectors."""

    def waiting(self, limit: int) -> list[Unembedded]:
        """Passages without a vector."""

    def counts(self, wanted: str = "") -> tuple[int, int]:
        """How many passages have a vector, of the model that is wanted, and how many wait for one."""

    def put(self, vectors: Sequence[Vector]) -> None:
        """Write vectors; one of another length is refused."""

    def blocks(self, model: str, project_id: str | None) -> Iterator[tuple[bytes, bytes]]:
        """The numbers of passages and their signs, block by block."""

    def read(self, model: str, rows: Sequence[int]) -> list[tuple[int, bytes]]:
        """The vectors of these passages."""


class JobQueue(Protocol):
    """Work to be done."""

    def ask(self, kind: str, subject: str, now: int, due: int = 0) -> bool:
        """Write a piece of work, not to be done before it is due; False if it was waiting already."""

    def lease(self, now: int, kind: str, newest: bool = False) -> Job | None:
        """Take the oldest (or newest) piece of work of this kind that is due."""

    def due_at(self, kind: str) -> int | None:
        """When the next piece of work of this kind is due."""

    def any_due(self, now: int, asking: bool) -> bool:
        """Whether some work could be done now; of what a model is asked only if `asking`."""

    def due(self, kinds: Sequence[str], now: int) -> int:
        """How much work of these kinds is due now or being done."""

    def begin(self, kind: str, subject: str, now: int) -> int:
        """Write a try of work that nobody asked for; gives how many it had."""

    def finished(self, kind: str, subjects: Iterable[str]) -> None:
        """Write that what was begun is done."""

    def tries(self, kind: str) -> dict[str, int]:
        """What was begun and never finished, with how often."""

    def reclaim(self, now: int, why: str = "", most: int = 5, asking: bool = False) -> int:
        """Write that nobody holds a lease; for the one who holds the worker's lock, or the model's."""

    def done(self, job: Job, now: int) -> None:
        """Write that it is done."""

    def failed(self, job: Job, error: str, now: int, max_attempts: int, at_least: int = 0) -> str:
        """Write a failure; gives the new state: waiting (for no less time) or parked."""

    def postpone(self, job: Job, until: int, why: str) -> None:
        """Write that it is left for later, without a failure."""

    def thaw(self, kind: str, now: int, subject: str = "") -> int:
        """Write that what failed is due at once, all of a kind or one of it."""

    def hasten_stranded(self, now: int) -> int:
        """Write that what waits longer than anything ever does is due now; gives how much."""

    def retry(self, job: Job, now: int) -> bool:
        """Write that a person wants it tried again."""

    def drop(self, job: Job) -> bool:
        """Delete it, because a person wants it no more."""

    def all(self, state: str | None = None) -> list[Job]:
        """The jobs in a state, or all."""

    def worst_attempts(self) -> int:
        """How often the work that failed most often has failed."""

    def counts(self) -> dict[str, int]:
        """How many jobs are in each state."""


class ModelLedger(Protocol):
    """Calls of models, and what they answered."""

    def open(self, call: Call) -> None:
        """Write a call that is about to be made."""

    def settle(self, call: Call) -> None:
        """Write how a call ended."""

    def unusable(self, call_id: str, error: str) -> None:
        """Write that an answer could not be parsed."""

    def parsed(self, call_id: str, at: int) -> None:
        """Write that an answer was understood."""

    def stored(self, call_id: str, at: int) -> None:
        """Write that what an answer says is kept."""

    def spent(self, since: int, session_id: str = "") -> Spent:
        """What calls since then took."""

    def spent_on(self, since: int) -> list[SpentOn]:
        """What calls since then took, by purpose and model."""

    def latest(self, limit: int, since: int = 0) -> list[Call]:
        """The latest calls, newest first."""

    def keep(self, answer: ModelAnswer) -> None:
        """Write an answer."""

    def answered(self, answer_id: str) -> bool:
        """Whether this very question was answered before."""

    def read_through(self, sid: str) -> int:
        """Up to which event a model has read a session; -1: nothing."""

    def bodies(self, sid: str) -> list[tuple[str, str]]:
        """What models said about a session, each with the model's name."""


class BriefStore(Protocol):
    """Receipts of briefs."""

    def add(self, injection: Injection) -> None:
        """Write a receipt, once."""

    def of_session(self, session_id: str) -> list[Injection]:
        """The briefs that a session received, oldest first."""

    def held_by(self, session_id: str, sources: Sequence[str] = ()) -> tuple[str, ...]:
        """Ids of the memories that the session's context still holds."""

    def totals(self) -> tuple[int, int]:
        """How many briefs were given, and their estimated tokens."""


class ViewStore(Protocol):
    """What only people look at: long lists by cursor, sums for pictures, what has just happened."""

    def sessions(self, wanted: SessionsWanted, before: tuple[int, str] | None, limit: int) -> list[Session]:
        """Sessions, the latest first, from before a cursor (last_at, id)."""

    def choices(self, project_id: str) -> tuple[list[str], list[str]]:
        """The agents, and the branches of a project, that sessions have."""

    def branches(self, project_id: str | None) -> list[str]:
        """The branches of sessions, in one project or in all."""

    def on_branch(self, branch: str, project_id: str | None) -> bool:
        """Whether anything happened on a branch: a session may leave the one it began on."""

    def touched(self, file: str, project_id: str | None) -> bool:
        """Whether anything that can be found, in one project or in all, had to do with a file."""

    def story(self, sid: str, after: tuple[int, int], limit: int) -> list[StoredEvent]:
        """Events of a session in their order, from behind a cursor (at, seq)."""

    def last_row(self) -> int:
        """The number of the event that was stored last."""

    def after(self, row: int, limit: int) -> list[tuple[int, StoredEvent]]:
        """Events that were stored after one, in the order they were stored."""

    def worked(self, since: int) -> list[Worked]:
        """The sessions in which something happened since then, for a picture."""

    def injected(self, since: int) -> list[tuple[int, int]]:
        """When briefs were given since then, and their tokens."""

    def files(self, since: int, project_id: str, limit: int) -> list[tuple[str, ...]]:
        """The files that each of the latest sessions changed."""

    def memory_counts(self) -> tuple[dict[str, int], dict[str, int]]:
        """How many memories there are by status, and by what made them."""


class ForgetStore(Protocol):
    """Finding and removing what is to be forgotten; `unreadable`: events with a damaged payload."""

    unreadable: set[str]

    def holding(self, matches: Callable[[str], bool]) -> Reach:
        """Everything with a text or a payload that matches; reads the whole database."""

    def sessions_like(self, matches: Callable[[str], bool]) -> list[str]:
        """Sessions whose own row (folder, branch, transcript) matches."""

    def entitled(self, matches: Callable[[str], bool]) -> dict[str, str]:
        """Sessions whose title matches, with their projects."""

    def answered(self, matches: Callable[[str], bool]) -> dict[str, str]:
        """Sessions of which a model said something that matches, with their projects."""

    def between(self, since: int, until: int, project_id: str | None) -> frozenset[str]:
        """Events that happened in [since, until), of one project or of all."""

    def of_project(self, project_id: str) -> frozenset[str]:
        """All sessions of a project, sub-agents' too."""

    def with_sources(self, reach: Reach) -> Reach:
        """The reach, and the events that its memories rest on."""

    def with_lineage(self, reach: Reach) -> Reach:
        """The reach and all that hangs on it."""

    def touched(self, reach: Reach) -> dict[str, str]:
        """The sessions that lose something, with their projects."""

    def transcripts(self, sessions: Iterable[str]) -> list[str]:
        """The agents' own history files of these sessions."""

    def recalled(self, events: Iterable[str]) -> frozenset[str]:
        """Those of these events that are our own words, come back to us."""

    def said_by(self, reach: Reach) -> Iterator[str]:
        """What was said in these events, what these memories say, what these sessions are called."""

    def own_words(self) -> Iterator[tuple[str, bool, str]]:
        """Every text of events that are our own words, with their ids; True if it is what somebody did."""

    def calls(self, events: Iterable[str]) -> Iterator[str]:
        """What agents call these uses of tools."""

    def title_without(self, sid: str, gone: frozenset[str]) -> str:
        """What a session will be called when these events are gone."""

    def projects_like(self, matches: Callable[[str], bool]) -> list[str]:
        """The names of projects that are called so, or are known by such an address or folder."""

    def remove(self, reach: Reach, named: Reach, at: int) -> None:
        """Write tombstones and delete the reach; of memories only the `named` get a tombstone."""

    def drop_answers(self, sessions: Iterable[str]) -> None:
        """Forget what models said about these sessions; inside a transaction."""

    def retitle(self, sid: str) -> None:
        """Write the title anew from the first prompt that a session still has, for good."""

    def rewrite(self, clean: Callable[[str], str], clean_json: Callable[[str], str]) -> Reach:
        """Write every stored text anew as `clean` gives it; what was changed."""

    def traces_left(self) -> bool:
        """Whether something was removed whose bytes may still be in the file."""

    def erase_traces(self) -> bool:
        """Leave no deleted byte in the file; outside a transaction. False while a reader prevents it."""


class DumpStore(Protocol):
    """Everything as plain rows."""

    def head(self) -> dict[str, Any]:
        """What the first line of an export says."""

    def rows(self, sessions: Sequence[str] | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every row with its table; of some sessions only, if they are named."""


class IntakeStore(Protocol):
    """Takes one export in: `look` first, then `forget`, `write` and `finish`."""

    def meets(self, key: str) -> bool:
        """Whether ids made with an export's key are, or can be, those of this database."""

    def look(self, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """Go through the whole export; raises `Failed` if it cannot be taken in."""

    def graves(self) -> int:
        """How many things the export's home has forgotten or replaced that this one has not."""

    def forget(self, key: str, now: int) -> None:
        """Forget what the export's home has forgotten, and use its key if there is nothing here yet."""

    def write(self, rows: Iterable[tuple[str, Mapping[str, Any]]], now: int) -> dict[str, int]:
        """Write rows that are not there yet and may be; gives how many were new, by table."""

    def count(self, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, int]:
        """How many rows `write` would find new, by table."""

    def finish(self) -> None:
        """Write what can be told only when all rows are there."""


class RetentionStore(Protocol):
    """What has grown old."""

    def payloads(self, before: int, after: tuple[int, int], limit: int) -> OldRows:
        """Events from before a time that still have their payload, oldest first."""

    def sessions(self, before: int, limit: int) -> list[str]:
        """Sessions that were over before a time and still have events, oldest first."""

    def events(self, sid: str, limit: int) -> OldRows:
        """The first events of a session, with their payloads."""

    def memories(self, kind: str, before: int, limit: int) -> OldRows:
        """Memories of a kind from before a time that nobody has confirmed or pinned."""

    def drop_payloads(self, rows: Sequence[Any]) -> None:
        """Delete the payloads of these events."""

    def drop_events(self, rows: Sequence[Any]) -> None:
        """Delete these events, not what was distilled from them."""

    def drop_memories(self, ids: Sequence[Any]) -> None:
        """Delete these memories."""

    def room(self) -> Room:
        """How large the database is, and how much of it is free."""

    def payload_bytes(self, before: int) -> tuple[int, int]:
        """How many bytes all payloads take, and those of events from before a time."""

    def compact(self) -> None:
        """Give free pages back to the disk; outside a transaction."""


class BookStore(Protocol):
    """Counters, spool receipts, transcript marks, tombstones, small values."""

    def count(self, day: str, counts: Mapping[tuple[str, str, str], int]) -> None:
        """Add to the day's counters; keys are (agent, event, name)."""

    def counted(self, since_day: str = "") -> list[tuple[str, str, str, str, int]]:
        """All counters from a day on: (day, agent, event, name, n)."""

    def by_agent(self, name: str, since_day: str) -> dict[str, int]:
        """One counter from a day on, for each agent."""

    def total(self, name: str, but: str | None = None) -> int:
        """The sum of one counter; one event may be left out."""

    def table_counts(self) -> dict[str, int]:
        """How many events, sessions, memories and projects there are."""

    def row_counts(self, tables: Iterable[str]) -> dict[str, int]:
        """How many rows these tables have."""

    def add_receipts(self, receipts: Iterable[Receipt]) -> None:
        """Write receipts of spool files, with the events they held."""

    def receipts(self) -> list[Receipt]:
        """All receipts that are kept."""

    def drop_receipts(self, receipts: Iterable[Receipt]) -> None:
        """Forget receipts of files that are gone."""

    def mark(self, key: str) -> Mark | None:
        """How far a history was read."""

    def marks(self) -> dict[str, Mark]:
        """All marks, by what they are noted under."""

    def set_mark(self, key: str, mark: Mark, at: int) -> None:
        """Write how far a history was read."""

    def kept(self, key: str) -> Kept:
        """How far our copy of a transcript goes."""

    def set_kept(self, key: str, source: int, size: int) -> None:
        """Write how far our copy of a transcript goes."""

    def resize_copy(self, sid: str, size: int) -> None:
        """Note that the copy of a session's transcript was written anew; inside a transaction."""

    def drop_copies(self, sids: Iterable[str]) -> None:
        """Write that copies of these sessions' transcripts begin with what comes from now on."""

    def tombstoned(self, ids: Iterable[str]) -> set[str]:
        """Which of these ids were forgotten."""

    def buried(self, what: str) -> set[str]:
        """All ids of one sort that were forgotten."""

    def bury(self, what: str, ids: Iterable[str], reason: str, at: int) -> None:
        """Write tombstones."""

    def dig_up(self, ids: Iterable[str], reason: str) -> set[str]:
        """Take tombstones away that were left for this reason; gives which there were."""

    def meta(self, key: str) -> str:
        """A small value, or ""."""

    def set_meta(self, key: str, value: str) -> None:
        """Write a small value."""


class Store(Protocol):
    """Everything that is kept. One store serves one thread."""

    path: Path
    only_reads: str  # why nothing can be written at present; mostly ""

    @property
    def projects(self) -> ProjectStore:
        """Projects and their folders."""

    @property
    def events(self) -> EventStore:
        """Sessions, turns and events."""

    @property
    def memories(self) -> MemoryStore:
        """Memories and their lineage."""

    @property
    def passages(self) -> TextIndex:
        """The text index."""

    @property
    def depths(self) -> Payloads:
        """What the text index leaves out."""

    @property
    def doing(self) -> DoingStore:
        """What is being done right now."""

    @property
    def vectors(self) -> VectorIndex:
        """Vectors of passages."""

    @property
    def jobs(self) -> JobQueue:
        """Work to be done."""

    @property
    def ledger(self) -> ModelLedger:
        """Calls of models, and what they answered."""

    @property
    def successions(self) -> SuccessionStore:
        """Which decision took the place of which."""

    @property
    def briefs(self) -> BriefStore:
        """Receipts of briefs."""

    @property
    def views(self) -> ViewStore:
        """What only people look at."""

    @property
    def forgetting(self) -> ForgetStore:
        """Forgetting for good."""

    @property
    def dump(self) -> DumpStore:
        """Everything as plain rows."""

    def intake(self) -> IntakeStore:
        """What takes one export in."""

    @property
    def retention(self) -> RetentionStore:
        """What has grown old."""

    @property
    def books(self) -> BookStore:
        """Bookkeeping."""

    def transaction(self, wait: float | None = None) -> AbstractContextManager[None]:
        """Everything in the block is stored together or not at all.

        `StoreBusy` if somebody else is still writing after `wait` seconds, or those that it was opened with.
        """

    def snapshot(self) -> AbstractContextManager[None]:
        """Everything that is read in the block is of one moment, whatever is written meanwhile."""

    def checkpoint(self) -> None:
        """Fold what was written into the main file."""

    def writable(self) -> None:
        """Raise StoreUnusable unless a write can be made right now."""

    def copy_to_backups(self, home: Home, why: str) -> Path:
        """Copy the database, while it is in use, into the home's backups."""

    def schema_version(self) -> int:
        """The number of the last migration that was applied."""

    def close(self) -> None:
        """Close the database."""
