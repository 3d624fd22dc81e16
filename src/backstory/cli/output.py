"""How commands print: data on stdout, talk on stderr; JSON, plain text, or rich on a terminal.

rich is imported only when a terminal is there to print to.
"""

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from backstory.present.plain_text import one_line, terminal_text, to_json

if TYPE_CHECKING:
    from rich.console import Console

F = TypeVar("F", bound=Callable[..., Any])
Styled = tuple[str, str]  # text and a rich style, such as "bold" or "dim"
_QUIET = f"{__name__}.quiet"  # where a context keeps it


def json_option(command: F) -> F:
    """`--json`, the same on every command."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(command)


def quiet_option(command: F) -> F:
    """`--quiet`, the same on every command that has more to say than what it was asked for."""
    return click.option(
        "--quiet",
        "-q",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_silence,
        help="Say nothing but what was asked for, and what is wrong.",
    )(command)


def _silence(context: click.Context, _option: click.Parameter, given: bool) -> None:
    context.meta[_QUIET] = given


def is_quiet() -> bool:
    """Whether the command that runs was called with `--quiet`."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_QUIET))


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
        click.echo("\n".join(" " * indent + row if row else "" for row in terminal_text(text).split("\n")))
        return
    from rich.padding import Padding
    from rich.text import Text

    cleaned = [
        terminal_text(part) if isinstance(part, str) else (terminal_text(part[0]), part[1]) for part in parts
    ]
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
    click.echo(terminal_text(text) if on_terminal() else text)


def print_json(value: Any) -> None:
    """Print data for a program."""
    click.echo(to_json(value))


def talk(text: str) -> None:
    """Say something to the person: on stderr, one line; not with `--quiet`."""
    if not is_quiet():
        warn(text)


def warn(text: str) -> None:
    """Say what is wrong, or goes wrong: on stderr, one line, also with `--quiet`."""
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
