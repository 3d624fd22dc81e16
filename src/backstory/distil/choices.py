"""Whether a sentence of the user is a decision: the marks of one are weighed against each other.

No single phrase makes a decision. People choose in many ways ("use X", "no Y", "Z it is", "B is better") and
justify in more ("because", a second clause, the next sentence, the one before). So each mark has a weight:
the choice, its reason (`reasons`), an alternative that lost, an answer to what the assistant had offered, a
"no" to what it had done. What only steers the work ("run the tests, I'm in a hurry") is no choice at all.
"""

import re
from dataclasses import dataclass

from backstory.distil import phrases
from backstory.distil.prose import Sentence, content_words
from backstory.distil.reasons import (
    CHORE,
    CLAUSE,
    CONTRAST,
    DIRECTIVE,
    OWN_PLAN,
    REASON,
    SO,
    USER_CHOICE,
    Around,
    Read,
    implied,
    opening,
    reason_of,
)

TENTATIVE = phrases.Rule("tentative")
REFUSAL = phrases.Rule("refusal")
NEGATED = phrases.Rule("negated")
VERDICT = phrases.Rule("verdict")
TROUBLE = phrases.Rule("trouble")

#: What each mark weighs; a sentence that reaches ENOUGH is a decision.
STRONG, WEAK = 4, 2  # a word that chooses; an order, a norm, a judgement
NEED = 1  # what is needed is mostly only the task
SETTLED = 2  # saying that it is decided
LOST, REFUSED = 2, 2  # an alternative that lost; a "no" to what the assistant did
ANSWER, PICK = 1, 3  # taking up words of an offer; naming its number
ENOUGH = 6

