"""Decisions that the user makes by answering: a letter, a list of numbers, "yes" to a recommendation.

The words of such a decision are the assistant's, the decision is the user's.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from backstory.distil import phrases
from backstory.distil.agreed import RECOMMEND, approved, own_list
from backstory.distil.choices import Before, named_in
from backstory.distil.prose import Sentence, names, sentences, shorten, subject
from backstory.distil.reasons import CHORE, CLAUSE, DIRECTIVE, REASON, judges, opening, states
from backstory.distil.story import Said, Turn
from backstory.model import Draft, MemoryKind

FILLER = phrases.Rule("filler")
OFFER = phrases.Rule("offer")

Options = dict[str, str]
WONDERING = 600  # characters of a prompt that asks for advice
TAIL = 400  # an offer stands at the end of a message

_OPTION = re.compile(
    r"^[^\S\n]*+(?:[-*][^\S\n]++)?(?:#++[^\S\n]++)?(?:\*\*)?[^\S\n]*+"
    r"(?:(?:option|variante?|approach|conflict|question|issue|point)[^\S\n]++)?([a-d]|"
    r"[1-9])(?:\*\*)?[^\S\n]*+[.):]\s*+(.+)",
    re.IGNORECASE | re.MULTILINE,
)
_OR = re.compile(r"\b(?:or|oder|ou|o|vs\.?)\b", re.IGNORECASE)
_MAY = re.compile(
    r"\b(?:can|could|either|would|might|options?|ways?|if|possib\w*|kann|könnte\w*|möglich\w*|entweder|"
    r"pued\w+|podría\w*|peux|"
    r"pourrai\w*|peut|on peut|need|cost\w*|but)\b",
    re.IGNORECASE,
)
_CHOICES = re.compile(
    r"\b(?:options?|alternatives?|ways? out|possible (?:\w+ )?(?:fixes|ways|solutions|approaches)|(?:two|"
    r"three|several|a few) (?:ways?|choices|possibilities)|either|(?:zwei|drei) (?:wege|möglichkeiten|"
    r"varianten)|(?:deux|trois) (?:options|façons|solutions|possibilités)|(?:dos|tres) (?:opciones|formas|"
    r"posibilidades))\b",
    re.IGNORECASE,
)
#: How it might be done as well: an objection mostly names what would be better.
_MODAL = re.compile(
    r"\b(?:would|could|instead|either|alternativ\w+|usual(?:ly)?|simpler|safer|würde\w*|könnte\w*|üblich\w*|statt\w*|"
    r"entweder|pourrai\w*|serait|plutôt|soit|podría\w*|sería\w*|mejor)\b",
    re.IGNORECASE,
)
#: Questions about how things are: their answer informs, and chooses nothing.
_INQUIRES = re.compile(
    r"(?:\W*+(?:and|but|also|so|ok)\b(?:\W*+(?:and|but|also|so|ok)\b)*\W*+)?(?:does|did|has|"
    r"have you|is (?:it|that|this|the)|are (?:they|"
    r"the|you)|was|were|who|where|when|why|"
    r"is there|are there|can you|could you|do you (?:have|know|see|get|use|run|mean|still|already)|"
    r"what(?:'s| is| are| does| did| was| were)|which (?:\w+ ){1,3}?(?:do|did) you (?:have|run|use|see|get|"
    r"mean)|which (?:one )?is|which (?:environment|version|browser|file|branch|host|"
    r"user|account|machine)|how (?:many|often|long|big|did)|hast du|ist|sind|wer|wo|wann|est-ce|où|"
    r"quand|tiene\w*|dónde|cuándo)\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"\b(?:or|should|shall|would|better|worth|think|which|options?|recommend|prefer|can we|could we|"
    r"do we|how (?:do|would|can|"
    r"should)|what'?s? (?:do|about|would|if|can|our|the|your|happens)|ok to|right|oder|soll\w*|besser|"
    r"lohnt|welche\w*|was (?:machen|tun|meinst)|ou|"
    r"devrait|mieux|quel\w*|o|debería\w*|mejor|cuál|qué)\b",
    re.IGNORECASE,
)
_HESITATES = r"(?:ok|hi|hey|hello|so|and|but|hm++|great|cool|nice|quick (?:one|q|question))\b"
_WONDERS = re.compile(
    rf"(?:\W*+{_HESITATES}(?:\W*+{_HESITATES})*\W*+)?(?:what'?s?|which|how|should|shall|would|is it|"
    r"do you|do we|can we|could we|was|wie|welche\w*|soll\w*|quel\w*|comment|qué|cuál|cómo)\b",
    re.IGNORECASE,
)
_ORDINALS = ("first", "second", "third", "fourth")
_ORDINAL = re.compile(
    r"^\W*(?:ok[,. ]+|yes[,. ]+)?(?:(?:let'?s |i'?d )?(?:take|do|go (?:with|for)|use|prefer|"
    r"i like) )?(?:the )?"
    r"(first|second|third|fourth|last|former|latter)(?: (?:one|option|way|approach|"
    r"variant))?\b(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_INLINE = re.compile(
    r"(?:\(|[:,;] )([a-d]|[1-9])\)\s*([^;()\n]{3,120}?)(?=[,;.]?\s*(?:\(|or \(|\?|\.|[1-9]\)|$))",
    re.IGNORECASE,
)
_SURELY = re.compile(
    r"^\s+(?:obviously|please|pls|then|definitely|of course|sure|it is|for now|thanks)\b", re.I
)
_SEVERAL = re.compile(
    r"^\W*+(?:(?:ok|yes|do|go with|let'?s do|options?)\s++)*"
    r"(?P<picks>[a-d1-9](?:\s*+(?:,|and|&|\+|(?<=\s))\s*+(?:and\s++)?[a-d1-9])+|both"
    r"|all(?: of them| three| four)?)\W*$",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"^\s*(?:(?:ok|yes|y|yup|yeah|yep|sure)[,. ]+)?(?P<verb>let'?s (?:do|go with) |go with |i (?:pick|"
    r"choose|like|prefer) "
    r"|use )?"
    r"(?P<word>(?:option|number|nummer|variante?|opción|num[eé]ro|la|le|el|die)\s+)?(?P<pick>[a-d]|[1-9])\b(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_REPLY = re.compile(r"^[^\S\n]*+([1-9])[.):]\s++(\S.{1,300})$", re.MULTILINE)
_YES = re.compile(r"(?:yes|yup|yeah|yep|ok|sure|no|ja|nein|oui|non|sí)\b", re.IGNORECASE)
_ASKED = re.compile(r"^(.{3,400}?)\n→ (.{1,400})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Offers:
    """What the assistant has put before the user: its last message, and the options of the last two."""

    last: Said | None = None
    options: tuple[Options, ...] = ()
    ask: str = ""
    earlier: str = ""
    previous: Said | None = None

    def after(self, said: Said, ask: str = "") -> "Offers":
        found = {key.upper(): text.replace("**", "").strip() for key, text in _OPTION.findall(said.text)}
        if len(found) < 2 and ")" in said.text:
            found = {key.upper(): text.strip() for key, text in _INLINE.findall(said.text)}
        return Offers(
            said, (found, *self.options[:1]) if len(found) > 1 else self.options[:1], ask, self.ask, self.last
        )

    def before(self, worked: bool = False) -> Before:
        """What a prompt may be taking up."""
        if self.last is None:
            return Before()
        text = self.last.text
        tail = text.rstrip()[-TAIL:]
        asked = bool(self.questions) or OFFER.search(tail) is not None
        offered, argued = self.offered, self.argued
        wondered = self.wondered
        return Before(
            spoke=True,
            asked=asked,
            argued=bool(argued),
            offered=bool(offered),
            wondered=bool(wondered),
            choice=frozenset[str]().union(*map(names, (*offered, *argued, *wondered, *self.questions))),
            words=names(text)
            | (names(self.previous.text) if self.previous and self.asked_on else frozenset()),
            numbers=frozenset(key for options in self.options for key in options),
            worked=worked,
            inquired=not argued and self.inquired,
            proposed=_MODAL.search(text) is not None,
        )

    @property
    def asked_on(self) -> bool:
        """Whether the prompt before this one only asked on, so that what was open before it still is."""
        return self.ask.rstrip().endswith(("?", "？")) or _WONDERS.match(self.ask) is not None

    @property
    def heard(self) -> tuple[Sentence, ...]:
        """What the assistant has said to it."""
        before = self.previous.text if self.previous is not None and self.asked_on else ""
        return (*sentences(before), *sentences(self.last.text if self.last is not None else ""))

    @property
    def offered(self) -> tuple[str, ...]:
        """The sentences of the last message that put things up for choice."""
        found = sentences(self.last.text) if self.last is not None else ()
        asks = any(s.text.endswith(("?", "？")) for s in found[-2:]) or any(
            _CHOICES.search(f"{s.heading} {s.text}") for s in found
        )
        return tuple(
            s.text
            for number, s in enumerate(found)
            if (s.bullet and asks)
            or (
                number >= len(found) - 5
                and not s.bullet
                and _OR.search(s.text)
                and not _INQUIRES.match(s.text)
                and (s.text.endswith("?") or _MAY.search(s.text))
            )
        )

    @property
    def questions(self) -> tuple[str, ...]:
        """What the last message asks at its end."""
        found = sentences(self.last.text)[-3:] if self.last is not None else ()
        return tuple(
            s.text
            for s in found
            if s.text.endswith(("?", "？")) and not FILLER.search(s.text) and not _INQUIRES.match(s.text)
        )

    @property
    def inquired(self) -> bool:
        """Whether the last message ends in asking how things are: the answer informs."""
        found = sentences(self.last.text)[-2:] if self.last is not None else ()
        asked = [s.text for s in found if s.text.endswith(("?", "？")) and not FILLER.search(s.text)]
        return bool(asked) and all(_INQUIRES.match(text) for text in asked)

    @property
    def argued(self) -> tuple[str, ...]:
        """Those that argue for one."""
        return tuple(s.text for s in self.heard if RECOMMEND.search(s.text) and not s.text.endswith("?"))

    @property
    def wondered(self) -> tuple[str, ...]:
        """The questions of the prompt before this one that ask for advice: what follows may settle them."""
        return tuple(
            s.text
            for ask in ((self.earlier, self.ask) if self.asked_on else (self.ask,))
            if len(ask) < WONDERING
            for s in sentences(ask)
            if ("?" in s.text or _WONDERS.match(s.text)) and (_ADVICE.search(s.text) or _proposes(s.text))
        )

    @property
    def complaint(self) -> str:
        """What the prompt before this one stated and judged."""
        found = (
            [s.text for s in sentences(self.ask) if states(s.text) and judges(s.text)]
            if len(self.ask) < WONDERING
            else []
        )
        return found[-1] if found else ""

    def taken(self, text: str, answers: bool) -> str:
        """What a choice takes up: the sentence on its words, rather an offer, an argument or a reason."""
        if self.last is None:
            return ""
        words = names(text)
        special = {*self.offered, *self.argued}
        found = [s.text for s in self.heard]
        best, most = "", 0
        for number, sentence in enumerate(found):
            shared = len(words & names(sentence))
            value = 2 * shared + 2 * (sentence in special) + (REASON.search(sentence) is not None)
            if value > most and (shared or (answers and value > 0)):
                following = found[number + 1] if number + 1 < len(found) else ""
                best, most = f"{sentence} {following}" if judges(following) else sentence, value
        wondered = " ".join(self.wondered) if answers else ""
        return f"{shorten(wondered, 120)} {shorten(best, 200)}".strip()

    def named(self, text: str) -> str:
        """The option that a sentence names by its number."""
        options = self.options[0] if self.options else {}
        return next((shorten(options[key], 160) for key in sorted(named_in(text)) if key in options), "")


def _proposes(text: str) -> bool:
    """Whether a question is an order put up for discussion: "3.9 is dead, drop it?"."""
    clause = CLAUSE.split(text)[-1]
    return text.endswith("?") and DIRECTIVE.match(clause[opening(clause) :]) is not None


def answered(turn: Turn, offers: Offers) -> Iterator[Draft]:
    """The decisions in a turn's answers."""
    for event_id, at, text in turn.choices:
        for question, answer in _ASKED.findall(text):
            yield _draft(f"{question} → {answer}", "the user's answer", at, (event_id,), turn.number)
    if not turn.typed or offers.last is None:
        return
    sources = (offers.last.id, turn.ask_id)
    told = (
        *_picked(turn.typed, offers),
        *approved(turn.typed, offers.last, offers.options[0] if offers.options else {}),
        *own_list(turn.typed, offers.last),
    )
    for choice, reason in told:
        yield _draft(choice, reason, turn.at, sources, turn.number)


