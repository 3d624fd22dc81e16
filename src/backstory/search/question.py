"""A question, taken apart: the words that say what is sought, and the time that it speaks of.

Stop words say nothing, unless there are no others. A word with punctuation inside (`foo_bar.py:42`,
`--no-verify`) stays one word, which finds itself. What it says of a time (times.py) is a wish for hits of
that time, not for these words, unless it says nothing else.
"""

import re
from dataclasses import dataclass
from datetime import tzinfo

from backstory.search.landmarks import EARLIER, Landmark, landmark
from backstory.search.question_words import MOST, Word, phrases_of, words_of
from backstory.search.smallwords import SMALL
from backstory.search.times import time_of
from backstory.search.whose import whose
from backstory.search.wishes import Wish, asks_how_much, asks_what_is_open, says_nothing, wish_of
from backstory.store.tokenizer import query_phrases

CHARS = 2_000
# How one asks a memory, which says nothing of what.
_ASKING = re.compile(
    r"\b(?:"
    r"(?:(?:can|could|would) you |please )?(?:remind|tell) me(?: again)?(?: of| about)?(?: the name of)?"
    r"|(?:can|could|would) you (?:suggest|recommend)(?: some| any)?"
    r"|(?:do|did) you (?:remember|recall)"
    r"|(?:\w+ (?:back |through |up )?(?:to |at |on |about )?)?our (?:previous|last|earlier) "
    r"(?:chat|conversation|discussion|session)(?: about| on)?"
    r"|(?:do you have )?any (?:advice|suggestions?|tips|recommendations?)"
    r"|i (?:wanted|want|need) to (?:follow up|confirm|clarify|know|ask)"
    r"|i(?:['’]m| am| was|['’]ve been| have been) "
    r"(?:thinking|wondering|going|looking|checking|feeling like)(?: back| through| about| of| at| to)?"
    r"|you (?:mentioned|recommended|suggested|told me)(?: last time)?"
    r"|how many (?:hours|days|weeks|months|years)(?: have| had)?(?: ago| passed)?"
    r")\b",
    re.IGNORECASE,
)
_LANDMARK = re.compile(
    r"\b(before|prior to|bevor|vor|after|since|nachdem|nach|seit) "
    r"(?:(?:the|our|my|that|this|we|i|you|they|der|dem|den|die|das|wir|ich) )*"
    r"([a-z][\w./-]*(?: [\w./-]+){0,2})"
)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: its words, the text that its meaning is taken from, the time it speaks of, if any.

    `landmark` are phrases of something that happened, before which (`earlier`) or after which it asks.
    `wish`: it asks for what the time holds, and for nothing that words could find. `anchor`: it asks for what
    was beside the landmark, and these words say it. `how` tells how the time was read, if it might be read
    otherwise. `beside`: it asks for a matter on one side of the landmark. `unknown` are those of its words
    that are names and that nothing has. `agents`: it asks for what these did then. `open`: it asks for
    what is still to be done.
    """

    words: tuple[Word, ...]
    text: str
    since: int = 0
    until: int = 0
    landmark: tuple[str, ...] = ()
    earlier: bool = False
    wish: Wish | None = None
    anchor: str = ""
    how: str = ""
    beside: Landmark | None = None
    unknown: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    open: bool = False

    @property
    def phrases(self) -> list[str]:
        """All phrases, each once."""
        return phrases_of(self.words)

    @property
    def whole(self) -> bool:
        """Whether it asks for a time, or for what is open, and for no matter."""
        return self.wish is not None or bool(self.anchor) or self.open


def question(text: str, now: int, zone: tzinfo | None = None) -> Question:
    """Take a question apart."""
    text = text.replace("\0", " ")[:CHARS]
    since, until, rest, other, how = time_of(text, now, zone)
    for said in (_ASKING.sub(" ", rest), rest, text):
        telling, spare = words_of(said)
        if telling or (spare and said is text):
            break
    words = tuple((telling or spare)[:MOST])
    if until:
        agents, doing = whose(other)
        wish = _wish(doing)
        return Question(words, said, since, until, wish=wish, how=how, agents=agents if wish else ())
    named, earlier = _landmark(rest)
    anchor = _anchor(rest) if named else ""
    is_open = not anchor and asks_what_is_open(_ASKING.sub(" ", text))
    beside = _beside(rest) if named and not anchor else None
    return Question(words, said, 0, 0, named, earlier, anchor=anchor, beside=beside, open=is_open)


def _wish(text: str) -> Wish | None:
    return wish_of(_ASKING.sub(" ", text), asks_how_much(text))


def _idle(text: str) -> bool:
    """Whether a text asks, and says nothing of what was done."""
    wish = _wish(text)
    return wish is not None and not wish.verbs


def _anchor(text: str) -> str:
    """What says the landmark, if the text asks for nothing but what was before or after it."""
    match = _LANDMARK.search(text.lower())
    if match is None or asks_how_much(text):
        return ""
    head, tail = text[: match.start()], text[match.end() :]
    if not _idle(head) or (not words_of(head)[1] and not _idle(tail)):
        return ""
    telling = words_of(text[match.start(2) :])[0]
    return " ".join(word.text for word in telling if not says_nothing(word.text))


def _beside(text: str) -> Landmark | None:
    """The landmark beside which a text asks for a matter, if it does."""
    found = landmark(text)
    if found is None or asks_how_much(text) or not _tells(found.name) or not _tells(found.matter):
        return None
    return found


def _tells(text: str) -> bool:
    return any(not says_nothing(word.text) for word in words_of(text)[0])


def _landmark(text: str) -> tuple[tuple[str, ...], bool]:
    """The phrases of what a text says it was before or after, and whether before."""
    match = _LANDMARK.search(text.lower())
    if match is None:
        return (), False
    named = [word for word in match[2].split() if word.strip(".-") not in SMALL]
    return tuple(phrase for word in named for phrase in query_phrases(word)), match[1] in EARLIER
