"""`backstory team join`, `share`, `sync`, `mute`, `unmute` and `leave`; `share git` needs no team."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from backstory.app import App
from backstory.app.sharing import rows_json
from backstory.cli.confirm import confirmed, yes_option
from backstory.cli.output import json_option, line, print_json, talk
from backstory.cli.project_scope import chosen_folder, cwd_option, open_app
from backstory.errors import UsageError
from backstory.present.json_rows import memory_json
from backstory.present.plain_text import count_of, one_line

if TYPE_CHECKING:
    from backstory.share.outgoing_rows import Choice

_LEVELS = ("kept", "learned", "off")


_FILES = "git"  # the first word of `team share git`: files of the repository instead of a server


@click.command()
@click.argument("link")
@json_option
def join(link: str, as_json: bool) -> None:
    """Join a team, once on each machine.

    LINK is an invitation, which counts once and for 24 hours. Nothing is shared by joining: that says
    `backstory team share` in a repository.
    """
    with open_app() as app:
        joined = app.join_team(link)
    if as_json:
        print_json({"address": joined.address, "tenant": joined.tenant, "member": joined.member.name})
        return
    talk(
        f"Joined {joined.address} as {joined.member.name}, on the device {joined.device.name}. Nothing is "
        "shared yet: `backstory team share` in a repository shows what would be, and asks."
    )


@click.command()
@click.argument("handles", nargs=-1, metavar="[git] [HANDLE]…")
@click.option(
    "--level",
    type=click.Choice(_LEVELS),
    default="kept",
    show_default=True,
    help="kept: what you remembered, confirmed or pinned. learned: also what was found. off: nothing more.",
)
@click.option("--mine", is_flag=True, help="With your own other machines only, wants included.")
@click.option("--dry-run", is_flag=True, help="Show every row that would leave; send nothing.")
@cwd_option
@yes_option
@json_option
def share(
    handles: tuple[str, ...], level: str, mine: bool, dry_run: bool, cwd: str | None, yes: bool, as_json: bool
) -> None:
    """Share what this repository's sessions learned; shows the rows first.

    The rows that are shown are those that leave, byte for byte; from then on the worker sends what is new at
    that level. Each HANDLE is a memory that leaves whatever the level. What others share comes in return.
    With `git` as the first word nothing is sent: each memory becomes a Markdown file under .backstory/shared
    of the repository, for you to review and commit; others read them after `backstory config --confirm`.
    """
    folder = chosen_folder(cwd)
    with open_app() as app:
        if next(iter(handles), "") == _FILES:
            _share_git(app, folder, level, dry_run, yes, as_json)
            return
        if not dry_run:
            app.require_team()
        project = app.project_at(folder)
        choice = app.choose_shared(project, level, mine, handles)
        if not as_json:
            _show(choice)
        feed = None
        if not dry_run:
            if level != "off" and not confirmed(f"Share these and what follows at the level {level}?", yes):
                raise click.Abort
            feed = app.share_project(project, level, mine, handles)
    if as_json:
        print_json(
            {
                "project": project.identity,
                "level": level,
                "mine": mine,
                "shared": feed is not None,
                "held_back": choice.held_back,
                "rows": rows_json(choice),
                "memories": [memory_json(each.memory) for each in choice.rows],
            }
        )
    elif feed is not None:
        talk(f"{feed.name} is shared at the level {feed.level}. `backstory team` tells how that stands.")


def _show(choice: "Choice") -> None:
    line(f"{count_of(len(choice.rows), 'row')} would leave{':' if choice.rows else '.'}")
    for each in choice.rows:
        body = each.row.body
        line(f"{each.memory.id[:9]}  {each.row.kind.replace('_', ' ')}  {one_line(str(body['text']))}")
        more = [
            f"why: {one_line(str(body['reason']))}" if body["reason"] else "",
            f"files: {', '.join(body['files'])}" if body["files"] else "",
            f"said by: {body['said_by'] or 'nobody'}, agent: {body['agent'] or 'none'}, "
            f"seen: {body['seen']}, times: {body['times']}, level: {body['level']}",
        ]
        line("; ".join(part for part in more if part), indent=11)
    if choice.held_back:
        talk(f"{count_of(choice.held_back, 'memory')} that cite an ignored file stay here.")


def _share_git(app: App, folder: Path, level: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    if level == "off":
        raise UsageError("files are yours: delete those under .backstory/shared that are not to be shared")
    pages = app.shared_files(folder, level)
    if as_json and dry_run:
        print_json({"files": {str(path): text for path, text in pages.items()}})
        return
    for path, text in pages.items():
        line(str(path))
        line(text.rstrip(), indent=4)
    if dry_run or not pages:
        talk(f"{count_of(len(pages), 'file')} would be written.")
        return
    if not confirmed(f"Write {count_of(len(pages), 'file')} into the repository?", yes):
        raise click.Abort
    from backstory.share.shared_files import write_files

    write_files(pages)
    if as_json:
        print_json({"files": [str(path) for path in pages]})
    talk("Look through them, then commit them: whoever can read the repository can read them.")


@click.command()
@json_option
def sync(as_json: bool) -> None:
    """Send and fetch now what the worker would in a moment."""
    from backstory.cli.team import report_json, tell_report

    with open_app() as app:
        app.sync_now()
        found = app.team_report()
    if as_json:
        print_json(report_json(found))
    else:
        tell_report(found)


@click.command()
@click.argument("name")
def mute(name: str) -> None:
    """Tell nothing of somebody any more, in any brief or search of this home."""
    with open_app() as app:
        app.mute(name)
    talk(f"Nothing of {name} is told here any more; `backstory team unmute` takes that back.")


@click.command()
@click.argument("name")
def unmute(name: str) -> None:
    """Tell again what somebody shares."""
    with open_app() as app:
        app.unmute(name)
    talk(f"What {name} shares is told again.")


@click.command()
@click.option("--take-mine", is_flag=True, help="Have the server forget what was shared from here.")
@yes_option
def leave(take_mine: bool, yes: bool) -> None:
    """Belong to no team any more.

    What others shared goes from this home. What you shared stays with the team, unless you take it along.
    """
    with open_app() as app:
        if not confirmed("Leave the team?", yes):
            raise click.Abort
        taken = app.leave_team(take_mine)
    talk(
        "This home belongs to no team any more."
        + (f" {count_of(taken, 'row')} taken along." if take_mine else "")
    )
