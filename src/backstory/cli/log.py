"""`backstory log`: the daily log of a project, read or appended to."""

import os
import sys
from pathlib import Path

import click

from backstory.attribution import commanded_by
from backstory.cli.output import json_option, print_json, raw, talk
from backstory.cli.project_scope import chosen_folder, cwd_option, open_app
from backstory.errors import UsageError
from backstory.file_reader import read_bytes
from backstory.knowledge.daily_log import LogFailed, LogUsage
from backstory.knowledge_base import KnowledgeBase


@click.command()
@click.argument("day", required=False, metavar="[YYYY-MM-DD]")
@cwd_option
@click.option("--project", metavar="NAME", help="The project with this name or id.")
@click.option("--shared", is_flag=True, help="The log across projects.")
@click.option("--append", is_flag=True, help="Append lines instead: of --line, of --file, else of stdin.")
@click.option(
    "--line", "lines", multiple=True, metavar="TEXT", help="A line to append; more than once if need be."
)
@click.option("--file", "file", metavar="FILE", help="A file with lines to append; - is stdin.")
@click.option("--source", metavar="TAG", help="Who says it; you, or the project in the shared log.")
@click.option("--at", metavar="HH:MM", help="When it happened; now by default.")
@json_option
def log(
    day: str | None,
    cwd: str | None,
    project: str | None,
    shared: bool,
    append: bool,
    lines: tuple[str, ...],
    file: str | None,
    source: str | None,
    at: str | None,
    as_json: bool,
) -> None:
    """Read the daily log, or append to it.

    Today's log of the project, or that of another day, as Markdown. With --append each line becomes a row
    with time and source; one that stands there already is not repeated. In a shell that an agent runs the
    source says so. Exits 2 if there is nothing to append, or no such day or project, 1 if the log cannot be
    written.
    """
    if cwd is not None and project is not None:
        raise UsageError("--cwd and --project exclude each other: give one of them")
    if not append and (lines or file or source or at):
        raise UsageError("--line, --file, --source and --at belong to --append: add it")
    with open_app() as app:
        library = KnowledgeBase(app)
        where = app.project_named(project) if project is not None else app.project_at(chosen_folder(cwd))
        if append:
            said = _said(lines, file)
            by = commanded_by(os.environ)
            done = library.append(where, said, source or "", day or "", at or "", shared, by)
            if as_json:
                print_json(done)
            else:
                what = f"{done.added} appended, {done.repeated} there already"
                talk(f"{done.day}: {what}" + ("; out of order" if done.out_of_order else ""))
            return
        found = library.log_of(where, day or "", shared)
    if as_json:
        print_json(found)
    elif found.text:
        raw(found.text.rstrip("\n"))
    else:
        talk(f"Nothing is logged of {found.day} in {'the shared log' if shared else where.name}.")


def _said(lines: tuple[str, ...], file: str | None) -> list[str]:
    """The lines of the one source that is named, else those of stdin."""
    if lines and file is not None:
        raise LogUsage("--line and --file exclude each other: give one of them")
    if lines:
        return [row for text in lines for row in text.splitlines()]
    if file is not None and file != "-":
        try:
            return read_bytes(Path(file)).decode("utf-8", "replace").splitlines()
        except OSError as error:
            raise LogFailed(f"{file} cannot be read: {error.strerror or error}") from None
    if sys.stdin is None or (file is None and sys.stdin.isatty()):
        return []
    return sys.stdin.buffer.read().decode("utf-8", "replace").splitlines()
