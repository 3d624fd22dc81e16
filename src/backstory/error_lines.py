"""The lines of a failed command's output that say most about what went wrong.

Chosen by what a line holds, not by which program printed it: a place in a file, a name in code, the words of
complaint; lines that every failure has ("task failed", "exit code 1") say nothing.
"""

import re

from backstory.hook.untrusted_text import quoted_output

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PLACE = re.compile(r"\.\w{1,8}:\d|\bline \d|\(\w[\w-]{1,40}\)$|\b[A-Z]{1,5}\d{3,5}\b")
_RULE = re.compile(r"(?<=\S) \([a-z][\w-]{2,40}\)$")  # a linter's name for what is wrong
_SYMBOL = re.compile(r"`[^`\s]{2,60}`|'[^'\s]{2,60}'|\"[^\"\s]{2,60}\"|\w(?:::|\.)\w|\w_\w|[a-z][A-Z]")
_COMPLAINT = re.compile(
    r"(?i)\b(?:error|fail|cannot|can't|could not|couldn't|not found|undefined|unknown|missing|denied|no such"
    r"|invalid|expected|must|should|conflict|refus|reject|unable|forbidden|unwrapped|unused|ignored|unmatched"
    r"|ambiguous|already exists|exceeded|has no |permission|not checked|assert)"
)
# What a program says when it gives up: "(RuntimeError) …", "TypeError: …", "fatal: …", "E   assert …".
_GIVES_UP = re.compile(
    r"^\W{0,6}(?:\w+:\d+: )?(?:\w[\w.]*(?:Error|Exception|Interrupt)\b\)?(?: \[\w+\])?:? \S|(?:error|"
    r"fatal|panic|FATAL"
    r"|ERROR|Error)(?:\[E\d+\]| [A-Z]{1,5}\d+)?: \S|E   \S)|: error(?: [A-Z]{2}\d+)?: |"
    r"(?:command )?not found\b"
    r"|No such file or directory|[Pp]ermission denied|not recognized"
)
# Where it was called from, and how many failed: says where or that, not what.
_FRAME = re.compile(
    r"^\W{0,6}(?:at \S|File \"|└─|\([a-z]\w* [\d.]+\) |[\w/.-]+:\d+(?::\d+)?$|[\w/.-]+:\d+: (?:\(test\)|"
    r"\(\w+\)|[\w.]+/\d+$))|#\(\S{1,200}\)$"
    r"|^\W{0,3}\d+ (?:\w+, )?(?:tests?|doctests?|passed|failed|passing|failing|errors?)\b|"
    r"^Tests?(?: Suites)?:\s"
    r"|^(?:ok|PASS|✓|✔|PASSED)\b|truncated: showing|--verbose|--help\b|for more (?:information|details)"
)
_WARNS = re.compile(
    r"^\W{0,3}warning: |\[(?:warning|warn|info|debug)\]|^Analysis took|\bWARN\b|^hint: |"
    r"failed to push some refs|script failed \(code|^(?:FAILED|ERROR) \S+::"
    r"|ld returned \d|linker command failed|could not compile|aborting due to|exit(?:ed with)? (?:code|"
    r"status)|build fail"
    r"|found \d+ errors?\.?$|tests? failed\.?$",
    re.IGNORECASE,
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
_ENOUGH = 1.05
_SPARE = 6  # lines looked at beyond those wanted: some are advice and are not quoted


def error_lines(output: str, most: int = 2) -> str:
    """The lines that say most, in their order; what they tell a reader to do is left out."""
    if "\x1b" in output:
        output = ANSI.sub("", output)
    if "\\n\\n" in output or "\n" not in output:  # a text that was quoted once more on its way
        output = output.replace("\\n", "\n")
    lines = [line.strip(_EDGES)[: 3 * _LINE_CHARS] for line in output.split("\n", _READ_LINES)[:_READ_LINES]]
    worth = [(_worth(line), -number) for number, line in enumerate(lines) if _tells(line)]
    said: dict[str, int] = {}
    for _, number in sorted(worth, reverse=True)[: most + _SPARE]:
        quoted = cut_line(quoted_output(lines[-number]), _LINE_CHARS)
        if len(said) < most and 2 * len(quoted) > min(len(lines[-number]), _LINE_CHARS):
            said.setdefault(quoted, -number)
    return " / ".join(sorted(said, key=lambda line: said[line]))


def cut_line(line: str, limit: int) -> str:
    """A line of at most so many characters; the name of the rule at its end stays."""
    rule = _RULE.search(line)
    if rule is None or len(line) <= limit:
        return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"
    return f"{line[: limit - len(rule[0]) - 1].rstrip()}…{rule[0]}"


def informative(line: str) -> bool:
    """Whether a line says what went wrong, and not only that or where something did."""
    return _worth(line) >= _ENOUGH


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
    told = 3 * bool(_GIVES_UP.search(line)) - 4 * bool(_FRAME.search(line)) - 3 * bool(_WARNS.search(line))
    return (
        told
        + 2 * bool(_PLACE.search(line))
        + bool(_SYMBOL.search(line))
        + complaints
        + min(len(line), 120) / 120
    )
