"""The text between two marks, such as a tag and its end, found in one pass.

A pattern like `<a>.*?</a>` reads to the end of the text once for every mark that nothing closes.
"""

from collections.abc import Iterator


def text_between(text: str, start: str, end: str) -> str | None:
    """What stands between the first mark and the next end; None if there is no such pair."""
    return next((text[a + len(start) : b - len(end)] for a, b in _spans(text, start, end)), None)


def text_without(text: str, start: str, end: str, blanks: bool = False) -> str:
    """The text without what is marked, and without the white space before it if `blanks`."""
    kept, at = [], 0
    for a, b in _spans(text, start, end):
        kept.append(text[at:a].rstrip() if blanks else text[at:a])
        at = b
    return "".join([*kept, text[at:]])


def _spans(text: str, start: str, end: str) -> Iterator[tuple[int, int]]:
    at = 0
    while (a := text.find(start, at)) >= 0 and (b := text.find(end, a + len(start))) >= 0:
        yield a, (at := b + len(end))
