"""`backstory handoff`: a session's work as a text to paste into any agent, and how to open that agent."""

import click

from backstory.cli.output import json_option, print_json, raw
from backstory.cli.project_scope import chosen_scope, open_app, scope_options


@click.command()
@scope_options
@click.option("--to", metavar="AGENT", help="Who goes on; the agent of that session by default.")
@click.option(
    "--session", default="", metavar="ID", help="Which session; the latest of the project by default."
)
@json_option
def handoff(
    cwd: str | None, project: str | None, everywhere: bool, to: str | None, session: str, as_json: bool
) -> None:
    """Print a hand-over of a session, to go on in another agent.

    The text is ready to be pasted. It tells the goal, what was done and decided, what fails and passes, open
    steps and files, and ends in the command that takes the work up in that agent: its own session if it had
    one in this project, else a new one. ID is a handle, or the agent's own id.
    """
    with open_app() as app:
        chosen = chosen_scope(app, cwd, project, everywhere)
        made = app.handoff(chosen.project_id, to, session)
    if as_json:
        print_json(made)
    else:
        raw(made.text)
