"""Decisions that the user makes by answering: a letter, a list of numbers, "yes" to a recommendation.

The words of such a decision are the assistant's, the decision is the user's.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from backstory.distil import phrases
from backstory.distil.agreed import RECOMMEND, approved, own_list
from backstory.distil.choices import Before, named_in
from backstory.distil.prose import content_words, sentences, shorten, subject
from backstory.distil.reasons import CHORE, DIRECTIVE, MERIT, REASON, Read
from backstory.distil.story import Said, Turn
from backstory.model import Draft, MemoryKind

FILLER = phrases.Rule("filler")
OFFER = phrases.Rule("offer")

Options = dict[str, str]
TAIL = 400  # an offer stands at the end of a message

_OPTION = re.compile(
    r"^\s*(?:[-*]\s+)?(?:#+\s+)?(?:\*\*)?\s*"
    r"(?:(?:option|variante?|approach|conflict|question|issue|point)\s+)?([a-d]|"
    r"[1-9])(?:\*\*)?\s*[.):]\s*(.+)",
    re.IGNORECASE | re.MULTILINE,
)
_OR = re.compile(r"\b(?:or|oder|ou|o|vs\.?)\b", re.IGNORECASE)
_EITHER = re.compile(
    r"\b(?:either .{3,80} or|i (?:can|could) .{3,80} or|entweder .{3,80} oder|two (?:ways|options))\b",
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
    r"\(([a-d]|[1-9])\)\s*([^;()\n]{3,120}?)(?=[,;.]?\s*(?:\(|or \(|\?|\.|$))", re.IGNORECASE
)
_SURELY = re.compile(
    r"^\s+(?:obviously|please|pls|then|definitely|of course|sure|it is|for now|thanks)\b", re.I
)
_SHOULD = re.compile(r"\b(?:should|shall|soll(?:en)?|doit)\b", re.IGNORECASE)
_COMMA = re.compile(r"\s*[,;:–—]\s+")
_REFUSED = re.compile(
    r"(?:no|nope|nah|nein|non|not yet|not now)[,.;:!]\s*(?!(?:that'?s|thanks?|thx|i'?m|it'?s)\b)",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"^\W*(?:(?:ok|yes|do|go with|let'?s do|options?)\s+)*"
    r"(?P<picks>[a-d1-9](?:\s*(?:,|and|&|\+|\s)\s*(?:and\s+)?[a-d1-9])+|both"
    r"|all(?: of them| three| four)?)\W*$",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"^\s*(?:(?:ok|yes|y|yup|yeah|yep|sure)[,. ]+)?(?P<verb>let'?s (?:do|go with) |go with |i (?:pick|"
    r"choose|like|prefer) "
    r"|use )?"
    r"(?P<word>option\s+)?(?P<pick>[a-d]|[1-9])\b(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_REPLY = re.compile(r"^\s*([1-9])[.):]\s+(\S.{1,300})$", re.MULTILINE)
_YES = re.compile(r"(?:yes|yup|yeah|yep|ok|sure|no|ja|nein|oui|non|sí)\b", re.IGNORECASE)
#: How things went, and a go-ahead that names nothing: neither chooses.
_STATUS = re.compile(
    r"\b(?:works?|worked|working|done|fixed|passe[sd]|ready|installed|updated|deployed|merged)\W*$",
    re.IGNORECASE,
)
_BARE = re.compile(r"^\W*\w+ (?:it|them|those|these|that|this|all)(?: all)?\W*$", re.IGNORECASE)
_ASKED = re.compile(r"^(.{3,400}?)\n→ (.{1,400})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Offers:
    """What the assistant has put before the user: its last message, and the options of the last two."""

    last: Said | None = None
    options: tuple[Options, ...] = ()

    def after(self, said: Said) -> "Offers":
        found = {key.upper(): text.replace("**", "").strip() for key, text in _OPTION.findall(said.text)}
        if len(found) < 2 and "(" in said.text:
            found = {key.upper(): text.strip() for key, text in _INLINE.findall(said.text)}
        return Offers(said, (found, *self.options[:1]) if len(found) > 1 else self.options[:1])

    def before(self) -> Before:
        """What a prompt may be taking up."""
        if self.last is None:
            return Before()
        text = self.last.text
        tail = text.rstrip()[-TAIL:]
        offered = tail.endswith(("?", "？")) or bool(OFFER.search(tail) or RECOMMEND.search(tail))
        numbers = {key for options in self.options for key in options}
        return Before(offered or bool(numbers), content_words(text), frozenset(numbers), offered)

    def reason_for(self, choice: str) -> str:
        """Why, in the assistant's words, when the user only agreed: the recommendation on the same thing."""
        if self.last is None:
            return ""
        words = content_words(choice)
        for sentence in sentences(self.last.text):
            if RECOMMEND.search(sentence.text) and words & content_words(sentence.text):
                return sentence.text
        return ""

    def named(self, text: str) -> str:
        """The option that a sentence names by its number."""
        options = self.options[0] if self.options else {}
        return next((shorten(options[key], 160) for key in sorted(named_in(text)) if key in options), "")

    def short_answer(self, text: str, following: str) -> Read | None:
        """A few words that name one of the things asked about ("first the sum"), with or without a reason."""
        head, *more = _COMMA.split(text, maxsplit=1)
        if self.last is None or len(head.split()) > 6:
            return None
        tail = self.last.text.rstrip()[-TAIL:]
        words = content_words(head)
        following = more[0] if more else following
        if (
            (refused := _REFUSED.match(text))
            and (asked := _should(tail))
            and content_words(text[refused.end() :])
        ):
            return Read(f"{asked} → {text}", following)
        asked = next((s.text for s in reversed(sentences(self.last.text)) if s.text.endswith("?")), "")
        if CHORE.match(text) or _STATUS.search(text) or (_BARE.match(text) and not MERIT.search(following)):
            return None  # a go-ahead or a report, and no choice
        for options in self.options[:1] if self.before().asked else ():
            named = [option for option in options.values() if words & content_words(option)]
            if len(named) == 1 and not text.endswith("?"):
                return Read(f"{shorten(named[0], 160)} → {text}", following)
        if (
            text.endswith(("?", "？", ":"))
            or not words
            or not (tail.endswith(("?", "？")) or _EITHER.search(tail))
            or FILLER.search(asked)
        ):
            return None
        if _OR.search(tail) and words & content_words(tail):
            return Read(text, following if MERIT.search(following) else f"asked: {shorten(asked, 160)}")
        listed = [s.text for s in sentences(self.last.text) if s.bullet]
        hits = [item for item in listed if words & content_words(item)]
        if REASON.search(following) and (hits or words & content_words(self.last.text)):
            return Read(text, following, ahead=True)
        return (
            Read(text, f"taken from: {shorten(hits[0], 160)}")
            if len(hits) == 1 and len(listed) > 1 and (len(text.split()) <= 8 or DIRECTIVE.match(text))
            else None
        )


def _should(tail: str) -> str:
    """The question at the end of a message that asks how something should be."""
    asked = next((s.text for s in reversed(sentences(tail)) if s.text.endswith("?")), "")
    about = OFFER.search(asked) or _SHOULD.search(asked)
    return shorten(asked, 160) if about and len(content_words(asked)) > 2 else ""


def answered(turn: Turn, offers: Offers) -> Iterator[Draft]:
    """The decisions in a turn's answers."""
    for event_id, at, text in turn.choices:
        for question, answer in _ASKED.findall(text):
            yield _draft(f"{question} → {answer}", "the user's answer", at, (event_id,), turn.number)
    if not turn.ask or offers.last is None:
        return
    sources = (offers.last.id, turn.ask_id)
    told = (
        *_picked(turn.ask, offers),
        *approved(turn.ask, offers.last, offers.options[0] if offers.options else {}),
        *own_list(turn.ask, offers.last),
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
