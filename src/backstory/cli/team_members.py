"""`backstory team open`, `invite`, `devices`, `revoke`, `purge`: looking after a team, as this machine."""

import click

from backstory import clock
from backstory.cli.confirm import confirmed, yes_option
from backstory.cli.output import json_option, line, print_json, table, talk
from backstory.errors import SourceMissing, UsageError
from backstory.paths import Home
from backstory.present.plain_text import age_text, count_of
from backstory.share.team_client import TeamClient
from backstory.team_membership import Membership, read_membership

ROLES = ("owner", "maintainer", "member", "reader")


def _client() -> tuple[TeamClient, Membership]:
    member = read_membership(Home.default())
    if member is None:
        raise SourceMissing("this home belongs to no team: `backstory team join LINK` first")
    return TeamClient(member.address, member.token, member.server), member


@click.command("open")
@click.argument("project")
@click.option("--restricted", is_flag=True, help="Only whoever is let in sees it.")
@click.option("--let-in", metavar="NAME", help="Let this member into a restricted project.")
@click.option("--as", "role", type=click.Choice(ROLES[1:]), default="member", help="What they are in it.")
@json_option
def open_(project: str, restricted: bool, let_in: str | None, role: str, as_json: bool) -> None:
    """Open PROJECT (github.com/acme/shop), or all that fit a pattern (github.com/acme/*), for the team.

    Each person still says in their own clone whether they share: `backstory team share`.
    """
    client, _ = _client()
    body: dict[str, object] = {"project": project, "restricted": restricted}
    if let_in:
        body = {"project": project, "member": let_in, "role": role}
    elif "*" in project:
        body = {"pattern": project}
    found = client.ask("POST", "/v1/projects", body)
    if as_json:
        print_json(found)
        return
    talk(f"{let_in} is let in." if let_in else "It is open. In its clones: `backstory team share`.")


@click.command()
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES), default="member", help="What they are in the team.")
@json_option
def invite(name: str, role: str, as_json: bool) -> None:
    """Make an invitation for NAME; with a name that is there already, for a further machine of theirs."""
    client, _ = _client()
    made = client.ask("POST", "/v1/invites", {"name": name, "role": role})
    if as_json:
        print_json(made)
        return
    line(f"backstory team join {made['link']}")
    talk("It counts once, for 24 hours: send it so that nobody else reads it.")


@click.command()
@json_option
def devices(as_json: bool) -> None:
    """List your machines, an owner's list has everybody's; `revoke` takes their ids."""
    client, member = _client()
    found = client.devices()
    if as_json:
        print_json(found)
        return
    rows = [
        [
            str(each["id"])[:9],
            str(each["member"]["name"]),
            str(each["name"]) + (" (this one)" if each["id"] == member.device.id else ""),
            str(each["member"]["role"]),
            "revoked" if each.get("revoked_at") else f"seen {age_text(int(each['seen_at']))}",
        ]
        for each in found
    ]
    table(rows, ("id", "who", "machine", "role", ""))


@click.command()
@click.argument("who")
@json_option
def revoke(who: str, as_json: bool) -> None:
    """Let WHO in no more: the id of a machine, or the name of a person. It holds at their next request."""
    client, _ = _client()
    found = client.devices()
    people = {str(each["member"]["id"]) for each in found if each["member"]["name"] == who}
    machines = (
        {str(each["id"]) for each in found if str(each["id"]).startswith(who)} if len(who) > 3 else set()
    )
    chosen = [{"member": each} for each in people] or [{"device": each} for each in machines]
    if len(chosen) != 1:
        raise SourceMissing(f"{who!r} is no machine and nobody here: `backstory team devices` lists them")
    ended = client.ask("POST", "/v1/revoke", chosen[0])["revoked"]
    if as_json:
        print_json({"revoked": ended})
        return
    talk(f"{count_of(len(ended), 'machine')} let in no more, from the next request on.")


@click.command()
@click.argument("text")
@click.option("--project", help="In this project only; otherwise in all that you see.")
@yes_option
@json_option
def purge(text: str, project: str | None, yes: bool, as_json: bool) -> None:
    """End every row that holds TEXT, whoever wrote it, for good; for owners, and written down.

    It leaves the server and its disk now, and each machine at its next pull.
    """
    if not text.strip():
        raise UsageError("TEXT is empty")
    client, _ = _client()
    if not confirmed(f"End every row that holds {text!r}, whoever wrote it? There is no way back.", yes):
        return
    body = {"text": text, **({"project": project} if project else {})}
    found = client.ask("POST", "/v1/purge", body)
    if as_json:
        print_json(found)
        return
    told = f"{count_of(len(found['buried']), 'row')} ended on {clock.stamp(clock.now_ms())}."
    talk(told if found.get("erased") else f"{told} Its disk still has them: who runs the server erases it.")
