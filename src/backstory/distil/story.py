"""The nouns of a session as the rules see it: turns, runs, changes, what was said; and the limits."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from backstory.distil import shell
from backstory.model import Session


class Placed(Protocol):
    """Anything that stands somewhere in the session."""

    @property
    def place(self) -> int: ...


Item = TypeVar("Item", bound=Placed)


def between(items: Sequence[Item], start: int, end: int) -> Sequence[Item]:
    """What stands strictly between two places."""
    first = bisect_right(items, start, key=lambda item: item.place)
    return items[first : bisect_left(items, end, lo=first, key=lambda item: item.place)]


def relative(path: str, cwd: str) -> str:
    """A path as seen from the session's folder."""
    slashed, root = path.replace("\\", "/"), cwd.replace("\\", "/").rstrip("/")
    if root and slashed.startswith(root + "/"):
        return slashed[len(root) + 1 :]
    return slashed


_NAME = 100  # characters of a prompt that hands over a title and no text


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
    branch: str = ""

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
    typed: str = ""  # of what was asked, what the user typed and did not quote
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
    refusals: list[tuple[str, int, str, str]] = field(default_factory=list)  # id, when, what, words
    delegated: list[tuple[str, str]] = field(default_factory=list)
    ended: bool = False
    broken: str = ""
    interrupted: bool = False
    last_tool: str = ""
    open_tool: bool = False

    @property
    def asked(self) -> str:
        """What the turn is told by: what the user typed, or, if that is nothing, all of the prompt.

        One short line may be handed over with it ("Fix issue #12: login is broken"): that is the task's name.
        """
        named = self.typed.endswith((":", "：")) and "\n" not in self.ask and len(self.ask) < _NAME
        return self.ask if named else self.typed or self.ask

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
