"""The brief as a command shows it: what the hook would print, by the same function, without a receipt."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backstory.errors import UsageError
from backstory.hook.redact import Redactor
from backstory.hook.session_brief import SOURCES
from backstory.hook.session_brief import brief_for as brief_made
from backstory.paths import Home


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
    redactor = Redactor(off=tuple(settings["redact_off"]))
    made = brief_made(
        str(home.root), dict(settings), cwd, agent, source, session, redactor.redact, project=project_was
    )
    told = tuple(
        Told(
            row.id,
            row.section,
            f"{row.text} [{row.label}]" if row.label else row.text,
            row.at,
            row.agent,
            row.session,
        )
        for row in made.rows
    )
    return Brief(made.text, len(made.text), round(made.tokens), told)
