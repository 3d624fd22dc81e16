"""Whether a sentence of the user is a decision: the marks of one are weighed against each other.

No single phrase makes a decision. People choose in many ways ("use X", "no Y", "Z it is", "B is better") and
justify in more ("because", a second clause, the next sentence, the one before). So each mark has a weight:
the choice itself, a reason, an alternative that lost, an answer to what the assistant had offered, a "no" to
what it had done. What only steers the work ("run the tests, I'm in a hurry") is no choice at all.
"""

import re
from dataclasses import dataclass

from backstory.distil import phrases
from backstory.distil.prose import Sentence, content_words

USER_CHOICE = phrases.Rule("user_choice")
CONTRAST = phrases.Rule("contrast")
REASON = phrases.Rule("reason")
TENTATIVE = phrases.Rule("tentative")
OPENER = phrases.Rule("opener")
REFUSAL = phrases.Rule("refusal")
DIRECTIVE = phrases.Rule("directive")
NEGATED = phrases.Rule("negated")
VERDICT = phrases.Rule("verdict")
MERIT = phrases.Rule("merit")
CHORE = phrases.Rule("chore")
OWN_PLAN = phrases.Rule("own_plan")

#: What each mark weighs; a sentence that reaches ENOUGH is a decision.
STRONG, WEAK = 4, 2  # a word that chooses; an order, a norm, a judgement
EXPLICIT, MERITED, IMPLIED, BEFORE = (
    4,
    3,
    2,
    2,
)  # reasons: "because"; the next sentence; a clause; the one before
LOST, ANSWER, PICK, REFUSED = 2, 2, 3, 2  # an alternative; taking up an offer; naming its number; "no"
ENOUGH = 6
PASTED = 2  # more is needed in a prompt that is mostly a document

LONG = 1_500
_CLAUSE = re.compile(
    r"\s*(?:[,;:–—(]|\s-\s|\.{2,}|…)\s+|\s+(?:and|but|und|aber)\s+(?=(?:no|not|don|kein|nicht)\b)"
)
_SO = re.compile(
    r"^(.{12,}?)[\s,;.…-]+(?:so|hence|therefore|thus|deshalb|daher|also nehmen|donc|así que|因此|所以)[,\s]+(?=\S)",
    re.IGNORECASE,
)
_STARTS_SO = re.compile(r"(?:so|hence|therefore|thus|deshalb|daher|donc|así que)[,\s]", re.IGNORECASE)
_BUT = re.compile(
    r"^(.{12,}?),? (?:but|aber|mais|pero) (?=.*\b(?:should|must|has to|needs? to|let'?s|we want)\b)", re.I
)
_STATES = re.compile(
    r"^(?!(?:and|then|also|please|can|could|would you|what|why|how|when|where|who)\b)"
    r"(?:.*\b(?:is|are|was|were|has|have|had|can|could|would|will|does|do|did|isn't|aren't|don't|doesn't|"
    r"won't|can't|cannot|never|need|needs|ist|sind|hat|haben|kann|wird|würde)\b|(?:\S+ ){1,3}\w+s\b|.*'s\b)",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"[?？](?:[\s)\"'”*]|$)")
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
class Read:
    """A choice and its reason; `ahead` says that the next sentence was used up as the reason."""

    choice: str
    reason: str
    ahead: bool = False


@dataclass(frozen=True, slots=True)
class Before:
    """What the assistant had just said: whether it asked or offered, with which words and numbers."""

    offered: bool = False
    words: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()


def read_choice(
    sentence: Sentence, previous: str, following: str, before: Before, refused: bool, pasted: bool
) -> Read | None:
    """The choice and its reason, or None when the marks do not suffice."""
    text = sentence.text
    if text.endswith(":") or _QUESTION.search(text) or not 6 <= len(text) <= 600 or TENTATIVE.search(text):
        return None
    opener = OPENER.match(text)
    start = opener.end() if opener else 0
    strong = _strongest(text)
    weight, at, end = _choice(text, start, strong)
    if not weight or CHORE.match(text[at:]):
        return None
    plain = strong is not None and _PLAIN.match(strong.group(0)) is not None
    refused = refused or REFUSAL.match(text) is not None
    negated = NEGATED.match(text[at:]) is not None
    contrast = CONTRAST.search(text)
    overlap = bool(before.words & content_words(text))
    if contrast is not None or (negated and (refused or overlap)):
        weight += LOST
    if refused and (overlap or negated):
        weight += REFUSED
    named = {key.upper() for pattern in (_PICK, _FOR) for key in pattern.findall(text)}
    if before.offered:
        weight += PICK if named & before.numbers else ANSWER if overlap else 0
    read, reason = _reason(text, at, end, previous, following, contrast, plain)
    weight += reason
    if weight < ENOUGH + PASTED * pasted:
        return None
    return _resolved(read, previous)


