"""`backstory jobs`: the work that waits, runs or is stuck; tried again or dropped by hand."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from backstory import clock
from backstory.app import App
from backstory.cli.output import json_option, line, print_json, table, talk
from backstory.cli.project_scope import open_app
from backstory.errors import UsageError
from backstory.present.plain_text import JOB_STATES, age_text, count_of
from backstory.store.records import Job

_names = click.argument("names", metavar="JOB...", nargs=-1)
_every = click.option(
    "--failed", "--parked", "parked", is_flag=True, help="All that failed and are not tried again."
)


@click.group(invoke_without_command=True)
@click.option("--all", "everything", is_flag=True, help="Also those that are done.")
@json_option
@click.pass_context
def jobs(ctx: click.Context, everything: bool, as_json: bool) -> None:
    """List the work that waits; retry or drop what is stuck.

    A job is tried a few times with growing pauses and then left, where it blocks nothing. JOB is its handle,
    such as refine:s12ab34; a kind (refine) stands for all of them, and the beginning of a handle is enough.
    """
    if ctx.invoked_subcommand is not None:
        return
    with open_app() as app:
        found = app.jobs(("waiting", "leased", "parked", "done") if everything else ())
    if as_json:
        print_json({"jobs": [_json(job) for job in found]})
    elif not found:
        talk("No work is waiting.")
    else:
        table([_row(job) for job in found], ("job", "state", "tries", "due", "last error"))


@jobs.command()
@_names
@_every
@json_option
def retry(names: tuple[str, ...], parked: bool, as_json: bool) -> None:
    """Have jobs tried again, now, with all their tries before them."""
    _change("tried again", App.retry_jobs, names, parked, as_json)


@jobs.command()
@_names
@_every
@json_option
def drop(names: tuple[str, ...], parked: bool, as_json: bool) -> None:
    """Take jobs out of the queue.

    Nothing that was captured is lost; when something new happens in a session, its work is asked for again.
    """
    _change("dropped", App.drop_jobs, names, parked, as_json)


def _change(
    what: str,
    change: Callable[[App, Sequence[Job]], list[Job]],
    names: tuple[str, ...],
    parked: bool,
    as_json: bool,
) -> None:
    if bool(names) == parked:
        raise UsageError("name jobs, or give --failed; `backstory jobs` lists them")
    with open_app() as app:
        changed = change(app, app.jobs(("parked",)) if parked else app.jobs_called(names))
    if as_json:
        print_json({"changed": len(changed), "jobs": [_json(job) for job in changed]})
    else:
        line(f"{count_of(len(changed), 'job')} {what}.")


def _row(job: Job) -> list[str | tuple[str, str]]:
    style = {"parked": "yellow", "done": "dim"}.get(job.state, "")
    return [
        _handle(job),
        (JOB_STATES.get(job.state, job.state), style),
        str(job.attempts),
        _due(job),
        job.last_error,
    ]


def _due(job: Job) -> str:
    if job.state != "waiting":
        return "–"
    wait = job.not_before - clock.now_ms()
    return "now" if wait <= 0 else f"in {age_text(clock.now_ms() - wait).removesuffix(' ago')}"


def _handle(job: Job) -> str:
    return f"{job.kind}:{job.subject}"


def _json(job: Job) -> dict[str, Any]:
    return {
        "id": _handle(job),
        "kind": job.kind,
        "subject": job.subject,
        "state": job.state,
        "attempts": job.attempts,
        "due": job.not_before,
        "asked": job.asked_at,
        "error": job.last_error,
    }
