"""`backstory rebuild`: everything derived, made again from the events."""

import click

from backstory.cli.output import json_option, line, print_json, progress
from backstory.cli.project_scope import opened
from backstory.present.plain_text import count


@click.command()
@json_option
def rebuild(as_json: bool) -> None:
    """Make everything derived again from the stored events.

    Memories, the text index and prepared briefs are made anew by the rules of this version; what you told
    Backstory stays. No model is called.
    """
    with opened() as app:
        with progress("Rebuilding") as report:
            sessions = app.rebuild(report)
        status = app.status()
    if as_json:
        print_json({"sessions": sessions, "events": status.events, "memories": status.memories})
    else:
        made = count(status.memories, "memory")
        line(f"{count(sessions, 'session')} rebuilt from {count(status.events, 'event')}: {made}")
