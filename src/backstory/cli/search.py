"""`backstory search`: the best hits for a question, each with a handle that `show` takes."""

from dataclasses import replace
from pathlib import Path

import click

from backstory import clock
from backstory.app import App
from backstory.attribution import whose
from backstory.cli.listing import short_handle
from backstory.cli.output import json_option, line, on_terminal, print_json, talk
from backstory.cli.project_scope import (
    Scope,
    chosen_folder,
    chosen_scope,
    known_elsewhere,
    open_app,
    scope_options,
)
from backstory.errors import UsageError
from backstory.hook.project_identity import resolve_place
from backstory.hook.sanitize import sanitized_line
from backstory.model import MemoryStatus
from backstory.present.plain_text import one_line
from backstory.search.answer import Answer, Hit, Near
from backstory.search.excerpt import excerpt
from backstory.search.narrowing import within
from backstory.search.ranking import Here
from backstory.store.records import Filters

_TEXT = 1_000
_NEAR_TEXT = 160


@click.command()
@click.argument("query", nargs=-1, required=True)
@scope_options
@click.option(
    "--limit", type=click.IntRange(1, 1000), help="Most hits; 7, or what the setting search.max_hits says."
)
@click.option("--agent", multiple=True, metavar="NAME", help="Only of this agent; may be repeated.")
@click.option("--branch", multiple=True, metavar="NAME", help="Only of sessions on this branch.")
@click.option("--file", "files", multiple=True, metavar="PATH", help="Only what touched this file.")
@click.option(
    "--kind", multiple=True, metavar="KIND", help="Only prompt, said, tool, reasoned, decision, lesson, …"
)
@click.option("--since", metavar="WHEN", help="Not before YYYY-MM-DD (in your zone), or 2w, 3d, 12h ago.")
@click.option("--until", metavar="WHEN", help="Not after YYYY-MM-DD (that day included), or 2w, 3d, 12h ago.")
@click.option(
    "--status",
    multiple=True,
    type=click.Choice([status.value for status in MemoryStatus]),
    help="Only memories in this state; by default all but rejected and expired ones, beside what happened.",
)
@click.option("--no-floor", is_flag=True, help="Show the nearest even if nothing is relevant enough.")
@click.option("--explain", is_flag=True, help="Say why each hit stands where it does.")
@click.option(
    "--neighbours",
    type=click.IntRange(0, 20),
    default=0,
    help="Also so many things that happened before and after.",
)
@json_option
def search(
    query: tuple[str, ...],
    cwd: str | None,
    project: str | None,
    everywhere: bool,
    limit: int | None,
    agent: tuple[str, ...],
    branch: tuple[str, ...],
    files: tuple[str, ...],
    kind: tuple[str, ...],
    since: str | None,
    until: str | None,
    status: tuple[str, ...],
    no_floor: bool,
    explain: bool,
    neighbours: int,
    as_json: bool,
) -> None:
    """Search what was asked, done and learned.

    QUERY is words, an error message, a path, a command; "last week", "since March" or "before
    2026-03-04" prefer that time, and alone ("what did we do yesterday", "which files did we change on
    Friday") get what it holds. Each hit begins
    with its handle and its date: `backstory show HANDLE` tells where it comes from. When nothing is
    relevant enough, nothing is printed. Write -- before a QUERY that begins with a dash.
    """
    question = " ".join(query)
    if not question.strip("\0 \t\r\n"):
        raise UsageError('there is nothing to search for: write words, as in `backstory search "login test"`')
    with open_app() as app:
        zone = clock.zone(app.settings.time_zone)
        filters = Filters(
            agents=agent,
            branches=branch,
            kinds=tuple(each.replace(" ", "_").replace("-", "_") for each in kind),
            statuses=status,
            since=clock.parse_when(since, zone) if since else 0,
            until=clock.parse_when(until, zone, end=True) if until else 0,
        )
        where = chosen_scope(app, cwd, project, everywhere)
        here = _here(app, chosen_folder(cwd)) if not project else Here()
        filters = replace(
            filters, files=tuple(within(each, chosen_folder(cwd), where.root) for each in files)
        )
        answer = app.search(
            question,
            where.project_id,
            limit,
            floor=not no_floor,
            filters=filters,
            here=here,
            explain=explain,
            neighbours=neighbours,
        )
        elsewhere = list[str]()
        if not (as_json or answer.hits or project or everywhere):
            elsewhere = known_elsewhere(app, cwd, "search", *query)
    if as_json:
        print_json(
            {
                "hits": answer.hits,
                "abstained": answer.abstained,
                "mode": answer.mode,
                "lacking": answer.lacking,
                "time_note": answer.time_note,
                "read_as": answer.read_as,
                "unknown": answer.unknown,
                "reading": answer.reading,
            }
        )
        return
    if answer.time_note:
        talk(answer.time_note)
    several = len({hit.agent for hit in answer.hits}) > 1
    for number, hit in enumerate(answer.hits):
        if number and on_terminal():
            line()
        where_from = (hit.agent if several else "", hit.project if where.project_id is None else "")
        told = (
            clock.day_of(hit.when, zone),
            (hit.form or hit.kind).replace("_", " ") + whose(hit.agent, hit.by),
            *where_from,
            hit.label,
        )
        facts = " · ".join(filter(None, told))
        line((short_handle(hit.id), "bold cyan"), "  ", (one_line(facts), "dim"))
        _around(hit.before)
        # agents read this too: a command that fetches and runs is told of, `show` prints it
        line(one_line(sanitized_line(excerpt(hit.text, question, _TEXT)), _TEXT), indent=4)
        _around(hit.after)
        if explain:
            line((_why(hit), "dim"), indent=4)
    if explain or answer.lacking:
        talk(f"Searched {answer.mode}.")
    if answer.reading:
        talk(answer.reading)
    if not answer.hits:
        for each in (_no_hits(answer, where), *elsewhere):
            talk(each)


def _no_hits(answer: Answer, where: Scope) -> str:
    """That there is nothing, and what to try next."""
    more = [] if where.project_id is None else ["--all searches every project"]
    said = f"Nothing found in {where.label}"
    if answer.withheld:
        said = f"Nothing in {where.label} is relevant enough"
        more = ["--no-floor shows the nearest", *more]
    return "; ".join([said, ", ".join(more)] if more else [said]) + "."


def _here(app: App, place: Path) -> Here:
    """Where the question is asked: project and branch of a folder, files that were changed there lately."""
    try:
        branch = resolve_place(str(place)).branch
    except OSError:
        branch = ""
    if not app.home.database.exists():
        return Here(branch=branch)
    project_id = app.project_at(place).id
    return Here(project_id, branch, app.files_in_play(project_id))


def _around(near: tuple[Near, ...]) -> None:
    for each in near:
        line(
            (
                f"{short_handle(each.id)} {each.kind}: {one_line(sanitized_line(each.text), _NEAR_TEXT)}",
                "dim",
            ),
            indent=6,
        )


def _why(hit: Hit) -> str:
    if hit.why is None:
        return ""
    parts = " + ".join(f"{name} {share:.4f}" for name, share in hit.why.parts.items())
    also = f" · says the same: {', '.join(short_handle(each) for each in hit.also)}" if hit.also else ""
    sure = f"relevance {hit.why.relevance:.2f}"
    return f"score {hit.score:.4f} = {parts} · {sure} · found by {hit.why.found_by}{also}"
