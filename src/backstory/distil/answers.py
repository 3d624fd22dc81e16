"""Decisions that the user makes by answering: a structured question, a letter, "yes" to a recommendation.

The words of such a decision are the assistant's, the decision is the user's.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from backstory.distil import phrases
from backstory.distil.prose import names, sentences, shorten, subject
from backstory.distil.story import Said, Turn
from backstory.hook.untrusted_text import hosts_only
from backstory.model import Draft, MemoryKind

RECOMMEND = phrases.Rule("recommend")
APPROVAL = phrases.Rule("approval")
REASON = phrases.Rule("reason")
TENTATIVE = phrases.Rule("tentative")

AGREED = "recommended, and the user agreed"
ANSWER = "the user's answer"
Options = dict[str, str]
TAKEN = 200  # characters of a prompt that takes up what was offered
BRIEF = 80  # characters of a prompt that only agrees

_ASKED = re.compile(r"^(.{3,400}?)\n→ (.{1,400})$", re.MULTILINE)
#: Questions about how to go on with the work; they settle nothing for later.
_STEERS = re.compile(
    r"\b(?:(?:would|do) you (?:like|want)(?: me)?(?: to)?|want me to|(?:should|shall|can|may) i|ready to|"
    r"what next|"
    r"next|proceed|continue|move on|more questions|how should we (?:go|start|begin)|which (?:areas|files?|"
    r"tasks?|"
    r"findings?|issues?)|this todo|commit|push|merge)\b",
    re.IGNORECASE,
)
#: Answers that leave the matter open, or to the assistant.
_OPEN = re.compile(
    r"\?|^\W*(?:you decide|your (?:call|choice)|up to you|not sure|skip|done|next|none|other|hm+|later|"
    r"(?:it |this |that )?(?:would )?depends?|(?:please )?(?:explain|clarify)|chat about)\b",
    re.IGNORECASE,
)
_OPTION = re.compile(
    r"^[^\S\n]*+(?:[-*][^\S\n]++)?(?:#++[^\S\n]++)?(?:\*\*)?[^\S\n]*+"
    r"(?:(?:option|variante?|approach)[^\S\n]++)?([a-d]|[1-9])(?:\*\*)?[^\S\n]*+[.):]\s*+(.+)",
    re.IGNORECASE | re.MULTILINE,
)
_INLINE = re.compile(
    r"(?:\(|[:,;] )([a-d]|[1-9])\)\s*([^;()\n]{3,120}?)(?=[,;.]?\s*(?:\(|or \(|\?|\.|[1-9]\)|$))", re.I
)
_OR = re.compile(r"\b(?:or|oder|ou|vs\.?|either|soit|entweder|simpler|would|could)\b", re.IGNORECASE)
_POINTS = re.compile(r"^\W*(?:i|we|you|let'?s)\b|\b(?:it|that|this|them|those|all)\b", re.IGNORECASE)
#: What is done at once and over then: a yes to it settles nothing for later.
_WORK = re.compile(
    r"\b(?:merge|commit|push|reply|review|start|begin|first|refactor|fix|rename|run|land|delete|look|"
    r"check|continue|"
    r"implement|update|rerun|edit|add|match|finding)\b",
    re.IGNORECASE,
)
#: Questions about how things are: their answer informs, and chooses nothing.
_INQUIRES = re.compile(
    r"(?:do|does|did|is|are|have|has|was|were)\b(?!.*\b(?:want|prefer|like)\b)", re.IGNORECASE
)
_AT_ONCE = re.compile(r"\W*(?:let me|i(?:'ll| will| can)|run|fix|commit|push|green)\b", re.IGNORECASE)
_CHOOSE = re.compile(
    r"\b(?:options?|which|choose|prefer|either|ways?|welche\w*|quelle?|needs?)\b|\?|^A:", re.I
)
#: What a question says that asks for leave, whatever it is about.
_LEAVE_WORDS = """
    a agree agreed ahead alright an approve be can choose could did do does fine for go going good hear if in
    is it like make makes mean me my next now of ok okay on opinion or pick plan please prefer preference
    proceed question right sense shall should so sound that the them then these think this thought to want
    what which will with work would you your we i