OWN = 12  # where in "I'll take the second" the choice may begin
LONGEST = 600  # characters of a sentence that somebody wrote by hand
#: What would happen else, and what for: said of what shall be, not of what is.
_COUNTER = re.compile(
    r"(?:(?:^|[,;.–—(] ?|\band |\bor )otherwise|\bor else|\bso that|\bsonst|\bdamit|\bsinon|\bafin|"
    r"\bsi no)\b",
    re.IGNORECASE,
)
#: One thing over another, said so plainly that no further word of choosing is needed.
_RATHER = re.compile(
    r"\b(?:instead of|rather than|statt|sondern|und nicht|au lieu|plutôt qu|en vez de|en lugar de)\b"
    r"|(?:,|\band) (?:not|never) |^[\w.+-]+ over [a-z]",
    re.IGNORECASE,
)
_PROBLEM = re.compile(
    r"\b(?:problem|issue|bug|error|fails?|failed|broken|wrong|because of|i'?m|i (?:was|am|made|meant|think|"
    r"did|got|get|see)|"
    r"it'?s called|fehler|liegt)\b",
    re.IGNORECASE,
)
#: What has happened or is so already: a clause behind it tells what follows, not what would follow.
_FACT = re.compile(r"\b(?:already|schon|bereits|ya|déjà)\b", re.IGNORECASE)
_SUPPOSES = re.compile(r"(?:if|when|since|because|as soon as|without|wenn|falls)\b", re.IGNORECASE)
_PLEASE = re.compile(r"(?:please|pls) not\b", re.IGNORECASE)
_THEREFORE = re.compile(r"(?:hence|therefore|thus|deshalb|daher)[,\s]+$", re.IGNORECASE)
DECIDED = re.compile(r"decided|settled on|agreed on|entschieden|beschlossen|décidé|decidido", re.IGNORECASE)
_QUESTION = re.compile(r"[?？](?:[\s)\"'”*]|$)")
_ASKS = re.compile(
    r"(?:i'?m (?:an?|the|not|new|just)|i am (?:an?|the|not|new)|what|which|why|who|where|how|dunno|"
    r"shouldn'?t (?:we|it)|isn'?t|aren'?t|doesn'?t seem|seems?)\b",
    re.IGNORECASE,
)
#: What should have happened and did not: a bug report.
_EXPECTED = re.compile(
    r"\b(?:should|supposed to)\b.{3,80}?\b(?:but|however|yet|instead)\b,? (?:\w+ ){0,3}?(?:is|are|was|"
    r"does|did|gets?|"
    r"shows?|nothing|\w+n'?t)\b",
    re.IGNORECASE,
)
_NEEDS = re.compile(r"(?:(?:we|i|you|it|they|this|that) )?(?:also |still |really )?needs?\b", re.IGNORECASE)
_PLAIN = re.compile(r"we\s+(?:use|do|don'?t|do not)$")  # also how things are described
_PICK = re.compile(
    r"\b(?:option|variant|variante|approach|number|nr\.?|no\.|#)\s*([a-d]|[1-9])\b", re.IGNORECASE
)
_FOR = re.compile(r"\b(?:for|on|bei|zu) (?:#|no\. ?)?([1-9])\b", re.IGNORECASE)
_ANAPHOR = re.compile(
    r"^(?:\W*(?:ok|yes|so|then)\W+)?(?:let'?s |we (?:should |will )?|please |just )*"
    r"(?:do|use|keep|drop|remove|take|leave|make)\s+(?:that|this|those|these|it|them)\b(?!\s+\w+ing)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Before:
    """What the assistant had just said: whether it asked or offered, with which words and numbers."""

    offered: bool = False
    words: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    asked: bool = False


def read_choice(sentence: Sentence, around: Around, before: Before, refused: bool) -> Read | None:
    """The choice and its reason, or None when the marks do not suffice."""
    text = sentence.text
    if text.endswith(":") or _QUESTION.search(text) or "\\n" in text or not 6 <= len(text) <= LONGEST:
        return None
    start = opening(text)
    strong = _strongest(text)
    if _ASKS.match(text[start:]) or _EXPECTED.search(text):
        return None
    if OWN_PLAN.match(text[start:]) and (strong is None or strong.start() > start + OWN):
        return None
    weight, at, end = _choice(text, start, strong)
    if not weight or _chore(text[at:]) or TENTATIVE.search(text):
        return None
    plain = strong is not None and _PLAIN.match(strong.group(0)) is not None
    refused = refused or REFUSAL.match(text) is not None
    negated = NEGATED.match(text[at:]) is not None
    contrast = CONTRAST.search(text)
    overlap = bool(before.words & content_words(text))
    if contrast is not None or (negated and (refused or overlap)):
        weight += LOST
    if refused or (negated and overlap):
        weight += REFUSED  # "don't clone": it had just been done, or offered
    if strong is not None and DECIDED.search(strong.group(0)):
        weight += SETTLED
    named = named_in(text)
    if before.offered:
        weight += PICK if named & before.numbers else ANSWER if overlap else 0
    read, reason = reason_of(text, end, around, plain)
    return _resolved(read, around.previous) if weight + reason >= ENOUGH else None


def named_in(text: str) -> set[str]:
    """The numbers and letters of options that a sentence names."""
    return {key.upper() for pattern in (_PICK, _FOR) for key in pattern.findall(text)}


def _told(text: str) -> bool:
    return TROUBLE.search(text) is not None or _FACT.search(text) is not None


def _chore(text: str) -> bool:
    return CHORE.match(text) is not None or CHORE.match(text[opening(text) :]) is not None


def _resolved(read: Read, previous: str) -> Read | None:
    """With the sentence before it, where "let's do that" says nothing alone; None if that does not help."""
    bare = _ANAPHOR.match(read.choice)
    if bare is None:
        return read
    if len(content_words(previous)) < 2 or previous.endswith("?"):
        return read if content_words(read.choice[bare.end() :]) else None
    return Read(f"{previous} {read.choice}", "" if read.reason == previous else read.reason, read.ahead)


def _strongest(text: str) -> re.Match[str] | None:
    """The first words that choose; "we do" and "we use" only if there are no others."""
    first = USER_CHOICE.search(text)
    if first is not None and _PLAIN.match(first.group(0)):
        blanked = " " * first.end() + text[first.end() :]
        return USER_CHOICE.search(blanked) or first
    return first


def _choice(text: str, start: int, strong: re.Match[str] | None) -> tuple[int, int, int]:
    """How firmly something is chosen, and where the words that do so begin and end."""
    clauses = [
        start,
        *([0] if _PLEASE.match(text) else []),
        *(cut.end() for cut in CLAUSE.finditer(text, start)),
    ]
    if strong is not None:
        at = max((clause for clause in clauses if clause <= strong.start()), default=strong.start())
        return WEAK if _PLAIN.match(strong.group(0)) else STRONG, at, strong.end()
    if (
        (so := SO.match(text))
        and not OWN_PLAN.match(text[so.end() :])
        and (
            DIRECTIVE.match(text[so.end() :])
            or VERDICT.search(text[so.end() :])
            or _THEREFORE.search(so.group(0))
        )
    ):
        return WEAK, so.end(), so.end() + 3
    for at in clauses:
        if (
            DIRECTIVE.match(text[at:])
            and not CHORE.match(text[at:])
            and (at <= start or not (NEGATED.match(text[at:]) or _SUPPOSES.match(text)))
        ):
            return NEED if _NEEDS.match(text[at:]) else WEAK, at, at + 3
    counter, contrast = _COUNTER.search(text), _RATHER.search(text)
    if contrast is not None and (counter or REASON.search(text) or implied(text, contrast.end())):
        return (0, 0, 0) if _PROBLEM.search(text) else (WEAK, start, start + 3)
    if counter is not None and counter.start() > 12 and not _told(text[: counter.start()]):
        return WEAK, start, start + 3
    verdict = VERDICT.search(text)
    return (WEAK, verdict.start(), verdict.end()) if verdict is not None else (0, 0, 0)
