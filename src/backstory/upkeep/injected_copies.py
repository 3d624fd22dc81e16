"""Where we have repeated ourselves: what is forgotten also stands in what we printed and injected elsewhere.

Such a text is known by the handles in it, and by stretches of the forgotten words: it may be cut, wrapped or
written as JSON, so only letters and digits count.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from backstory.capture.transcript_archive import CALL, kept_copies, kept_lines
from backstory.hook.brief_text import HANDLE
from backstory.paths import Home

_HANDLE = re.compile(r"(?:\b|(?<=\\[nrt]))[ems][0-9a-f]{8}")  # a line may begin with it, also in JSON
_NO_WORD = re.compile(r"[\W_]+")
_STRETCH = 24
_SHORTEST = 12  # a shorter text says nothing of its own
_OURS = "backstory"


class InjectedCopies:
    """Tells whether a text repeats what is forgotten: things by their ids, and what they said."""

    def __init__(self, ids: Iterable[str], texts: Iterable[str]) -> None:
        self._handles = {one[:HANDLE] for one in ids}
        self._calls: set[bytes] = set()
        self._stretches: dict[int, set[str]] = defaultdict(set)
        for text in texts:
            plain = _plain(text)
            for start in range(0, max(1, len(plain) - _STRETCH + 1), _STRETCH):
                stretch = plain[start : start + _STRETCH]
                if len(stretch) >= _SHORTEST:
                    self._stretches[len(stretch)].add(stretch)

    def names(self, text: str) -> bool:
        """Whether a text has the handle of something that is forgotten."""
        return not self._handles.isdisjoint(_HANDLE.findall(text))

    def says(self, text: str) -> bool:
        """Whether a text has forgotten words in it."""
        plain = _plain(text)
        return any(
            plain[start : start + size] in some
            for size, some in self._stretches.items()
            for start in range(len(plain) - size + 1)
        )

    def repeats(self, text: str) -> bool:
        """Whether a text, also one that is JSON, tells of it in any way."""
        return self.names(text) or any(map(self.says, _strings(text)))

    def came_by(self, calls: Iterable[str]) -> None:
        """Note the calls of tools that gave it back: transcripts have them, too, by these ids."""
        self._calls.update(call.encode() for call in calls if call)

    def within(self, line: bytes) -> bool:
        """Whether a line of a transcript has what we told of it; what others say there is theirs."""
        text = line.decode("utf-8", "replace")
        if self.names(text) or not self._calls.isdisjoint(CALL.findall(line)):
            return True
        return _OURS in text and any(_OURS in one and self.says(one) for one in _strings(text))


def copies_with(
    home: Home, echo: InjectedCopies, gone: Iterable[str], damaged: Callable[[Path], None]
) -> list[Path]:
    """Kept transcripts in which we repeated it, apart from those of sessions whose copies go anyway.

    Of the others `damaged` is told of those that cannot be read in full.
    """
    skipped = set(gone)
    return [
        path
        for path in kept_copies(home)
        if path.name.partition(".")[0] not in skipped and any(map(echo.within, kept_lines(path, damaged)))
    ]


def _plain(text: str) -> str:
    return _NO_WORD.sub("", text.casefold())


def _strings(text: str) -> Iterator[str]:
    """The strings in a JSON text; of any other, the text itself."""
    try:
        value = json.loads(text) if text[:1] in "{[" else text
    except (ValueError, RecursionError):
        value = text
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as found:
                yield found
            case list() as found:
                waiting += found
            case dict() as found:
                waiting += found.values()
