"""What a model's operations come to, as memories of a tier of their own beside what the rules observed.

Files are those that the cited events changed, whatever the model says. What cites nothing, names what the
session does not have, or has something fetched and run, is only proposed: nobody is told before a person has
confirmed it. What says the opposite of an outcome that was observed is refused. What was rejected does not
come back in other words.
Which row gives way to which is settled by `revision.py`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b

from backstory.distil.operations import SAYS, Do, Operation
from backstory.hook.untrusted_text import fetches_and_runs
from backstory.model import Action, Draft, Event, Kind, Memory, MemoryKind, Outcome, Speaker, StoredEvent
from backstory.typed_words import typed_words

_WORD = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]|[^\W_\u3040-\u30ff\u4e00-\u9fff]{2,}")
# Numbers, files, identifiers: two texts that differ in all of them speak of two things.
_NAME = re.compile(r"(?<![\w./:-])[\w./:-]*(?:\d|\w[./_:]\w)[\w/-]*")
_SMALL_WORDS = """
    the and for with that this was were are is be to of in on it its at by as an or from into because so use
    used uses using not no instead der die das und ist ein eine mit für weil les des une est pour
"""
_GLUE = frozenset(_SMALL_WORDS.split())
# Two texts are the same when they share so many of their words, or fewer if they rest on the same event.
_SAME, _SAME_THERE = 0.6, 0.3
_EACH = re.compile(r"\w+")
_GOOD = re.compile(
    r"\b(?:pass(?:es|ed)?|succeed(?:s|ed)?|works?|green|fixed|läuft|grün|passe|funciona)\b", re.I
)
_BAD = re.compile(
    r"\b(?:fail\w*|broke\w*|error\w*|not|never|red|without|n't|scheiter\w*|échou\w*|fall\w*)", re.I
)
# What denies a failure says that something works.
_HEALED = re.compile(
    r"\b(?:no longer|never|not|without(?: an?y?)?|no|zero)\s+(?:\w+\s+)?(?:fail\w*|error\w*|broke\w*)", re.I
)
_ALL_GREEN = re.compile(
    r"\b(?:tests?|suites?|checks?|builds?|lint(?:er|ing)?|ci)\b[^.;]{0,40}\b(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?)\b",
    re.I,
)
_STILL_RED = re.compile(r"\b(?:still|keeps?|remains?)\b[^.;]{0,20}\b(?:fail\w*|red|broken)\b", re.I)
_RED = "next:red:"  # how the subject of a check begins that the rules saw fail to the end
_OBSERVED = (MemoryKind.FACT, MemoryKind.LESSON, MemoryKind.NEXT_STEP)  # nobody's word
# Behind a single word ("No: …") what is said begins, too.
_CLAUSE_END = re.compile(r"[,;](?=\s)")
_SENTENCE_END = re.compile(r"[.!?…。！？](?=\s|$)|\n|(?:^|(?<=[.!?]))\s{0,3}\w+[:,]", re.MULTILINE)
_QUOTED = re.compile(r"`([^`\n]{2,120})`")
_WEIGHTS = {
    MemoryKind.DECISION: 1.2,
    MemoryKind.LESSON: 1.1,
    MemoryKind.ATTEMPT: 1.0,
    MemoryKind.PREFERENCE: 1.2,
    MemoryKind.NEXT_STEP: 1.0,
    MemoryKind.FACT: 0.9,
}


def merge(
    operations: Sequence[Operation],
    observed: Sequence[Draft],
    events: Sequence[StoredEvent],
    rejected: Sequence[Memory] = (),
) -> list[Draft]:
    """What a model says, as drafts of their own tier; its outcome takes the place of the rules' summary."""
    known = {stored.id: stored for stored in events}
    said: list[Draft] = []
    outcome: Draft | None = None
    red = any(draft.subject.startswith(_RED) for draft in observed)
    for operation in operations:
        cited = [known[eid] for eid in operation.events if eid in known]
        if operation.do not in SAYS or _contradicted(operation, cited, events):
            continue
        green = _ALL_GREEN.search(operation.text) and not _speaks_of_failure(operation.text)
        if operation.do is Do.OUTCOME and red and green:
            continue
        doubts = _doubts(operation, cited)
        if operation.do is Do.OUTCOME:
            outcome = outcome if doubts else _outcome(operation, observed) or outcome
            continue
        draft = _draft(operation, cited, doubts, max((each.event.at for each in events), default=0))
        if any(same(draft, other) and (draft.proposed or not other.proposed) for other in said):
            continue
        if any(same(draft, other) and draft.text != other.text for other in rejected):
            continue
        said.append(draft)
    return [outcome, *said] if outcome else said


def _doubts(operation: Operation, cited: Sequence[StoredEvent]) -> list[str]:
    """Why nobody is told it before a person has confirmed it."""
    said = f"{operation.text}\n{operation.reason}"
    wish = operation.kind is MemoryKind.PREFERENCE and _speaker(operation, cited) is not Speaker.USER
    return [
        *([] if cited else ["it cites nothing"]),
        *([f"the session does not have {', '.join(operation.unseen)}"] if operation.unseen else []),
        *([f"nothing done that it cites has {', '.join(operation.unproved)}"] if operation.unproved else []),
        *(["no words of the user say so"] if wish else []),
        *(["it has something fetched and run"] if fetches_and_runs(said) else []),
    ]


