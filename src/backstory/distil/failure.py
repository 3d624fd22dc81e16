"""Whether a command really failed, and the one line of its output that says why.

An exit code can lie both ways: `pytest | tail` succeeds with red tests, `grep` fails by finding nothing.
"""

import re
from itertools import islice

from backstory.distil.prose import ANSI, shorten
from backstory.distil.shell import CHECKS, Command, Role
from backstory.hook.untrusted_text import quoted_output
from backstory.model import Event, Outcome

#: The agent's machinery speaking, not the command. In lower case.
_NOISE = (
    "file has not been read",
    "file has been modified",
    "file has been unexpectedly modified",
    "string to replace not found",
    "string not found",
    "matches of the string to replace",
    "doesn't want to proceed",
    "doesn't want to take this action",
    "user rejected",
    "user denied",
    "user declined",
    "requires approval",
    "permission to use",
    "haven't granted",
    "sibling tool call",
    "tool_use_error",
    "request interrupted",
    "interrupted by user",
    "inputvalidationerror",
    "no such tool",
    "blocked by hook",
    "blocked by policy",
    "[tool use",
)

#: Red results that an exit code of 0 hides.
_RED = re.compile(
    r"(?<![\w.])[1-9]\d* (?:tests? )?(?:failed|failures?|failing)\b|\b[1-9]\d* errors?\b(?! (?:handl|"
    r"messag))"
    r"|Tests?:\s+[1-9]\d* failed|^FAILED |^--- FAIL|^FAIL\b|test result: FAILED|error\[E\d+\]"
    r"|^error(?: TS\d+)?:|npm ERR!"
    r"|Traceback \(most recent call last\)|BUILD FAILED|Compilation error|\*\* \(\w+Error\)|^panic:"
    r"|[Ee]xit code [1-9]|: error TS\d+|Command failed|ELIFECYCLE",
    re.MULTILINE,
)
_ZERO = re.compile(r"\b0 (?:failed|failures|errors?)\b")

#: Words without which an output reports no failure: looked for first, because most outputs are green.
_RED_ANCHORS = ("fail", "FAIL", "rror", "ERR!", "panic:", "xit code", "Traceback", "ELIFECYCLE")

#: The most telling line first: words that must occur, and the pattern.
_TELLING: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (tuple(words.split("|")), re.compile(pattern, re.MULTILINE))
    for words, pattern in (
        ("E  ", r"^E\s+((?:[\w.]*(?:Error|Exception|Warning)|Failed|assert)\b.*)$"),
        ("FAILED |ERROR ", r"^(?:FAILED|ERROR) (?>\S+?::).*? - (.{3,})$"),
        (
            "Error|Exception|Interrupt",
            r"^[^\S\n]*+((?:\w+\.)*\w*(?:Error|Exception|Interrupt)\b(?: \[\w+\])?: .{3,}|\w*Error\(.*)$",
        ),
        (
            "rror|ERROR|atal|FATAL|panic",
            r"((?:[A-Z]\w{0,80}(?:Error|Exception)|error|fatal|panic|ERROR|FATAL|Error)"
            r"(?:\[E\d+\]| [A-Z]{1,5}\d+)?: .{3,})$",
        ),
        (
            "ndefined reference|ndefined symbol",
            r"^.*?\b((?:undefined reference|[Uu]ndefined symbols?)\b.{3,})$",
        ),
        (
            "ad substitution|yntax error|issing separator",
            r"^(.{0,80}(?:[Bb]ad substitution|[Ss]yntax error|missing separator).*)$",
        ),
        (":", r"^(\S+:\d+(?::\d+)?:? (?:error:? )?[A-Z]{1,4}\d{2,5}\b.*)$"),
        ("** (", r"\*\* (\(\w+(?:\.\w+)*(?:Error|Exception)\) .*)$"),
        (
            "ot found|No such file|denied|not recognized",
            r"^[^\S\n]*+(.{0,80}(?:command not found|: not found|No such file or directory|Permission denied"
            r"|not recognized).*)$",
        ),
        (
            "xpected|expected",
            r"^[^\S\n]*+((?:[Ee]xpected|expected)\b:? .{2,})$",
        ),
        ("npm ", r"^npm (?:ERR!|error) (?!code|A complete|path|errno|    )(.{8,})$"),
        ("×|✗|✘|✖|✕|●|FAIL", r"^[^\S\n]*+(?:×|✗|✘|✖|✕|●|FAIL(?:ED)?:?|--- FAIL:)\s+(.{4,})$"),
        (
            "nable to|annot|ould not|an't|ailed to|nknown|nrecognized|nexpected|issing|nvalid|ndefined|"
            "enied|"
            "efused|imed out|rejected|onflict",
            r"((?:[Cc]annot|[Cc]ould not|[Cc]an't|[Uu]nable to|[Ff]ailed to|[Uu]nknown|[Uu]nrecognized"
            r"|[Uu]nexpected|[Mm]issing|[Ii]nvalid|[Uu]ndefined|[Dd]enied|[Rr]efused|[Tt]imed out|rejected"
            r"|[Cc]onflict)\b.{3,})$",
        ),
        ("fail|error", r"^(.*\b(?:[1-9]\d* failed|[1-9]\d* failures?|[1-9]\d* errors?)\b.*)$"),
    )
)
#: Lines that only say that something failed; a line that says what is worth more.
_SUMMARY = re.compile(
    r"ld returned \d|^make(?:\[\d+\])?: \*\*\* \[|exit(?:ed with)? (?:code|status)|BUILD FAIL|"
    r"Command failed|"
    r"linker command failed|could not compile|aborting due to|Found \d+ errors?\.?$|"
    r"pre-commit script failed|"
    r"Lifecycle script|Failed! {1,2}- Failed:|failed to push some refs|tests? failed\.?$"
)
_SKIP_LINE = re.compile(
    r"^\s*+(?:(?:Exit code \d+|[-=─━═~^*_.\s│┃╭╰┌└├]*+|…)\s*+|at .*|\d+ \|.*|> .*|\$ .*)$", re.IGNORECASE
)


