"""`backstory export`: everything, to keep or to move; or what was learned, to read."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import click

from backstory import clock
from backstory.app import App
from backstory.atomic import replaceable
from backstory.cli.output import quiet_option, talk
from backstory.cli.project_scope import open_app
from backstory.errors import UsageError
from backstory.file_reader import UnusableFile
from backstory.present.json_rows import memory_json, session_json
from backstory.present.plain_text import count_of, terminal_text, to_json

_FOREVER = 2**62


@click.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "json", "markdown"]),
    default="jsonl",
    show_default=True,
    help="jsonl: everything, for `backstory import backstory`; the others: what was learned.",
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@click.option("--project", metavar="NAME", help="Only the project with this name or id.")
@click.option(
    "--since",
    metavar="WHEN",
    help="Only sessions that went on after then: YYYY-MM-DD (in your zone), or 2w, 3d, 12h.",
)
@click.option("--until", metavar="WHEN", help="Only sessions that began before then, or on that day.")
@click.option("--force", is_flag=True, help="Write over a file that is there already.")
@quiet_option
def export(
    file: Path | None, form: str, project: str | None, since: str | None, until: str | None, force: bool
) -> None:
    """Write everything that is kept, to keep or to move.

    It goes to FILE, or to stdout. As jsonl nothing is left out (sessions, events with their payloads,
    memories, what was forgotten) and `backstory import backstory FILE` brings it into another home. The
    file is for you alone (mode 0600): it also carries the key that ids are made with.
    """
    if file is not None:
        _refuse(file, force)
    with open_app() as app:
        zone = clock.zone(app.settings.time_zone)
        first = 0 if since is None else clock.parse_when(since, zone)
        last = _FOREVER if until is None else clock.parse_when(until, zone, end=True)
        if first >= last:
            raise UsageError(f"--since {since} is not before --until {until}: nothing lies between them")
        project_id = app.project_named(project).id if project else None
        # what is not read to its end, because it cannot be written, is left while the database is open
        with contextlib.closing(_text(app, form, project_id, first, last)) as parts:
            number = _write(file, parts, force)
    if file is not None:
        talk(f"{file}: {count_of(number, 'line')}")


def _text(app: App, form: str, project_id: str | None, since: int, until: int) -> Generator[str]:
    if form == "jsonl":
        yield from (f"{line}\n" for line in app.export_lines(project_id, since, until))
    elif form == "markdown":
        yield from (terminal_text(part) for part in app.export_markdown(project_id, since, until))
    else:
        learned = [
            {**session_json(session), "memories": [memory_json(memory) for memory in memories]}
            for session, memories in app.learned(project_id, since, until)
        ]
        yield to_json({"sessions": learned}) + "\n"


def _refuse(file: Path, force: bool) -> None:
    """Only a regular file is written over, and that only if one says so."""
    try:
        there = replaceable(file)
    except UnusableFile as error:
        raise UsageError(f"{file} is {error.strerror}: name another file, or none for stdout") from None
    if there is not None and not force:
        raise UsageError(f"{file} is there already: name another file, or pass --force")


def _write(file: Path | None, parts: Iterator[str], force: bool) -> int:
    """Write all parts; a file appears only when it is whole. Gives the number of lines."""
    number = 0
    if file is None:
        for part in parts:
            sys.stdout.write(part)
            number += part.count("\n")
        return number
    fd, name = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".part", dir=file.parent)  # nobody else's
    new = Path(name)
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as out:
            for part in parts:
                out.write(part)
                number += part.count("\n")
        _name(new, file, force)
    finally:
        new.unlink(missing_ok=True)
    return number


def _name(new: Path, file: Path, force: bool) -> None:
    """Give a whole file its name; somebody else may have taken that meanwhile."""
    if not force:
        try:
            os.link(new, file)  # which never replaces anything
            return
        except OSError:  # it is taken, or this file system has no links
            pass
    _refuse(file, force)
    new.replace(file)