def _outcome(operation: Operation, observed: Sequence[Draft]) -> Draft | None:
    """The rules' summary with what came of the session in front of it."""
    for draft in observed:
        if draft.kind is MemoryKind.SUMMARY:
            goal = f"Goal: {operation.reason}\n" if operation.reason else ""
            detail = f"{goal}Outcome: {operation.text}\n\n{draft.detail}"
            sources = tuple(dict.fromkeys((*draft.sources, *operation.events)))
            return replace(draft, text=operation.text, detail=detail, sources=sources)
    return None


def _draft(operation: Operation, cited: Sequence[StoredEvent], doubts: list[str], last: int) -> Draft:
    who = _speaker(operation, cited)
    observed = operation.kind in _OBSERVED and who is not Speaker.TOOL
    return Draft(
        operation.kind,
        subject_of(operation),
        operation.text,
        max((stored.event.at for stored in cited), default=last),
        tuple(stored.id for stored in cited),
        detail=f"Said by a model, only proposed: {'; '.join(doubts)}" if doubts else "Said by a model",
        reason=operation.reason,
        files=_changed(cited),
        said_by=Speaker.NOBODY if observed else who,
        weight=_WEIGHTS[operation.kind],
        turn=max((stored.turn for stored in cited), default=0),
        proposed=bool(doubts),
    )


def _speaker(operation: Operation, cited: Sequence[StoredEvent]) -> Speaker:
    """Whose word it is: the user's only as it was typed, a tool's if an output has most of its words.

    A model that words anew what a user said may turn it round, or be talked into it by what it read.
    """
    words, said = _words(operation.text), set[str]()
    for event in (stored.event for stored in cited):
        if event.kind is Kind.PROMPT:
            typed = typed_words(event.text)
            if _repeats(operation.text, typed):
                return Speaker.USER
            said |= words & _words(event.text) - _words(typed)
        elif event.kind is Kind.TOOL:
            said |= words & _words(event.text) - _words(event.target)
    return Speaker.TOOL if words and len(said) >= _SAME * len(words) else Speaker.AGENT


def _repeats(text: str, typed: str) -> bool:
    """Whether a text is what was typed from the beginning of a sentence to the end of a clause.

    Any other part of a sentence may turn it round: "use MySQL" of "Never use MySQL".
    """
    wanted = _EACH.findall(text.lower())
    told = [_CLAUSE_END.split(each) for each in _SENTENCE_END.split(typed.lower())]
    for start in range(len(told)):
        said: list[str] = []
        for clause in (clause for sentence in told[start:] for clause in sentence):
            said += _EACH.findall(clause)
            if len(said) >= len(wanted):
                break
        if said and said == wanted:
            return True
    return False


def subject_of(operation: Operation) -> str:
    """By what its memory is the same when the session is distilled again."""
    words = " ".join(_EACH.findall(operation.text.lower()))
    return "t2:" + blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _changed(cited: Sequence[StoredEvent]) -> tuple[str, ...]:
    """The files that the cited events changed: observed, not claimed."""
    return tuple(
        dict.fromkeys(
            stored.event.target
            for stored in cited
            if stored.event.action in (Action.WRITE, Action.EDIT) and stored.event.target
        )
    )


def _speaks_of_failure(text: str) -> bool:
    return _BAD.search(_HEALED.sub("", text)) is not None


def _contradicted(operation: Operation, cited: Sequence[StoredEvent], events: Sequence[StoredEvent]) -> bool:
    """Whether it says that something works, while all runs that it cites failed, or the last it names.

    The other way round: whether it says that a command still fails, which passed when it was last run.
    """
    if _STILL_RED.search(operation.text):
        return any(outcome is Outcome.OK for outcome in _last_runs(operation, events))
    works = _GOOD.search(operation.text) or _HEALED.search(operation.text)
    if not works or _speaks_of_failure(operation.text):
        return False
    runs: list[Event] = [stored.event for stored in cited if stored.event.action is Action.RUN]
    if runs and all(run.outcome is Outcome.FAILED for run in runs):
        return True
    return any(outcome is Outcome.FAILED for outcome in _last_runs(operation, events))


def _last_runs(operation: Operation, events: Sequence[StoredEvent]) -> Iterator[Outcome]:
    """How each command that it quotes ended when it was last run."""
    for command in _QUOTED.findall(operation.text):
        named = [
            each.event for each in events if each.event.action is Action.RUN and command in each.event.target
        ]
        if named:
            yield named[-1].outcome


def same(one: Draft | Memory, other: Draft | Memory) -> bool:
    """Whether two texts of one kind say the same; fewer words are enough if they rest on the same event."""
    names, other_names = set(_NAME.findall(one.text.lower())), set(_NAME.findall(other.text.lower()))
    there = not set(one.sources).isdisjoint(other.sources)
    # elsewhere one name in common is not enough, where each has one of its own
    apart = names.isdisjoint(other_names) if there else names - other_names and other_names - names
    if one.kind is not other.kind or (names and other_names and apart):
        return False
    words, others = _words(one.text), _words(other.text)
    shared = len(words & others) / max(len(words), len(others), 1)
    return shared >= (_SAME_THERE if there else _SAME)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _GLUE
