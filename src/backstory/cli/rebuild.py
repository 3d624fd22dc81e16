"""`backstory rebuild`: everything derived, made again from the events."""

import click

from backstory.cli.output import json_option, line, print_json, progress
from backstory.cli.project_scope import open_app
from backstory.present.plain_text import count_of


@click.command()
@json_option
def rebuild(as_json: bool) -> None:
    """Make everything derived again from the stored events.

    Memories, the text index and prepared briefs are made again by the rules of this version; what you told
    Backstory stays. No model is called.
    """
    with open_app() as app:
        with progress("Rebuilding") as report:
            sessions = app.rebuild(report)
        status = app.status()
    if as_json:
        print_json({"sessions": sessions, "events": status.events, "memories": status.memories})
    else:
        made = count_of(status.memories, "memory")
        line(f"{count_of(sessions, 'session')} rebuilt from {count_of(status.events, 'event')}: {made}")