def is_noise(text: str) -> bool:
    """Whether an error is the agent's own machinery (unread file, refused permission)."""
    return any(map(text[:600].lower().__contains__, _NOISE))


def verdict(event: Event, command: Command) -> Outcome:
    """How a command really ended: FAILED only in a way worth knowing, OK only if its own words agree."""
    if not command.steps or event.outcome in {Outcome.INTERRUPTED, Outcome.NONE}:
        return Outcome.NONE
    if event.outcome is Outcome.FAILED:
        return Outcome.NONE if command.role is Role.PROBE or is_noise(event.text) else Outcome.FAILED
    hidden = command.role in CHECKS and command.masked and red(event.text)
    return Outcome.FAILED if hidden else Outcome.OK


def red(text: str) -> bool:
    """Whether an output reports failures."""
    return any(map(text.__contains__, _RED_ANCHORS)) and bool(_RED.search(text))


def evidence(text: str, line: str, most: int = 3) -> str:
    """A few lines of an output around the telling one, for those who want to know more."""
    text = ANSI.sub("", text) if "\x1b" in text else text
    lines = [row.strip() for row in text.splitlines() if not _SKIP_LINE.match(row)]
    head = line.rstrip("…")[:60]
    at = next((number for number, row in enumerate(lines) if head in row), len(lines) - 1)
    around = lines[max(0, at - 1) : at + most]
    return " / ".join(shorten(said, 120) for row in around if (said := quoted_output(row)))


def telling_line(text: str, limit: int = 160) -> str:
    """The line of an output that says what went wrong; what it tells the reader to do is left out."""
    text = ANSI.sub("", text) if "\x1b" in text else text
    poor = ""
    for words, pattern in _TELLING:
        if not any(map(text.__contains__, words)):
            continue
        for match in islice(pattern.finditer(text), 6):
            line = quoted_output(match.group(1).strip())
            if not line or _ZERO.search(line):
                continue
            if not _SUMMARY.search(line):
                return shorten(line, limit)
            poor = poor or line
    if poor:
        return shorten(poor, limit)
    for line in reversed(text.splitlines()):
        if not _SKIP_LINE.match(line) and (said := quoted_output(line.strip())):
            return shorten(said, limit)
    return ""
