"""Of the summary that an agent makes before a compaction, the sections that a later session needs.

What was asked, errors with their fixes, the user's feedback, what is pending and how things stand; not the
analysis before them, nor the lists of files and messages, which the log has itself.
"""

import re
from collections.abc import Iterator

from backstory.distil.prose import heading_of, whole

_BEGINS = re.compile(r"^[ \t]{0,8}(?:<summary>|\W{0,3}Summary:?\W{0,3}$)", re.I | re.M)
_NUMBERED = re.compile(r"(?:#{1,4} |\*\*)?(\d{1,2})[.)] {1,4}(?:\*\*)?([^:*\n]{3,60}):?(?:\*\*)?:?$")
_INLINE = re.compile(r"(\d{1,2})[.)] {1,4}(?:\*\*)?([^:*.\n]{3,60}):(?:\*\*)? {1,4}(\S.*)$")
# What a section is called that is kept, in the order of their worth.
_KEPT = (
    re.compile(r"\b(?:request|intent|asked|goals?|task)\b", re.I),
    re.compile(r"\b(?:errors?|fix(?:es|ed)?|problems?|failures?)\b", re.I),
    re.compile(r"\b(?:feedback|preferences?|corrections?|constraints?|wish(?:es)?)\b", re.I),
    re.compile(r"\b(?:pending|open|remaining|todos?|next)\b", re.I),
    re.compile(r"\b(?:current|status|state|progress)\b", re.I),
)


def telling_sections(summary: str, room: int) -> str:
    """The sections that are kept, in one line of at most `room` characters; all of it if it has none."""
    begins = list(_BEGINS.finditer(summary))
    text = summary[begins[-1].end() :] if begins else summary
    text = text.replace("</summary>", "")
    found = [(title, " ".join(body.split())) for title, body in _sections(text)]
    kept = [each for each in found if each[1] and any(name.search(each[0]) for name in _KEPT)]
    if not kept:
        return whole(" ".join(text.split()), room)
    shown: dict[str, str] = {}
    # short ones first: what they leave is the others'
    for place, (title, body) in enumerate(sorted(kept, key=lambda each: len(each[1]))):
        share = room // (len(kept) - place) - len(title) - 3
        shown[title] = f"{title}: {whole(body, max(share, 1))}"
        room -= len(shown[title]) + 1
    return " ".join(shown[title] for title in dict.fromkeys(title for title, _ in kept))


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Title and body of each; numbered ones count on, so that a list inside is no section."""
    title, body, last = "", list[str](), 0
    for line in text.split("\n"):
        match = _NUMBERED.match(line.strip()) if line[:2].strip() else None
        match = match or (_INLINE.match(line) if line[:1].isdigit() else None)
        plain = heading_of(line) if match is None and not last and line[:1] in "#*" else None
        if match is not None and int(match[1]) == last + 1:
            last += 1
            name, rest = match[2].strip(), match[3] if match.lastindex == 3 else ""
        elif plain is not None:
            name, rest = plain, ""
        else:
            body.append(line)
            continue
        yield title, "\n".join(body)
        title, body = name, [rest]
    yield title, "\n".join(body)
