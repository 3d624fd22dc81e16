"""`backstory install` and `uninstall`: show what would change in the agents' own files, ask, do it."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from backstory.agents import AGENTS, Agent
from backstory.agents import agent as known_agent
from backstory.capture.install import Plan, carry_out, instructions_file, plan_install, plan_uninstall
from backstory.capture.surfaces import SURFACES
from backstory.cli.output import json_option, line, print_json, raw, talk
from backstory.cli.scope import folder, opened
from backstory.errors import UsageError
from backstory.paths import Home

F = TypeVar("F", bound=Callable[..., Any])
_STYLES = {"add": "green", "write": "green", "update": "yellow", "remove": "red", "delete": "red"}


def _options(command: F) -> F:
    command = json_option(command)
    command = click.option("--yes", "-y", is_flag=True, help="Do not ask.")(command)
    command = click.option("--dry-run", is_flag=True, help="Print what would change, and change nothing.")(
        command
    )
    command = click.option("--cwd", metavar="DIR", help="The project's folder, for --project.")(command)
    return click.argument("agents", metavar="[AGENT]...", nargs=-1)(command)


@click.command()
@_options
@click.option(
    "--project", is_flag=True, help="Only for this project, in its settings that are not committed."
)
@click.option(
    "--instructions", is_flag=True, help="Also tell the agent in its instructions file how to search."
)
def install(
    agents: tuple[str, ...],
    project: bool,
    cwd: str | None,
    dry_run: bool,
    yes: bool,
    instructions: bool,
    as_json: bool,
) -> None:
    """Connect coding agents to this memory.

    Without AGENT, those that are found on this machine. Only our own entries in an agent's settings are
    touched; a second time changes nothing.
    """
    home = Home.default()
    where = folder(cwd) if project else None
    chosen = [known_agent(name) for name in dict.fromkeys(agents)] or _found()
    plans = [
        plan_install(agent, home, where, instructions_file(agent, where) if instructions else None)
        for agent in chosen
    ]
    if _carry_out(plans, home, "Connect", dry_run, yes, as_json):
        talk("Start a new session to use it; `backstory doctor` checks every step.")


@click.command()
@_options
@click.option("--project", is_flag=True, help="Look into this project's settings, too.")
def uninstall(
    agents: tuple[str, ...], project: bool, cwd: str | None, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Disconnect coding agents; the memory itself stays.

    Without AGENT, all of them. Takes out our entries wherever install has put them, and with the last agent
    everything in the home that is not the memory.
    """
    home = Home.default()
    where = folder(cwd) if project else None
    chosen = [known_agent(name) for name in dict.fromkeys(agents)] or [AGENTS[name] for name in SURFACES]
    if not dry_run and home.spool.is_dir():
        with opened() as app:
            app.catch_up()  # what waits is memory
    plans = [plan_uninstall(agent, home, where) for agent in chosen]
    if _carry_out(plans, home, "Disconnect", dry_run, yes, as_json) and home.database.exists():
        talk(f"What was learned stays in {home.root}; delete that folder to forget it all.")


def _found() -> list[Agent]:
    """The agents that are on this machine."""
    found = [
        AGENTS[name]
        for name, s in SURFACES.items()
        if s.folder().is_dir() or shutil.which(s.program) is not None
    ]
    if not found:
        raise UsageError(f"no agent was found on this machine: name one of {', '.join(SURFACES)}")
    return found


def _carry_out(plans: Sequence[Plan], home: Home, verb: str, dry_run: bool, yes: bool, as_json: bool) -> bool:
    """Show the plans, ask, do them; whether anything was changed."""
    changing = [plan for plan in plans if _changes(plan)]
    done = False
    if not as_json:
        for plan in plans:
            _print(plan, dry_run)
    if not dry_run and (not changing or yes or _agreed(f"{verb} {', '.join(p.agent for p in changing)}?")):
        for plan in plans:
            carry_out(plan, home)
        done = bool(changing)
    if as_json:
        print_json({"agents": [_json(plan) for plan in plans], "dry_run": dry_run, "changed": done})
        return False
    if not changing:
        talk("Nothing to change.")
    elif not done and not dry_run:
        talk("Nothing was changed.")
    return done


def _agreed(question: str) -> bool:
    try:
        return click.confirm(question, default=False, err=True)
    except click.Abort as abort:
        if isinstance(abort.__cause__ or abort.__context__, KeyboardInterrupt):
            raise
        click.echo(err=True)
        raise UsageError("nobody answered, and nothing was changed: pass --yes to agree") from None


def _changes(plan: Plan) -> bool:
    return bool(plan.edited) or any(change.action not in ("keep", "warn") for change in plan.changes)


def _print(plan: Plan, whole: bool) -> None:
    line((plan.agent, "bold"))
    grouped: dict[tuple[str, Path], list[str]] = {}
    for change in plan.changes:
        grouped.setdefault((change.action, change.path), []).append(change.what)
    for (action, path), whats in grouped.items():
        if action == "warn":
            for what in whats:
                talk(f"warning: {path}: {what}")
            continue
        hooks = [
            what.removeprefix("hook ") for what in whats if what.startswith("hook ") and " " not in what[5:]
        ]
        others = [what for what in whats if what.removeprefix("hook ") not in hooks]
        words = [f"{len(hooks)} hooks ({', '.join(hooks)})"] if hooks else []
        line((f"{action:<7}", _STYLES.get(action, "dim")), f" {path}: {', '.join(words + others)}", indent=2)
    if whole and plan.diff():
        line()
        raw(plan.diff())


def _json(plan: Plan) -> dict[str, Any]:
    counts: dict[str, int] = {}
    for change in plan.changes:
        counts[change.action] = counts.get(change.action, 0) + 1
    return {"agent": plan.agent, "counts": counts, "changes": plan.changes, "diff": plan.diff()}
