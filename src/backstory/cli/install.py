"""`backstory install` and `uninstall`: show what would change in the agents' own files, ask, do it.

Without a name, install also imports what the agents have kept of their past, and ends with three things that
are true of it. `--schedule` imports again and again.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from backstory.agents import Agent
from backstory.agents import agent as known_agent
from backstory.capture import schedule_setup
from backstory.capture.agent_setup import (
    Change,
    Plan,
    carry_out,
    instructions_file,
    make_home,
    plan_install,
    plan_uninstall,
    uninstall_plans,
)
from backstory.capture.schedule_setup import SchedulePlan
from backstory.capture.schedule_units import EVERY, KINDS, build_schedule, run_here, run_in_container
from backstory.capture.settings_files import agent_surface, installable_agents, is_here
from backstory.capture.written_files import written_sites
from backstory.cli import first_import
from backstory.cli.agent_choice import chosen_agents
from backstory.cli.output import (
    is_quiet,
    json_option,
    line,
    on_terminal,
    print_json,
    quiet_option,
    raw,
    talk,
    warn,
)
from backstory.cli.project_scope import chosen_folder, open_app
from backstory.cli.serve import serve
from backstory.errors import Failed, UsageError
from backstory.paths import Home

F = TypeVar("F", bound=Callable[..., Any])
_STYLES = {
    "add": "green", "write": "green", "make": "green", "copy": "green", "update": "yellow", "remove": "red",
    "delete": "red",
}  # fmt: skip


def _options(command: F) -> F:
    command = quiet_option(json_option(command))
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
@click.option(
    "--import/--no-import",
    "history",
    default=None,
    help="Import what the agents have kept of earlier sessions; by default only without AGENT.",
)
@click.option(
    "--home-only", is_flag=True, help="Only make the home; for a plugin, whose hooks find it there."
)
@click.option("--schedule", "scheduled", is_flag=True, help="Import again and again; connects nothing.")
@click.option(
    "--every",
    type=click.Choice(list(EVERY)),
    default="1h",
    show_default=True,
    help="How often, for --schedule.",
)
@click.option(
    "--by", type=click.Choice(KINDS), help="What keeps the schedule; by default what this machine has."
)
@click.option("--container", metavar="NAME", help="Run the scheduled import inside this container.")
@click.option("--remove", is_flag=True, help="Take the schedule out again.")
def install(
    agents: tuple[str, ...],
    project: bool,
    cwd: str | None,
    dry_run: bool,
    yes: bool,
    instructions: bool,
    history: bool | None,
    home_only: bool,
    scheduled: bool,
    every: str,
    by: str | None,
    container: str | None,
    remove: bool,
    as_json: bool,
) -> None:
    """Connect coding agents to this memory.

    Without AGENT, those that are found on this machine and that you leave ticked, and their history is
    imported. Only our own entries in an agent's settings are touched; a second time changes nothing.

    With --schedule, nothing is connected: a systemd user timer, launchd or cron imports the agents'
    histories, for agents whose hooks do not always run.
    """
    home = Home.default()
    if home_only:
        make_home(home)
        return
    if scheduled:
        if agents or project or instructions:
            raise UsageError("--schedule is for all agents of this user: give neither names nor --project")
        _schedule(home, every, by, container, remove, dry_run, yes, as_json)
        return
    if remove or container or by:
        raise UsageError(
            "--remove, --by and --container belong to --schedule: `backstory uninstall` disconnects"
        )
    where = chosen_folder(cwd) if project else None
    chosen = [known_agent(name) for name in dict.fromkeys(agents)] or _found()
    asks = not (agents or yes or dry_run or as_json) and on_terminal() and sys.stdin.isatty()
    if asks and len(chosen) > 1:
        chosen = chosen_agents(chosen)
    plans = [
        partial(plan_install, agent, home, where, instructions_file(agent, where) if instructions else None)
        for agent in chosen
    ]
    done = _carry_out(plans, home, "Connect", dry_run, yes, as_json)
    wanted = not agents if history is None else history
    told = first_import.import_histories(chosen, as_json) if wanted and done.agreed else {}
    if as_json:
        print_json(done.json() | told)
    elif done.changed:
        for agent in chosen:
            if after := agent_surface(agent).after:
                talk(after)
        talk("Start a new session to use it; `backstory doctor` checks every step.")
    if not as_json and told.get("look"):
        talk(f"See what was learned: `{told['look']}`")
    if asks and wanted and done.agreed:
        _offer_viewer()


def _offer_viewer() -> None:
    """What was learned, as pages, if the person wants to look now."""
    if not is_quiet() and _agreed("Look at it in the browser now (`backstory serve`; Ctrl-C ends it)?"):
        click.get_current_context().invoke(serve)


@click.command()
@_options
@click.option("--project", is_flag=True, help="Look into this project's settings, too.")
def uninstall(
    agents: tuple[str, ...], project: bool, cwd: str | None, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Disconnect coding agents; the memory itself stays.

    Without AGENT, all of them, and the schedule. Takes out our entries wherever install has put them, and
    with the last agent everything in the home that is not the memory.
    """
    home = Home.default()
    where = chosen_folder(cwd) if project else None
    chosen = [known_agent(name) for name in dict.fromkeys(agents)] or _connected(home, where)
    if not dry_run and home.spool.is_dir():
        with open_app() as app:
            app.catch_up()  # what waits is memory
    kind = "" if agents else schedule_setup.installed_kind(home)
    gone = frozenset({schedule_setup.AGENT}) if kind else frozenset()
    off = schedule_setup.plan_unschedule(kind, home) if kind else None
    plans = uninstall_plans(chosen, home, where, gone)
    done = _carry_out(plans, home, "Disconnect", dry_run, yes, as_json, off)
    if as_json:
        print_json(done.json())
    elif done.changed and home.database.exists():
        talk(f"What was learned stays in {home.root}; delete that folder to forget it all.")


