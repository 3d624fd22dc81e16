"""A session's events, told as turns: who asked what, what was run and changed, what was said.

Everything that the rules read passes through here once: recalled events and reasoning are left out,
long texts are cut, commands are parsed and judged. The rules then see a `Story`, never events.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from backstory.distil import failure, shell
from backstory.distil.prose import INTERRUPTED, prompt_words
from backstory.model import Action, Kind, Outcome, Session, SessionStatus, StoredEvent


@dataclass(frozen=True)
class Limits:
    """How much of a session is distilled; the values come from settings."""

    max_turns: int = 30
    max_chars: int = 15_000
    min_turns_end: int = 1
    min_turns_compact: int = 5
    max_input: int = 4_000
    max_output: int = 1_500


@dataclass(frozen=True, slots=True)
class Run:
    """A command that was run, judged."""

    id: str
    place: int
    turn: int
    at: int
    line: str
    command: shell.Command
    failed: bool
    passed: bool
    text: str
    interrupted: bool
    error: str = ""
    culprit: shell.Step | None = None

    @property
    def shown(self) -> str:
        return self.command.shown


@dataclass(frozen=True, slots=True)
class Change:
    """A file that was written or edited."""

    id: str
    place: int
    turn: int
    at: int
    file: str
    excerpt: str
    created: bool


@dataclass(frozen=True, slots=True)
class Said:
    """Something that the assistant told the user."""

    id: str
    place: int
    turn: int
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What the agent told its plan tool: a whole list, or one task made or changed."""

    id: str
    at: int
    tool: str
    text: str


@dataclass(slots=True)
class Turn:
    """A prompt and everything until the agent stopped."""

    number: int
    ask: str = ""
    ask_id: str = ""
    ask_place: int = -1
    ids: list[str] = field(default_factory=list)
    at: int = 0
    runs: list[Run] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    choices: list[tuple[str, int, str]] = field(default_factory=list)
    delegated: list[tuple[str, str]] = field(default_factory=list)
    ended: bool = False
    broken: str = ""
    interrupted: bool = False
    last_tool: str = ""
    open_tool: bool = False

    @property
    def last_said(self) -> Said | None:
        return self.said[-1] if self.said else None

    @property
    def empty(self) -> bool:
        return not (
            self.ask
            or self.runs
            or self.changes
            or self.reads
            or self.said
            or self.plans
            or self.delegated
            or self.last_tool
        )


@dataclass(slots=True)
class Story:
    """One session as turns, with the runs and changes of all turns in order."""

    session: Session
    turns: list[Turn]
    runs: list[Run]
    changes: list[Change]
    said: list[Said]
    compacted: tuple[str, int, str] | None
    ended: bool
    end_reason: str

    @property
    def subagent(self) -> bool:
        return bool(self.session.parent_id or self.session.subagent_type)

    @property
    def unfinished(self) -> Turn | None:
        """The last turn, if the agent never came to its end."""
        for turn in reversed(self.turns):
            if turn.empty:
                continue
            return turn if not turn.ended or turn.broken else None
        return None


def cut(text: str, limit: int) -> str:
    """Head and tail of a long text (CCE-46)."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    return f"{text[:head]} … {text[-(limit - head) :]}"


def relative(path: str, cwd: str) -> str:
    """A path as seen from the session's folder."""
    slashed, root = path.replace("\\", "/"), cwd.replace("\\", "/").rstrip("/")
    if root and slashed.startswith(root + "/"):
        return slashed[len(root) + 1 :]
    return slashed


def tell(session: Session, events: Sequence[StoredEvent], limits: Limits) -> Story:
    """Read the events once, in order."""
    story = Story(
        session, [], [], [], [], None, session.status is not SessionStatus.ACTIVE, session.end_reason
    )
    turn = Turn(0)
    for place, stored in enumerate(events):
        event = stored.event
        if event.recalled or event.kind is Kind.REASONED:
            continue
        if stored.turn != turn.number:
            if not turn.empty or turn.ids:
                story.turns.append(turn)
            turn = Turn(stored.turn)
        _take(story, turn, place, stored, limits)
    if not turn.empty or turn.ids:
        story.turns.append(turn)
    _judge_ends(story)
    return story


