"""The lines of a failed command's output that say most about what went wrong.

Chosen by what a line holds, not by which program printed it: a place in a file, a name in code, the words of
complaint; lines that every failure has ("task failed", "exit code 1") say nothing.
"""

import re

from backstory.distil.prose import ANSI
from backstory.hook.untrusted_text import quoted_output

_PLACE = re.compile(r"\.\w{1,8}:\d|\bline \d|\(\w[\w-]{1,40}\)$|\b[A-Z]{1,5}\d{3,5}\b")
_SYMBOL = re.compile(r"`[^`\s]{2,60}`|'[^'\s]{2,60}'|\"[^\"\s]{2,60}\"|\w(?:::|\.)\w|\w_\w")
_COMPLAINT = re.compile(
    r"(?i)\b(?:error|fail|cannot|can't|could not|couldn't|not found|undefined|unknown|missing|denied|no such"
    r"|invalid|expected|must|should|conflict|refus|reject|unable|forbidden|unwrapped|unused)"
)
# What any failure may print.
_EMPTY = frozenset(
    (
        "error",
        "errors",
        "fail",
        "failed",
        "failure",
        "npm err",
        "npm error",
        "traceback (most recent call last)",
    )
)
_EMPTY_BEGIN = ("exit code", "exit status", "error: process completed", "make: ***", "command failed")
_EMPTY_END = ("task failed",)
_EDGES = " \t┃│|"
_READ_LINES = 2_000
_LINE_CHARS = 200
_SHORTEST = 8


def error_lines(output: str, most: int = 2) -> str:
    """The lines that say most, in their order; what they tell a reader to do is left out."""
    if "\x1b" in output:
        output = ANSI.sub("", output)
    lines = [line.strip(_EDGES)[: 2 * _LINE_CHARS] for line in output.split("\n", _READ_LINES)[:_READ_LINES]]
    worth = [(_worth(line), -number) for number, line in enumerate(lines) if _tells(line)]
    chosen = sorted(-number for _, number in sorted(worth, reverse=True)[:most])
    said = [quoted_output(lines[number])[:_LINE_CHARS] for number in chosen]
    return " / ".join(filter(None, dict.fromkeys(said)))


def _tells(line: str) -> bool:
    core = line.strip(" .:!*=-_[]()").lower()
    return (
        len(core) > _SHORTEST
        and core not in _EMPTY
        and not core.startswith(_EMPTY_BEGIN)
        and not core.endswith(_EMPTY_END)
    )


def _worth(line: str) -> float:
    complaints = min(3, len(_COMPLAINT.findall(line)))
    return 2 * bool(_PLACE.search(line)) + bool(_SYMBOL.search(line)) + complaints + min(len(line), 120) / 120
