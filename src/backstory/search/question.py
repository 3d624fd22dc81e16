"""A question, taken apart: the words that say what is sought, and the time that it speaks of.

Stop words say nothing, unless there are no others. A word with punctuation inside (`foo_bar.py:42`,
`--no-verify`) stays one word, which finds itself. What it says of a time (time_expressions.py) is a wish for
hits of that time, not for these words, unless it says nothing else.
"""

import re
from dataclasses import dataclass
from datetime import tzinfo

from backstory.search.question_words import MOST, Word, phrases_of, words_of
from backstory.search.requested_kinds import Wish, asks_how_much, asks_what_is_open, wish_of
from backstory.search.time_expressions import read_time

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


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: its words, the text that its meaning is taken from, the time it speaks of, if any.

    `wish`: it asks for what the time holds, and for nothing that words could find. `unknown` are those of its
    words that are names and that nothing has. `open`: it asks for what is still to be done.
    """

    words: tuple[Word, ...]
    text: str
    since: int = 0
    until: int = 0
    wish: Wish | None = None
    unknown: tuple[str, ...] = ()
    open: bool = False

    @property
    def phrases(self) -> list[str]:
        """All phrases, each once."""
        return phrases_of(self.words)

    @property
    def whole(self) -> bool:
        """Whether it asks for a time, or for what is open, and for no matter."""
        return self.wish is not None or self.open


def question(text: str, now: int, zone: tzinfo | None = None) -> Question:
    """Take a question apart."""
    text = text.replace("\0", " ")[:CHARS]
    since, until, rest, other = read_time(text, now, zone)
    for said in (_ASKING.sub(" ", rest), rest, text):
        telling, spare = words_of(said)
        if telling or (spare and said is text):
            break
    words = tuple((telling or spare)[:MOST])
    if until:
        wish = wish_of(_ASKING.sub(" ", other), asks_how_much(other))
        return Question(words, said, since, until, wish)
    return Question(words, said, open=asks_what_is_open(_ASKING.sub(" ", text)))