def _take(story: Story, turn: Turn, place: int, stored: StoredEvent, limits: Limits) -> None:
    event = stored.event
    match event.kind:
        case Kind.PROMPT:
            if INTERRUPTED.match(event.text):
                _interrupt(story, turn)
            words = prompt_words(cut(event.text, limits.max_input))
            if words:
                turn.ask = f"{turn.ask}\n{words}" if turn.ask else words
                turn.ask_id, turn.ask_place = turn.ask_id or stored.id, place
                turn.ended = turn.open_tool = False
        case Kind.SAID:
            text = prompt_words(cut(event.text, limits.max_input))
            if text:
                _say(story, turn, Said(stored.id, place, turn.number, event.at, text))
                turn.open_tool = False
        case Kind.TOOL:
            _use(story, turn, place, stored, limits)
        case Kind.TURN_ENDED:
            text = prompt_words(cut(event.text, limits.max_input))
            if text and (turn.last_said is None or turn.last_said.text != text):
                _say(story, turn, Said(stored.id, place, turn.number, event.at, text))
            turn.ended, turn.open_tool = True, False
            turn.interrupted = turn.interrupted or event.outcome is Outcome.INTERRUPTED
        case Kind.TURN_FAILED:
            turn.ended, turn.broken = True, event.reason or event.text or "error"
        case Kind.COMPACTED:
            story.compacted = (stored.id, event.at, cut(event.text, limits.max_input * 3))
            return
        case Kind.SESSION_ENDED:
            story.ended, story.end_reason = True, event.reason
            return
        case _:
            return
    turn.ids.append(stored.id)
    turn.at = max(turn.at, event.at)


def _say(story: Story, turn: Turn, said: Said) -> None:
    turn.said.append(said)
    story.said.append(said)


def _interrupt(story: Story, turn: Turn) -> None:
    target = turn if not turn.empty else next((t for t in reversed(story.turns) if not t.empty), turn)
    target.interrupted = True


def _use(story: Story, turn: Turn, place: int, stored: StoredEvent, limits: Limits) -> None:
    event = stored.event
    text = cut(event.text, limits.max_output)
    file = relative(event.target, story.session.cwd)
    ok = event.outcome in {Outcome.OK, Outcome.NONE}
    turn.last_tool = event.tool or event.action.value
    turn.open_tool = event.outcome is Outcome.NONE
    turn.ended = False
    match event.action:
        case Action.RUN:
            command = shell.parse(cut(event.target, limits.max_input))
            verdict = failure.verdict(event, command)
            error = failure.telling_line(text) if verdict is Outcome.FAILED else ""
            run = Run(
                stored.id,
                place,
                turn.number,
                event.at,
                event.target,
                command,
                failed=verdict is Outcome.FAILED,
                passed=verdict is Outcome.OK,
                text=text,
                interrupted=event.outcome is Outcome.INTERRUPTED,
                error=error,
                culprit=command.culprit(error) if error else command.main,
            )
            turn.runs.append(run)
            story.runs.append(run)
        case Action.EDIT | Action.WRITE if ok and file:
            change = Change(stored.id, place, turn.number, event.at, file, text, event.action is Action.WRITE)
            turn.changes.append(change)
            story.changes.append(change)
        case Action.READ if ok and file:
            turn.reads.append(file)
        case Action.PLAN:
            turn.plans.append(Plan(stored.id, event.at, event.tool, event.text))
        case Action.DELEGATE:
            turn.delegated.append((event.target, text))
        case _ if event.tool == "AskUserQuestion" and ok:
            turn.choices.append((stored.id, event.at, text))


def _judge_ends(story: Story) -> None:
    """A turn that was followed by another is over; the last one is over if the agent had the last word.

    Imported transcripts carry no "turn ended", so an answer that no tool call followed counts as one.
    """
    for turn, after in zip(story.turns, [*story.turns[1:], None], strict=False):
        if turn.interrupted:
            turn.ended = False
        elif not turn.ended and turn.said and not turn.open_tool:
            last_run = max(
                [run.place for run in turn.runs] + [change.place for change in turn.changes], default=-1
            )
            spoke_last = turn.said[-1].place > last_run and not turn.said[-1].text.rstrip().endswith(":")
            turn.ended = spoke_last and turn.said[-1].place > turn.ask_place
        if after is not None and after.ask and not turn.interrupted:
            turn.ended = True
