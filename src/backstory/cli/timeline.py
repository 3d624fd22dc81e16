"""`backstory timeline`: what happened, newest first, as events or as sessions."""

import click

from backstory import clock
from backstory.cli.listing import event_row, session_row
from backstory.cli.output import json_option, print_json, table, talk
from backstory.cli.project_scope import chosen_scope, open_app, scope_options
from backstory.present.json_rows import event_json, session_json

_LIMIT = 30


@click.command()
@scope_options
@click.option(
    "--since",
    metavar="WHEN",
    help="Only what is younger: YYYY-MM-DD (in your zone), or 2w, 3d, 12h, 30m.",
)
@click.option(
    "--limit", type=click.IntRange(1, 100_000), default=_LIMIT, show_default=True, help="Most rows."
)
@click.option("--sessions", is_flag=True, help="List sessions instead of events.")
@json_option
def timeline(
    cwd: str | None,
    project: str | None,
    everywhere: bool,
    since: str | None,
    limit: int,
    sessions: bool,
    as_json: bool,
) -> None:
    """List what happened, newest first.

    Each row begins with a handle for `backstory show`.
    """
    with open_app() as app:
        zone = clock.zone(app.settings.time_zone)
        start = 0 if since is None else clock.parse_when(since, zone)
        where = chosen_scope(app, cwd, project, everywhere)
        if sessions:
            found = [session for session in app.sessions(where.project_id, limit) if session.last_at >= start]
            shown = {"sessions": [session_json(session) for session in found]}
            rows = [session_row(session, zone) for session in found]
        else:
            events = app.timeline(where.project_id, start, limit)
            shown = {"events": [event_json(stored) for stored in events]}
            rows = [event_row(stored, zone) for stored in events]
    if as_json:
        print_json(shown)
    elif rows:
        table(rows)
    else:
        talk(f"Nothing is known of {where.label}" + (f" since {since}." if since else " yet."))
