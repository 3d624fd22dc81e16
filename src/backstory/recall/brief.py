"""The brief as a command shows it: what the hook would print, made by the same functions, without a receipt.

The hook's own steps in the hook's own order: may this folder be briefed, which project is it, what has the
worker prepared, what still waits in the spool, which rows, which text.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backstory.errors import UsageError
from backstory.hook import brief, overlay
from backstory.hook.globs import ignores_folder
from backstory.hook.identity import project_id, resolve, session_id
from backstory.hook.redact import Redactor
from backstory.paths import Home
from backstory.settings import SOURCES


@dataclass(frozen=True, slots=True)
class Told:
    """One row of a brief."""

    id: str
    section: str
    text: str
    when: int
    agent: str
    session: str


@dataclass(frozen=True, slots=True)
class Brief:
    """The text a starting session receives; empty if there is nothing to say."""

    text: str
    chars: int
    tokens: int
    rows: tuple[Told, ...]


def brief_for(
    home: Home,
    settings: Mapping[str, Any],
    cwd: str,
    agent: str,
    source: str,
    session: str = "",
    project_was: str = "",
) -> Brief:
    """The brief for a session of `agent` that starts in `cwd`; `session` is the agent's own id of it.

    `project_was` is the project of a folder that is gone, which no hook could start in.
    """
    if source not in SOURCES:
        raise UsageError(f"no session starts by {source!r}: known are {', '.join(SOURCES)}")
    if ignores_folder(cwd, settings["ignore_projects"]) or source not in settings["sources"]:
        return Brief("", 0, 0, ())
    own = session_id(agent, session) if session else ""
    place = resolve(cwd, settings["confirmed"], settings["monorepo"])
    project = _prepared(home.briefs / f"{project_was or project_id(place.identity)}.json")
    prepared = _prepared(home.briefs / "sessions" / f"{own}.json") if own else {}
    redactor = Redactor(off=tuple(settings["redact_off"]))
    waiting = overlay.rows(
        str(home.spool), place, dict(settings), redactor.redact, project.get("forgotten") or ()
    )
    rows = brief.choose(source, brief.rows_of(project.get("rows")), prepared, waiting, own)
    made = brief.compose(
        rows,
        str(project.get("name") or place.name),
        time.time_ns() // 1_000_000,
        [str(notice) for notice in project.get("notices") or []],
        settings["budget_chars"] or brief.CHARS,
        settings["budget_tokens"] or brief.TOKENS,
    )
    told = tuple(Told(row.id, row.section, row.text, row.at, row.agent, row.session) for row in made.rows)
    return Brief(made.text, len(made.text), round(made.tokens), told)


def _prepared(path: Path) -> dict[str, Any]:
    """A file that the worker prepared; a missing or broken one is an empty one."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