def _draft(text: str, reason: str, at: int, sources: tuple[str, ...], turn: int) -> Draft:
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


def _picked(ask: str, offers: Offers) -> Iterator[tuple[str, str]]:
    """The user picked from the options offered; a bare letter may mean the message before the last."""
    bare = ask.strip(" .)!").upper()
    options = next((o for o in offers.options if len(bare) > 1 or bare in o), None)
    if options is None:
        return
    replies = _REPLY.findall(ask) if len(ask) < 1_200 and ask.lstrip()[:1].isdigit() else []
    if replies:
        for key, reply in replies:
            asks = reply.endswith("?") or CHORE.match(reply)
            if key in options and (not asks or _YES.match(reply)):
                yield f"{shorten(options[key], 160)} → {reply}", "the user's answer"
        return
    picks, why = _picks(ask, options)
    if picks:
        others = "; ".join(shorten(text, 60) for key, text in options.items() if key not in picks)
        chosen = "; ".join(shorten(options[key], 160) for key in picks)
        yield f"Chosen: {chosen}", why or (f"over: {others}" if others else "all that was offered")


def _picks(ask: str, options: Options) -> tuple[list[str], str]:
    """The options that a prompt names, and what else it says."""
    several = _SEVERAL.match(ask[:80])
    if several is not None:
        word = several.group("picks").lower()
        if word.startswith(("both", "all")):
            return list(options) if word != "both" or len(options) == 2 else [], ""
        return [key for key in re.findall(r"[A-D1-9]", word.upper()) if key in options], ""
    ordinal = _ORDINAL.match(ask[:200])
    if ordinal is not None:
        keys, word = list(options), ordinal.group(1).lower()
        at = _ORDINALS.index(word) if word in _ORDINALS else 0 if word == "former" else len(keys) - 1
        rest = ordinal.group("rest")
        plain = not rest.strip()[:1].isalpha()
        return ([keys[at]], rest.strip(" .,;:)!-–—")) if at < len(keys) and plain else ([], "")
    one = _ONE.match(ask[:300])
    if one is None or one.group("pick").upper() not in options:
        return [], ""
    rest = _SURELY.sub("", one.group("rest"))
    if (rest[:1] == "." and rest[1:2].isdigit()) or len(rest) > 160 or "\n" in rest.strip():
        return [], ""  # a version, or a list of its own
    if rest.strip()[:1].isalnum() and not (one.group("verb") or one.group("word")):
        return [], ""  # "a test would help" answers nothing
    return [one.group("pick").upper()], rest.strip(" .,;:)!-–—")