def _resolved(read: Read, previous: str) -> Read | None:
    """ "Let's do that" says nothing without the sentence before it; if that says nothing either, it is lost."""
    if not _ANAPHOR.match(read.choice):
        return read
    if len(content_words(previous)) < 2 or previous.endswith("?"):
        return read if len(content_words(read.choice)) > 2 else None
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
    clauses = [start, *(cut.end() for cut in _CLAUSE.finditer(text, start))]
    if strong is not None:
        at = max((clause for clause in clauses if clause <= strong.start()), default=strong.start())
        return WEAK if _PLAIN.match(strong.group(0)) else STRONG, at, strong.end()
    if (so := _SO.match(text)) and (DIRECTIVE.match(text[so.end() :]) or VERDICT.search(text[so.end() :])):
        return WEAK, so.end(), so.end() + 3
    for at in clauses:
        if (
            DIRECTIVE.match(text[at:])
            and not CHORE.match(text[at:])
            and (at == start or not NEGATED.match(text[at:]))
        ):
            return WEAK, at, at + 3
    verdict = VERDICT.search(text)
    return (WEAK, verdict.start(), verdict.end()) if verdict is not None else (0, 0, 0)


def _reason(
    text: str, at: int, end: int, previous: str, following: str, contrast: re.Match[str] | None, plain: bool
) -> tuple[Read, int]:
    """The reason that weighs most, cut from the choice, with its weight."""
    cue = REASON.search(text)
    if cue is not None:
        return split_reason(text, cue), EXPLICIT
    so = _SO.match(text)
    if so is not None and end > so.end():
        return Read(text[so.end() :], so.group(1)), EXPLICIT
    if previous and _STARTS_SO.match(text) and _states(previous):
        return Read(text, previous), EXPLICIT
    if following and not following.endswith("?") and REASON.match(following):
        return Read(text, following, ahead=True), EXPLICIT
    if not plain and (implied := _implied(text, end)) is not None:
        return implied, IMPLIED
    if (but := _BUT.match(text)) is not None:
        return Read(text[but.end() :], but.group(1)), IMPLIED
    if _states(following) and (REASON.search(following) or MERIT.search(following)):
        return Read(text, following, ahead=True), EXPLICIT if REASON.search(following) else MERITED
    if _states(previous) and (REASON.search(previous) or MERIT.search(previous)):
        return Read(text, previous), BEFORE
    if (
        contrast is not None
        and " " in text[: contrast.start()].strip()
        and not contrast.group(0).startswith("rather ")
    ):
        return Read(text[: contrast.start()].strip(" ,;"), text[contrast.start() :].strip(" ,;")), 0
    return Read(text, ""), 0


def _implied(text: str, end: int) -> Read | None:
    """A clause behind the choice that states how things are: "drop the preview, nobody reads it"."""
    cuts = sorted(_CLAUSE.finditer(text, end), key=lambda cut: cut.group(0).strip() in {",", "(", ";"})
    for cut in cuts:
        clause = text[cut.end() :]
        if len(clause) > 12 and _states(clause) and not CONTRAST.match(text[cut.start() :].lstrip()):
            return Read(text[: cut.start()], clause)
    return None


def _states(text: str) -> bool:
    """Whether a clause says how things are, and is neither an order nor the speaker's own plan."""
    if len(text) < 12 or text.endswith(("?", "？", ":")) or OWN_PLAN.match(text) or CHORE.match(text):
        return False
    opener = OPENER.match(text)
    bare = text[opener.end() :] if opener else text
    return _STATES.match(text) is not None and DIRECTIVE.match(bare) is None


def split_reason(text: str, cue: re.Match[str]) -> Read:
    """Cut a sentence at its "because"; when it begins with one, at the comma."""
    before, after = text[: cue.start()].strip(" ,;–—-:("), text[cue.start() :].strip(" ,;)")
    if len(before) >= 6:
        return Read(before, after)
    reason, comma, choice = after.partition(",")
    return Read(choice.strip(), reason.strip()) if comma and len(choice) >= 8 else Read(text, "")