"""
_EACH = re.compile(r"\w+")
_LEAVE = frozenset(_LEAVE_WORDS.split())
_POINTS_BACK = re.compile(r"\b(?:it|that|this|them|so)\b", re.IGNORECASE)
_SHORT = 8  # words of a question that points back
_NEAR_END = 1  # sentences behind a recommendation without a question
_YES = (
    r"^(?:\W*+(?:agreed|yes|y|yup|yeah|yep|ok(?:ay)?|right|good|fine|sure|true|ja|gut|genau|oui|sí|"
    r"do)\b\W*+)*"
)
_PICKS = re.compile(
    _YES + r"(?:(?:let'?s (?:do|go with)|go with|i (?:pick|choose|like|prefer)|take|use|options?|number|"
    r"nummer|variante?|opción|numéro|la|die|the)\s+)*(?P<pick>[a-d1-9](?:\s*+(?:,|and|&|\+)\s*+(?:and\s++)?"
    r"[a-d1-9])*+|both|all(?: of them| three| four)?|first|second|third|fourth|last|former|latter)"
    r"(?: (?:one|option|way|obviously|please|then|it is|definitely))*(?P<rest>\s*(?:[,.;:!)–—-](?!\d).*)?)$",
    re.IGNORECASE | re.DOTALL,
)
_ORDINALS = {"first": 0, "former": 0, "second": 1, "third": 2, "fourth": 3, "last": -1, "latter": -1}
_HEAD = re.compile(
    _YES
    + r"(?P<what>[^,.;:!?\n]{2,60}?)(?:,? (?:it is(?: then)?|then|please|dann|(?:is|are|ist) (?:right|better|"
    r"best|besser)))?(?=[.!,;:–—]|$)(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Offers:
    """What the assistant has put before the user: its last message, and the options of the last two."""

    last: Said | None = None
    options: tuple[Options, ...] = ()
    ask: str = ""  # what the user had asked before that message

    def after(self, said: Said, ask: str = "") -> "Offers":
        found = {key.upper(): text.replace("**", "").strip() for key, text in _OPTION.findall(said.text)}
        if len(found) < 2 and ")" in said.text:
            found = {key.upper(): text.strip() for key, text in _INLINE.findall(said.text)}
        offered = len(found) > 1 and _CHOOSE.search(said.text) is not None
        return Offers(said, (found, *self.options[:1]) if offered else self.options[:1], ask)

    def put_up(self, words: frozenset[str]) -> str:
        """The sentence in which these words are put up for choice, by either of the two."""
        if self.last is None or not words:
            return ""
        asked = "?" in self.ask[-TAKEN:] or "?" in self.last.text[-TAKEN:]
        told = [s.text for s in sentences(self.last.text) if words <= names(s.text)]
        told = [t for t in told if (_OR.search(t) or not _STEERS.search(t)) and not _INQUIRES.match(t)]
        own = [s.text for s in sentences(self.ask) if "?" in s.text and words <= names(s.text)]
        return next((text for text in (*reversed(told), *own) if asked or _OR.search(text)), "")


def answered(turn: Turn, offers: Offers) -> Iterator[Draft]:
    """The decisions in a turn's answers."""
    for event_id, at, text in turn.choices:
        for question, answer in _ASKED.findall(text):
            if not _STEERS.search(question) and not _OPEN.search(answer):
                yield _draft(f"{question} → {answer}", ANSWER, at, (event_id,), turn.number)
    ask = turn.typed.strip()
    if not ask or offers.last is None or "?" in ask or TENTATIVE.search(ask):
        return
    for choice, reason in _picked(ask, offers) or _approved(ask, offers) or _taken(ask, offers):
        yield _draft(choice, reason, turn.at, (offers.last.id, turn.ask_id), turn.number)


