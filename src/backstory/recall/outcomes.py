"""What came of a session, in one row: its commits, and how its closing messages sum it up."""

import re
from collections.abc import Iterable, Sequence

from backstory.attribution import by_agent
from backstory.statements import PassageKind, Statement

_SUBJECT_END = re.compile(r"(?<=[a-z0-9)`])\. |; ")
COMMITTED = "Committed: "
_SUBJECT_CHARS = 140
_COMMITS_SHARE = 0.6  # of the row's room; the closing has the rest


def outcome(weighed: Iterable[tuple[float, Statement]], room: int, floor: float) -> str:
    """The outcome of a session in at most `room` characters, from its statements with their worth; or ""."""
    found = sorted(weighed, key=lambda each: -each[1].at)
    closings = sorted(
        ((worth, each) for worth, each in found if each.kind == PassageKind.CLOSING and worth >= floor),
        key=lambda each: -each[0],
    )
    subjects = _subjects([each for _, each in found if each.kind == PassageKind.COMMIT and not each.place])
    text = _commits(subjects, int(room * _COMMITS_SHARE) if closings else room)
    for _, closing in closings:
        told = by_agent(closing.told)
        if len(text) + len(closing.told) + 2 <= room and not _repeats(closing.told, text):
            return f"{text}. {told}" if text else told
    return text


def _subjects(commits: Sequence[Statement]) -> list[str]:
    """The first lines of commit messages, newest first, each once."""
    lines = (_SUBJECT_END.split(each.text.removeprefix("commit: "))[0] for each in commits)
    return [line for line in dict.fromkeys(lines) if len(line) <= _SUBJECT_CHARS]


def _commits(subjects: Sequence[str], room: int) -> str:
    text = ""
    for subject in subjects:
        longer = f"{text}; {subject}" if text else f"{COMMITTED}{subject}"
        if not text or len(longer) <= room:
            text = longer
    return text


def _repeats(one: str, other: str) -> bool:
    words = set(one.lower().split())
    return len(words & set(other.lower().split())) >= len(words) / 2
