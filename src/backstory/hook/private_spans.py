"""Spans of a text: where rows may begin, what is private, and what is left once overlaps are merged.

Loaded on the first hit, so a clean text does not pay for it.
"""

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
    """Where a token of 20 letters, digits, _ and - may start: a run does, or a part of it after a _ or -."""
    from backstory.hook.anchors import RUN, WORDS

    # One byte a character: what is not ASCII is none of a run.
    words = text.encode("ascii", "replace").translate(WORDS).decode("latin-1").replace(".", " ")
    joints = text.replace("-", "_")
    at = words.find(RUN)
    while at >= 0:
        yield at
        if text[at - 1 : at] == "\\":
            yield at + 1
        end = words.find(" ", at)
        joint = joints.find("_", at, (end if end >= 0 else len(text)) - 20)
        while joint >= 0:
            yield joint + 1
            joint = joints.find("_", joint + 1, (end if end >= 0 else len(text)) - 20)
        at = words.find(RUN, end) if end >= 0 else -1


def private(tags: "Iterable[re.Match[str]]", text: str) -> "Iterator[Span]":
    """Private spans: nested ones end with the outermost, an unclosed one with the text.

    One that only closes was opened in an earlier text: it began where this one does.
    """
    depth = start = 0
    opened = False
    for tag in tags:
        if not tag[1]:
            start = start if depth else tag.start()
            depth += 1
            opened = True
        elif depth:
            depth -= 1
            if not depth:
                yield start, tag.end(), 0
        elif not opened and text[: tag.start()].strip():
            yield 0, tag.end(), 0
            opened = True
    if depth:
        yield start, len(text), 0


MOST_REPEATS = 64  # values that are sought in one text, so that many of them stay linear


def without_repeats(text: str, told: "set[str]", counts: "dict[str, int]") -> str:
    """The text without what was redacted elsewhere in it, if that could be nothing but the secret."""
    from backstory.hook.context_validators import strict

    for value in sorted(told, key=lambda value: (-len(value), value))[:MOST_REPEATS]:
        again = text.count(value) if strict(value) else 0
        if again:
            text = text.replace(value, "[redacted:secret]")
            counts["secret"] = counts.get("secret", 0) + again
    return text


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
