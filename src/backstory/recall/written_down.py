"""What a project's own instructions say already: an agent reads them at its start, and is not told again."""

import re
from pathlib import Path

from backstory.hook.regular_file import read_head

FILES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md", "README.md")
_MOST_BYTES = 256 * 1024
_SAME = 0.75
_FEWEST_WORDS = 4
_WORD = re.compile(r"[^\W_]{3,}")


class WrittenDown:
    """The lines of a project's instructions, as sets of words."""

    def __init__(self, root: str) -> None:
        texts = (read_head(str(Path(root, name)), _MOST_BYTES) for name in FILES) if root else ()
        lines = (line for data in texts for line in data.decode("utf-8", "replace").splitlines())
        self._lines = [words for line in lines if len(words := _words(line)) >= _FEWEST_WORDS]

    def says(self, text: str) -> bool:
        """Whether most of a text stands in one line of them."""
        words = _words(text)
        return len(words) >= _FEWEST_WORDS and any(
            len(words & line) >= _SAME * len(words) for line in self._lines
        )


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
