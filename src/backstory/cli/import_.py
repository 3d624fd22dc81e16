"""`backstory import`: what agents have kept of their sessions, brought into the memory."""

import getpass
from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import click
from click.core import ParameterSource

from backstory import clock
from backstory.app import App
from backstory.capture.importer import MIN_MESSAGES, ImportLine, ImportOptions, ImportTally, Tag
from backstory.capture.project_docs import AGENT as DOCUMENTS
from backstory.cli.output import is_quiet, json_option, line, print_json, progress, quiet_option, talk, warn
from backstory.cli.project_scope import chosen_folder, open_app
from backstory.errors import UsageError
from backstory.model import Project
from backstory.present.plain_text import count_of

_MEGABYTE = 1_000_000
OURS = "backstory"
_AMONG_SESSIONS = ("since", "session", "min_messages")
_STYLES = {Tag.NEW: "green", Tag.GROWN: "cyan", Tag.SKIP: "dim"}


def _no_repair(_context: click.Context, _option: click.Parameter, given: bool) -> None:
    """Scripts of another importer say so; here an import never repairs."""
    if given:
        talk("--no-repair is deprecated and does nothing: only `backstory repair` repairs.")


@click.command(name="import")
@click.argument("agents", nargs=-1, metavar="[AGENT]...")
@click.option("--path", metavar="FILE|DIR", help="Where its history lies; looked through to the bottom.")
@click.option(
    "--since", metavar="WHEN", help="Only sessions that went on after: YYYY-MM-DD (in UTC), or 2w, 3d, 12h."
)
@click.option("--session", metavar="ID", default="", help="Only the session that its agent calls so.")
@click.option(
    "--min-messages",
    metavar="N",
    type=click.IntRange(min=0),
    default=MIN_MESSAGES,
    show_default=True,
    help="Leave out sessions with fewer messages, or in which nobody asked or nobody answered.",
)
@click.option("--project", metavar="NAME", help="Put it into this project, not where it happened.")
@click.option("--user", metavar="NAME", help="Who imports it; you by default.")
@click.option("--again", is_flag=True, help="Read everything again; nothing is stored twice.")
@click.option("--dry-run", is_flag=True, help="Tell what would be imported; change nothing.")
@click.option("--no-repair", is_flag=True, hidden=True, expose_value=False, callback=_no_repair)
@quiet_option
@json_option
def import_(
    agents: tuple[str, ...],
    path: str | None,
    since: str | None,
    session: str,
    min_messages: int,
    project: str | None,
    user: str | None,
    again: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Import the history that agents have kept themselves.

    Without AGENT: of all that have one here. It is only read, where it lies. Run it again whenever you like:
    only what is new is read, also after it was interrupted. What was captured live is not stored twice. What
    is skipped is counted by its reason; --dry-run --json lists it.

    `backstory import docs DIR` makes documentation searchable: Markdown, text and reStructuredText.

    What another memory tool has kept is brought in by its name: claude-mem, cce, mempalace, memoria,
    memory-md. `backstory import backstory FILE` brings in what `backstory export` wrote.
    """
    if agents[:1] == (OURS,):
        _import_export(_named(agents[1:], path, OURS, "FILE"), project or since or session, dry_run, as_json)
        return
    if agents[:1] == (DOCUMENTS,):
        _refuse_choices_among_sessions()
    with open_app() as app:
        wish = ImportOptions(
            since=clock.parse_when(since, UTC) if since else 0,
            session=session,
            min_messages=min_messages,
            again=again,
            project=_project(app, project) if project else None,
            user=user or current_user(),
        )
        told: list[ImportLine] = []

        def say(each: ImportLine) -> None:
            told.append(each)
            if not as_json and (each.failed or (not is_quiet() and each.tag is not Tag.SKIP)):
                _print(each)

        with progress("Importing (MB)" if agents[:1] != (DOCUMENTS,) else "Importing") as report:
            if agents[:1] == (DOCUMENTS,):
                folder_of_docs = _named(agents[1:], path, DOCUMENTS, "DIR")
                tally = app.import_documents(
                    folder_of_docs, wish.project, wish.user, dry_run, say, report, again
                )
            else:
                place = Path(path).expanduser() if path else None
                tally = app.import_history(agents, wish, place, dry_run, say, in_megabytes(report))
    if as_json:
        print_json(_as_json(tally, told, dry_run))
    else:
        if not is_quiet():
            _print_skipped(told)
        _sum_up(tally, dry_run)
    if tally.errors:
        raise click.exceptions.Exit(2 if tally.sources_unreadable else 4)


def in_megabytes(report: Callable[[int, int], None]) -> Callable[[int, int], None]:
    """A progress bar that is told bytes and counts megabytes."""
    return lambda done, of: report(done // _MEGABYTE, max(1, of // _MEGABYTE))


def _named(words: tuple[str, ...], path: str | None, what: str, kind: str) -> Path:
    """The one file or folder that is to be imported."""
    if len(words) + (path is not None) != 1:
        raise UsageError(f"name one: `backstory import {what} {kind}`")
    return chosen_folder(path or words[0])


def _refuse_choices_among_sessions() -> None:
    """Documents are no sessions."""
    given = click.get_current_context().get_parameter_source
    for name in _AMONG_SESSIONS:
        if given(name) is ParameterSource.COMMANDLINE:
            option = name.replace("_", "-")
            raise UsageError(f"--{option} chooses among sessions, and documents are none: leave it out")


def _import_export(file: Path, chosen: str | None, dry: bool, as_json: bool) -> None:
    """Bring in what another home has exported, all of it."""
    if chosen:
        raise UsageError(
            "an export comes in whole: choose with `backstory export --project` or --since where it is made"
        )
    with open_app() as app:
        new, same_key = app.import_export(file, dry)
    if as_json:
        counts = {"new": new.get("sessions", 0), "grown": 0, "skipped": 0, "events": new.get("events", 0)}
        print_json({**counts, "errors": 0, "rows": new, "ids_meet": same_key, "dry_run": dry})
        return
    if not sum(new.values()):
        talk("there is nothing to import" if dry else "nothing was imported: there is nothing new")
        return
    done = "would be imported" if dry else "imported"
    what = ", ".join(count_of(new.get(f"{each}s", 0), each) for each in ("session", "event"))
    line(f"{what}, {new.get('memories', 0):,} memories {done}")
    if not same_key:
        warn("this home had a past of its own: what is captured or imported in both is not recognised as one")


def _project(app: App, name: str) -> Project:
    """The project of that name, of that folder, or a new one called so."""
    if "/" in name or Path(name).is_dir():
        return app.project_at(chosen_folder(name))
    return app.project_called(name)


def current_user() -> str:
    """The name of who imports, as this machine knows it; "" if it does not."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container without names
        return ""


def _print(each: ImportLine) -> None:
    size = f"{count_of(each.messages, 'message')}, {count_of(each.events, 'event')}"
    what = each.why or (count_of(each.events, "section") if each.agent == DOCUMENTS else size)
    name = each.session or each.path.name
    if each.subagent:
        name += f" sub-agent {each.subagent}"
    line((f"[{each.tag}]", "red" if each.failed else _STYLES[each.tag]), f" {each.agent} {name}: {what}")


def _print_skipped(told: list[ImportLine]) -> None:
    """What was skipped, by the reason: one of a kind by its name, several as a number."""
    skipped: dict[tuple[str, str], list[ImportLine]] = {}
    for each in told:
        if each.tag is Tag.SKIP and not each.failed:
            skipped.setdefault((each.agent, each.why.partition(" (")[0]), []).append(each)
    for (agent, why), lines in skipped.items():
        if len(lines) == 1:
            _print(lines[0])
            continue
        number = count_of(len(lines), "file" if agent == DOCUMENTS else "session")
        line((f"[{Tag.SKIP}]", _STYLES[Tag.SKIP]), f" {agent}: {number}: {why}")


def _sum_up(tally: ImportTally, dry: bool) -> None:
    for what, number in (("line", tally.corrupt), ("session", tally.errors)):
        if number:
            warn(f"{count_of(number, what)} could not be read and {'was' if number == 1 else 'were'} skipped")
    if tally.unknown:
        warn(
            f"{count_of(tally.unknown, 'line')} had something of a kind that is not known; that was left out"
        )
    if not tally.new and not tally.grown:
        talk("there is nothing to import" if dry else "nothing was imported: there is nothing new")
        return
    found = f"{tally.new:,} new, {tally.grown:,} grown, {tally.skipped:,} skipped"
    done = "would be imported" if dry else "imported"
    if not is_quiet():
        line(f"{count_of(tally.events, 'event')} {done}: {found}")


def _as_json(tally: ImportTally, told: list[ImportLine], dry: bool) -> dict[str, object]:
    sessions = [
        {
            "tag": each.tag,
            "agent": each.agent,
            "session": each.session,
            "subagent": each.subagent,
            "path": str(each.path),
            "messages": each.messages,
            "events": each.events,
            "why": each.why,
        }
        for each in told
        if each.tag is not Tag.SKIP or each.failed or dry
    ]
    return {
        "new": tally.new,
        "grown": tally.grown,
        "skipped": tally.skipped,
        "events": tally.events,
        "errors": tally.errors,
        "corrupt": tally.corrupt,
        "unknown": tally.unknown,
        "dry_run": dry,
        "sessions": sessions,
    }
