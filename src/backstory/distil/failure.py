"""Whether a command really failed, and the one line of its output that says why.

An exit code can lie both ways: `pytest | tail` succeeds with red tests, `grep` fails by finding nothing.
"""

import re

from backstory.distil.prose import ANSI, shorten
from backstory.distil.shell import CHECKS, Command, Role
from backstory.model import Event, Outcome

#: The agent's machinery speaking, not the command.
_NOISE = re.compile(
    r"File has (?:not been read|been (?:modified|unexpectedly modified))|String to replace not found|string not found|Found \d+ matches|"
    r"doesn't want to (?:proceed|take this action)|user (?:doesn't want|rejected|denied|declined)|requires approval|permission to use|"
    r"Sibling tool call|haven't granted|tool_use_error|was (?:blocked|rejected)|Request interrupted|Cancelled|InputValidationError|"
    r"No such tool|Error: No task found|blocked by (?:hook|policy)|Interrupted by user|\[Tool use",
    re.IGNORECASE,
)

#: Red results that an exit code of 0 hides.
_RED = re.compile(
    r"(?<![\w.])[1-9]\d* (?:tests? )?(?:failed|failures?|failing)\b|\b[1-9]\d* errors?\b(?! (?:handl|messag))|Tests?:\s+[1-9]\d* failed|"
    r"^FAILED |^--- FAIL|^FAIL\b|test result: FAILED|error\[E\d+\]|^error(?: TS\d+)?:|npm ERR!|Traceback \(most recent call last\)|"
    r"BUILD FAILED|Compilation error|\*\* \(\w+Error\)|^panic:|exit code [1-9]|Exit code [1-9]|: error TS\d+|Command failed|ELIFECYCLE",
    re.MULTILINE,
)
_ZERO = re.compile(r"\b0 (?:failed|failures|errors?)\b")

#: The most telling line first.
_TELLING = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^E\s+((?:[\w.]*(?:Error|Exception|Warning)|Failed|assert)\b.*)$",
        r"^\s*((?:[\w]+\.)*\w*(?:Error|Exception|Interrupt)\b(?: \[\w+\])?: .{3,}|\w*Error\(.*)$",
        r"((?:error|fatal|panic|ERROR|FATAL|Error)(?:\[E\d+\]| [A-Z]{1,5}\d+)?: .{3,})$",
        r"(\S+\(\d+,\d+\): error TS\d+: .*)$",
        r"\*\* (\(\w+(?:\.\w+)*(?:Error|Exception)\) .*)$",
        r"^\s*((?:sh|bash|zsh|/bin/\w+|env)?:?.{0,60}(?:command not found|: not found|No such file or directory|Permission denied|not recognized).*)$",
        r"^npm (?:ERR!|error) (?!code|A complete|path|errno|    )(.{8,})$",
        r"^\s*(?:×|✗|✘|✕|●|FAIL(?:ED)?:?|--- FAIL:)\s+(.{4,})$",
        r"((?:[Cc]annot|[Cc]ould not|[Cc]an't|[Uu]nable to|[Ff]ailed to|[Uu]nknown|[Uu]nrecognized|[Uu]nexpected|[Mm]issing|[Ii]nvalid|"
        r"[Uu]ndefined|[Dd]enied|[Rr]efused|[Tt]imed out|rejected|conflict)\b.{3,})$",
        r"^(.*\b(?:[1-9]\d* failed|[1-9]\d* failures?|[1-9]\d* errors?)\b.*)$",
    )
)
_SKIP_LINE = re.compile(r"^\s*(?:Exit code \d+|[-=─━═~^*_.\s│┃╭╰┌└├]*|at .*|\^+|\d+ \|.*|> .*|\$ .*|…)\s*$", re.IGNORECASE)


def is_noise(text: str) -> bool:
    """Whether an error is the agent's own machinery (unread file, refused permission), no fact about the project."""
    return bool(_NOISE.search(text[:600]))


def failed(event: Event, command: Command) -> bool:
    """Whether a command failed in a way worth knowing."""
    if event.outcome is Outcome.INTERRUPTED or not command.steps:
        return False
    if event.outcome is Outcome.FAILED:
        if is_noise(event.text):
            return False
        return command.role is not Role.PROBE
    return command.role in CHECKS and command.masked and red(event.text)


def passed(event: Event, command: Command) -> bool:
    """Whether a command passed, also by its own words."""
    if event.outcome is not Outcome.OK or not command.steps:
        return False
    return not (command.role in CHECKS and command.masked and red(event.text))


def red(text: str) -> bool:
    """Whether an output reports failures."""
    return bool(_RED.search(text))


def telling_line(text: str, limit: int = 160) -> str:
    """The line of an output that says what went wrong."""
    text = ANSI.sub("", text) if "\x1b" in text else text
    for pattern in _TELLING:
        match = pattern.search(text)
        if match and not _ZERO.search(match.group(1)):
            return shorten(match.group(1).strip(), limit)
    for line in reversed(text.splitlines()):
        if not _SKIP_LINE.match(line):
            return shorten(line.strip(), limit)
    return ""
