"""A landmark in a question: something that happened, before or after which it asks for a matter.

"Which queue did we use before the migration" asks for the queue, and not for the migration: the landmark's
words choose a side of a time, and what is left of the question is looked for there. Only where the question
ends with it or begins with it, and where it is named as something known ("the", "our", "we"): "after meeting
Maria" may well be told together with what came of it.
"""

import re
from dataclasses import dataclass

from backstory.search.wishes import Wish, wish_of

EARLIER = ("before", "prior to", "bevor", "vor")
_KNOWN = r"(?:the|our|my|that|this|we|der|dem|den|die|das|unserer|unserem|wir)"
_WORDS = "before|prior to|bevor|vor|after|since|nachdem|nach|seit"
_SIDE = rf"\b(?P<side>{_WORDS})\s++(?:{_KNOWN}\s++){{1,6}}"
_NAME = r"(?P<name>[\w./-]{0,80}\w(?:\s++[\w./-]{0,80}\w){0,5}?)"
_ASKS = r"(?:what|which|who|how|why|where|when|did|welche[rsn]?|was|wie|warum|wer|wo)\b"
_SIDES = re.compile(rf"\b(?:{_WORDS})\s", re.IGNORECASE)
_LAST = re.compile(rf"{_SIDE}{_NAME}\s*+[?.!]*+\s*+$", re.IGNORECASE)
_FIRST = re.compile(rf"^\W*+{_SIDE}{_NAME}(?:\s*+,\s*+|\s++(?={_ASKS}))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Landmark:
    """What is asked for, the landmark's name, and whether it is asked for what was before it."""

    matter: str
    name: str
    earlier: bool


def landmark(text: str) -> Landmark | None:
    """The landmark that a text ends with, or begins with, and what else it says."""
    match = _FIRST.search(text) or _LAST.search(text)
    if match is None:
        return None
    matter = f"{text[: match.start()]} {text[match.end() :]}".strip()
    side = " ".join(match["side"].lower().split())
    return Landmark(matter, match["name"], side in EARLIER) if matter else None


def sort_beside(text: str) -> Wish | None:
    """The sort of thing that a text asks for before or after a landmark, if it does and names no matter."""
    found = landmark(text)
    wish = wish_of(found.matter if found else _SIDES.split(text, maxsplit=1)[0])
    return wish if wish and wish.asked else None
