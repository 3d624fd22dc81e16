"""A model's claims beside what the rules observed: the rules' rows stand, claims add what they did not say.

Files are those that the cited events changed, whatever the claim says. A claim that cites nothing, names what
the log does not have, or says the opposite of the outcomes it cites is only proposed: nobody is told before a
person has confirmed it. One that was rejected does not come back in other words.
"""

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b

from backstory.distil.claims import Claim
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
_GOOD = re.compile(
    r"\b(?:pass(?:es|ed)?|succeed(?:s|ed)?|works?|green|fixed|läuft|grün|passe|funciona)\b", re.I
)
_BAD = re.compile(
    r"\b(?:fail\w*|broke\w*|error\w*|not|never|red|without|n't|scheiter\w*|échou\w*|fall\w*)", re.I
)
_WEIGHTS = {
    MemoryKind.DECISION: 1.2,
    MemoryKind.LESSON: 1.1,
    MemoryKind.ATTEMPT: 1.0,
    MemoryKind.PREFERENCE: 1.2,
    MemoryKind.NEXT_STEP: 1.0,
    MemoryKind.FACT: 0.9,
}


def merge(
    claims: Sequence[Claim],
    observed: Sequence[Draft],
    events: Sequence[StoredEvent],
    rejected: Sequence[Memory] = (),
) -> list[Draft]:
    """What the claims add to the rules' rows, as drafts of a tier of their own."""
    known = {stored.id: stored for stored in events}
    said: list[Draft] = []
    for claim in claims:
        draft = _draft(claim, known)
        if any(_same(draft, other) for other in (*observed, *said)):
            continue
        if any(_same(draft, other) and draft.text != other.text for other in rejected):
            continue
        said.append(draft)
    return said


def _draft(claim: Claim, known: Mapping[str, StoredEvent]) -> Draft:
    cited = [known[eid] for eid in claim.events if eid in known]
    who = _speaker(claim, cited)
    doubts = [
        *([] if cited else ["it cites nothing"]),
        *([f"the log does not have {', '.join(claim.unseen)}"] if claim.unseen else []),
        *(["the outcomes it cites say otherwise"] if _contradicted(claim, cited) else []),
        *(
            ["no words of the user say so"]
            if claim.kind is MemoryKind.PREFERENCE and who is not Speaker.USER
            else []
        ),
    ]
    observed = claim.kind in (MemoryKind.FACT, MemoryKind.LESSON) and who is not Speaker.TOOL
    latest = max((stored.event.at for stored in cited), default=_last_at(known))
    return Draft(
        claim.kind,
        _subject(claim),
        claim.text,
        latest,
        tuple(stored.id for stored in cited),
        detail=f"Said by a model, only proposed: {'; '.join(doubts)}" if doubts else "Said by a model",
        reason=claim.reason,
        files=_changed(cited),
        said_by=Speaker.NOBODY if observed else who,
        weight=_WEIGHTS[claim.kind],
        turn=max((stored.turn for stored in cited), default=0),
        proposed=bool(doubts),
    )


def _speaker(claim: Claim, cited: Sequence[StoredEvent]) -> Speaker:
    """Whose word a claim is: of all that it cites, whose words it has most of.

    A prompt among them is not enough, and what it quotes is not the user's. A claim that repeats an output is
    the tool's word; one that has words of nobody is the user's if only prompts are cited.
    """
    words = _words(claim.text)
    said: dict[Speaker, set[str]] = {who: set() for who in (Speaker.USER, Speaker.AGENT, Speaker.TOOL)}
    for event in (stored.event for stored in cited):
        if event.kind is Kind.PROMPT:
            typed = _words(typed_words(event.text))
            said[Speaker.USER] |= words & typed
            said[Speaker.TOOL] |= words & _words(event.text) - typed
        elif event.kind is Kind.TOOL:
            said[Speaker.AGENT] |= words & _words(event.target)  # what it did
            said[Speaker.TOOL] |= words & _words(event.text)
        else:
            said[Speaker.AGENT] |= words & _words(event.text)
    if len(said[Speaker.TOOL]) < _SAME * len(words):
        said[Speaker.TOOL].clear()
    who = max(said, key=lambda who: len(said[who]))
    asked = bool(cited) and all(stored.event.kind is Kind.PROMPT for stored in cited)
    return who if said[who] or asked else Speaker.AGENT


def _subject(claim: Claim) -> str:
    words = " ".join(re.findall(r"\w+", claim.text.lower()))
    return "t2:" + blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _last_at(known: Mapping[str, StoredEvent]) -> int:
    return max((stored.event.at for stored in known.values()), default=0)


def _changed(cited: Sequence[StoredEvent]) -> tuple[str, ...]:
    """The files that the cited events changed: observed, not claimed."""
    return tuple(
        dict.fromkeys(
            stored.event.target
            for stored in cited
            if stored.event.action in (Action.WRITE, Action.EDIT) and stored.event.target
        )
    )


def _contradicted(claim: Claim, cited: Sequence[StoredEvent]) -> bool:
    """Whether it says that something works while every run that it cites failed."""
    runs: list[Event] = [stored.event for stored in cited if stored.event.action is Action.RUN]
    failed = bool(runs) and all(run.outcome is Outcome.FAILED for run in runs)
    return failed and bool(_GOOD.search(claim.text)) and not _BAD.search(claim.text)


def _same(one: Draft, other: Draft | Memory) -> bool:
    names, other_names = set(_NAME.findall(one.text.lower())), set(_NAME.findall(other.text.lower()))
    if one.kind is not other.kind or (names and other_names and names.isdisjoint(other_names)):
        return False
    words, others = _words(one.text), _words(other.text)
    shared = len(words & others) / max(len(words), len(others), 1)
    there = not set(one.sources).isdisjoint(other.sources)
    return shared >= (_SAME_THERE if there else _SAME)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _GLUE
