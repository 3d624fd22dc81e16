"""Spans of a text: where rows may begin, what is private, and what is left once overlaps are merged.

Loaded on the first hit, so a clean text does not pay for it.
"""

from backstory.hook.names import IDENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

    Span = tuple[int, int, int]  # start, end, rank of the row


def places(low: str, anchors: tuple[str, ...]) -> list[int]:
    """Where anchors stand, in order."""
    found = []
    for anchor in anchors:
        at = low.find(anchor)
        while at >= 0:
            found.append(at)
            at = low.find(anchor, at + 1)
    return sorted(found)


def run_starts(text: str) -> "Iterator[int]":
    """Where runs of 20 letters, digits, _ and - start; and after an escape, as nested JSON has it."""
    from backstory.hook.prefilter import RUN, WORDS

    # One byte a character: what is not ASCII is none of a run.
    words = text.encode("ascii", "replace").translate(WORDS).decode("latin-1").replace(".", " ")
    at = words.find(RUN)
    while at >= 0:
        yield at
        if text[at - 1 : at] == "\\":
            yield at + 1
        end = words.find(" ", at)
        at = words.find(RUN, end) if end >= 0 else -1


def begins_run(text: str, at: int) -> bool:
    """Whether a run of letters, digits, _ and - starts here, apart from an escape of nested JSON."""
    before = text[at - 1 : at]
    if not before or before not in IDENT:
        return True
    return before in "nrtbf" and text[at - 2 : at - 1] == "\\"


def private(tags: "Iterable[re.Match[str]]", end: int) -> "Iterator[Span]":
    """Private spans: nested ones end with the outermost, an unclosed one with the text."""
    depth = start = 0
    for tag in tags:
        if not tag[1]:
            start = start if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield start, tag.end(), 0
    if depth:
        yield start, end, 0


def merged(found: "list[Span]") -> "list[Span]":
    """Spans in order, without overlaps: the row that stands first in the table names what two have found."""
    kept: list[Span] = []
    for start, end, rank in sorted(found):
        if kept and start < kept[-1][1]:
            last = kept[-1]
            kept[-1] = (last[0], max(last[1], end), min(last[2], rank))
        else:
            kept.append((start, end, rank))
    return kept


def outside_marks(marks: list[tuple[int, int]], found: "list[Span]") -> "list[Span]":
    """Spans without those that cut into, or lie within, what an earlier pass has left."""
    kept, first = [], 0
    for span in sorted(found):
        while first < len(marks) and marks[first][1] <= span[0]:
            first += 1
        near = first
        while near < len(marks) and marks[near][0] < span[1] and not _cuts(span, marks[near]):
            near += 1
        if near == len(marks) or marks[near][0] >= span[1]:
            kept.append(span)
    return kept


def _cuts(span: "Span", mark: tuple[int, int]) -> bool:
    start, end, _ = span
    apart = end <= mark[0] or mark[1] <= start
    around = start <= mark[0] and mark[1] <= end and (start, end) != mark
    return not apart and not around
