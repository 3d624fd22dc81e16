"""`backstory forget` and `scrub`: removing for good, and showing first everything that it touches."""

import os
import shlex

import click

from backstory import clock
from backstory.app import App
from backstory.app.sharing import Burial
from backstory.attribution import commanded_by
from backstory.cli.confirm import confirmed, yes_option
from backstory.cli.listing import event_line, short_handle
from backstory.cli.output import json_option, line, print_json, table, talk
from backstory.cli.project_scope import chosen_scope, open_app
from backstory.errors import Failed, UsageError
from backstory.model import Speaker
from backstory.present.json_rows import forgotten_json
from backstory.present.plain_text import age_text, count_of, one_line
from backstory.store.records import Reach
from backstory.upkeep.erasure import ErasurePlan
from backstory.upkeep.scrub import Scrubbed

_SHOWN = 20
_TEXT = 100


@click.command()
@click.argument("handles", nargs=-1, metavar="[HANDLE]…")
@click.option("--text", metavar="WORDS", help="Everything that holds these words, in any case.")
@click.option(
    "--pattern", metavar="REGEX", help="Everything that this regular expression finds something in."
)
@click.option("--since", metavar="WHEN", help="Only from then on: YYYY-MM-DD (in your zone), or 2w, 3d, 12h.")
@click.option("--until", metavar="WHEN", help="Only before then; a day is included.")
@click.option("--project", metavar="NAME", help="The project with this name or id; alone: all of it.")
@click.option("--dry-run", is_flag=True, help="List everything that would be touched; change nothing.")
@click.option("--team", "with_team", is_flag=True, help="The team's server and its devices forget it, too.")
@yes_option
@json_option
def forget(
    handles: tuple[str, ...],
    text: str | None,
    pattern: str | None,
    since: str | None,
    until: str | None,
    project: str | None,
    dry_run: bool,
    with_team: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Delete something for good, with everything made from it.

    Say what by handle, words, pattern, project or time. It follows what hangs together: a memory goes with
    the events that it was made from, an event with the memories made of it, a session with its sub-agents,
    all of them with what Backstory itself told other sessions of it. Afterwards nothing in the home has it
    but the backups and settings that are named, and no import brings it back. The agents' own files are not
    touched, but named; so is a project that has the words in its name or address. What you shared is only
    withdrawn from the team, unless --team buries it there for good.
    """
    if not (handles or text or pattern or since or until or project):
        raise UsageError("there is nothing to forget: give a handle, --text, --pattern, --since or --project")
    if text and pattern:
        raise UsageError("--text and --pattern exclude each other: give one of them")
    burial: Burial | None = None
    with open_app() as app:
        if with_team:
            app.require_team()
        zone = clock.zone(app.settings.time_zone)
        wanted = app.wanted(
            handles,
            text=text or "",
            pattern=pattern or "",
            since=None if since is None else clock.parse_when(since, zone),
            until=None if until is None else clock.parse_when(until, zone, end=True),
            project_id=chosen_scope(app, None, project, False).project_id if project else None,
        )
        plan = app.forget(wanted, really=False)
        nothing = not plan
        if not as_json and not nothing:
            _tell(app, plan)
        if not dry_run and not nothing:
            if not confirmed("Forget all of this for good?", yes):
                raise click.Abort
            by_agent = commanded_by(os.environ) is Speaker.AGENT
            plan = app.forget(wanted, really=True, by_agent=by_agent, with_team=with_team)
            burial = app.bury_with_team() if with_team else None
    damaged = len(plan.damaged) + len(plan.damaged_copies)
    if as_json:
        print_json(forgotten_json(plan, forgotten=not dry_run and not nothing))
    elif nothing:
        _tell_rest(plan)
        if not plan.projects and not plan.needed and not damaged:
            talk("There is nothing of that kind.")
    elif not dry_run:
        alone = "" if plan.reach.events or not plan.reach.memories else " No event had these words."
        line(f"Forgotten: {_counts(plan.reach)}.{alone}")
        _tell_rest(plan)
        if burial is not None:
            _tell_burial(burial)
    if nothing and damaged:
        raise Failed(
            f"what can be read has nothing of that kind, but {count_of(damaged, 'damaged file')} may: "
            "nothing was changed. `backstory scrub` removes what cannot be read"
        )


def _tell_burial(burial: Burial) -> None:
    """What the team's server has forgotten, and which devices have followed."""
    if burial.trouble:
        talk(f"Not forgotten by the team's server yet: {burial.trouble}. The worker tries again.")
        return
    if not burial.asked:
        talk("Nothing of it was shared with the team.")
        return
    for reason in burial.refused:
        talk(f"Stays on the team's server: {reason}")
    every = len(burial.confirmed) + len(burial.behind)
    told = f"; {len(burial.confirmed)} of {every} other devices have followed" if every else ""
    late = "".join(f", {name} was last seen {age_text(at)}" for name, at in burial.behind)
    line(f"Gone from the team's server{told}{late}.")


def _counts(reach: Reach) -> str:
    parts = (
        count_of(len(reach.sessions), "session"),
        count_of(len(reach.events), "event"),
        count_of(len(reach.memories), "memory"),
    )
    return ", ".join(parts)


def _tell(app: App, plan: ErasurePlan) -> None:
    line(f"This touches {_counts(plan.reach)} in {count_of(len(plan.sessions), 'session')}:")
    rows = []
    for eid in sorted(plan.reach.events)[:_SHOWN]:
        stored = app.store.events.event(eid)
        if stored is not None:
            rows.append(
                [short_handle(eid), stored.event.kind.replace("_", " "), event_line(stored.event, _TEXT)]
            )
    for mid in sorted(plan.reach.memories)[:_SHOWN]:
        memory = app.store.memories.memory(mid)
        if memory is not None:
            rows.append([short_handle(mid), memory.kind.replace("_", " "), one_line(memory.text, _TEXT)])
    if rows:
        table(rows)
    rest = len(plan.reach.events) + len(plan.reach.memories) - len(rows)
    if rest > 0:
        line(f"and {rest:,} more; --json lists all ids")
    files, prepared = plan.told_files(app.home)
    for file in files:
        line(f"deletes {file}")
    if prepared:
        line(f"deletes {count_of(prepared, 'prepared file')} (briefs, notes), made again without it")
    for file in (*plan.pages, *plan.exported):
        line(f"takes it out of the page {file}")
    for file in plan.archives:
        line(f"takes it out of the archive {file}")
    for file in plan.copies:
        line(f"takes what Backstory told of it out of the kept transcript {file}")
    _tell_rest(plan)


def _tell_rest(plan: ErasurePlan) -> None:
    for path in plan.backups:
        talk(f"Out of reach, may still have it: the backup {path}")
    _tell_damage(plan)
    for path in plan.needed:
        talk(f"Stays as it is, and has the words: {path}")
    for name in plan.projects:
        talk(
            f"Stays: the project {name} has the words in its name or address. "
            f"`backstory forget --project {shlex.quote(name)}` forgets all of it."
        )
    for name in plan.out_of_reach:
        talk(f"Out of reach, may still have it: the agent's own file {name}")


def _tell_damage(found: ErasurePlan | Scrubbed) -> None:
    for path in found.damaged:
        talk(f"Damaged: the archive {path}; what can be read of it stays, the rest is removed")
    for path in found.damaged_copies:
        talk(f"Damaged: the kept transcript {path}; what can be read of it stays, the rest is removed")
    if found.unreadable:
        talk(
            f"Could not be looked into: {count_of(found.unreadable, 'payload')} with damaged bytes; "
            "`backstory repair` removes them"
        )


@click.command()
@click.option("--dry-run", is_flag=True, help="Tell where secrets are; change nothing.")
@yes_option
@json_option
def scrub(dry_run: bool, yes: bool, as_json: bool) -> None:
    """Take secrets out of what is stored already.

    By the rules of today: what was captured before a rule existed is rewritten in place; what was distilled
    from it is made again.
    """
    with open_app() as app:
        found = app.scrub(really=False)
        nothing = not (found.reach or found.files or found.damaged or found.damaged_copies)
        if not dry_run and not nothing:
            if not confirmed(f"Rewrite {_counts(found.reach)}?", yes):
                raise click.Abort
            found = app.scrub(really=True)
    if as_json:
        print_json(
            {
                "scrubbed": not dry_run and not nothing,
                "events": found.reach.events,
                "memories": found.reach.memories,
                "files": found.files,
                "backups": found.backups,
                "damaged": (*found.damaged, *found.damaged_copies),
                "unreadable": found.unreadable,
            }
        )
        return
    _tell_damage(found)
    if nothing:
        talk("No secret was found.")
        return
    done = "Has secrets" if dry_run else "Rewritten"
    line(f"{done}: {_counts(found.reach)}, {count_of(len(found.files), 'file')}.")
    for path in found.backups:
        talk(f"Out of reach, may still have them: the backup {path}")
