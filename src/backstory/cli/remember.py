"""`backstory remember`: a note of the user's own, a typed fact or a discovery, for the sessions to come."""

import os
import sys

import click

from backstory.attribution import commanded_by
from backstory.capture.note_payload import KINDS
from backstory.cli.listing import short_handle
from backstory.cli.output import json_option, line, print_json, quiet_option, talk, warn
from backstory.cli.project_scope import chosen_folder, cwd_option, open_app
from backstory.errors import UsageError
from backstory.model import Speaker
from backstory.present.json_rows import memory_json


@click.command()
@click.argument("text", nargs=-1, required=True)
@cwd_option
@click.option(
    "--kind",
    "as_kind",
    type=click.Choice([kind.value for kind in KINDS]),
    help="What it is; by default its words tell.",
)
@click.option(
    "--type",
    "kind",
    type=click.Choice(("user", "feedback", "project", "reference")),
    help="Also write it down as a fact of this type.",
)
@click.option("--name", metavar="NAME", help="What the fact is called; one of the same name is replaced.")
@click.option("--discovery", is_flag=True, help="TEXT is something found out, which may become a fact.")
@click.option("--context", metavar="TEXT", help="Where it was found out; with --discovery.")
@click.option("--promote-to", metavar="TEXT", help="Where it should go; with --discovery.")
@click.option("--at", metavar="TIME", help="When, as YYYY-MM-DDTHH:MM; with --discovery.")
@quiet_option
@json_option
def remember(
    text: tuple[str, ...],
    cwd: str | None,
    as_kind: str | None,
    kind: str | None,
    name: str | None,
    discovery: bool,
    context: str | None,
    promote_to: str | None,
    at: str | None,
    as_json: bool,
) -> None:
    """Keep something for the sessions to come.

    TEXT is kept as you say it, secrets taken out, and stands in the next brief of the project. Its words
    tell whether it is a decision, a preference, a lesson or a fact, unless you say so with --kind; a
    decision or a fact takes the place of an older one on the same matter. With - as TEXT it is read from
    stdin. Prints the new memory's handle. In a shell that an agent runs it is the agent's word, not yours.
    With --type it is also a page under facts/ of the project's knowledge, and a line of their index. A
    discovery whose fields are empty or of several lines is refused with exit 2.
    """
    if name is not None and kind is None:
        raise UsageError("--name is for a typed fact: add --type")
    if discovery and kind is not None:
        raise UsageError("--discovery and --type exclude each other: give one of them")
    if not discovery and (context is not None or promote_to is not None or at is not None):
        raise UsageError("--context, --promote-to and --at belong to --discovery: add it")
    said = " ".join(text)
    if said == "-":
        said = sys.stdin.buffer.read().decode("utf-8", "replace")
    page = ""
    said_by = commanded_by(os.environ)
    with open_app() as app:
        if discovery or kind is not None:
            from backstory.knowledge_base import KnowledgeBase

            library, project = KnowledgeBase(app), app.project_at(chosen_folder(cwd))
        if discovery and not library.discover(
            project, said, context or "", promote_to or "", at or "", said_by
        ):
            talk("That is known already: nothing was changed.")
            if as_json:
                print_json({"id": None, "discovery": False})
            return
        memory = app.remember(
            said, chosen_folder(cwd), as_kind or ("fact" if discovery or kind else ""), said_by
        )
        replaced = app.replaced_by(memory.id)
        if kind is not None:
            page, problems = library.keep_fact(project, memory, kind, name or "")
            for problem in problems:
                warn(f"backstory: the index of facts {problem}")
    if as_json:
        print_json({**memory_json(memory), "replaced": replaced, **({"page": page} if page else {})})
        return
    line(memory.id)
    talk(
        f"Remembered for {memory.project_name} as a {memory.kind}: the next session there is told."
        + (f" It takes the place of {', '.join(map(short_handle, replaced))}." if replaced else "")
        + (f" {page}" if page else "")
    )
    if said_by is Speaker.AGENT:
        talk("An agent runs this shell, so it is kept as the agent's word; the user says it in a terminal.")
