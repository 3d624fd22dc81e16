"""As much of a hit's text as there is room for, with the words that were asked for in it."""

from backstory.search.question_words import WORD
from backstory.search.smallwords import SMALL

_ELLIPSIS = "… "


def excerpt(text: str, asked: str, limit: int) -> str:
    """The text on one line, from its beginning or from shortly before a word that was asked for.

    Of the words that stand in it the longest counts: it tells most. The caller cuts what is beyond the limit.
    """
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    low = line.lower()
    words = {word.strip(".:").lower() for word in WORD.findall(asked)} - SMALL
    found = max((word for word in words if word and word in low), key=len, default="")
    at = low.find(found) if found else 0
    if at + len(found) <= limit - len(_ELLIPSIS):
        return line
    start = line.rfind(" ", 0, max(1, at - limit // 3)) + 1
    return _ELLIPSIS + line[start:]
