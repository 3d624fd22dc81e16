"""The daily log, `daily/YYYY-MM-DD.md`: header, then entries of sessions and lines of people; only appended.

An entry is a heading with its local time and what a session left; a line is `- HH:MM [source] text`. What
the log says already is not said again. What is older than the log's end stands at the end all the same, and
is marked: nothing that was written moves.
"""

import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from backstory.atomic import write_atomic
from backstory.errors import BackstoryError, Failed
from backstory.failpoints import step
from backstory.knowledge.markdown_page import harmless_line
from backstory.knowledge.vault import Vault

log = logging.getLogger(__name__)
OUT_OF_ORDER = "(out of order)"
_LONGEST_LINE = 1_000
_LONGEST_SOURCE = 40
_ENTRY = re.compile(r"^### (\d\d:\d\d) · ", re.MULTILINE)
_SECTION = re.compile(r"^### ", re.MULTILINE)
_CHUNK_CHARS = 100_000
_TIMED = re.compile(r"^(?:### (\d\d:\d\d) · |- (\d\d:\d\d) \[)", re.MULTILINE)
_LINE = re.compile(r"^- \d\d:\d\d (\[[^\]\n]*\] .*?)(?: \(out of order\))?$", re.MULTILINE)


class LogUsage(BackstoryError):
    """Nothing to append, no such day, or no log that may be used."""

    exit_code = 2


class LogFailed(Failed):
    """A log cannot be read or written."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of lines or of an entry: how many are new, and how many stand out of order."""

    day: str
    added: int
    repeated: int
    out_of_order: bool = False


def log_header(vault: Vault, day: str) -> str:
    """How every daily log begins."""
    return (
        f"# Daily log {day}\n\n"
        f"What happened in {harmless_line(vault.name, 80)}, as sessions ended; only appended to. "
        "`backstory log --append` adds a line.\n"
    )


def read_log(vault: Vault, day: str) -> str:
    """The log of a day; "" if there is none."""
    return vault.read(f"daily/{day}")


def checked_day(text: str) -> str:
    """A day as it names a log: YYYY-MM-DD."""
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return date.fromisoformat(text).isoformat()
    except ValueError:
        pass
    raise LogUsage(f"{text!r} is no day: write YYYY-MM-DD")


def checked_time(text: str) -> str:
    """A time of day as it stands in a log: HH:MM."""
    if re.fullmatch(r"(?:[01]\d|2[0-3]):[0-5]\d", text):
        return text
    raise LogUsage(f"{text!r} is no time of day: write HH:MM")


def append_lines(vault: Vault, day: str, time: str, source: str, lines: Iterable[str]) -> Appended:
    """Append what is new of single lines, with their source; the caller holds the vault."""
    old = read_log(vault, day)
    seen = {_content(match) for match in _LINE.findall(old)}
    tag = harmless_line(source, _LONGEST_SOURCE).replace("[", "(").replace("]", ")")
    late = time < _last_time(old)
    added: list[str] = []
    repeated = 0
    for text in lines:
        said = harmless_line(text, _LONGEST_LINE)
        if not said:
            continue
        content = f"[{tag}] {said}"
        if _content(content) in seen:
            repeated += 1
            continue
        seen.add(_content(content))
        added.append(f"- {time} {content}" + (f" {OUT_OF_ORDER}" if late else ""))
    if not added and not repeated:
        raise LogUsage("there is no line to append: give --line, --file, or write to stdin")
    if added:
        gap = "" if re.search(r"^- \d\d:\d\d \[[^\n]*\n\Z", old, re.MULTILINE) else "\n"
        _append(vault, day, old, gap + "\n".join(added) + "\n")
    if late and added:
        log.warning("daily log %s: %s is older than its last entry, appended at the end", day, time)
    return Appended(day, len(added), repeated, late and bool(added))


def append_entry(vault: Vault, day: str, time: str, title: str, body: str) -> Appended:
    """Append an entry unless its body stands there already; the caller holds the vault."""
    old = read_log(vault, day)
    if _content(body) in {_content(entry.partition("\n")[2]) for entry in log_entries(old)}:
        return Appended(day, 0, 1)
    late = time < _last_time(old)
    if late:
        log.warning("daily log %s: an entry of %s is older than the last one", day, time)
    head = f"### {time} · {title}" + (f" {OUT_OF_ORDER}" if late else "")
    _append(vault, day, old, f"\n{head}\n\n{body.strip()}\n")
    return Appended(day, 1, 0, late)


def log_entries(text: str) -> list[str]:
    """The entries of a log, each from its heading to the next; lines between them belong to the former."""
    starts = [match.start() for match in _ENTRY.finditer(text)]
    return [text[start:end] for start, end in pairwise([*starts, len(text)])]


def log_chunks(text: str, most: int = _CHUNK_CHARS) -> list[str]:
    """A log in pieces of whole sections, each within the limit unless one section alone is longer.

    Put together again they are the log, to the byte.
    """
    starts = dict.fromkeys([0, *(match.start() for match in _SECTION.finditer(text))])
    pieces: list[str] = []
    for start, end in pairwise([*starts, len(text)]):
        if pieces and len(pieces[-1]) + end - start <= most:
            pieces[-1] += text[start:end]
        else:
            pieces.append(text[start:end])
    return [piece for piece in pieces if piece]


def _append(vault: Vault, day: str, old: str, new: str) -> None:
    old = old or log_header(vault, day)
    if not old.endswith("\n"):
        old += "\n"
    write_atomic(vault.page(f"daily/{day}"), (old + new).encode("utf-8", "replace"))
    step("daily.logged")


def _last_time(text: str) -> str:
    times: Sequence[tuple[str, str]] = _TIMED.findall(text)
    return max((first or second for first, second in times[-1:]), default="")


def _content(text: str) -> str:
    return " ".join(text.split())
