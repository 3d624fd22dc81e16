"""Which kind of memory a sentence is that a person asks to remember, by the same phrases as in sessions.

Here it need not be shown that it matters, only what it is: who says so at its head is believed; then come
plain words of deciding, standing wishes, trouble with its cause or its remedy, one thing over another.
"""

import re

from backstory.distil import phrases
from backstory.distil.alternatives import kinds
from backstory.distil.decisions import (
    ASSISTANT_CHOICE,
    CONTRAST,
    FIRM,
    STANDING,
    TENTATIVE,
    TROUBLE,
    USER_CHOICE,
)
from backstory.distil.matters import read_matter
from backstory.distil.prose import sentences
from backstory.model import MemoryKind

CAUSE = phrases.Rule("cause")
VAIN = phrases.Rule("vain")

_CALLED = (
    (re.compile(r"(?:decisions?|decided|entscheidung|décision|decisión)\s*[:：]", re.I), MemoryKind.DECISION),
    (re.compile(r"(?:lessons?(?: learn(?:ed|t))?|gotcha|pitfall|lektion|leçon|lección)\s*[:：]", re.I),
     MemoryKind.LESSON),
    (re.compile(r"(?:preferences?|prefer|wish)\s*[:：]", re.I), MemoryKind.PREFERENCE),
    (re.compile(r"(?:facts?|note|fyi)\s*[:：]", re.I), MemoryKind.FACT),
)  # fmt: skip
_REMEDY = re.compile(
    r"^(?:if|when|whenever|wenn|si|cuando)\b[^,]+,|\bto fix\b|\bfix(?:es|ed)? (?:it|this|that)\b|\bhelps\b|"
    r"\bwork-?around\b|\bhilft\b",
    re.IGNORECASE,
)
_AGREED = re.compile(
    r"\b(?:we|(?:the|our|my) team)(?: have|'ve| has)? "
    r"(?:agreed|standardi[sz]ed|settled|committed) (?:on|to)\b",
    re.IGNORECASE,
)
_PEOPLE = re.compile(r"\b(?:we|i|us|our|(?:the|my) team|wir|ich|nous|on|nosotros)\b", re.IGNORECASE)

_SINCE = re.compile(
    r"\b(?:from now on|from today(?: on)?|going forward|henceforth|ab jetzt|ab sofort|von jetzt an|"
    r"künftig|in zukunft)\b",
    re.IGNORECASE,
)
_CONDUCT = re.compile(
    r"\b(?:you|your|yourself|me|my|repl(?:y|ies)|answers?|respon(?:d|ses?)|explain|commit messages?|"
    r"i (?:prefer|like|"
    r"want)|du|dein\w*|mir|antwort\w*)\b",
    re.IGNORECASE,
)
#: Tells how something is, without anybody who does it.
_TELLS = re.compile(
    r"\b(?:is|are|lives?|runs?|goes|comes?|lies?|uses|ist|sind|liegt|liegen|läuft|laufen|nutzt|verwendet)\b"
    r"|^(?:the|our|my|all|every|die|der|das)\b|^\w+s (?:go|use)\b",
    re.IGNORECASE,
)
_WE = re.compile(r"\b(?:we|let'?s|let us|wir)\b", re.IGNORECASE)


def kind_of(text: str) -> MemoryKind:
    """The kind that the words of a note have; a fact if they have none."""
    said = text.strip()
    for called, kind in _CALLED:
        if called.match(said):
            return kind
    parts = [sentence.text for sentence in sentences(said)] or [said]
    kinds = [_kind(part) for part in parts]
    return next((kind for kind in kinds if kind is not MemoryKind.FACT), MemoryKind.FACT)


def _kind(text: str) -> MemoryKind:
    if text.endswith(("?", "？")) or TENTATIVE.search(text):
        return MemoryKind.FACT
    chosen = USER_CHOICE.search(text)
    choice = chosen or ASSISTANT_CHOICE.search(text)
    if (choice is not None and FIRM.search(text.lower())) or _AGREED.search(text):
        return MemoryKind.DECISION
    if STANDING.search(_SINCE.sub(" ", text)):
        return MemoryKind.PREFERENCE
    settles = _settles(text)
    if settles and not _CONDUCT.search(text):
        return MemoryKind.DECISION
    if STANDING.search(text):
        return MemoryKind.PREFERENCE
    if CAUSE.search(text) or VAIN.search(text) or (TROUBLE.search(text) and _REMEDY.search(text)):
        return MemoryKind.LESSON
    told = _TELLS.search(text) and not _WE.search(text)
    return MemoryKind.DECISION if settles or (chosen and not told) else MemoryKind.FACT


def _settles(text: str) -> bool:
    """Whether a note settles a matter: one thing for another, or one of those that are known.

    "From now on" only dates it; without it, what is so and nobody does ("Auth uses JWT") is told only.
    """
    said = read_matter(text)
    if said.back or said.undoes:
        return True
    if said.gone and (CONTRAST.search(text) or _PEOPLE.search(text) or any(map(kinds, said.gone))):
        return True
    told = _TELLS.search(text) and not _WE.search(text) and not _SINCE.search(text)
    return not said.denied and bool(kinds(said.choice)) and not told
