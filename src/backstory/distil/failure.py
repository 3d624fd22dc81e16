"""Whether a command really failed, and the one line of its output that says why.

An exit code can lie both ways: `pytest | tail` succeeds with red tests, `grep` fails by finding nothing.
"""

import re

from backstory.distil.prose import shorten
from backstory.distil.shell import CHECKS, Command, Role
from backstory.error_lines import ANSI, cut_line, error_lines
from backstory.hook.error_signature import is_noise
from backstory.hook.untrusted_text import quoted_output
from backstory.model import Event, Outcome

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

#: Words without which an output reports no failure: looked for first, because most outputs are green.
_RED_ANCHORS = ("fail", "FAIL", "rror", "ERR!", "panic:", "xit code", "Traceback", "ELIFECYCLE")

#: What frames a line and says nothing.
_LEAD = re.compile(r"^(?:E\s{2,}|\*\* |npm (?:ERR!|error) |[●✗✘✖✕×] |--- FAIL: |(?:FAILED|ERROR) \S+ - )")
_SKIP_LINE = re.compile(
    r"^\s*+(?:(?:Exit code \d+|[-=─━═~^*_.\s│┃╭╰┌└├]*+|…)\s*+|at .*|\d+ \|.*|> .*|\$ .*)$", re.IGNORECASE
)


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
    return cut_line(_LEAD.sub("", error_lines(text, 1)), limit)
