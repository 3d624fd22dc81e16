"""`backstory brief`: exactly what a session that starts here would be told."""

import click

from backstory.agents import agent as known_agent
from backstory.cli.output import json_option, print_json, quiet_option, raw, talk
from backstory.cli.project_scope import chosen_folder, cwd_option, known_elsewhere, open_app
from backstory.hook.session_brief import SOURCES

_NOTHING = "Nothing is known yet about this project: work here with a connected agent, then ask again."


@click.command()
@cwd_option
@click.option("--agent", default="claude-code", show_default=True, metavar="NAME", help="Which agent starts.")
@click.option(
    "--source", type=click.Choice(SOURCES), default=SOURCES[0], show_default=True, help="How it starts."
)
@click.option("--session", default="", metavar="ID", help="The agent's own id of the session that goes on.")
@quiet_option
@json_option
def brief(cwd: str | None, agent: str, source: str, session: str, as_json: bool) -> None:
    """Print what a session starting in a folder would be told.

    The same text that the agent's hook prints as context. When there is nothing to say, stdout stays empty
    and stderr says so.
    """
    known_agent(agent)
    with open_app() as app:
        made = app.brief(chosen_folder(cwd), agent, source, session)
        elsewhere = [] if as_json or made.text else known_elsewhere(app, cwd, "brief")
    if as_json:
        print_json(made)
    elif made.text:
        raw(made.text)
    else:
        for told in elsewhere or [_NOTHING]:
            talk(told)
