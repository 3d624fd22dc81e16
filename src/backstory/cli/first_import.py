"""The past of a user who has just installed: what agents kept is imported, and three true things told."""

from collections.abc import Sequence
from typing import Any

from backstory.agents import Agent
from backstory.capture.importer import ImportOptions, ImportTally
from backstory.cli.import_ import current_user, in_megabytes
from backstory.cli.listing import short_handle
from backstory.cli.output import is_quiet, line, progress, warn
from backstory.cli.project_scope import command_in, open_app
from backstory.errors import BackstoryError
from backstory.model import Memory
from backstory.present.json_rows import memory_json
from backstory.present.plain_text import age_text, count_of, one_line


def import_histories(agents: Sequence[Agent], as_json: bool) -> dict[str, Any]:
    """Import what these agents have kept; gives and shows what came of it."""
    kept = [a.name for a in agents if a.history is not None and a.history.root().exists()]
    with open_app() as app:
        tally = ImportTally()
        try:
            if kept:
                with progress("Importing what they remember (MB)") as report:
                    tally = app.import_history(
                        kept, ImportOptions(user=current_user()), progress=in_megabytes(report)
                    )
        except BackstoryError as error:  # the agents are connected all the same
            warn(f"the past was not imported: {error}; `backstory import` tries again")
        found = app.telling() if tally.new or tally.grown or tally.skipped else []
        counted = app.kept_by_agent() if app.home.database.exists() else []
        busiest = app.busiest_project() if counted else None
    if not as_json:
        _show(tally, found, counted)
    numbers = {key: getattr(tally, key) for key in ("new", "grown", "skipped", "events", "errors")}
    return {
        "imported": numbers,
        "telling": list(map(memory_json, found)),
        "look": command_in(busiest.root, "brief") if busiest else "",
        "agents_kept": [dict(zip(("agent", "sessions", "events"), each, strict=True)) for each in counted],
    }


def sessions_told(tally: ImportTally) -> str:
    """The sessions that were imported, and beside them their sub-agents, as `status` counts."""
    own = tally.new + tally.grown - tally.subagents
    parts = [count_of(own, "session")] if own else []
    parts += [count_of(tally.subagents, "sub-agent")] if tally.subagents else []
    return f" and {'its' if own == 1 else 'their'} ".join(parts)


def _show(tally: ImportTally, found: Sequence[Memory], counted: Sequence[tuple[str, int, int]]) -> None:
    if tally.errors:
        warn(f"{count_of(tally.errors, 'session')} could not be read: `backstory import` tells which")
    if is_quiet():
        return
    if tally.new or tally.grown:
        line(f"Imported {count_of(tally.events, 'event')} of {sessions_told(tally)}.")
    if len(counted) > 1 or not tally.new:
        for agent, sessions, events in counted:
            line(f"{agent}: {count_of(sessions, 'session')}, {count_of(events, 'event')} kept", indent=2)
    if found:
        line()
        line("From your own past:")
    for memory in found:
        line((one_line(memory.text, 300), "bold"), indent=2)
        said = f"{memory.kind.replace('_', ' ')}, {age_text(memory.at)}, {memory.agent}; check it: "
        line(said, (f"backstory show {short_handle(memory.id)}", "cyan"), indent=4)