def _connected(home: Home, where: Path | None) -> list[Agent]:
    """The agents that have something of ours; if there are none, one in whose name the home is cleared."""
    known = written_sites(home)
    able = installable_agents()
    found = [each for each in able if each.name in known or plan_uninstall(each, home, where).edited]
    return found or able[:1]


def _found() -> list[Agent]:
    """The agents that are on this machine."""
    found = [agent for agent in installable_agents() if is_here(agent)]
    if not found:
        names = ", ".join(agent.name for agent in installable_agents())
        raise UsageError(f"no agent was found on this machine: name one of {names}")
    return found


@dataclass(frozen=True, slots=True)
class _Done:
    """What was shown, whether it was agreed to, and whether anything was changed."""

    plans: list[Plan]
    dry_run: bool
    agreed: bool
    changed: bool

    def json(self) -> dict[str, Any]:
        return {
            "agents": [_json(plan) for plan in self.plans],
            "dry_run": self.dry_run,
            "changed": self.changed,
        }


def _carry_out(
    makers: Sequence[Callable[[], Plan]],
    home: Home,
    verb: str,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    first: SchedulePlan | None = None,
) -> _Done:
    """Show the plans, ask, do them; what came of it. `first` is a schedule that goes before."""
    plans = [make() for make in makers]
    shown = [*([first.plan] if first else []), *plans]
    changing = [plan for plan in shown if _changes(plan)]
    if not as_json:
        told: set[Change] = set()
        silent = is_quiet() and yes and not dry_run  # who is to agree has to see what to
        for plan in shown:
            if plan.changes or len(shown) == 1:
                _print(plan, dry_run, told, silent)
    question = f"{verb} {', '.join(plan.agent for plan in changing)}?"
    if verb == "Disconnect" and not (first or any(plan.edited for plan in changing)):
        question = f"No agent's file changes. Go on in {home.root}?"
    agreed = not dry_run and (not changing or yes or _agreed(question))
    if agreed:
        # An agent that runs writes its own files while a person reads the plan.
        stale = [(make, plan) for make, plan in zip(makers, plans, strict=True) if not plan.is_current]
        if any(make().changes != plan.changes for make, plan in stale):
            raise Failed("the agents' files were changed meanwhile and stay as they are: run it again")
        if first:
            schedule_setup.carry_out_schedule(first, home)
        for make, plan in zip(makers, plans, strict=True):
            carry_out(plan if plan.is_current else make(), home)  # some agents share a file
    elif not as_json and not dry_run:
        talk("Nothing was changed.")
    if not changing and not as_json:
        talk("Nothing to change.")
    return _Done(shown, dry_run, agreed, agreed and bool(changing))


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


def _print(plan: Plan, whole: bool, told: set[Change], silent: bool = False) -> None:
    """The plan, without what was `told` with another agent's: they share the home. `silent`: its warnings."""
    grouped: dict[tuple[str, Path], list[str]] = {}
    for change in plan.changes:
        if change not in told:
            told.add(change)
            grouped.setdefault((change.action, change.path), []).append(change.what)
    if grouped and not silent:
        line((plan.agent, "bold"))
    for (action, path), whats in grouped.items():
        if action == "warn":
            for what in whats:
                warn(f"warning: {path}: {what}")
        if silent or action == "warn":
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


# --- schedules --------------------------------------------------------------------------------------------


def _schedule(
    home: Home,
    every: str,
    by: str | None,
    container: str | None,
    remove: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Put a schedule in place, or take it out."""
    if remove:
        kind = by or schedule_setup.installed_kind(home)
        if not kind:
            raise UsageError("no schedule of this home is known: name its kind with --by, or there is none")
        planned = schedule_setup.plan_unschedule(kind, home)
    else:
        kind = by or schedule_setup.available_kind()
        if (old := schedule_setup.installed_kind(home)) not in ("", kind):
            raise UsageError(f"{old} keeps a schedule already: take it out with --schedule --remove first")
        run = run_in_container(container) if container else run_here(home)
        planned = schedule_setup.plan_schedule(build_schedule(kind, every, run), home)
    if not as_json:
        _print(planned.plan, False, set(), is_quiet() and yes and not dry_run)
        if dry_run and planned.diff():
            line()
            raw(planned.diff())
    question = f"Take the {kind} schedule out?" if remove else f"Import every {every}, kept by {kind}?"
    done = planned.changes and not dry_run and (yes or _agreed(question))
    if done:
        schedule_setup.carry_out_schedule(planned, home)
    if as_json:
        shown = _json(planned.plan) | {"diff": planned.diff()}
        print_json({"schedule": shown, "kind": kind, "dry_run": dry_run, "changed": done})
    elif not planned.changes:
        talk("Nothing to change.")
    elif done and not remove:
        talk(f"Look at it with `{planned.made.look}`; `backstory install --schedule --remove` takes it out.")
