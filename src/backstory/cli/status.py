"""`backstory status`: how the memory is doing, in numbers."""

import click

from backstory import clock
from backstory.cli.output import Styled, json_option, print_json, table
from backstory.cli.project_scope import open_app
from backstory.present.json_rows import status_json
from backstory.present.plain_text import JOB_STATES, MEMORY_STATES, comma_list, count_of, megabytes, when_text


@click.command()
@json_option
def status(as_json: bool) -> None:
    """Show how the memory is doing, in numbers.

    Looks, and changes nothing. `backstory doctor` says what to do about a problem.
    """
    with open_app(quiet=True) as app:
        found, projects = app.status(), app.projects()
        zone = clock.zone(app.settings.time_zone)
    if as_json:
        print_json(status_json(found, projects))
        return
    last = when_text(found.last_event_at, zone) if found.last_event_at else "none yet"
    size = (
        f"{found.database_bytes / 1e6:,.1f} MB, schema {found.schema}"
        if found.schema
        else "nothing stored yet"
    )
    made_from = f"{count_of(found.events, 'event')} in {count_of(found.sessions, 'session')}"
    names = f": {comma_list(p.name for p in projects[:8])}" if projects else ""
    rows: list[tuple[str, str | Styled]] = [
        ("home", f"{found.home} ({size})"),
        ("memory", f"{count_of(found.memories, 'memory')} from {made_from}"),
        (
            "states",
            comma_list(
                f"{n:,} {MEMORY_STATES.get(state, state)}" for state, n in sorted(found.by_status.items())
            )
            or "none",
        ),
        (
            "made by",
            comma_list(f"{_maker(name)} {n:,}" for name, n in sorted(found.by_source.items())) or "nobody",
        ),
        ("projects", f"{found.projects:,}{names}"),
        ("last event", last),
        ("spool", f"{found.spooled:,} waiting, {found.quarantined:,} in quarantine"),
        ("hooks", f"{found.captured['spooled']:,} payloads taken in, {found.failed_hooks:,} failed"),
        ("captured", f"{count_of(found.captured['stored'], 'event')}, {found.duplicates:,} received twice"),
        ("worker", "at work" if found.worker_running else "not running"),
        ("briefs", f"{found.briefs:,} given, about {found.brief_tokens:,} tokens"),
        (
            "jobs",
            comma_list(f"{n:,} {JOB_STATES.get(state, state)}" for state, n in sorted(found.jobs.items()))
            or "none",
        ),
        ("models", found.spending.line),
        ("to index", count_of(found.unindexed, "event")),
        ("vectors", f"{found.vectors[0]:,} made, {found.vectors[1]:,} to be made"),
    ]
    rows += [
        (
            "sizes",
            comma_list(f"{name} {megabytes(n)}" for name, n in found.sizes.items() if n) or "nothing yet",
        ),
        (
            "can be freed",
            comma_list(f"{megabytes(n)} of {name}" for name, n in found.freeable.items() if n) or "nothing",
        ),
    ]
    rows += [("problem", (problem, "yellow")) for problem in found.problems]
    table([[(name, "dim"), value] for name, value in rows])


def _maker(name: str) -> str:
    """What made memories: a version of the rules, a person, a model."""
    return f"rules {name}" if name[:1] == "t" and name[1:2].isdigit() else name
