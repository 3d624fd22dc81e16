"""`backstory doctor`: the checks, printed, and an exit code for scripts."""

import itertools

import click

from backstory import doctor as checks
from backstory.app import App
from backstory.cli import log_file
from backstory.cli.output import json_option, line, on_terminal, print_json
from backstory.cli.project_scope import chosen_folder, cwd_option
from backstory.doctor import Check, State

_MARKS = {State.OK: ("ok  ", "green"), State.WARN: ("warn", "bold yellow"), State.FAIL: ("FAIL", "bold red")}


@click.command()
@cwd_option
@click.option("--strict", is_flag=True, help="Exit 1 if anything deserves attention.")
@click.option("--fix", is_flag=True, help="First repair what can be repaired without a risk.")
@click.option("--deep", is_flag=True, help="Unpack every stored payload, however long that takes.")
@json_option
def doctor(cwd: str | None, strict: bool, fix: bool, deep: bool, as_json: bool) -> None:
    """Check every step from an agent's hook to the printed brief.

    Each step says what was found and, if it is not as it should be, what to do. Local only; what waits in
    the spool is stored on the way. Exits 0 if memory works, 2 if a step fails, and with --strict 1 if one
    deserves attention.

    With --fix, what can be mended without a risk is mended first: permissions, the hook's files, leftovers of
    interrupted work, failed jobs, the text index, sessions that were not captured (they are imported). A
    damaged database is left as it is: `backstory repair` is for that.
    """
    found: list[Check] = []
    with App() as app:
        log_file.to_file(app.home)
        for check in itertools.chain(
            checks.apply_fixes(app) if fix else (), checks.run_checks(app, chosen_folder(cwd), deep)
        ):
            found.append(check)
            if not as_json and not check.quiet:
                _print(check)
    states = {check.state for check in found}
    if as_json:
        worst = next(s for s in (State.FAIL, State.WARN, State.OK) if s in states)
        print_json({"state": worst, "checks": found})
    if State.FAIL in states:
        raise click.exceptions.Exit(2)
    if strict and State.WARN in states:
        raise click.exceptions.Exit(1)


def _print(check: Check) -> None:
    name = f"{check.name:<13}"
    line(_MARKS[check.state], "  ", (name, "bold") if on_terminal() else name, "  ", check.found)
    if check.todo:
        line(("→ ", "dim"), check.todo, indent=6)
