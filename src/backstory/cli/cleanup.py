"""`backstory cleanup`: an end for sessions that nobody ended."""

import click

from backstory import clock
from backstory.cli.listing import session_row
from backstory.cli.output import json_option, line, print_json, table, talk
from backstory.cli.project_scope import open_app
from backstory.present.json_rows import session_json
from backstory.present.plain_text import count_of


@click.command()
@click.option(
    "--max-age",
    metavar="HOURS",
    type=click.FloatRange(min=0),
    help="Hours without an event after which a session counts as dead; default: sessions.max_silence_hours.",
)
@click.option("--dry-run", is_flag=True, help="List what would be ended; change nothing.")
@json_option
def cleanup(max_age: float | None, dry_run: bool, as_json: bool) -> None:
    """End sessions that nobody ended.

    The agent was killed, or the machine went down. They are marked as failed and still get their summary
    from what was captured. The worker does this by itself every hour; a session that is resumed after all
    is alive again.
    """
    with open_app() as app:
        hours = app.settings.sessions_max_silence_hours if max_age is None else max_age
        found = app.clean_up(hours, really=not dry_run) if hours or max_age is not None else []
        zone = clock.zone(app.settings.time_zone)
    if as_json:
        print_json({"ended": not dry_run, "count": len(found), "sessions": [session_json(s) for s in found]})
        return
    if found:
        table([session_row(session, zone) for session in found])
    done = "would be ended" if dry_run else "ended"
    (line if found else talk)(f"{count_of(len(found), 'session')} {done}.")
