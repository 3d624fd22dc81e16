"""Facts that hold one value at a time: an address, a path, a number, the person to whom a thing belongs.

Only what names one thing ("the staging host is …") and ends with the value is read: with "also", with a limit
or of "one of the hosts" it may be true beside another.
"""

import re
from typing import NamedTuple

_SORTS = (
    ("address", r"\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?"),
    ("page", r"[a-z][a-z+]+://[^\s,;]+"),
    ("mailbox", r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    ("path", r"~?\.{0,2}/[^\s,;]+|[A-Z]:\\[^\s,;]+"),
    ("number", r"\d+(?:\.\d+)?"),
    ("dotted_name", r"[a-z\d-]+(?:\.[a-z\d-]+)*\.[a-z]{2,}"),
)
_VALUE = "|".join(f"(?P<{sort}>{pattern})" for sort, pattern in _SORTS)
_IS = re.compile(
    r"(?P<said>(?:the|our|my) (?:(?!(?:is|are|was|and|or|of|other|another|next|last|first|second)\b)"
    r"[\w'’-]+ ){1,4}"
    rf"(?:is(?: (?:in|at|on))?|lives (?:in|at)|listens on)(?: port)?) `?(?:{_VALUE})`?[.!]?",
    re.IGNORECASE,
)
_OWNS = re.compile(
    r"(?P<person>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?) "
    r"(?P<said>(?:owns|is (?:the owner of|the lead of|in charge of)) "
    r"(?!(?:an?|some|one|two|half|parts?|most|many|several|shares|\d\S*)\b)[\w'’ -]{2,60})[.!]?"
)
_NOBODY = re.compile(r"(?:The|Our|My|Each|Every|One|Nobody|Everybody|He|She|It|They|This|That)\b")
_SHARED = re.compile(r"\b(?:with|together|jointly|partly|too)\b")


class Valued(NamedTuple):
    """What is said of a thing without its value, of which sort the value is, and the value."""

    said: str
    sort: str
    value: str


def valued(text: str) -> Valued | None:
    """The one value that a fact gives to one thing; None if it gives none, or only a part of it."""
    text = " ".join(text.split())
    if is_so := _IS.fullmatch(text):
        sort = next(name for name, found in is_so.groupdict().items() if found and name != "said")
        return Valued(is_so["said"].lower(), sort, is_so[sort].rstrip("."))
    owned = _OWNS.fullmatch(text)
    if owned is None or _NOBODY.match(text) or _SHARED.search(owned["said"]):
        return None
    return Valued(owned["said"].lower(), "person", owned["person"])