def _draft(text: str, reason: str, at: int, sources: tuple[str, ...], turn: int) -> Draft:
    """A decision of the user's in the agent's words: where an address leads to, the user did not say."""
    text, reason = hosts_only(text), hosts_only(reason)
    return Draft(
        MemoryKind.DECISION,
        subject(text),
        shorten(text, 400),
        at,
        sources,
        reason=shorten(reason, 240),
        said_by="user",
        weight=1.5,
        turn=turn,
    )


def _picked(ask: str, offers: Offers) -> list[tuple[str, str]]:
    """The user picked from the options offered; a bare letter may mean the message before the last."""
    found = _PICKS.match(ask[:TAKEN]) if len(ask) < TAKEN else None
    if found is None:
        return []
    word = found.group("pick").lower()
    rest = found.group("rest").strip(" .,;:)!-–—")
    if "\n" in rest or re.search(r"\b[2-9][.)]\s", rest):
        return []  # a list of replies, or of tasks
    for options in offers.options:
        keys = list(options)
        if word.startswith(("both", "all")):
            picks = keys if word != "both" or len(keys) == 2 else []
        elif word in _ORDINALS:
            picks = keys[_ORDINALS[word] :][:1]
        else:
            picks = [key for key in re.findall(r"[A-D1-9]", word.upper()) if key in options]
        if picks and not any(_AT_ONCE.match(options[key]) for key in picks):
            others = "; ".join(shorten(text, 60) for key, text in options.items() if key not in picks)
            chosen = "; ".join(shorten(options[key], 160) for key in picks)
            return [(f"Chosen: {chosen}", rest or (f"over: {others}" if others else "all that was offered"))]
    return []


def _approved(ask: str, offers: Offers) -> list[tuple[str, str]]:
    """The user agreed to what the assistant had recommended at the end of its message."""
    head, _, rest = ask.partition(",")
    agrees = APPROVAL.match(ask) is not None
    if offers.last is None or len(ask) > BRIEF or not (agrees or (rest and APPROVAL.match(head))):
        return []
    about = frozenset[str]() if agrees else names(rest)
    options = offers.options[0] if offers.options else {}
    told = [sentence.text for sentence in sentences(offers.last.text)]
    for behind, text in enumerate(reversed(told)):
        if (
            not (about or _answers(text, told[-1], behind))
            or text.endswith(("?", ":"))
            or not RECOMMEND.search(text)
            or (about and not about & names(text))
            or _WORK.search(text)
        ):
            continue
        named = re.search(r"\b(?:option|variante?|approach|number) ([a-d1-9])\b", text, re.IGNORECASE)
        cue = REASON.search(text)
        if named is not None and named.group(1).upper() in options:
            return [(f"Chosen: {shorten(options[named.group(1).upper()], 240)}", text)]
        if cue is not None and cue.start() >= 8:
            return [(text[: cue.start()].strip(" ,;–—-:("), text[cue.start() :])]
        return [(text, AGREED)]
    return []


def _answers(recommended: str, last: str, behind: int) -> bool:
    """Whether a yes to a message that ends so is one to what it recommended, so many sentences before.

    A question that names another matter is what the yes is to; "shall I?" and "want me to build it?"
    name none.
    """
    if not last.rstrip().endswith(("?", "？")):
        return behind <= _NEAR_END
    own = frozenset(_EACH.findall(last.lower())) - _LEAVE
    if not own or names(last) & names(recommended):
        return True
    return len(last.split()) <= _SHORT and _POINTS_BACK.search(last) is not None and not _WORK.search(last)


def _taken(ask: str, offers: Offers) -> list[tuple[str, str]]:
    """The user begins with what was put up for choice: "threads. async is overkill"."""
    found = _HEAD.match(ask) if len(ask) < TAKEN else None
    what = found.group("what") if found is not None else ""
    if (
        found is None
        or len(what.split()) > 4
        or APPROVAL.match(what)
        or _POINTS.search(what)
        or _WORK.search(what)
    ):
        return []
    offered = offers.put_up(names(what))
    if not offered:
        return []
    rest = found.group("rest").strip(" .,;:!-–—")
    return [
        (shorten(ask[: len(ask) - len(found.group("rest"))], 160), rest or shorten(f"of: {offered}", 200))
    ]
