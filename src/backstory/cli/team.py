"""`backstory team`: what is shared, with whom, and what came; its subcommands are imported when called."""

import importlib

import click

from backstory import clock
from backstory.app.sharing import TeamReport
from backstory.cli.output import Styled, json_option, line, print_json, table, talk
from backstory.cli.project_scope import open_app
from backstory.present.plain_text import age_text, comma_list, count_of

# Each with its module and the name of its function there.
SUBCOMMANDS: tuple[tuple[str, str, str, str], ...] = (
    ("join", "team_sharing", "join", "Join a team, once on each machine."),
    (
        "share",
        "team_sharing",
        "share",
        "Share what this repository's sessions learned; shows the rows first.",
    ),
    ("sync", "team_sharing", "sync", "Send and fetch now what the worker would in a moment."),
    ("mute", "team_sharing", "mute", "Tell nothing of somebody any more."),
    ("unmute", "team_sharing", "unmute", "Tell again what somebody shares."),
    ("leave", "team_sharing", "leave", "Belong to no team any more."),
    ("open", "team_members", "open_", "Open a project for the team, or let somebody into it."),
    ("invite", "team_members", "invite", "Invite a person, or a further machine of one."),
    ("devices", "team_members", "devices", "List the machines, and how far each has read."),
    ("revoke", "team_members", "revoke", "Let a machine, or a person, in no more."),
    ("purge", "team_members", "purge", "End everybody's rows that hold a text, also on the disk."),
    ("serve", "team_serve", "serve", "Run the team's server."),
)


class TeamGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, in the order of the table."""
        return [name for name, *_ in SUBCOMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        for name, module, function, _ in SUBCOMMANDS:
            if name == cmd_name:
                found: click.Command = getattr(importlib.import_module(f"backstory.cli.{module}"), function)
                return found
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table above, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, doc) for name, _, _, doc in SUBCOMMANDS])


@click.group(cls=TeamGroup, invoke_without_command=True)
@json_option
@click.pass_context
def team(ctx: click.Context, as_json: bool) -> None:
    """Share what was learned with a team, and with your own machines.

    By itself it shows what is shared and what came. Nothing is shared until you join a team, once on each
    machine, and say `backstory team share` in a repository, which shows every row first. docs/team.md tells
    what is promised, and what not.
    """
    if ctx.invoked_subcommand is not None:
        return
    with open_app() as app:
        found = app.team_report()
    if as_json:
        print_json(report_json(found))
        return
    tell_report(found)


def tell_report(found: TeamReport) -> None:
    """The report for a person."""
    member = found.membership
    if member is None:
        talk("This home belongs to no team: `backstory team join LINK`, with an invitation's link.")
    else:
        line(f"{member.member.name} on {member.device.name}, at {member.address}")
    rows: list[list[str | Styled]] = []
    for each in found.feeds:
        feed = each.feed
        same = f"{each.here:,} of {feed.there:,} are there" if feed.pulled_at else "not read yet"
        rows.append(
            [
                feed.name,
                feed.level,
                f"{each.sent:,} sent",
                same + ("" if feed.proved_at or not feed.pulled_at else ", not compared yet"),
                f"pushed {_ago(feed.pushed_at)}, pulled {_ago(feed.pulled_at)}",
            ]
        )
    if rows:
        table(rows, ("project", "level", "from here", "both sides", "when"))
    for each in found.feeds:
        for row in each.refused:
            talk(f"Not taken by the server: {row.memory_id[:9] or row.id[:9]} ({row.reason})")
        if each.feed.trouble:
            talk(f"{each.feed.name}: {each.feed.trouble} (since {clock.stamp(each.feed.trouble_since)})")
    if found.authors:
        told = comma_list(f"{name} ({count_of(count, 'memory')})" for name, _, count in found.authors)
        line(f"Shared with you by {told}")
    if found.muted:
        line(f"Muted: {comma_list(found.muted)}")
    if found.to_bury:
        line(f"Still to be forgotten by the server: {count_of(found.to_bury, 'row')}")


def _ago(at: int) -> str:
    return age_text(at) if at > 1 else "never"


def report_json(found: TeamReport) -> dict[str, object]:
    """The report for programs; without the token."""
    member = found.membership
    return {
        "joined": None
        if member is None
        else {
            "address": member.address,
            "tenant": member.tenant,
            "member": member.member.name,
            "device": member.device.name,
        },
        "feeds": [
            {
                "project": each.feed.name,
                "level": each.feed.level,
                "sent": each.sent,
                "here": each.here,
                "there": each.feed.there,
                "cursor": each.feed.cursor,
                "pushed_at": each.feed.pushed_at,
                "pulled_at": each.feed.pulled_at,
                "proved_at": each.feed.proved_at,
                "trouble": each.feed.trouble,
                "trouble_since": each.feed.trouble_since,
                "refused": [
                    {"id": row.id, "memory": row.memory_id, "reason": row.reason} for row in each.refused
                ],
            }
            for each in found.feeds
        ],
        "authors": [{"name": name, "origin": origin, "memories": n} for name, origin, n in found.authors],
        "muted": found.muted,
        "to_bury": found.to_bury,
    }
