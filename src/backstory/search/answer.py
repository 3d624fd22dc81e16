"""What a search gives back."""

from dataclasses import dataclass

DEFAULT_LIMIT = 7


@dataclass(frozen=True, slots=True)
class ReadAs:
    """A word of a question, and the word of the memory that it was read as."""

    typed: str
    word: str


@dataclass(frozen=True, slots=True)
class Why:
    """Why a hit stands where it does.

    `parts` is what words, context (the words of its turn's prompt included), meaning and priors add to the
    score; they sum up to it. `says the same` is what a repeat of it had more. `relevance` is what the floor
    goes by.
    """

    relevance: float
    found_by: str
    parts: dict[str, float]


@dataclass(frozen=True, slots=True)
class Near:
    """What happened just before or after a hit."""

    id: str
    kind: str
    text: str
    when: int


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that answers a question: where it is from, and a handle that `show` takes.

    `label` says how a memory stands today: superseded, fresh, changed since, gone.
    """

    id: str
    kind: str
    text: str
    score: float
    session: str
    agent: str
    project: str
    when: int
    branch: str = ""
    status: str = ""
    label: str = ""
    by: str = ""  # whose word a memory is
    form: str = ""  # what the passage of an event is: a closing, a commit, a step, …
    also: tuple[str, ...] = ()
    why: Why | None = None
    before: tuple[Near, ...] = ()
    after: tuple[Near, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search found; `abstained` if it was asked something and nothing fits, so that it has no hits.

    `withheld`: then there is something, but nothing relevant enough; without the floor it would be shown.

    `mode` says how it was searched, and why not better if it could have been. `lacking` says why it was not
    searched by meaning, though it should have been, and what to do about it. `time_note` is about the time
    that was asked for, if it holds nothing, or none of the hits, or can be read otherwise; everybody who
    shows an answer shows it. `read_as` are words of the question that were taken for typing errors,
    `unknown` names that nothing has, or nothing that it was `narrowed` to; `partly`: of long outputs and
    files not all could be looked through for them. `cut`: the question was too long to be read to its end.
    """

    hits: tuple[Hit, ...]
    abstained: bool
    mode: str = ""
    lacking: str = ""
    time_note: str = ""
    read_as: tuple[ReadAs, ...] = ()
    unknown: tuple[str, ...] = ()
    partly: bool = False
    cut: bool = False
    narrowed: bool = False
    withheld: bool = False

    @property
    def reading(self) -> str:
        """How the question was read and what is known of nowhere, in sentences."""
        read = ", ".join(f"“{each.typed}” as “{each.word}”" for each in self.read_as)
        names = " or ".join(f"“{name}”" for name in self.unknown)
        none = (
            f"Nothing {'that you narrowed it to' if self.narrowed else 'here'} has {names}." if names else ""
        )
        if none and self.partly:
            none = (
                f"Nothing that was looked through has {names}: of some long outputs and files only both ends."
            )
        cut = "Of the question only the first 2,000 characters were read." if self.cut else ""
        return " ".join(filter(None, (cut, f"Read {read}." if read else "", none)))
