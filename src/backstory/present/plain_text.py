"""Texts and data as every surface shows them: harmless on a terminal, counted, dated, as JSON.

What is stored was written by agents, by tools and by whoever they read, so it is hostile until it went
through `terminal_text`: no escape sequence, control character or direction override reaches a terminal. In
JSON they are escaped, so nothing is lost there.
"""

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Any

from backstory import clock
from backstory.hook.brief_text import shorten
from backstory.model import MemoryStatus, Tier

_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # titles, links
    r"|\x1b[ -/]*[0-~]?"
)
_LINE_ENDS = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# controls, marks that reorder or hide text, halves of characters, invisible tags
_HOSTILE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_AGES = ((60, "just now", 1), (3_600, "min", 60), (172_800, "h", 3_600), (1_209_600, "d", 86_400))

# How jobs and memories stand, and what made a memory, as people read it.
JOB_STATES = {"leased": "running", "parked": "failed"}
MEMORY_STATES: Mapping[str, str] = {
    MemoryStatus.CANDIDATE: "not reviewed",
    MemoryStatus.SUPERSEDED: "replaced by a later one",
}
UNTOLD = "no agent is told of it until it shows in another session or you confirm it"
MADE_BY = {Tier.VERBATIM: "as it was said", Tier.RULES: "found by rules", Tier.MODEL: "written by a model"}
# A link of Markdown, one that was cut off, and bold: bounded, so that a line of brackets is looked at once.
_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\(https?://[^\s()]{1,500}\)")
_CUT_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\(https?://[^\s()]{0,500} ?…$")
_BOLD = re.compile(r"(?<![\w/*])\*\*(?=[^\s*/])([^*\n]{1,300})(?<![\s/])\*\*(?![\w/*])")


def terminal_text(text: str) -> str:
    """Text that does nothing to a terminal but appear on it; lines and tabs stay."""
    if text.isprintable():  # nothing below is
        return text
    text = _LINE_ENDS.sub("\n", _ESCAPES.sub("", text))
    return _HOSTILE.sub("", text)


def one_line(text: str, longest: int = 0) -> str:
    """Harmless text on one line, cut to a length if there is one."""
    line = " ".join(terminal_text(text).split())
    return shorten(line, longest) if longest else line


def without_marks(text: str) -> str:
    """Markdown in a line as it reads: a link as its words, bold as what is bold."""
    return _BOLD.sub(r"\1", _CUT_LINK.sub(r"\1…", _LINK.sub(r"\1", text)))


def to_json(value: Any, indent: int | None = 2) -> str:
    """JSON with dataclasses as objects; what could hurt a terminal is escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=_simple)
    return _HOSTILE.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _simple(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def age_text(at: int, now: int | None = None) -> str:
    """How long ago, in one unit that people think in."""
    seconds = max(0, (clock.now_ms() if now is None else now) - at) // 1000
    for below, unit, size in _AGES:
        if seconds < below:
            return unit if size == 1 else f"{seconds // size} {unit} ago"
    days = seconds // 86_400
    if days < 60:
        return f"{days // 7} w ago"
    return f"{days // 30} months ago" if days < 730 else f"{days // 365} years ago"


def when_text(at: int, zone: tzinfo | None, now: int | None = None) -> str:
    """Date, time and age, as a person reads them."""
    return f"{clock.stamp(at, zone)} ({age_text(at, now)})"


def count_of(number: int, noun: str) -> str:
    """A number of things: 1 event, 2,000 events, 3 memories."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"


def megabytes(size: int) -> str:
    """A size as people read it."""
    return f"{size / 1e6:,.1f} MB"


def comma_list(items: Iterable[str]) -> str:
    """Words as people list them: a, b and c."""
    words = list(items)
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def setting_text(value: Any) -> str:
    """A setting's value as one would type it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(value) if isinstance(value, tuple) else str(value)
