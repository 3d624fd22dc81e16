"""Markdown that memory tools keep: sections, days and times of day."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, tzinfo
from hashlib import blake2b
from pathlib import Path

from backstory import clock
from backstory.agents.history_source import Trail, trail_of
from backstory.agents.markdown_history import markdown_files
from backstory.paths import default_home

DAILY = re.compile(r"(\d{4}-\d\d-\d\d)\.md")
_FENCE = re.compile(r"^(```|~~~)")
_HEADING = re.compile(r"(#{1,6}) ")


def page_sections(text: str, deepest: int) -> Iterator[str]:
    """A page cut at its headings down to a level; headings inside fences are text. Empty ones stay."""
    part: list[str] = []
    fence = ""
    for line in text.split("\n"):
        if mark := _FENCE.match(line):
            fence = "" if fence == mark[1] else fence or mark[1]
        heading = None if fence else _HEADING.match(line)
        if heading and len(heading[1]) <= deepest and part:
            yield "\n".join(part).strip()
            part = []
        part.append(line)
    yield "\n".join(part).strip()


def says_something(section: str) -> bool:
    """Whether there is more in a section than headings."""
    return any(line.strip() and not _HEADING.match(line) for line in section.split("\n"))


def day_at(day: str, time_of_day: str = "00:00") -> int:
    """A time of day on a day, in the user's zone; 0 if there is no such."""
    return parse_moment(f"{day}T{time_of_day.zfill(5)}")


def parse_moment(text: str) -> int:
    """A day or a time as people write it, in the user's zone unless it names one; 0 if it is none."""
    try:
        found = datetime.fromisoformat(text.strip())
        if found.tzinfo is None:
            zone: tzinfo | None = clock.zone()
            found = found.replace(tzinfo=zone) if zone else found.astimezone()
        return max(0, int(found.timestamp() * 1000))
    except (ValueError, OverflowError, OSError):
        return 0


class Numbering:
    """Ids for what has none: what it says, and which of several that say the same it is."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def of(self, *parts: str) -> str:
        """The id of the next thing that says this."""
        said = blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
        self._seen[said] += 1
        return f"{said}#{self._seen[said]}"


def markdown_trails(place: Path, wanted: Callable[[Path], bool]) -> Iterator[Trail]:
    """The Markdown files below a place that are wanted, or the one that is named; never Backstory's own."""
    ours = default_home().resolve()
    for path, found in markdown_files(place, lambda name: name.endswith(".md")):
        if (path == place or wanted(path)) and not path.resolve().is_relative_to(ours):
            yield trail_of(path, found)
