"""`backstory review`: what was learned, and a person's say on it."""

import os

import click

from backstory import clock
from backstory.app.annotations import REVIEWED
from backstory.attribution import commanded_by
from backstory.cli.listing import memory_row, short_handle
from backstory.cli.output import json_option, print_json, table, talk
from backstory.cli.project_scope import chosen_scope, open_app, scope_options
from backstory.errors import UsageError
from backstory.model import Act, Memory, MemoryStatus, Speaker
from backstory.present.json_rows import memory_json

# What people have an opinion on; the rest says what happened.
_LIMIT = 30
_DONE = {
    Act.CONFIRM: "confirmed",
    Act.REJECT: "rejected: no brief and no search shows it any more; --restore takes that back",
    Act.RESTORE: "a candidate again",
    Act.PIN: "pinned: it comes first",
    Act.UNPIN: "no longer pinned",
    Act.EDIT: "changed, and confirmed as it now reads",
    Act.SUPERSEDE: "superseded",
}


@click.command()
@click.argument("name", metavar="[HANDLE]", required=False)
@click.option("--confirm", "act", flag_value=Act.CONFIRM.value, help="It is true.")
@click.option("--reject", "act", flag_value=Act.REJECT.value, help="It is wrong: never show it again.")
@click.option("--restore", "act", flag_value=Act.RESTORE.value, help="Take a rejection back.")
@click.option("--pin", "act", flag_value=Act.PIN.value, help="It comes first.")
@click.option("--unpin", "act", flag_value=Act.UNPIN.value, help="It no longer comes first.")
@click.option("--edit", metavar="TEXT", help="Change its text.")
@click.option("--superseded-by", metavar="HANDLE", help="Another memory has taken its place.")
@click.option(
    "--status",
    type=click.Choice([status.value for status in MemoryStatus]),
    default=MemoryStatus.CANDIDATE.value,
    show_default=True,
    help="Which memories to list.",
)
@click.option("--limit", type=click.IntRange(1, 1000), default=_LIMIT, show_default=True, help="Most rows.")
@scope_options
@json_option
def review(
    name: str | None,
    act: str | None,
    edit: str | None,
    superseded_by: str | None,
    status: str,
    limit: int,
    cwd: str | None,
    project: str | None,
    everywhere: bool,
    as_json: bool,
) -> None:
    """Look through what was learned: confirm, correct, reject, pin.

    Without HANDLE it lists decisions, preferences, lessons and failed attempts that nobody has reviewed yet.
    What you say is kept as an event: it survives a rebuild. `backstory serve` has the same, as a page.
    """
    wanted = [
        (each, text)
        for each, text in ((Act(act) if act else None, ""), (Act.EDIT, edit), (Act.SUPERSEDE, superseded_by))
        if each is not None and text is not None
    ]
    if len(wanted) > 1:
        raise UsageError("say one thing about a memory at a time: --confirm, --reject, --pin, --edit …")
    if bool(wanted) != (name is not None):
        raise UsageError("a HANDLE goes with what to do: `backstory review HANDLE --confirm`")
    if wanted and commanded_by(os.environ) is Speaker.AGENT:
        raise UsageError(
            "an agent runs this shell, and only the user judges: do it in a terminal of your own"
        )
    with open_app() as app:
        if name is not None:
            each, text = wanted[0]
            _tell(app.judge(name, each, text), each, as_json)
            return
        where = chosen_scope(app, cwd, project, everywhere)
        zone = clock.zone(app.settings.time_zone)
        found = app.memories(REVIEWED, [MemoryStatus(status)], where.project_id, None, limit)
    if as_json:
        print_json({"memories": [memory_json(memory) for memory in found]})
    elif found:
        table(
            [
                [*memory_row(memory)[:2], (clock.stamp(memory.at, zone), "dim"), memory.text]
                for memory in found
            ]
        )
    else:
        talk(f"Nothing in {where.label} is {status}.")


def _tell(memory: Memory, act: Act, as_json: bool) -> None:
    if as_json:
        print_json(memory_json(memory))
    else:
        talk(f"{short_handle(memory.id)} is {_DONE[act]}.")
