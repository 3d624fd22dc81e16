"""`backstory remember`: a note of the user's own, for the sessions to come."""

import sys

import click

from backstory.cli.output import json_option, line, print_json, talk
from backstory.cli.rows import memory_json
from backstory.cli.scope import cwd_option, folder, opened


@click.command()
@click.argument("text", nargs=-1, required=True)
@cwd_option
@json_option
def remember(text: tuple[str, ...], cwd: str | None, as_json: bool) -> None:
    """Keep something for the sessions to come.

    TEXT is kept as you say it, secrets taken out, and stands in the next brief of the project. With - as
    TEXT it is read from stdin. Prints the new memory's handle.
    """
    said = " ".join(text)
    if said == "-":
        said = sys.stdin.buffer.read().decode("utf-8", "replace")
    with opened() as app:
        memory = app.remember(said, folder(cwd))
    if as_json:
        print_json(memory_json(memory))
        return
    line(memory.id)
    talk(f"Remembered for {memory.project_name}: the next session there is told.")
