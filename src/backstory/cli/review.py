"""`backstory review`: what was learned, and a person's say on it."""

import os
from collections.abc import Sequence
from dataclasses import asdict

import click

from backstory import clock
from backstory.app import App
from backstory.attribution import commanded_by, led_in, told_as
from backstory.cli.listing import memory_row, short_handle
from backstory.cli.output import json_option, line, print_json, table, talk
from backstory.cli.project_scope import chosen_scope, known_elsewhere, open_app, scope_options
from backstory.errors import UsageError
from backstory.model import Act, Memory, MemoryStatus, Speaker
from backstory.present.json_rows import memory_json
from backstory.present.plain_text import UNTOLD
from backstory.recall.usefulness import done_in, usefulness

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
_BY_KEY = {"c": Act.CONFIRM, "r": Act.REJECT, "p": Act.PIN, "s": None, " ": None, "\r": None, "\n": None}
_BACK = {Act.CONFIRM: Act.RESTORE, Act.REJECT: Act.RESTORE, Act.PIN: Act.UNPIN}
# What makes of an edited memory, which is confirmed, what it was before.
_UNCONFIRM = {MemoryStatus.CANDIDATE: Act.RESTORE, MemoryStatus.REJECTED: Act.REJECT}
_KEYS_SAID = "c confirm, e edit, r reject, p pin, s skip, u undo, q quit: "
_LAST_KEYS_SAID = "That was the last. u undo, q quit: "


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
@click.option("--one-by-one", "-i", "walks", is_flag=True, help="Ask about each: a key, and undo.")
@scope_options
@json_option
def review(
    name: str | None,
    act: str | None,
    edit: str | None,
    superseded_by: str | None,
    status: str,
    limit: int,
    walks: bool,
    cwd: str | None,
    project: str | None,
    everywhere: bool,
    as_json: bool,
) -> None:
    """Look through what was learned: confirm, correct, reject, pin.

    Without HANDLE it lists decisions, preferences, lessons and failed attempts that nobody has reviewed yet;
    with --one-by-one it asks about each.
    What you say is kept as an event: it survives a rebuild. `backstory serve` has the same, as a page.
    """
    wanted = [
        (each, text)
        for each, text in ((Act(act) if act else None, ""), (Act.EDIT, edit), (Act.SUPERSEDE, superseded_by))
        if each is not None and text is not None
    ]
    if len(wanted) > 1:
        raise UsageError("say one thing about a memory at a time: --confirm, --reject, --pin, --edit …")
    if walks and (wanted or name or as_json):
        raise UsageError("--one-by-one asks about each memory: give neither HANDLE nor --json")
    if bool(wanted) != (name is not None):
        raise UsageError("a HANDLE goes with what to do: `backstory review HANDLE --confirm`")
    if (wanted or walks) and commanded_by(os.environ) is Speaker.AGENT:
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
        found = app.to_review(MemoryStatus(status), where.project_id, limit=limit)
        if walks and found:
            _walk(app, found)
            return
        elsewhere = list[str]()
        if not (found or as_json or project or everywhere):
            elsewhere = known_elsewhere(app, cwd, "review")
        done = done_in(app.store)
        of_use = {memory.id: usefulness(app.store, memory, done) for memory in found}
    if as_json:
        print_json({"memories": [{**memory_json(each), "of_use": asdict(of_use[each.id])} for each in found]})
    elif found:
        if any(memory.untold for memory in found):
            talk(f"(not told yet): {UNTOLD}.")
        table(
            [
                [
                    *memory_row(memory)[:2],
                    (clock.stamp(memory.at, zone), "dim"),
                    " ".join(
                        filter(
                            None,
                            (
                                text,
                                f"({of_use[memory.id].line})" if of_use[memory.id].line else "",
                                "(not told yet)" if memory.untold else "",
                            ),
                        )
                    ),
                ]
                for memory in found
                for text in [led_in(told_as(memory), memory.text)]
            ]
        )
    else:
        state = "waits for review" if status == MemoryStatus.CANDIDATE else f"is {status}"
        for told in elsewhere or [f"Nothing in {where.label} {state}."]:
            talk(told)


def _walk(app: App, found: Sequence[Memory]) -> None:
    """Ask about one memory after the other, by a key; what was done last can be undone, also at the end."""
    done = done_in(app.store)
    place, acts = 0, list[tuple[int, list[tuple[Act, str]]]]()  # with what undoes each
    while place < len(found) or any(undoing for _, undoing in acts):
        memory = found[place] if place < len(found) else None
        if memory is not None:
            line(f"{place + 1} of {len(found)}  ", (short_handle(memory.id), "cyan"), f"  {memory.kind}")
            line((memory.text, "bold"), indent=2)
            if memory.reason:
                line(f"because {memory.reason}", indent=2)
            if memory.untold:
                line((UNTOLD, "dim"), indent=2)
            if of_use := usefulness(app.store, memory, done).line:
                line((f"told to later sessions: {of_use}", "dim"), indent=2)
        key = _key(_KEYS_SAID if memory else _LAST_KEYS_SAID)
        if key == "u" and acts:
            place, undoing = acts.pop()
            judged = [(app.judge(found[place].id, act, text), act) for act, text in undoing]
            if judged:
                _tell(*judged[-1], as_json=False)
        elif memory is None or key == "q":
            return
        elif key == "e" and (text := _new_wording()):
            undoing = [(Act.EDIT, app.store.memories.wording(memory.id))]
            if memory.status in _UNCONFIRM:
                undoing.append((_UNCONFIRM[memory.status], ""))
            _tell(app.judge(memory.id, Act.EDIT, text), Act.EDIT, as_json=False)
            acts.append((place, undoing))
            place += 1
        elif key in _BY_KEY:
            act = _BY_KEY[key]
            if act is not None:
                _tell(app.judge(memory.id, act), act, as_json=False)
            acts.append((place, [(_BACK[act], "")] if act else []))
            place += 1


def _new_wording() -> str:
    """The text that a memory is to have; "" leaves it."""
    try:
        said: str = click.prompt("New text (empty leaves it)", default="", show_default=False, err=True)
    except click.Abort:
        return ""
    return said.strip()


def _key(says: str) -> str:
    click.echo(says, nl=False, err=True)
    try:
        key = click.getchar().lower()
    except (EOFError, click.Abort):
        key = "q"
    click.echo(key if key.isprintable() else "", err=True)
    return key or "q"


def _tell(memory: Memory, act: Act, as_json: bool) -> None:
    if as_json:
        print_json(memory_json(memory))
    else:
        talk(f"{short_handle(memory.id)} is {_DONE[act]}.")
