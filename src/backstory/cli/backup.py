"""`backstory backup`, `restore` and `repair`: copies of the database, going back to one, mending it."""

import time
from collections.abc import Mapping
from typing import Any

import click

from backstory import clock
from backstory.cli.confirm import confirmed, yes_option
from backstory.cli.output import json_option, line, print_json, table, talk
from backstory.cli.project_scope import open_app
from backstory.present.plain_text import count_of, when_text
from backstory.store.backup_copy import Contents
from backstory.store.disk_errors import find_obstacle
from backstory.store.salvage import Rescued
from backstory.upkeep.backups import LATEST

_WARNING_SECONDS = 3


@click.command()
@click.option("--list", "only_list", is_flag=True, help="List the backups instead of making one.")
@json_option
def backup(only_list: bool, as_json: bool) -> None:
    """Copy the database into the backups.

    It may be in use. The newest five are kept; before every upgrade, restore and repair one is made without
    asking. A copy that you have given a name of your own stays. What still lies in the spool is stored first.
    """
    with open_app() as app:
        if not only_list:
            app.catch_up()
            found = [app.back_up()]
        else:
            found = app.kept_backups()
        zone = clock.zone(app.settings.time_zone)
    if as_json:
        print_json({"backups": found} if only_list else found[0])
    elif only_list and not found:
        talk("There are no backups yet; `backstory backup` makes one.")
    elif only_list:
        table([[each.path.name, _holds(each), _until(each, zone)] for each in found])
    else:
        line(f"{found[0].path}: {_holds(found[0])}")


def _holds(contents: Contents) -> str:
    if contents.damage:
        return f"damaged: {contents.damage}"
    size = f"{contents.bytes / 1e6:,.1f} MB"
    return f"{count_of(contents.events, 'event')}, {count_of(contents.memories, 'memory')}, {size}"


def _until(contents: Contents, zone: Any) -> str:
    return f"until {when_text(contents.last_event_at, zone)}" if contents.last_event_at else ""


@click.command()
@click.argument("name", default=LATEST)
@click.option("--dry-run", is_flag=True, help="Tell what would be replaced by what; change nothing.")
@yes_option
@json_option
def restore(name: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Go back to a backup.

    To the latest, or to the one called NAME (its beginning is enough; a path will do). What is there now is
    copied to the backups first. What you have forgotten since stays forgotten, and secrets that today's rules
    know are taken out. What happened since is no longer there; `backstory import` brings back what the agents
    themselves still have.
    """
    with open_app() as app:
        plan = app.restore(name, really=False)
        if not as_json:
            now = _holds(plan.before) if plan.before else "nothing"
            talk(f"{plan.backup.path.name} ({_holds(plan.backup)}) would replace what is there now ({now}).")
        if dry_run and (why := find_obstacle(app.home.database)):
            talk(f"It cannot be done now: {why}")
        if not dry_run and confirmed("Go back to it?", yes):
            plan = app.restore(name, really=True)
        elif not dry_run:
            raise click.Abort
    if as_json:
        print_json(
            {
                "restored": not dry_run,
                "backup": plan.backup,
                "before": plan.before,
                "kept": plan.kept,
                "now": plan.now,
                "unreadable": plan.unreadable,
                "cleaned": {"events": plan.cleaned.events, "memories": plan.cleaned.memories},
            }
        )
    elif not dry_run:
        kept = f"; what was there is kept in {plan.kept}" if plan.kept else ""
        line(f"Restored {plan.backup.path.name}: {_holds(plan.now or plan.backup)}{kept}")
        if plan.unreadable:
            line(f"Left out, with damaged bytes: {count_of(plan.unreadable, 'payload')}; their events stay")
        if plan.cleaned:
            cleaned = plan.cleaned
            some = f"{count_of(len(cleaned.events), 'event')}, {count_of(len(cleaned.memories), 'memory')}"
            line(f"Secrets that the backup still has were taken out again: {some}")


@click.command()
@yes_option
@json_option
def repair(yes: bool, as_json: bool) -> None:
    """Build a new database from what a damaged one still gives.

    Never runs by itself. The damaged files are copied to the backups and stay as they are; the new database
    is built beside them, checked, and takes their place only when it is whole. It refuses while another
    process has the database open. Rows are found even where header and schema are lost; what cannot be read
    any more comes from the newest backup and from the agents' transcripts.
    """
    with open_app() as app:
        if not yes:
            what = f"from what {app.home.database} still gives"
            talk(f"In {_WARNING_SECONDS} s a new database will be built {what}; Ctrl-C leaves all as it is.")
            talk("`backstory restore` goes back to a backup instead.")
            time.sleep(_WARNING_SECONDS)
        done = app.repair()
    if as_json:
        print_json({"rescued": done.rescued, "now": done.now, "kept": done.kept, "key_lost": done.key_lost})
        return
    table([[name, f"{each.rows:,} rows", _how(each)] for name, each in done.rescued.items()])
    _tell_loss(done.rescued)
    if done.key_lost:
        talk(
            "The key that events are recognised by is lost, and no backup has it: what an import reads again "
            "is stored again."
        )
    line(f"It has {_holds(done.now)}. The old files are in {done.kept}.")


def _tell_loss(rescued: Mapping[str, Rescued]) -> None:
    lost = [f"{name} ({count_of(each.lost, 'row')})" for name, each in rescued.items() if each.lost]
    unknown = [name for name, each in rescued.items() if each.lost is None]
    if not lost and not unknown:
        line("The database is repaired: nothing is missing.")
        return
    line(
        f"The database is in order again, but not all of it came back{': ' if lost else ''}{', '.join(lost)}."
    )
    if rescued["events"].unreadable is None:
        talk(
            "Its first pages were lost: what lay on them is in no count. `backstory backup --list` shows what"
        )
        talk("the backups hold; `backstory import` reads again what the agents themselves still have.")
    elif unknown:
        line(f"How many rows are missing is not known of {', '.join(unknown)}.")


def _how(table: Rescued) -> str:
    """How a table came back: what was there, what was not, and where the rest is from."""
    if table.unreadable == 0 and table.lost == 0 and not table.made:
        return ""
    found = table.rows - table.loose - table.older - table.made
    there = f" of {table.expected:,}" if table.expected is not None else ""
    told = (
        (table.loose, "page by page"),
        (table.older, "from a backup"),
        (table.made, "made again from events and transcripts"),
    )
    rest = [f"{number:,} {what}" for number, what in told if number]
    return ", ".join([f"{max(0, found):,}{there} found", *rest])
