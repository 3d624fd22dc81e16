"""`backstory search`: the best hits for a question, each with a handle that `show` takes."""

import click

from backstory import clock
from backstory.cli.output import json_option, line, on_terminal, one_line, print_json, talk, when
from backstory.cli.rows import handle
from backstory.cli.scope import opened, scope, scope_options
from backstory.errors import UsageError
from backstory.search.lexical import DEFAULT_LIMIT

_TEXT = 500


@click.command()
@click.argument("query", nargs=-1, required=True)
@scope_options
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=DEFAULT_LIMIT, show_default=True, help="Most hits."
)
@click.option("--no-floor", is_flag=True, help="Show the nearest even if nothing is relevant enough.")
@json_option
def search(
    query: tuple[str, ...],
    cwd: str | None,
    project: str | None,
    everywhere: bool,
    limit: int,
    no_floor: bool,
    as_json: bool,
) -> None:
    """Search what was asked, done and learned.

    QUERY is words, an error message, a path, a command. Each hit ends in what it says; its handle goes to
    `backstory show`. When nothing is relevant enough, nothing is printed. Write -- before a QUERY that
    begins with a dash.
    """
    question = " ".join(query)
    if not question.strip("\0 \t\r\n"):
        raise UsageError('there is nothing to search for: write words, as in `backstory search "login test"`')
    with opened() as app:
        where = scope(app, cwd, project, everywhere)
        answer = app.search(question, where.project_id, limit, floor=not no_floor)
        zone = clock.zone(app.settings.time_zone)
    if as_json:
        print_json({"hits": answer.hits, "abstained": answer.abstained})
        return
    for number, hit in enumerate(answer.hits):
        if number and on_terminal():
            line()
        facts = " · ".join((hit.kind.replace("_", " "), hit.agent, hit.project, when(hit.when, zone)))
        line((handle(hit.id), "bold cyan"), "  ", (one_line(facts), "dim"))
        line(one_line(hit.text, _TEXT), indent=4)
    if answer.abstained:
        talk(f"Nothing in {where.label} is relevant enough; --no-floor shows the nearest.")
    elif not answer.hits:
        hint = "" if where.project_id is None else "; --all searches every project"
        talk(f"Nothing found in {where.label}{hint}.")
