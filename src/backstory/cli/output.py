"""How commands print: data on stdout, talk on stderr; JSON, plain text, or rich on a terminal.

What is stored was written by agents, by tools and by whoever they read, so it is hostile until it went
through `plain`: no escape sequence, control character or direction override reaches a terminal. In JSON
they are escaped, so nothing is lost there. rich is imported only when a terminal is there to print to.
"""

import dataclasses
import functools
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from backstory import clock

if TYPE_CHECKING:
    from rich.console import Console

F = TypeVar("F", bound=Callable[..., Any])
Styled = tuple[str, str]  # text and a rich style, such as "bold" or "dim"

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


def plain(text: str) -> str:
    """Text that does nothing to a terminal but appear on it; lines and tabs stay."""
    if text.isprintable():  # nothing below is
        return text
    text = _LINE_ENDS.sub("\n", _ESCAPES.sub("", text))
    return _HOSTILE.sub("", text)


def one_line(text: str, longest: int = 0) -> str:
    """Harmless text on one line, cut to a length if there is one."""
    line = " ".join(plain(text).split())
    return line if not longest or len(line) <= longest else line[: longest - 1].rstrip() + "…"


def to_json(value: Any) -> str:
    """JSON with dataclasses as objects; what could hurt a terminal is escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=_simple)
    return _HOSTILE.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _simple(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def json_option(command: F) -> F:
    """`--json`, the same on every command."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(command)


# --- times ------------------------------------------------------------------------------------------------


def age(at: int, now: int | None = None) -> str:
    """How long ago, in one unit that people think in."""
    seconds = max(0, (clock.now_ms() if now is None else now) - at) // 1000
    for below, unit, size in _AGES:
        if seconds < below:
            return unit if size == 1 else f"{seconds // size} {unit} ago"
    days = seconds // 86_400
    if days < 60:
        return f"{days // 7} w ago"
    return f"{days // 30} months ago" if days < 730 else f"{days // 365} years ago"


def when(at: int, zone: tzinfo | None, now: int | None = None) -> str:
    """Date, time and age, as a person reads them."""
    return f"{clock.stamp(at, zone)} ({age(at, now)})"


# --- printing ---------------------------------------------------------------------------------------------


def on_terminal() -> bool:
    """Whether a person reads stdout."""
    return sys.stdout is not None and sys.stdout.isatty()


@functools.cache
def _console(stderr: bool = False) -> "Console":
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)


def line(*parts: str | Styled, indent: int = 0) -> None:
    """Print one line of data, or a text of several; each part may have a style."""
    if not on_terminal():
        text = "".join(part if isinstance(part, str) else part[0] for part in parts)
        click.echo("\n".join(" " * indent + row if row else "" for row in plain(text).split("\n")))
        return
    from rich.padding import Padding
    from rich.text import Text

    cleaned = [plain(part) if isinstance(part, str) else (plain(part[0]), part[1]) for part in parts]
    _console().print(Padding(Text.assemble(*cleaned), (0, 0, 0, indent)))


def table(rows: Sequence[Sequence[str | Styled]], head: Sequence[str] = ()) -> None:
    """Print rows in columns; the last column takes what is left of the line."""
    if on_terminal():
        _rich_table(rows, head)
        return
    lines = [[one_line(cell if isinstance(cell, str) else cell[0]) for cell in row] for row in rows]
    if head:
        lines.insert(0, list(head))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for cells in lines:
        padded = [cell.ljust(width) for cell, width in zip(cells[:-1], widths, strict=False)]
        click.echo("  ".join([*padded, cells[-1]]).rstrip())


def _rich_table(rows: Sequence[Sequence[str | Styled]], head: Sequence[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    grid = Table(*head, box=None, show_header=bool(head), pad_edge=False, header_style="bold")
    for number in range(len(rows[0]) if rows and not head else 0):
        grid.add_column(no_wrap=number == 0)
    for row in rows:
        styled = [(cell, "") if isinstance(cell, str) else cell for cell in row]
        grid.add_row(*(Text(one_line(text), style) for text, style in styled))
    _console().print(grid)


def raw(text: str) -> None:
    """Print a text as it is, except on a terminal, where it is made harmless."""
    click.echo(plain(text) if on_terminal() else text)


def print_json(value: Any) -> None:
    """Print data for a program."""
    click.echo(to_json(value))


def talk(text: str) -> None:
    """Say something to the person: on stderr, one line."""
    click.echo(one_line(text), err=True)


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal's stderr; silence elsewhere."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda done, of: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=_console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def count(number: int, noun: str) -> str:
    """A number of things: 1 event, 2,000 events, 3 memories."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"


def megabytes(size: int) -> str:
    """A size as people read it."""
    return f"{size / 1e6:,.1f} MB"


def listed(items: Iterable[str]) -> str:
    """Words as people list them: a, b and c."""
    words = list(items)
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
